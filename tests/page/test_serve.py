"""`regretless serve`: how it begins and ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.page.serving import API, FOREVER, Server, wait_for

import regretless as rl
from regretless.installing import install_command


def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "regretless", "serve", "--no-browser", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-folder"], "FOLDER: 'no-such-folder' is not a folder"),
        (["--port", "70000"], "port: 70000 must be from 0 to 65535"),
        (["--solves", "0"], "solves: 0 must be at least 1"),
        (
            ["--host", "192.0.2.1"],
            "host: '192.0.2.1' is not an address of this machine: Cannot assign requested address",
        ),
    ],
)
def test_a_wrong_option_is_one_sentence(arguments: list[str], words: str) -> None:
    done = serve(*arguments)
    assert (done.returncode, done.stderr.strip()) == (1, f"error: {words}")


@pytest.mark.parametrize("library", ["starlette", "uvicorn"])
def test_a_missing_library_is_named_with_the_line_that_installs_it(library: str) -> None:
    code = f"import sys; sys.modules['{library}'] = None; from regretless.cli import main; sys.exit(main(['serve']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert done.stderr.strip() == f"error: {library} is not installed: {install_command('web')}"


def test_a_folder_and_a_port_have_one_server(start_server: Callable[[], Server], folder: Path, tmp_path: Path) -> None:
    server = start_server()
    second = serve(str(folder), "--port", "0")
    assert second.returncode == 1
    assert "is being served by another process" in second.stderr
    other = tmp_path / "other"
    other.mkdir()
    port = str(server.client.base_url.port)
    assert f"port: {port} cannot be used" in serve(str(other), "--port", port).stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_server_that_ends_saves_its_solves(
    start_server: Callable[[], Server], folder: Path, number: signal.Signals
) -> None:
    server = start_server()
    id_ = server.client.post(f"{API}/solves", json=FOREVER).json()["solve"]["id"]
    seen = wait_for(server.client, id_, lambda solve: solve["iteration"] > 2)
    server.process.send_signal(number)
    assert server.process.wait(timeout=600) == 0
    assert server.process.stderr is not None
    assert server.process.stderr.read() == ""
    assert rl.load(folder / seen["file"]).iterations >= seen["iteration"]
    listed = start_server().client.get(f"{API}/solves").json()["solves"]
    assert [(solve["state"], solve["readable"]) for solve in listed] == [("stopped", True)]


def test_closing_the_terminal_does_not_end_a_server_started_with_nohup(start_server: Callable[[], Server]) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which the server inherits
    try:
        server = start_server()
    finally:
        signal.signal(signal.SIGHUP, before)
    server.process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert server.client.get(f"{API}/files").status_code == 200


def test_a_page_that_follows_does_not_delay_the_end(start_server: Callable[[], Server]) -> None:
    server = start_server()
    with server.client.stream("GET", f"{API}/events") as stream:
        next(stream.iter_lines())
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=600) == 0
    assert server.process.stderr is not None
    assert server.process.stderr.read() == ""
