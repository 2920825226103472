"""The token: who is let in with it, how a browser exchanges it for a cookie, and that nobody else gets an answer."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API, SRC, TOKEN, Server

from regretless.cli import main
from regretless.page.app import ENDPOINTS, make_app
from regretless.page.guard import new_token

EVERYTHING = [
    *((each.method, API + each.path.replace("{id}", "x")) for each in ENDPOINTS),
    *(("GET", path) for path in ("/", "/browse", "/static/main.js", "/static/", "/nothing", "/api/v1/openapi.json")),
    *((method, "/") for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE")),
]
COOKIE = "regretless-8040"
NOBODY = 65534

# Run with root's rights at first, which the interpreter may need to start, and without them when it asks.
AS_NOBODY = """
import encodings.idna, http.client, json, os, sys
port, nobody, requests = json.loads(sys.argv[1])
os.setgroups([]), os.setgid(nobody), os.setuid(nobody)
answers = []
for method, path, headers in requests:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers=headers)
    answers.append(connection.getresponse().status)
print(json.dumps([os.getuid(), answers]))
"""


@pytest.fixture(scope="module")
def locked(solved: Path) -> Iterator[TestClient]:
    """A client without the token, for tests that only read."""
    app = make_app(solved, token=TOKEN)
    with TestClient(app, base_url="http://127.0.0.1:8040", follow_redirects=False) as client:
        yield client


@pytest.fixture(autouse=True)
def without_cookies(locked: TestClient) -> None:
    locked.cookies.clear()


@pytest.mark.parametrize(("method", "path"), EVERYTHING)
def test_nothing_is_answered_without_the_token(locked: TestClient, method: str, path: str) -> None:
    answer = locked.request(method, path, headers={"content-length": str(1 << 30)} if method == "POST" else {})
    assert answer.status_code == 403
    if method != "HEAD":
        assert "token" in answer.json()["error"]["message"]
        assert "\n" not in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Bearer {TOKEN[:-1]}"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer \xe9\xff"},
        {"cookie": f"{COOKIE}=wrong"},
        {"cookie": f"{COOKIE}="},
        {"cookie": f"regretless-8041={TOKEN}"},
        {"cookie": f"x{COOKIE}={TOKEN}"},
        {"cookie": TOKEN},
    ],
)
def test_a_wrong_token_is_refused(locked: TestClient, headers: dict[str, str]) -> None:
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    assert locked.get(f"{API}/files", headers=raw).status_code == 403  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["token=", "token=wrong", "token", f"other={TOKEN}", f"token={TOKEN}x", "token=%ff"])
def test_a_wrong_token_in_the_address_is_refused(locked: TestClient, query: str) -> None:
    answer = locked.get(f"/?{query}")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": f"Bearer {TOKEN}"},
        {"authorization": f"bearer  {TOKEN}"},
        {"cookie": f"{COOKIE}={TOKEN}"},
        {"cookie": f"a=b; {COOKIE}=of-an-earlier-server; {COOKIE}={TOKEN}; c"},
    ],
)
def test_the_token_lets_in(locked: TestClient, headers: dict[str, str]) -> None:
    for path in (f"{API}/files", f"{API}/openapi.json", "/", "/static/main.js"):
        assert locked.get(path, headers=headers).status_code == 200


def test_the_first_visit_exchanges_the_token_for_a_cookie(locked: TestClient) -> None:
    answer = locked.get(f"/browse?file=turn.rgl&token={TOKEN}&line=check,+check")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/browse?file=turn.rgl&line=check,+check"
    assert answer.headers["set-cookie"] == f"{COOKIE}={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert locked.get(answer.headers["location"]).status_code == 200  # with the cookie
    assert locked.get(f"/?token={TOKEN}").headers["location"] == "/"


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example/x", "//evil.example"])
def test_the_redirect_stays_on_the_server(locked: TestClient, path: str) -> None:
    answer = locked.get(f"http://127.0.0.1:8040{path}?token={TOKEN}")
    assert answer.status_code == 303
    assert unquote(answer.headers["location"]).startswith("/evil.example")
    assert urlsplit(answer.headers["location"].replace("\\", "/")).netloc == ""


def test_people_get_a_page_that_says_how_to_get_in(locked: TestClient) -> None:
    headers = {"accept": "text/html,*/*;q=0.8", "cookie": f"{COOKIE}=of-an-earlier-server"}
    answer = locked.get('/browse?file="><script>', headers=headers)
    assert answer.status_code == 403
    assert answer.headers["content-type"].startswith("text/html")
    assert "regretless serve" in answer.text
    assert "refresh" not in answer.text
    (style,) = re.findall(r"<style>(.*)</style>", answer.text, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in answer.headers["content-security-policy"]  # or the browser ignores it
    assert locked.get(f"{API}/files", headers=headers).json()["error"]["code"] == "forbidden"


def test_a_link_on_another_site_is_opened_with_the_cookie_that_the_browser_kept_back(locked: TestClient) -> None:
    headers = {"accept": "text/html", "sec-fetch-site": "cross-site"}
    answer = locked.get('/browse?file="><script>&token=old', headers=headers)
    assert answer.status_code == 403
    found = re.search(r'content="0; url=([^"]*)"', answer.text)
    assert found is not None
    assert found[1].startswith("/browse?file=")
    assert "token" not in found[1]
    assert "<script>" not in answer.text


def test_the_description_names_the_token(reading: TestClient) -> None:
    described = reading.get(f"{API}/openapi.json").json()
    assert described["security"] == [{"token": []}]
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


# --- servers in processes of their own -------------------------------------------------------------------------------


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    started: list[Server] = []

    def begin(*options: str, token: str = TOKEN) -> Server:
        folder = tmp_path / f"folder-{len(started)}"
        folder.mkdir()
        started.append(Server(folder, *options, token=token))
        return started[-1]

    yield begin
    for server in started:
        server.close()


def test_a_server_prints_a_random_token(start: Callable[..., Server]) -> None:
    tokens = {urlsplit(start(token="").address).query.removeprefix("token="), new_token(), new_token()}
    assert len(tokens) == 3
    assert all(re.fullmatch(r"[\w-]{43,}", token) for token in tokens)  # 32 bytes


def test_a_server_without_a_token_says_who_can_use_it(start: Callable[..., Server]) -> None:
    server = start("--no-token")
    assert "token" not in server.address
    assert server.process.stderr is not None
    assert "every user of this machine can" in server.process.stderr.readline()
    assert server.client.get(f"{API}/files").status_code == 200


def test_a_server_for_a_network_says_what_it_opens_and_knows_its_names(start: Callable[..., Server]) -> None:
    server = start("--host", "0.0.0.0", "--allow-host", "Solver.example")
    assert server.process.stderr is not None
    line = server.process.stderr.readline()
    assert "this machine over any network and has this address" in line
    assert "nothing is encrypted" in line
    port = urlsplit(server.address).port
    for host, status in {"127.0.0.1": 200, "solver.example": 200, "192.0.2.9": 403, "evil.example": 403}.items():
        address = f"http://127.0.0.1:{port}{API}/files"
        assert server.client.get(address, headers={"host": f"{host}:{port}"}).status_code == status


@pytest.mark.parametrize("token", ["short", "x" * 15, "x" * 600, "sixteen letters!", "é" * 20, f"{TOKEN}\n"])
def test_a_token_that_is_easily_guessed_or_cannot_be_sent_is_refused(
    tmp_path: Path, token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REGRETLESS_TOKEN", token)
    assert main(["serve", str(tmp_path), "--no-browser", "--port", "0"]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("error: REGRETLESS_TOKEN: must have 16 to 512 letters, digits, - or _")
    assert printed.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can act as another user")
def test_another_user_of_the_machine_gets_no_answer_but_403(start_server: Callable[[], Server], folder: Path) -> None:
    server = start_server()
    folder.chmod(0o700)
    requests = [
        (method, path, headers)
        for method, path in EVERYTHING
        for headers in ({}, {"Authorization": "Bearer guessed"}, {"Accept": "text/html"})
    ]
    before = sorted(path.name for path in folder.rglob("*"))
    argument = json.dumps([urlsplit(server.address).port, NOBODY, requests])
    done = subprocess.run([sys.executable, "-c", AS_NOBODY, argument], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    uid, answers = json.loads(done.stdout)
    assert uid == NOBODY
    assert set(answers) == {403}
    assert sorted(path.name for path in folder.rglob("*")) == before
    assert server.client.get(f"{API}/files").status_code == 200


@pytest.mark.skipif(sys.platform != "linux", reason="reads the arguments of processes in /proc")
def test_the_browser_is_started_without_the_token_among_its_arguments(tmp_path: Path) -> None:
    browser, home, seen = tmp_path / "browser", tmp_path / "home", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$@" > {seen}.part && mv {seen}.part {seen}\n')
    browser.chmod(0o700)
    home.mkdir()
    (tmp_path / "served").mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": str(SRC),
        "BROWSER": str(browser),
        "HOME": str(home),
        "REGRETLESS_TOKEN": TOKEN,
    }
    command = [sys.executable, "-m", "regretless", "serve", str(tmp_path / "served"), "--port", "0", "--open"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        ends = time.monotonic() + 300
        while not seen.exists():
            assert time.monotonic() < ends
            time.sleep(0.02)
        opened = seen.read_text().strip()
        file = Path(unquote(urlsplit(opened).path))
        assert file.parent == home
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert process.stderr is not None
        address = re.search(r"http://[^ ]+", process.stderr.readline())
        assert address is not None
        assert address[0] in file.read_text()
        assert TOKEN in address[0]
        assert TOKEN not in opened
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 0
    assert not file.exists()
