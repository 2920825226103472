"""Requests that nobody would write, drawn from the OpenAPI description: no answer is a 5xx, and each is as described.

For every operation, parameters and bodies are drawn from their schemas, then some of them are spoiled: a value of
another type, a missing or an unknown field, a hostile text. Texts are drawn from what means something somewhere: files,
lines, ranges, sizes, ids. Solves are started as well, but only as many as there is room for in the queue.
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API, RIVER, TURN

from regretless.page.app import make_app
from regretless.page.schema import check

TEXTS = [
    "", "river.rgl", "turn.rgl", "kuhn.rgl", "leduc.rgl", "river.toml", "no/where.toml", "absent.rgl", "../river.rgl",
    "/etc/passwd", "check", "check, check", "check, check, 7d", "check, check, 7d, check",
    "bet 40, call, Th, bet 1e9", "check, bet 40", "bet 40, fold", "check, check, Ks", "x, b40, f", "c" * 500,
    "check, " * 100, "AA", "22+, AKs:0.5", "100%", "AKx", "AhKh:2", "33%, a", "2.5x", "1e309c", "e" * 50, "Ks 9h 4h",
    "Ks 9h 4h 2c 7d", "Zz", "kuhn", "leduc(ranks=3)", "leduc(ranks=", "openspiel:chess", "plus", "lp",
    "discounted(gamma=3)", "oop", "ip", "board = 'Ks 9h 4h 2c 7d'", "pot = [[[[", "\0", "\u202e", "é🂡", "%2e%2e%2f",
    "<script>", "' OR 1=1 --", "${7*7}", "NaN", "-1", "1e400", "null",
]  # fmt: skip
NUMBERS = [0, 1, -1, 2, 3, 5, 16, 32, 0.3, 0.5, 1e-9, 100, 101, 10**6, 10**18, 10**30, -0.0, 1e308, 12345.678]


class Fuzzer:
    """Draws requests from a description."""

    def __init__(self, description: dict[str, Any], seed: int) -> None:
        self.random = random.Random(seed)
        self.operations = [
            (method.upper(), path, operation)
            for path, entry in description["paths"].items()
            for method, operation in entry.items()
            if "text/event-stream" not in json.dumps(operation["responses"])
        ]

    def request(self, ids: list[str]) -> tuple[str, str, bytes | None, dict[str, Any]]:
        """A method, an address, a body, and the schema of a good answer."""
        method, path, operation = self.random.choice(self.operations)
        query = []
        for parameter in operation["parameters"]:
            name = parameter["name"]
            if parameter["in"] == "path":
                given = self.random.choice([*ids, "nobody"]) if self.rarely(0.9) else self.random.choice(TEXTS)
                path = path.replace(f"{{{name}}}", quote(given, safe="") or "x")
            elif parameter["required"] or self.rarely(0.6):
                value = self.value(parameter["schema"], name)
                query.append(f"{quote(name)}={quote(_plain(value), safe='')}")
        if self.rarely(0.03):
            query.append(f"{quote(self.random.choice(TEXTS))}=1")
        content = None
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            content = self.spoil(json.dumps(self.value(schema, "body")).encode())
        good = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
        return method, f"{path}?{'&'.join(query)}", content, good["content"]["application/json"]["schema"]

    def rarely(self, share: float) -> bool:
        return self.random.random() < share

    def value(self, schema: dict[str, Any], name: str) -> Any:
        """A value of a schema, or sometimes of another."""
        if self.rarely(0.03):
            return self.anything()
        if "enum" in schema and self.rarely(0.9):
            return self.random.choice(schema["enum"])
        if name == "study" and self.rarely(0.9):
            return self.random.choice(["study", "study", ".", "../study", "study/runs"])
        if name == "spot" and schema.get("type") == "string":
            return self.random.choice(["QsJh2h-1", "9s8s7s-1", "../QsJh2h-1"])
        if name == "spot" and self.rarely(0.9):
            return self.spot()
        if (
            name in ("file", "files", "first", "second", "resume", "again", "source")
            and "array" not in schema.get("type", "")
            and self.rarely(0.8)
        ):
            return self.random.choice(TEXTS[1:7])
        if name in ("line", "node", "then") and self.rarely(0.8):
            return self.random.choice(TEXTS[10:17])
        kinds = schema.get("type", ["string", "number", "object"])
        match self.random.choice(kinds if isinstance(kinds, list) else [kinds]):
            case "string":
                return self.random.choice(TEXTS)
            case "number" | "integer":
                return self.random.choice(NUMBERS)
            case "boolean":
                return self.rarely(0.5)
            case "array":
                count = schema.get("minItems", self.random.choice([0, 1, 2, 5]))
                item = self.value(schema.get("items", {}), name)
                return (
                    [item] * count if count > 20 else [self.value(schema.get("items", {}), name) for _ in range(count)]
                )
            case "object":
                return self.object(schema)
        return None

    def object(self, schema: dict[str, Any]) -> dict[str, Any]:
        found = {
            name: self.value(inner, name)
            for name, inner in schema.get("properties", {}).items()
            if self.rarely(0.97 if name in schema.get("required", ()) else 0.4)
        }
        if self.rarely(0.05) or not schema.get("properties"):
            found[self.random.choice(TEXTS)] = self.anything()
        return found

    def spot(self) -> dict[str, Any]:
        spot: dict[str, Any] = dict(self.random.choice([RIVER, TURN]))
        for _ in range(self.random.choice([0, 0, 1, 2])):
            name = self.random.choice([*spot, "rules", "lines", "locks", "name", self.random.choice(TEXTS)])
            spot[name] = self.random.choice(
                [self.anything(), {"range": self.random.choice(TEXTS)}, {"bet": self.random.choice(TEXTS)}, None]
            )
        return spot

    def anything(self, depth: int = 0) -> Any:
        choice = self.random.randrange(7 if depth < 3 else 5)
        if choice == 5:
            return [self.anything(depth + 1) for _ in range(self.random.choice([0, 1, 3]))]
        if choice == 6:
            return {self.random.choice(TEXTS): self.anything(depth + 1) for _ in range(self.random.choice([0, 1, 3]))}
        return [self.random.choice(TEXTS), self.random.choice(NUMBERS), None, True, ""][choice]

    def spoil(self, content: bytes) -> bytes:
        if self.rarely(0.03):
            place = self.random.randrange(len(content))
            return content[:place] + bytes([self.random.randrange(256)]) + content[place + 1 :]
        return content[: self.random.randrange(len(content))] if self.rarely(0.01) else content


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def fuzz(folder: Path, requests: int, seed: int) -> None:
    aside = shutil.copytree(folder, folder.parent / "aside")
    files = [path.name for path in aside.iterdir() if path.is_file()]
    with TestClient(
        make_app(folder, token=None), base_url="http://127.0.0.1:8040", raise_server_exceptions=False
    ) as client:
        fuzzer = Fuzzer(client.get(f"{API}/openapi.json").json(), seed)
        ids: list[str] = []
        seen: set[int] = set()
        for number in range(requests):
            method, address, content, expected = fuzzer.request(ids)
            headers = {} if content is None else {"content-type": "application/json"}
            answer = client.request(method, address, content=content, headers=headers)
            seen.add(answer.status_code)
            assert answer.status_code < 500, (seed, number, method, address, content, answer.text)
            body = answer.json()
            if answer.status_code >= 400:
                assert set(body["error"]) == {"code", "message", "field", "position"}, (method, address, body)
                assert body["error"]["message"], (method, address, content)
                assert "\n" not in body["error"]["message"]
                assert str(folder) not in answer.text, (method, address, content, answer.text)
            else:
                check(body, expected, f"{method} {address}")
            found = body.get("solve", body.get("practice"))
            if isinstance(found, dict):
                ids = [*ids[-20:], found["id"]]
            for name in [name for name in files if not (folder / name).exists()]:  # renamed or deleted
                shutil.copy(aside / name, folder / name)
        for solve in client.get(f"{API}/solves").json()["solves"]:
            client.post(f"{API}/solves/{solve['id']}/stop", json={})
        assert seen >= {200, 201, 400, 403, 404, 422}  # whether solves conflict (409) depends on their timing


def test_five_hundred_requests_never_fail(folder: Path) -> None:
    fuzz(folder, 500, seed=11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_ten_thousand_requests_never_fail(folder: Path, seed: int) -> None:
    fuzz(folder, 2_000, seed=100 + seed)
