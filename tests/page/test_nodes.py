"""Nodes as the page gets them: the same numbers as everywhere, from the same file."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.page.serving import API

import regretless as rl
from regretless.cards.hands import hand_text
from regretless.cards.ranges import Range
from regretless.holdem import SpotSolution
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.nodes import Runout
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.page import comparing

QUICK = [
    ("/node", {"file": "turn.rgl", "line": "check"}),
    ("/solves", {}),
    ("/files", {}),
    ("/compare/node", {"first": "turn.rgl", "second": "turn.rgl", "line": "check", "player": "ip"}),
    ("/compare", {"first": "turn.rgl", "second": "turn.rgl"}),
    ("/cards", {"file": "turn.rgl", "line": "check, check"}),
]
LINES = ["", "check", "check, bet 40", "check, check", "check, check, 7d", "check, check, 7d, check, bet 40, fold"]


def node(client: TestClient, file: str, line: str) -> dict[str, Any]:
    answer = client.get(f"{API}/node", params={"file": file, "line": line})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("line", LINES)
def test_a_node_has_the_numbers_of_the_solution(reading: TestClient, solved: Path, line: str) -> None:
    solution = rl.load(solved / "turn.rgl")
    assert isinstance(solution, SpotSolution)
    view, found = solution.node(line), node(reading, "turn.rgl", line)
    assert (found["kind"], found["player"], found["pot"]) == (view.kind, view.player, view.pot)
    assert [action["name"] for action in found["actions"]] == list(view.actions)
    if view.kind == "decision":
        assert [action["frequency"] for action in found["actions"]] == pytest.approx(view.frequencies, abs=1e-6)
        assert np.array(found["strategy"]) == pytest.approx(view.strategy, abs=1e-6)
    for player, table in view.hands.items():
        about = found["players"][player]
        assert about["ev"] == pytest.approx(view.ev(player), abs=1e-5)
        assert about["hands"]["hand"] == table.hand.tolist()
        known = [np.nan if value is None else value for value in about["hands"]["ev"]]
        assert known == pytest.approx(table.ev, abs=1e-5, nan_ok=True)
        assert sum(group["share"] for group in about["made"]) == pytest.approx(1, abs=1e-4)
        assert sum(group["combos"] for group in about["draws"]) == pytest.approx(about["combos"], abs=1e-4)
        curve = about["distribution"]["equity"]
        assert len(curve) == 101
        assert curve == sorted(curve)
        assert (sum(curve) - (curve[0] + curve[-1]) / 2) / 100 == pytest.approx(about["equity"], abs=1e-4)


def test_a_hand_plays_as_the_command_shows_it(reading: TestClient, solved: Path) -> None:
    command = [sys.executable, "-m", "regretless", "show", str(solved / "river.rgl"), "--line", "check", "--hands"]
    shown = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    row = next(row for row in shown["node"]["hands"]["ip"] if row["hand"] == "KdQc")
    found = node(reading, "river.rgl", "check")
    column = [hand_text(hand) for hand in found["players"]["ip"]["hands"]["hand"]].index("KdQc")
    names = [action["name"] for action in found["actions"]]
    played = {name: found["strategy"][place][column] for place, name in enumerate(names)}
    assert played == pytest.approx(row["strategy"], abs=1e-6)


def test_the_strip_leads_from_the_root_to_the_node(reading: TestClient) -> None:
    found = node(reading, "turn.rgl", "check, check, 7d, check")
    kinds = [(tile["kind"], tile["line"]) for tile in found["strip"]]
    assert kinds == [
        ("street", ""), ("decision", ""), ("decision", "check"), ("street", "check, check"),
        ("decision", "check, check, 7d"), ("decision", "check, check, 7d, check"),
    ]  # fmt: skip
    assert [tile["cards"] for tile in found["strip"] if tile["kind"] == "street"] == [["Ks", "9h", "4h", "2c"], ["7d"]]
    assert [tile["taken"] for tile in found["strip"] if tile["kind"] == "decision"] == [0, 0, 0, None]
    for tile in found["strip"]:
        if tile["kind"] == "decision":
            earlier = node(reading, "turn.rgl", tile["line"])
            assert [a["frequency"] for a in tile["actions"]] == [a["frequency"] for a in earlier["actions"]]
    assert found["players"]["oop"]["last"] == "check"
    reached = node(reading, "turn.rgl", "check")["reached"]
    assert reached == pytest.approx(node(reading, "turn.rgl", "")["actions"][0]["frequency"], abs=1e-6)


def test_amounts_are_those_of_the_tree(reading: TestClient) -> None:
    bet = node(reading, "turn.rgl", "")["actions"][1]
    assert (bet["kind"], bet["amount"], bet["pot_share"]) == ("bet", 40, pytest.approx(2 / 3, abs=1e-6))
    fold, call, raised = node(reading, "turn.rgl", "bet 40")["actions"]
    assert (fold["kind"], call["kind"], raised["kind"], raised["amount"]) == ("fold", "call", "all-in", 240)
    assert raised["pot_share"] == pytest.approx((240 - 40) / (60 + 80), abs=1e-6)
    assert node(reading, "turn.rgl", "bet 40")["to_call"] == 40


def test_each_card_is_reported(reading: TestClient) -> None:
    answer = reading.get(f"{API}/cards", params={"file": "turn.rgl", "line": "check, check"}).json()
    assert (answer["street"], len(answer["cards"])) == ("river", 48)
    some = answer["cards"][5]
    there = node(reading, "turn.rgl", some["next"])
    assert some["frequencies"] == [action["frequency"] for action in there["actions"]]
    assert some["ev"]["oop"] == there["players"]["oop"]["ev"]
    wrong = reading.get(f"{API}/cards", params={"file": "turn.rgl", "line": "check"})
    assert wrong.status_code == 422
    assert "no card is dealt here" in wrong.json()["error"]["message"]


def test_lines_and_files_that_do_not_exist_are_refused(reading: TestClient) -> None:
    for params, status, words in (
        ({"file": "turn.rgl", "line": "bet 41"}, 422, "bet 41"),
        ({"file": "turn.rgl", "line": "check, check, Ks"}, 422, "already on the board"),
        ({"file": "absent.rgl"}, 404, "not in the served folder"),
        ({"file": "kuhn.rgl"}, 404, "not a solved spot"),
        ({}, 400, "file: is missing"),
        ({"file": "turn.rgl", "lines": ""}, 400, "not a parameter"),
    ):
        answer = reading.get(f"{API}/node", params=params)
        assert answer.status_code == status, answer.text
        assert words in answer.json()["error"]["message"]


def test_a_damaged_file_is_one_sentence(client: TestClient, folder: Path) -> None:
    content = bytearray((folder / "turn.rgl").read_bytes())
    for place in range(len(content) // 20, len(content), 1000):
        content[place] ^= 255
    (folder / "turn.rgl").write_bytes(content)
    said = [client.get(f"{API}/node", params={"file": "turn.rgl", "line": line}) for line in LINES]
    refused = [answer for answer in said if answer.status_code != 200]
    assert refused
    for answer in refused:
        assert answer.status_code == 422
        assert answer.json()["error"]["message"].startswith("turn.rgl: is damaged")


def test_other_requests_are_answered_while_a_report_is_computed(
    reading: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ends = threading.Event(), threading.Event()
    runouts = SpotReader.runouts

    def slow_at_first(reader: SpotReader, node: LineNode, then: str = "") -> Iterator[Runout]:
        first, *rest = runouts(reader, node, then)
        yield first
        if not began.is_set():
            began.set()
            while not ends.wait(0.02):
                yield first
        yield from rest

    monkeypatch.setattr(SpotReader, "runouts", slow_at_first)
    monkeypatch.setattr(comparing, "MAX_SEARCH_SECONDS", 0.1)
    path, params = QUICK[-1]
    with ThreadPoolExecutor(len(QUICK) + 1) as pool:
        slow = pool.submit(reading.get, API + path, params=params)
        try:
            assert began.wait(60)
            others = [pool.submit(reading.get, API + path, params=params) for path, params in QUICK]
            assert [other.result(20).status_code for other in others] == [200] * len(others)
            assert not slow.done()
        finally:
            ends.set()
        assert slow.result(60).status_code == 200


@pytest.mark.parametrize("format", ["short", "gto+", "weights"])
def test_the_ranges_of_a_node_read_back_to_its_weights(reading: TestClient, format: str) -> None:
    asked = {"file": "river.rgl", "line": "check"}
    answer = reading.get(f"{API}/node/ranges", params=asked | {"format": format}).json()
    node = reading.get(f"{API}/node", params=asked).json()
    assert [(each["player"], each["action"]) for each in answer["ranges"]] == [
        ("oop", None), ("ip", None), *(("ip", action["name"]) for action in node["actions"]),
    ]  # fmt: skip
    hands = node["players"]["ip"]["hands"]
    for each in answer["ranges"][1:]:
        weights = Range.parse(each["text"]).weights
        row = [action["name"] for action in node["actions"]].index(each["action"]) if each["action"] else None
        played = np.array(hands["weight"]) * (1 if row is None else np.array(node["strategy"][row]))
        np.testing.assert_allclose(weights[hands["hand"]], played, atol=6e-4)
        assert weights.sum() == pytest.approx(each["combos"], abs=1e-6)
