"""`regretless show` on spots: either player, selected hands, every quantity, with and without colour."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from regretless.holdem.problem import solve_spot
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot

TURN = {
    "board": "Kh Qs Js 2c",
    "pot": 100,
    "stack": 200,
    "oop": {"range": "AK, KQs, QJs, T9s, 99-77, 22"},
    "ip": {"range": "AA-QQ, AK, KQ, JTs, T9s, 55"},
    "bets": {"bet": "50%, 100%", "raise": "a"},
    "rules": {"add_allin": 0},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A solved turn, and the same with locks."""
    folder = tmp_path_factory.mktemp("solved")
    spot = Spot.from_mapping(TURN)
    solve_spot(spot, iterations=30, threads=1).save(folder / "turn.rgl")
    locks = [Lock("check", {"check": 1}, hands="AA, KQs"), Lock("bet 50", {"call": 1})]
    solve_spot(spot, iterations=30, threads=1, locks=locks).save(folder / "locked.rgl")
    return folder


@pytest.fixture
def show(run, folder: Path):
    def show(*options: str, file: str = "turn.rgl") -> Any:
        result = run("show", str(folder / file), *options)
        assert result.code == 0, result.err
        return result

    return show


def test_every_action_has_an_ev(show, folder: Path) -> None:
    node = show("--line", "check", "--json").json["node"]
    assert sum(share * ev for share, ev in zip(node["frequencies"], node["action_ev"], strict=True)) == pytest.approx(
        node["ev"]["ip"], abs=2e-5
    )
    lines = show("--line", "check").out.splitlines()
    heading = next(place for place, line in enumerate(lines) if line.startswith("ip acts"))
    assert lines[heading].split() == ["ip", "acts", "share", "combos", "EV"]
    for place, action in enumerate(node["actions"]):
        row = lines[heading + 1 + place]
        verb, _, chips = action.partition(" ")
        assert (f"{verb} {chips}% ({chips})" if chips else action) in row  # the pot is 100
        shown = row.split()[-3:]
        assert shown[0] == f"{node['frequencies'][place]:.1%}"
        assert float(shown[2]) == pytest.approx(node["action_ev"][place], abs=0.006)
    # Hand by hand: the EV of a hand is the mean of its actions' EVs, weighted by their frequencies.
    for row in show("--line", "check", "--hands", "--json").json["node"]["hands"]["ip"]:
        if row["ev"] is not None:
            mean = sum(row["strategy"][action] * row["action_ev"][action] for action in node["actions"])
            assert mean == pytest.approx(row["ev"], abs=3e-4)
    table = show("--line", "check", "--hands", "AA").out
    row = show("--line", "check", "--hands", "AA", "--json").json["node"]["hands"]["ip"][0]
    line = next(line for line in table.splitlines() if line.startswith(row["hand"]))
    for action, chips in row["action_ev"].items():
        assert f"{row['strategy'][action]:.1%}" in line
        assert f"{chips:.2f}" in table


@pytest.mark.parametrize("line", ["", "check", "check, check", "check, check, Ac"])
def test_the_range_of_either_player(show, line: str) -> None:
    for player, other in (("oop", "ip"), ("ip", "oop")):
        shown = show("--line", line, "--player", player, "--hands")
        assert f"\n{player}: " in shown.out
        assert not re.search(rf"^{other} +weight", shown.out, re.MULTILINE)
        grid = show("--line", line, "--player", player, "--grid", "weight", "--json").json["node"]["grid"]
        held = {"oop": {"QJs", "22"}, "ip": {"55", "AA"}}[player]
        assert held <= set(grid["classes"])
        assert not {"oop": {"55", "AA"}, "ip": {"QJs", "22"}}[player] & set(grid["classes"])


def test_a_filter_averages_over_the_selected_hands(show) -> None:
    rows = [row for row in show("--hands", "--json").json["node"]["hands"]["oop"] if row["hand"][0] == row["hand"][2]]
    weight = [row["weight"] * row["matchups"] for row in rows]
    mean = sum(w * row["ev"] for w, row in zip(weight, rows, strict=True)) / sum(weight)
    node = show("--hands", "22+", "--player", "oop", "--json").json["node"]
    assert {row["hand"] for row in node["hands"]["oop"]} == {row["hand"] for row in rows}
    assert node["ev"]["oop"] == pytest.approx(mean)
    shown = show("--hands", "22+", "--player", "oop").out
    assert f"EV {mean:.2f} chips" in shown
    assert "AsKc" not in shown
    assert "AsKc" in show("--hands", "AK, 99+").out
    # The bare flag: every hand of both players.
    everything = show("--hands").out
    assert everything.count("EQR") >= 2
    assert "AsKc" in everything


@pytest.mark.parametrize("column", ["bet 100", "ev", "equity", "weight"])
def test_rows_are_sorted_by_a_column(show, column: str) -> None:
    rows = show("--hands", "--player", "oop", "--sort", column, "--json").json["node"]["hands"]["oop"]
    numbers = [row["strategy"][column] if column == "bet 100" else row[column] for row in rows]
    assert numbers == sorted(numbers, reverse=True)
    printed = re.findall(r"^(?:[AKQJT2-9][cdhs]){2}", show("--hands", "--sort", column).out, re.MULTILINE)
    assert printed[: len(rows)] == [row["hand"] for row in rows]


def test_a_filter_that_matches_only_the_other_player(show) -> None:
    shown = show("--hands", "QJs").out  # only oop has them, and ip acts
    assert "oop acts" in shown
    after = show("--line", "check", "--hands", "QJs").out
    assert "ip holds none of the selected hands here" in after
    assert "QcJc" in after
    assert "nan" not in after
    answer = show("--line", "check", "--hands", "QJs", "--json").json["node"]
    assert answer["frequencies"] == [None, None, None]
    assert answer["hands"]["ip"] == []


def test_the_bare_flag_may_come_before_the_file(run, folder: Path) -> None:
    result = run("show", "--hands", str(folder / "turn.rgl"))
    assert result.code == 0, result.err
    assert "EQR" in result.out


@pytest.mark.parametrize("kind", ["strategy", "ev", "equity", "eqr", "weight"])
@pytest.mark.parametrize("columns", ["80", "120"])
def test_a_grid_without_colour_explains_its_numbers(
    show, kind: str, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = show("--grid", kind).out
    lines = shown.splitlines()
    assert max(map(len, lines)) <= int(columns)
    first = next(place for place, line in enumerate(lines) if re.match("AA +", line))
    legend = " ".join(lines[first - 2 : first])
    words = {
        "strategy": "x check, 1 bet 50% (50), 2 bet 100% (100)",
        "ev": "EV in chips",
        "equity": "equity in %",
        "eqr": "EV / (equity × pot)",
        "weight": "% of each class's combos",
    }
    assert words[kind] in legend
    grid = show("--grid", kind, "--json").json["node"]["grid"]
    assert grid["kind"] == kind
    wide = columns == "120"
    size = 9 if wide else 6
    for row in range(13):
        for column in range(13):
            cell = slice(column * size, (column + 1) * size)
            line = first + row * (1 if wide else 2)
            name = lines[line][cell][:4].strip()
            text = lines[line][cell][4:].strip() if wide else lines[line + 1][cell].strip()
            if name not in grid["classes"]:
                assert text == "·"
                continue
            value = grid["classes"][name]
            if kind == "strategy":
                letters = len(text)
                assert letters == (4 if wide else 5)
                for action, letter in {"check": "x", "bet 50": "1", "bet 100": "2"}.items():
                    assert text.count(letter) == pytest.approx(value[action] * letters, abs=1)
            else:
                assert float(text) == pytest.approx(value * (100 if kind in ("equity", "weight") else 1), abs=0.51)


def test_the_mean_of_a_grid_equals_that_of_the_node(folder: Path) -> None:
    from regretless.cards.hands import HAND_CLASS
    from regretless.holdem.reading.grids import make_grid

    view = SpotSolution.load(folder / "turn.rgl").node("check")
    table = view.hands["oop"]
    weight = table.weight * table.matchups
    for kind, mean in (("ev", view.ev("oop")), ("equity", view.equity("oop"))):
        values = make_grid(view, "oop", kind).values  # type: ignore[arg-type]
        assert float(weight @ values[HAND_CLASS[table.hand]] / weight.sum()) == pytest.approx(mean)


def test_colour_shows_the_same_numbers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regretless.cli.views.spot_view import node_grid, node_lines

    view = SpotSolution.load(folder / "turn.rgl").node("check")
    for columns in (80, 130, 170):
        drawn = [*node_lines(view, color=True), *node_grid(view, color=True, columns=columns)]
        lines = [line.plain for line in drawn]
        assert max(map(len, lines)) <= columns
        text = "\n".join(lines)
        assert "■ check" in text
        assert "KQs" in text
        if columns == 170:  # both players' ranges side by side
            assert "ip: strategy by colour" in text
            assert "oop: range" in text
        if columns == 130:
            assert "numbers: EV in chips" in text


def test_runouts_for_either_player(show, folder: Path) -> None:
    first = show("--line", "check, check", "--runouts", "--player", "oop", "--json").json
    second = show("--line", "check, check", "--runouts", "--player", "ip", "--json").json
    assert first["then"] == ""
    assert {each["player"] for each in first["runouts"]} == {"oop"}
    assert second["then"] == "check"
    assert {each["player"] for each in second["runouts"]} == {"ip"}
    solution = SpotSolution.load(folder / "turn.rgl")
    for before, after in zip(first["runouts"], second["runouts"], strict=True):
        assert before["card"] == after["card"]
        assert after["reached"] == pytest.approx(before["frequencies"]["check"])
        node = solution.node(f"check, check, {after['card']}, check")
        assert after["ev"]["ip"] == pytest.approx(node.ev("ip"))
        assert tuple(after["frequencies"].values()) == pytest.approx(node.frequencies)
    shown = show("--line", "check, check", "--runouts", "--player", "ip", "--sort", "ev").out
    assert "EV ip" in shown
    assert "what ip does" in shown
    assert "then check" in shown
    chips = [float(line.split()[2]) for line in shown.splitlines()[1:49]]
    assert chips == sorted(chips, reverse=True)
    deeper = show("--line", "check, check", "--runouts", "--then", "bet 50", "--json").json
    assert {each["player"] for each in deeper["runouts"]} == {"ip"}
    assert "fold" in deeper["runouts"][0]["frequencies"]


def test_locked_hands_are_marked(show) -> None:
    some = show("--line", "check", "--hands", file="locked.rgl").out
    assert "hands locked)" in some
    assert "* locked" in " ".join(some.split())
    assert "AA*" in some
    assert "KQs*" in some
    assert "KQo*" not in some
    assert re.search(r"^AsAh .*locked$", some, re.MULTILINE)
    assert not re.search(r"^AsKc .*locked$", some, re.MULTILINE)
    whole = show("--line", "bet 50", file="locked.rgl").out
    assert "(locked)" in whole
    node = show("--line", "check", "--hands", "--json", file="locked.rgl").json["node"]
    assert node["locked"] is True
    assert {row["hand"][0] + row["hand"][2] for row in node["hands"]["ip"] if row["locked"]} == {"AA", "KQ"}
    assert show("--json", file="locked.rgl").json["node"]["locked"] is False


def test_hands_are_printed_before_the_grid(show) -> None:
    lines = show("--line", "check", "--hands", "AK").out.splitlines()
    first = {
        start: next(number for number, line in enumerate(lines) if line.startswith(start))
        for start in ("ip acts", "AsKs ", "weight: how likely", "AA ")
    }
    assert sorted(first.values()) == list(first.values())


def test_positions_are_named_in_every_view(run, folder: Path) -> None:
    """Flags and JSON keep oop and ip, on which scripts rely."""
    named = TURN | {"oop": {"range": "AK, 22", "name": "BB"}, "ip": {"range": "QQ, JTs", "name": "BTN"}}
    spot = Spot.from_mapping(named)
    solve_spot(spot, iterations=5, threads=1).save(folder / "named.rgl")
    (folder / "named.toml").write_text(spot.to_toml(), encoding="utf-8")
    file = str(folder / "named.rgl")
    shown = run("show", file, "--line", "check", "--hands").out
    for text in ("behind BB 200, BTN 200", "BB EV ", "BTN acts", "BTN: strategy"):
        assert text in shown
    assert {line.split()[0] for line in shown.splitlines() if "EQR" in line and "weight" in line} >= {"BB", "BTN"}
    other = run("show", file, "--line", "check", "--player", "oop").out
    assert "BTN acts here: --player ip shows what they do" in other
    assert "BTN bet 50% (50)" in run("show", str(folder / "named.toml"), "--tree").out
    runouts = run("show", file, "--line", "check, check", "--runouts").out
    assert "EV BB" in runouts
    assert "what BB does" in " ".join(runouts.split())
    assert "EV BTN" in run("compare", file, file).out
    for text in (shown, other, runouts):
        assert not re.search(r"\b(oop|ip) (acts|EV|equity)|EV (oop|ip)", text)
    assert run("show", file, "--json").json["node"]["player"] == "oop"


def test_a_raise_is_measured_beyond_the_call_against_the_pot_after_it(show, folder: Path) -> None:
    """After check and a bet of 50 into 100, all-in for 200 puts 150 on top of a call that makes the pot 200."""
    assert "a all-in 75% (200)" in show("--line", "check, bet 50").out
    tree = folder / "turn.toml"
    tree.write_text(Spot.from_mapping(TURN).to_toml(), encoding="utf-8")
    assert "oop all-in 75% (200)" in show("--tree", file="turn.toml").out


def test_cards_given_with_board(show) -> None:
    line = show("--line", "check, check, Ac, check", "--json").json["node"]
    for cards in ("Ac", "Kh Qs Js 2c Ac"):
        assert show("--line", "check, check, check", "--board", cards, "--json").json["node"] == line
    assert show("--line", "check, check", "--board", "Ac", "--json").json["node"]["board"] == "Kh Qs Js 2c Ac"


def test_a_narrow_terminal_cuts_nothing(show, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for options in (["--hands"], ["--line", "check, check", "--runouts"]):
        assert "…" not in show(*options).out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--player", "hero"], "player: 'hero' is neither oop nor ip"),
        (["--grid", "colour"], "grid: 'colour' is not one of strategy, ev, equity, eqr, weight"),
        (["--grid", "strategy", "--player", "ip"], "grid: 'strategy' cannot be shown: ip does not act here"),
        (["--hands", "AKx"], "hands: 'AKx' at position 3"),
        (["--hands", "33"], "oop and ip hold none of these here"),
        (["--hands", "55", "--player", "oop"], "oop holds none of these here"),
        (["--svg", "node.svg", "--hands"], "hands: '' lists every hand, but a picture has no rows"),
        (["--hands", "--sort", "height"], "sort: 'height' is not a column here; choose from hand, check"),
        (["--sort", "ev"], "sort: 'ev' sorts rows: add --hands or --runouts"),
        (["--then", "check"], "then: 'check' does not apply to a node"),
        (["--tree", "--line", "check"], "line: 'check' does not apply to --tree"),
        (["--information-sets", "Ks:"], "information-sets: 'Ks:' does not apply to a node"),
        (["--line", "check, check", "--runouts", "--then", "raise 9"], "then: 'raise 9' at position 1: no 'raise 9'"),
        (["--line", "check, check", "--runouts", "--sort", "colour"], "sort: 'colour' is not a column here"),
        (["--runouts"], "no card is dealt here"),
        (["--line", "bet 50, fold, Th"], "no card is dealt here; the hand is over"),
        (["--runouts", "--player", "ip"], "no card is dealt here"),
        (["--board", "Ac"], "board: 'Ac': no card is dealt here"),
    ],
)
def test_invalid_values_are_refused_by_name(run, folder: Path, options: list[str], words: str) -> None:
    result = run("show", str(folder / "turn.rgl"), *options)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert words in result.err


def test_options_of_spots_are_refused_for_games(run) -> None:
    run("solve", "kuhn", "--iterations", "10", "--out", "kuhn.rgl")
    result = run("show", "kuhn.rgl", "--line", "check")
    assert result.code == 1
    assert "line: 'check' does not apply to a game" in result.err


@pytest.mark.parametrize("no_color", [False, True])
def test_a_terminal_without_colours_gets_letters(show, no_color: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    else:
        monkeypatch.delenv("NO_COLOR", raising=False)
    shown = show().out
    assert ("x check, 1 bet 50% (50), 2 bet 100% (100)" in shown) == no_color
    assert ("strategy by colour" in shown) != no_color


def test_a_small_weight_is_not_shown_as_absent(show) -> None:
    """After 30 iterations, some hands take a line one time in a hundred or less."""
    rows = show("--line", "bet 100", "--player", "oop", "--hands", "--json").json["node"]["hands"]["oop"]
    small = [row for row in rows if 0 < row["weight"] < 0.01]
    assert small
    table = show("--line", "bet 100", "--player", "oop", "--hands").out
    for row in small:
        line = next(line for line in table.splitlines() if line.startswith(row["hand"]))
        assert float(line.split()[1]) == pytest.approx(row["weight"], rel=0.06)


def test_lines_of_a_grid_have_no_trailing_spaces(show) -> None:
    assert [line for line in show("--player", "ip").out.splitlines() if line != line.rstrip()] == []


def test_an_interrupted_spot_is_shown_before_it_is_resumed(run) -> None:
    spot, done = Spot.from_mapping(TURN), [0]
    stopped = solve_spot(
        spot,
        iterations=50,
        threads=1,
        checkpoint="turn.rgl",
        report=lambda progress: done.append(progress.iteration),
        interrupted=lambda: done[-1] >= 20,
    )
    reached = stopped.iterations
    assert (stopped.reason, 20 <= reached < 50) == ("interrupted", True)
    shown = run("show", "turn.rgl", "--json")
    resume = "resume it with\n  regretless solve --resume turn.rgl\n"
    assert shown.err == f"interrupted after {reached} of 50 iterations; {resume}"
    for key in ("iterations", "exploitability", "ev", "root"):
        assert shown.json[key] == stopped.as_json()[key]
    resumed = run("solve", "--resume", "turn.rgl", "--threads", "1", "--json").json
    assert resumed["exploitability"] == solve_spot(spot, iterations=50, threads=1).exploitability
    assert run("show", "turn.rgl").err == ""
