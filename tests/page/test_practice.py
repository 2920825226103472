"""Practice: fair deals, no peeking, EV lost as the solution says."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API

from regretless.cards.hands import hand_text


def begin(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{API}/practice", json={"file": "turn.rgl", "seed": 5} | body)
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
    over = reading.post(f"{API}/practice", json={"file": "turn.rgl", "line": "bet 40, fold"})
    assert over.status_code == 422
    while not state["over"]:
        state = act(reading, state, state["actions"][0]["name"])
    again = reading.post(f"{API}/practice/{state['id']}/act", json={"action": "check"})
    assert again.status_code == 409
