"""What is refused: foreign hosts and origins, paths out of the folder, large and odd bodies."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API, RIVER

from regretless.page.app import ENDPOINTS, make_app


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "evil.example:8040", "0x7f.1@x", "[::2]"],
)
def test_a_foreign_host_is_refused(reading: TestClient, host: str) -> None:
    for path in (f"{API}/files", "/", "/static/main.js"):
        answer = reading.get(path, headers={"host": host})
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "forbidden"


@pytest.mark.parametrize("host", ["localhost", "localhost:9000", "127.0.0.1:8040", "[::1]:8040", "127.0.0.2"])
def test_this_machine_is_let_in(reading: TestClient, host: str) -> None:
    assert reading.get(f"{API}/files", headers={"host": host}).status_code == 200


def test_a_server_for_a_network_answers_to_its_own_names_and_addresses(solved: Path) -> None:
    app = make_app(solved, token=None, host="0.0.0.0", other_hosts=["Solver.example", "203.0.113.7"])
    with TestClient(app, base_url="http://192.168.1.5:8040") as client:  # the address that was connected to
        for host in ("192.168.1.5", "[::ffff:192.168.1.5]", "localhost", "solver.example:80", "203.0.113.7"):
            assert client.get(f"{API}/files", headers={"host": host}).status_code == 200, host
        assert client.get(f"{API}/files", headers={"host": socket.gethostname()}).status_code == 200
        for host in ("evil.example", "192.168.1.6", "[2001:db8::1]", "example"):
            assert client.get(f"{API}/files", headers={"host": host}).status_code == 403, host


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://127.0.0.1:8040.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_requests_of_other_sites_are_refused(reading: TestClient, headers: dict[str, str]) -> None:
    assert reading.post(f"{API}/ranges/parse", json={"text": "AA"}, headers=headers).status_code == 403
    assert reading.get(f"{API}/files", headers=headers).status_code == 403


def test_the_page_itself_is_let_in(reading: TestClient) -> None:
    headers = {"origin": "http://127.0.0.1:8040", "sec-fetch-site": "same-origin"}
    assert reading.post(f"{API}/ranges/parse", json={"text": "AA"}, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "file",
    [
        "../secret.rgl", "/etc/passwd", "..\\secret.rgl", "deeper/../../secret.rgl", ".hidden.rgl", ".regretless/x.rgl",
        "link.rgl", "folder/secret.rgl", "C:/x.rgl", "a\0.rgl", "x.rgl/", "", "river.txt", "a" * 280 + ".rgl",
        "//x.rgl",
        "%2e%2e/secret.rgl", "river.rgl\n", "\ud7ff\u202e.rgl",
    ],
)  # fmt: skip
def test_no_name_leads_out_of_the_folder(client: TestClient, folder: Path, file: str) -> None:
    secret = folder.parent / "secret.rgl"
    secret.write_bytes((folder / "river.rgl").read_bytes())
    os.symlink(secret, folder / "link.rgl")
    os.symlink(folder.parent, folder / "folder")
    for path in ("/node", "/file", "/spots/file", "/game", "/cards"):
        answer = client.get(f"{API}{path}", params={"file": file})
        assert answer.status_code in (400, 403, 404), (path, file, answer.text)
    for method, path, body in (
        ("PUT", "/spots/file", {"file": file, "spot": RIVER}),
        ("POST", "/solves", {"resume": file}),
        ("POST", "/solves", {"again": file}),
        ("POST", "/practice", {"files": [file]}),
        ("POST", "/locks/check", {"file": "river.rgl", "lock": {"node": "", "source": file}}),
        ("POST", "/solves", {"spot": RIVER | {"locks": [{"node": "", "source": file}]}}),
    ):
        answer = client.request(method, f"{API}{path}", json=body)
        refused = answer.status_code in (400, 403, 404) or answer.json().get("valid") is False
        assert refused, (path, file, answer.text)
    assert client.get(f"{API}/solves").json()["solves"] == []
    assert "link.rgl" not in {each["file"] for each in client.get(f"{API}/files").json()["files"]}


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/../app.py", "/app.py"]
)
def test_static_files_end_at_their_folder(reading: TestClient, path: str) -> None:
    answer = reading.get(path)
    assert answer.status_code == 404
    assert b"make_app" not in answer.content


def test_large_bodies_are_refused(reading: TestClient) -> None:
    large = b'{"text": "' + b"A" * (1 << 20) + b'"}'
    headers = {"content-type": "application/json"}
    assert reading.post(f"{API}/ranges/parse", content=large, headers=headers).status_code == 413

    def pieces() -> Any:
        for _ in range(100):
            yield b" " * 20_000

    answer = reading.post(f"{API}/ranges/parse", content=pieces(), headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too-large")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[" * 100_000, b'{"text": NaN}', b'{"text": 1e999}', b'{"text": "\xff"}', b'{"text": "\\ud800"}',
        b"1" * 10_000, b"null", b"[]", b'"AA"', b'{"text": 5}', b'{"text": "AA", "more": 1}', b'{"text": {"a": 1}}',
    ],
)  # fmt: skip
def test_odd_bodies_are_refused_with_a_sentence(reading: TestClient, content: bytes) -> None:
    answer = reading.post(f"{API}/ranges/parse", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "malformed"
    assert error["message"]


def test_other_content_types_are_refused(reading: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = reading.post(f"{API}/ranges/parse", content=b'{"text": "AA"}', headers={"content-type": kind})
        assert answer.status_code == 415


def test_unknown_addresses_and_methods_are_answered_in_json(reading: TestClient) -> None:
    assert reading.get(f"{API}/nothing").json()["error"]["code"] == "not-found"
    assert reading.delete(f"{API}/files").json()["error"]["code"] == "not-allowed"
    assert reading.get("/api/v2/files").status_code == 404


def test_answers_forbid_what_the_page_does_not_need(reading: TestClient) -> None:
    for path in (f"{API}/files", f"{API}/nothing", "/"):
        headers = reading.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "http" not in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
    assert reading.get(f"{API}/files").headers["cache-control"] == "no-store"


def test_every_endpoint_is_described(reading: TestClient) -> None:
    described = reading.get(f"{API}/openapi.json").json()
    operations = {(method, path) for path, entry in described["paths"].items() for method in entry}
    assert operations == {(each.method.lower(), API + each.path) for each in ENDPOINTS}
    names = [operation["operationId"] for entry in described["paths"].values() for operation in entry.values()]
    assert len(set(names)) == len(names)
    assert described["openapi"].startswith("3.1")
