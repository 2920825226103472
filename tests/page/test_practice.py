"""Practice: fair deals, no peeking, EV lost as the solution says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API, RIVER

import regretless as rl
from regretless.cards.hands import hand_text
from regretless.holdem import Spot


def begin(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{API}/practice", json={"files": ["turn.rgl"], "seed": 5} | body)
    assert answer.status_code == 201, answer.text
    state: dict[str, Any] = answer.json()["practice"]
    return state


def act(client: TestClient, state: dict[str, Any], action: str) -> dict[str, Any]:
    answer = client.post(f"{API}/practice/{state['id']}/act", json={"action": action})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["practice"]
    return found


def test_a_decision_is_judged_by_the_solution(reading: TestClient) -> None:
    state = begin(reading, player="oop")
    node = reading.get(f"{API}/node", params={"file": "turn.rgl", "line": state["line"]}).json()
    column = [hand_text(hand) for hand in node["players"]["oop"]["hands"]["hand"]].index(state["hand"])
    ev = [row[column] for row in node["action_ev"]]
    after = act(reading, state, "bet 40")
    judged = after["feedback"]
    assert list(judged["ev"].values()) == ev
    assert judged["lost"] == pytest.approx(max(ev) - ev[1], abs=1e-5)
    assert after["score"]["decisions"] == sum(after["score"]["grades"].values()) == 1


def test_hands_are_played_to_the_end_and_the_score_runs_on(reading: TestClient) -> None:
    state = begin(reading, player=None)
    decisions = 0
    ends = set()
    seats = set()
    for number in range(1, 31):
        seats.add(state["player"])
        known = [*state["hole"], *state["board"]]
        assert len(set(known)) == len(known)
        while not state["over"]:
            assert state["outcome"] is None
            assert all(action["frequency"] is None for tile in state["strip"] for action in tile.get("actions", ()))
            state = act(reading, state, state["actions"][number % len(state["actions"])]["name"])
            decisions += 1
        assert state["actions"] == []
        ends.add(state["outcome"]["end"])
        if state["outcome"]["end"] == "showdown":
            assert len({*state["hole"], *state["outcome"]["opponent"], *state["board"]}) == 9
        else:
            assert state["outcome"]["opponent"] is None
        assert (state["score"]["hands"], state["score"]["decisions"]) == (number, decisions)
        state = reading.post(f"{API}/practice/{state['id']}/deal", json={}).json()["practice"]
    assert ends == {"fold", "showdown"}
    assert seats == {"oop", "ip"}


def test_hands_come_from_the_ranges_at_the_start(reading: TestClient) -> None:
    state = begin(reading, player="ip", line="bet 40")
    node = reading.get(f"{API}/node", params={"file": "turn.rgl", "line": "bet 40"}).json()
    held = {hand_text(hand) for hand in node["players"]["ip"]["hands"]["hand"]}
    for _ in range(20):
        assert state["line"] == "bet 40"
        assert state["hand"] in held
        state = reading.post(f"{API}/practice/{state['id']}/deal", json={}).json()["practice"]


def test_what_cannot_be_played_is_refused(reading: TestClient) -> None:
    state = begin(reading, player="oop")
    wrong = reading.post(f"{API}/practice/{state['id']}/act", json={"action": "bet 7"})
    assert wrong.status_code == 422
    assert reading.get(f"{API}/practice/{state['id']}").json()["practice"]["line"] == state["line"]
    assert reading.post(f"{API}/practice/nobody/act", json={"action": "check"}).status_code == 404
    over = reading.post(f"{API}/practice", json={"files": ["turn.rgl"], "line": "bet 40, fold"})
    assert over.status_code == 422
    while not state["over"]:
        state = act(reading, state, state["actions"][0]["name"])
    again = reading.post(f"{API}/practice/{state['id']}/act", json={"action": "check"})
    assert again.status_code == 409


def test_only_decisions_that_are_asked_for_come_up(reading: TestClient) -> None:
    files = ["turn.rgl", "river.rgl"]
    state = begin(reading, files=files, single=True, streets=["river"], facing=["bet"])
    dealt = set()
    for number in range(1, 31):
        dealt.add(state["file"])
        assert not state["over"]
        assert state["to_call"] > 0
        assert len(state["board"]) == 5
        assert "fold" in [action["name"] for action in state["actions"]]
        before = state
        state = act(reading, state, "fold")
        assert state["feedback"]["hand"] == before["hand"]
        assert (state["feedback"]["file"], state["feedback"]["board"]) == (before["file"], before["board"])
        assert (state["score"]["hands"], state["score"]["decisions"]) == (number + 1, number)
    assert dealt == set(files)


def test_a_decision_that_never_comes_up_is_said_to(reading: TestClient) -> None:
    refused = reading.post(f"{API}/practice", json={"files": ["river.rgl"], "streets": ["flop"]})
    assert refused.status_code == 404
    assert "no hand of 'river.rgl' came to such a decision" in refused.json()["error"]["message"]


def test_a_solution_without_such_a_decision_is_passed_over(reading: TestClient) -> None:
    state = begin(reading, files=["river.rgl", "turn.rgl"], streets=["turn"], single=True)
    for _ in range(10):
        assert state["file"] == "turn.rgl"
        state = act(reading, state, state["actions"][0]["name"])
    assert state["files"] == ["river.rgl", "turn.rgl"]
    files = ["river.rgl", "turn.rgl", "river.rgl"]
    refused = reading.post(f"{API}/practice", json={"files": files, "streets": ["flop"]})
    assert refused.status_code == 404


def test_whole_hands_begin_at_a_decision_that_is_asked_for(reading: TestClient) -> None:
    state = begin(reading, streets=["river"])
    assert len(state["board"]) == 5
    state = act(reading, state, state["actions"][0]["name"])
    assert state["score"]["decisions"] == 1


def test_mistakes_are_kept_and_sorted_by_what_they_cost(client: TestClient, folder: Path) -> None:
    client.request("DELETE", f"{API}/practice/mistakes")
    state = begin(client, single=True, facing=["bet"], files=["river.rgl", "turn.rgl"])
    for _ in range(40):
        state = act(client, state, "fold")
    mistakes = client.get(f"{API}/practice/mistakes").json()["mistakes"]
    lost = [each["lost_pct_pot"] for each in mistakes]
    assert len(mistakes) == sum(state["score"]["grades"][name] for name in ("inaccuracy", "mistake", "blunder")) > 3
    assert lost == sorted(lost, reverse=True)
    worst = mistakes[0]
    node = client.get(f"{API}/node", params={"file": worst["file"], "line": worst["line"]}).json()
    column = [hand_text(hand) for hand in node["players"][worst["player"]]["hands"]["hand"]].index(worst["hand"])
    ev = [row[column] for row in node["action_ev"]]
    assert 100 * (max(ev) - ev[0]) / node["pot"] == pytest.approx(worst["lost_pct_pot"], abs=1e-3)
    assert client.request("DELETE", f"{API}/practice/mistakes").json() == {"mistakes": []}
    assert client.get(f"{API}/practice/mistakes").json() == {"mistakes": []}


def test_a_list_of_mistakes_from_somebody_else_does_no_harm(client: TestClient, folder: Path, tmp_path: Path) -> None:
    state = folder / ".regretless"
    state.mkdir(exist_ok=True)
    for content in ("{", '{"mistakes": [{"file": 3}]}', "[" * 10_000):
        (state / "practice.json").write_text(content)
        assert client.get(f"{API}/practice/mistakes").json() == {"mistakes": []}
    (state / "practice.json").unlink()
    (tmp_path / "precious.json").write_text("precious")
    (state / "practice.json").symlink_to(tmp_path / "precious.json")
    assert client.get(f"{API}/practice/mistakes").json() == {"mistakes": []}
    assert client.request("DELETE", f"{API}/practice/mistakes").status_code == 200
    assert (tmp_path / "precious.json").read_text() == "precious"


def test_a_decision_without_a_choice_is_not_asked(client: TestClient, folder: Path) -> None:
    spot = Spot.from_mapping(RIVER | {"bets": {"river": {"oop": {"bet": ""}, "ip": {"bet": "50%"}}}})
    rl.solve(spot, iterations=5, threads=1).save(folder / "checked.rgl")
    for single in (True, False):
        state = begin(client, files=["checked.rgl"], player="oop", single=single, seed=3)
        for _ in range(10):
            assert state["over"] or len(state["actions"]) > 1
            if state["over"] or single:
                state = client.post(f"{API}/practice/{state['id']}/deal", json={}).json()["practice"]
            else:
                state = act(client, state, state["actions"][0]["name"])
