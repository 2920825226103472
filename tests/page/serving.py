"""Spots for the tests of the page, and servers in processes of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

SRC = Path(__file__).parents[2] / "src"
API = "/api/v1"
RIVER = {
    "board": "Ks 9h 4h 2c 7d",
    "pot": 60,
    "stack": 240,
    "oop": {"range": "22+, A2s+, KQo, QJs"},
    "ip": {"range": "22+, A8s+, KQo, JTs"},
    "bets": {"bet": "50%, a", "raise": "3x"},
}
TURN = RIVER | {"board": "Ks 9h 4h 2c", "bets": {"bet": "66%", "raise": "a"}}
SLOW = TURN | {
    "oop": {"range": "22+, A2s+, K2s+, Q7s+, J8s+, T8s+, 98s, A8o+"},
    "bets": {"bet": "33%, 66%", "raise": "3x"},
}
TOKEN = "the-token-of-every-server-in-the-tests"
FOREVER = {"spot": SLOW, "iterations": 1_000_000, "threads": 1}  # hours


def wait_for(client: Any, id_: str, done: Callable[[dict[str, Any]], bool], seconds: float = 600) -> dict[str, Any]:
    """The solve, once it is as wanted."""
    ends = time.monotonic() + seconds
    while True:
        solve: dict[str, Any] = client.get(f"{API}/solves/{id_}").json()["solve"]
        if done(solve):
            return solve
        assert time.monotonic() < ends, solve
        time.sleep(0.05)


def is_over(solve: dict[str, Any]) -> bool:
    return solve["state"] in ("done", "stopped", "failed")


class Server:
    """A server in a process of its own; its client sends the token."""

    def __init__(self, folder: Path, *options: str, token: str = TOKEN) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "regretless", "serve", str(folder), "--port", "0", "--no-browser", *options],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(SRC), "COLUMNS": "200", "REGRETLESS_TOKEN": token},
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"(http://[^ /]+)/([^ ]*) ", line)
        assert found is not None, line + self.process.stderr.read()
        self.address = found[1] + "/" + found[2]  # as printed, with the token
        printed = self.address.partition("?token=")[2]
        headers = {"authorization": f"Bearer {printed}"} if printed else {}
        self.client = httpx2.Client(base_url=found[1], timeout=300, headers=headers)
        ends = time.monotonic() + 300
        while True:
            try:
                self.client.get(f"{API}/files")
                return
            except httpx2.TransportError:
                assert time.monotonic() < ends
                time.sleep(0.05)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait(timeout=300)
        assert self.process.stderr is not None
        self.process.stderr.close()
