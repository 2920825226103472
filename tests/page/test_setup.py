"""Setting up a spot: errors of all fields at once, in the solver's own words; ranges; files."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API, RIVER, TURN

from regretless.cards.ranges import Range
from regretless.holdem import Spot, betting_tree, estimate_spot
from regretless.holdem.games.charts import chart_formations
from regretless.holdem.spots.formations import formations
from regretless.page import spots


def test_every_wrong_field_is_named_at_once(reading: TestClient) -> None:
    spot = {
        "board": "Ks 9h 4h 2",
        "pot": "6o",
        "stack": -5,
        "oop": {"range": "AKx"},
        "ip": {"range": ""},
        "bets": {"bet": "33%,", "raise": "3y", "river": {"oop": {"bet": "2x"}}, "max_raises": "many"},
        "rules": {"rake": "7"},
        "lines": {"add": ["bet 9 9"]},
    }
    answer = reading.post(f"{API}/spots/check", json={"spot": spot}).json()
    assert not answer["valid"]
    assert answer["toml"] is answer["estimate"] is None
    found = {error["field"]: error for error in answer["errors"]}
    assert set(found) >= {
        "board", "pot", "stack", "oop.range", "ip.range", "bets.bet", "bets.raise", "bets.river.oop.bet",
        "bets.max_raises", "rules.rake",
    }  # fmt: skip
    assert found["oop.range"]["message"] == "'AKx' at position 3: 'x' is neither s, o nor a suit"
    assert found["oop.range"]["position"] == 3
    assert found["pot"]["message"] == "'6o' must be a number"


@pytest.mark.parametrize(
    ("options", "field", "message"),
    [
        ({"target": "abc"}, "target", "'abc' must be a number"),
        ({"target": "0"}, "target", "0 is not above 0"),
        ({"threads": "1.5"}, "threads", "'1.5' must be a whole number"),
        ({"threads": 0}, "threads", "0 is less than 1"),
    ],
)
def test_a_wrong_option_beside_the_spot_is_named_too(
    reading: TestClient, options: dict[str, object], field: str, message: str
) -> None:
    answer = reading.post(f"{API}/spots/check", json={"spot": RIVER, **options}).json()
    assert not answer["valid"]
    assert answer["errors"] == [{"field": field, "message": message, "position": None}]
    assert answer["estimate"] is not None


def test_options_are_read_as_typed(reading: TestClient) -> None:
    fine, empty = (
        reading.post(f"{API}/spots/check", json={"spot": RIVER, "target": target, "threads": threads}).json()
        for target, threads in ((" 0.01", "1"), ("", " "))
    )
    assert fine["valid"]
    assert empty["valid"]
    assert fine["estimate"]["iterations"] > empty["estimate"]["iterations"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pot": "-3"}, "-3 must be above 0"),
        ({"pot": "1e400"}, "'1e400' must be a number"),
        ({"board": "Ks 9h"}, "'Ks 9h' has 2 cards: give 3 for a flop, 4 for a turn or 5 for a river"),
        ({"oop": {"range": "KsQs"}}, "'KsQs' is entirely blocked by the board Ks 9h 4h 2c 7d"),
    ],
)
def test_what_was_typed_is_quoted(reading: TestClient, changed: dict[str, object], message: str) -> None:
    answer = reading.post(f"{API}/spots/check", json={"spot": RIVER | changed}).json()
    assert [error["message"] for error in answer["errors"]] == [message]


def test_an_empty_form_says_what_is_missing(reading: TestClient) -> None:
    answer = reading.post(f"{API}/spots/check", json={"spot": {}}).json()
    assert [error["field"] for error in answer["errors"]] == ["board", "pot", "stack", "oop.range", "ip.range", "bets"]
    assert {error["message"] for error in answer["errors"]} == {"is missing from the spot"}


def test_a_sound_spot_is_estimated_as_the_command_estimates_it(reading: TestClient) -> None:
    typed = TURN | {"pot": "60", "stack": " 240 ", "rules": {"rake": "", "min_bet": "2"}}
    answer = reading.post(f"{API}/spots/check", json={"spot": typed, "threads": 1}).json()
    spot = Spot.from_mapping(TURN | {"rules": {"min_bet": 2}})
    assert answer["errors"] == []
    assert Spot.parse(answer["toml"]) == spot
    expected = estimate_spot(spot, threads=1)
    assert answer["estimate"]["nodes"] == expected.nodes
    assert answer["estimate"]["memory_bytes"]["32"] == expected.memory_bytes[32]
    assert answer["estimate"]["file_bytes"] == {str(bits): size for bits, size in expected.resumable_bytes.items()}
    assert answer["estimate"]["seconds"] > 0


def test_warnings_are_passed_on(reading: TestClient) -> None:
    spot = RIVER | {"pot": 5.5, "stack": 97, "bets": {"bet": "33%"}}
    (warning,) = reading.post(f"{API}/spots/check", json={"spot": spot}).json()["warnings"]
    assert "rules.chip" in warning


def test_the_tree_is_cut_from_below(reading: TestClient) -> None:
    tree = betting_tree(Spot.from_mapping(TURN))
    answer = reading.post(f"{API}/spots/tree", json={"spot": TURN, "most": 7}).json()
    assert answer["betting_nodes"] == len(tree.kind)
    assert answer["truncated"]
    assert [node["action"] for node in answer["nodes"]] == [label or None for label in tree.labels[:7]]
    whole = reading.post(f"{API}/spots/tree", json={"spot": TURN, "most": 5000}).json()
    assert not whole["truncated"]
    assert {node["kind"] for node in whole["nodes"]} == {"decision", "chance", "fold", "showdown"}
    wrong = reading.post(f"{API}/spots/tree", json={"spot": TURN | {"pot": 0}})
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "pot")


def test_toml_goes_in_and_out(client: TestClient, folder: Path) -> None:
    text = client.post(f"{API}/spots/write", json={"spot": RIVER}).json()["toml"]
    fields = client.post(f"{API}/spots/read", json={"toml": text}).json()["spot"]
    assert Spot.from_mapping(fields) == Spot.from_mapping(RIVER)
    wrong = client.post(f"{API}/spots/read", json={"toml": text.replace('"Ks 9h 4h 2c 7d"', "3")})
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "board")
    opened = client.get(f"{API}/spots/file", params={"file": "river.toml"}).json()
    assert Spot.from_mapping(opened["spot"]) == Spot.from_mapping(RIVER)
    body = {"file": "other.toml", "spot": TURN}
    assert client.put(f"{API}/spots/file", json=body).status_code == 200
    assert Spot.read(folder / "other.toml") == Spot.from_mapping(TURN)
    assert client.put(f"{API}/spots/file", json=body).status_code == 409
    assert client.put(f"{API}/spots/file", json=body | {"replace": True}).status_code == 200


@pytest.mark.parametrize("style", ["short", "gto+", "weights"])
def test_ranges_survive_every_format(reading: TestClient, style: str) -> None:
    parsed = reading.post(f"{API}/ranges/parse", json={"text": "22+, AKs:0.5, QhJh"}).json()
    assert parsed["combos"] == 78 + 2 + 1
    text = reading.post(f"{API}/ranges/format", json={"weights": parsed["weights"], "format": style}).json()["text"]
    again = reading.post(f"{API}/ranges/parse", json={"text": text}).json()
    assert again["weights"] == parsed["weights"]


def test_a_wrong_range_is_answered_with_its_position(reading: TestClient) -> None:
    answer = reading.post(f"{API}/ranges/parse", json={"text": "22+, AKx"}).json()
    assert answer["error"]["position"] == 8
    assert answer["weights"] is None


def test_formations_are_spots_in_themselves(reading: TestClient, recwarn: pytest.WarningsRecorder) -> None:
    listed = reading.get(f"{API}/presets").json()["presets"]
    shipped = (*formations(), *chart_formations())
    assert [each["key"] for each in listed] == [each.key for each in shipped]
    assert len({each.key for each in shipped}) == len(shipped)
    for each in shipped:
        spot = Spot.from_mapping(
            {
                "board": "Qs 7h 2d",
                "pot": each.pot,
                "stack": each.stack,
                "oop": {"range": each.oop.range},
                "ip": {"range": each.ip.range},
                "bets": {"bet": "33%, 75%"},
                "rules": {"chip": 0.01},
            }
        )
        assert spot.oop.combos > 40
        assert Range.parse(each.ip.range).combos > 40
    assert [str(warning.message) for warning in recwarn if "range" in str(warning.message)] == []


def test_files_are_listed_with_what_they_hold(client: TestClient, folder: Path) -> None:
    (folder / "broken.rgl").write_bytes(b"nothing")
    (folder / ".hidden.rgl").write_bytes(b"nothing")
    (folder / "typo.toml").write_text("board = ")
    (folder / "study.toml").write_text('pot = 60\nstack = 100\noop.range = "QQ"\nip.range = "JJ"\nbets.bet = "50%"\n')
    (folder / "game.toml").write_text("stack = 10\nsmall_blind = 0.5\nbig_blind = 1\npreflop.open = 'a'\n")
    (folder / "deeper").mkdir()
    (folder / "river.rgl").rename(folder / "deeper" / "river.rgl")
    files = {each["file"]: each for each in client.get(f"{API}/files").json()["files"]}
    kinds = {name: each["kind"] for name, each in files.items()}
    assert kinds == {
        "deeper/river.rgl": "spot", "turn.rgl": "spot", "kuhn.rgl": "game", "leduc.rgl": "game", "river.toml": "toml",
        "broken.rgl": "unreadable", "typo.toml": "toml", "push-fold.rgl": "push-fold",
    }  # fmt: skip
    assert files["turn.rgl"]["board"] == TURN["board"]
    assert files["turn.rgl"]["exploitability"] <= 0.5
    assert str(folder) not in files["broken.rgl"]["note"]
    about = client.get(f"{API}/file", params={"file": "deeper/river.rgl"}).json()
    assert abs(sum(about["ev"].values()) - 60) < 0.01
    assert about["curve"][-1][2] == pytest.approx(about["exploitability"])


def test_solutions_that_locks_name_are_shown_relative_to_the_folder(client: TestClient, folder: Path) -> None:
    (folder / "below").mkdir()
    for file, source in (("below/locked.toml", "../river.rgl"), ("outside.toml", "../elsewhere.rgl")):
        lock = f'[[locks]]\nnode = "check"\nsource = "{source}"\n'
        (folder / file).write_text(f"{Spot.from_mapping(RIVER).to_toml()}\n{lock}", encoding="utf-8")
    opened = client.get(f"{API}/spots/file", params={"file": "below/locked.toml"}).json()
    assert opened["spot"]["locks"][0]["source"] == "river.rgl"
    spot = opened["spot"]
    answers = [
        client.get(f"{API}/spots/file", params={"file": "outside.toml"}),
        client.post(f"{API}/spots/check", json={"spot": spot}),
        client.post(f"{API}/spots/write", json={"spot": spot}),
        client.post(f"{API}/spots/read", json={"toml": opened["toml"]}),
        client.put(f"{API}/spots/file", json={"file": "below/again.toml", "spot": spot}),
        client.get(f"{API}/spots/file", params={"file": "below/again.toml"}),
    ]
    for answer in answers:
        assert answer.status_code == 200, answer.text
        assert str(folder.parent) not in answer.text
    assert 'source = "../elsewhere.rgl"' in answers[0].json()["toml"]
    assert answers[1].json()["valid"]
    assert answers[3].json()["spot"] == answers[5].json()["spot"] == spot


def test_formations_bring_a_tree_that_is_one_of_the_three(reading: TestClient) -> None:
    for preset in reading.get(f"{API}/presets").json()["presets"]:
        fields = preset["fields"] | {"board": "Ks 7d 2c"}
        answer = reading.post(f"{API}/spots/check", json={"spot": fields, "threads": 2}).json()
        assert answer["valid"], answer["errors"]
        trees = {tree["level"]: tree for tree in answer["trees"]}
        assert [level for level, tree in trees.items() if tree["current"]] == [preset["tree"]]
        assert trees[preset["tree"]]["bets"] == fields["bets"]
        assert trees[preset["tree"]]["nodes"] == answer["estimate"]["nodes"]
        assert trees["small"]["memory_bytes"]["32"] < trees["usual"]["memory_bytes"]["32"]
        assert trees[preset["tree"]]["memory_bytes"]["32"] < {"usual": 3e9, "small": 4e9}[preset["tree"]]
        small = {"bets": trees["small"]["bets"], "rules": fields["rules"] | trees["small"]["rules"]}
        answer = reading.post(f"{API}/spots/check", json={"spot": fields | small}).json()
        assert answer["estimate"]["nodes"] == trees["small"]["nodes"]


def test_trees_are_offered_while_the_bets_are_missing_or_wrong(reading: TestClient) -> None:
    for bets in ({}, {"bet": "50q"}):
        answer = reading.post(f"{API}/spots/check", json={"spot": TURN | {"bets": bets}}).json()
        assert [tree["level"] for tree in answer["trees"]] == ["small", "usual", "fine"]
    assert reading.post(f"{API}/spots/check", json={"spot": TURN | {"board": "Ks"}}).json()["trees"] == []


def test_a_spot_is_shrunk_until_it_fits(reading: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = TURN | {"bets": {"bet": "33%, 66%", "raise": "3x"}}
    before = reading.post(f"{API}/spots/check", json={"spot": turn, "threads": 1}).json()["estimate"]
    assert before["fits"] == {"32": True, "16": True}
    free = before["memory_bytes"]["32"] * 6 // 10
    monkeypatch.setattr(spots, "available_bytes", lambda: free)
    before = reading.post(f"{API}/spots/check", json={"spot": turn, "threads": 1}).json()["estimate"]
    assert not before["fits"]["32"]
    answer = reading.post(f"{API}/spots/shrink", json={"spot": turn, "threads": "1"}).json()
    assert answer["fits"]
    assert answer["available_bytes"] == free
    assert answer["memory_bytes"] <= spots.ROOM * free, "it still fits when something else takes a little"
    assert all(cut["saves_bytes"] > 0 for cut in answer["cuts"])
    after = reading.post(f"{API}/spots/check", json={"spot": turn | {"bets": answer["bets"]}, "threads": 1}).json()
    assert after["estimate"]["fits"]["32"]
    assert after["estimate"]["memory_bytes"]["32"] == answer["memory_bytes"]


def test_the_best_hands_come_as_a_range(reading: TestClient) -> None:
    for percent in (0, 5, 37.5, 100):
        answer = reading.get(f"{API}/ranges/top", params={"percent": percent}).json()
        assert answer["percent"] == pytest.approx(percent, abs=0.5)
        assert Range.parse(answer["text"]).combos == answer["combos"]
    assert reading.get(f"{API}/ranges/top", params={"percent": 101}).status_code == 400


def test_a_random_board_keeps_cards(reading: TestClient) -> None:
    ask = {"cards": 4, "keep": "Ks 7d 2c"}
    boards = {reading.get(f"{API}/boards/random", params=ask | {"seed": seed}).json()["board"] for seed in range(8)}
    assert len(boards) > 4
    assert {board[:8] for board in boards} == {"Ks 7d 2c"}
    assert all(len(set(board.split())) == 4 for board in boards)
    wrong = reading.get(f"{API}/boards/random", params={"cards": 3, "keep": "Ks 7d 2c 2d"})
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "keep")


def test_what_was_typed_comes_back_with_every_size_in_its_street(reading: TestClient) -> None:
    typed = RIVER | {"oop": {"range": "AQs,AJs, KK", "name": "BB"}, "bets": {"bet": "33", "river": {"raise": "50"}}}
    toml = reading.post(f"{API}/spots/write", json={"spot": typed}).json()["toml"]
    fields = reading.post(f"{API}/spots/read", json={"toml": toml}).json()["spot"]
    assert fields["oop"] == {"range": "AQs,AJs, KK", "name": "BB"}
    assert fields["bets"]["river"]["ip"] == {"bet": "33%", "raise": "50%"}
    assert fields["bets"]["flop"]["oop"] == {"bet": "33%", "raise": ""}
