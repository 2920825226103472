"""Ctrl-C as a flag that the loop checks between pieces of work."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from regretless.solving.interrupt import catch_interrupts


def handlers() -> list[object]:
    return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


def test_ctrl_c_interrupts_at_once_until_the_flag_is_checked() -> None:
    """For example while a game is being compiled: there is nothing to save yet."""
    before = handlers()
    with pytest.raises(KeyboardInterrupt), catch_interrupts():
        signal.raise_signal(signal.SIGINT)
    assert handlers() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_the_first_signal_raises_the_flag_and_the_second_interrupts(number: signal.Signals) -> None:
    before = handlers()
    with catch_interrupts() as interrupted:
        assert not interrupted()
        signal.raise_signal(number)
        assert interrupted()
        assert interrupted(), "it stays up"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert handlers() == before


def test_only_the_named_signals_are_caught() -> None:
    before = handlers()
    with catch_interrupts(signal.SIGINT):
        caught = handlers()
        assert caught[0] != before[0]
        assert caught[1] == before[1]


def test_a_handler_that_python_did_not_install_gives_way_to_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    install = signal.signal

    def unknown_at_first(number: int, handler: Any) -> Any:
        monkeypatch.setattr(signal, "signal", install)
        install(number, handler)

    before = signal.getsignal(signal.SIGTERM)
    try:
        monkeypatch.setattr(signal, "signal", unknown_at_first)
        with catch_interrupts(signal.SIGTERM):
            pass
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        install(signal.SIGTERM, before)


def test_in_another_thread_nothing_is_caught() -> None:
    before, found = handlers(), []

    def work() -> None:
        with catch_interrupts() as interrupted:
            found.extend([interrupted(), handlers()])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False, before]
