"""What commands change and answer, in this process."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.upi.conftest import RIVER, Talk

import regretless as rl
from regretless.cards.hands import PIO_ORDER, hand_text
from regretless.holdem.spots.locks import AnyLock, Lock, LockFrom
from regretless.holdem.spots.spot import Spot
from regretless.upi.serve import LOOP_COMMANDS, commands

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "upi.md"
FLOP = """
set_board Ks7h2c
set_range OOP QQ,JTs,A5s
set_range IP AA,KQs,98s
set_pot 0 0 100
set_eff_stack 150
add_line 50 150
add_line 0 0 0 75
build_tree
"""


def numbers(text: str) -> np.ndarray[Any, Any]:
    return np.array([[float(word) for word in line.split()] for line in text.splitlines()])


def results(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in (line.split(": ") for line in text.splitlines())}


def solved(talk: Talk, accuracy: str = "0.1 chips") -> dict[str, float]:
    talk.all(f"set_accuracy {accuracy}")
    talk("go")
    talk("wait_for_solver")
    return results(talk("calc_results"))


def test_the_order_of_hands_is_the_protocols(talk: Talk) -> None:
    order = talk("show_hand_order").split()
    assert order[:7] == ["2d2c", "2h2c", "2h2d", "2s2c", "2s2d", "2s2h", "3c2c"]
    assert order[-1] == "AsAh"
    assert order == [hand_text(int(hand)) for hand in PIO_ORDER]


def test_ranges_are_text_or_numbers(talk: Talk) -> None:
    talk.all("set_range OOP AA:0.5,KK")
    row = talk("show_range OOP")
    assert sum(map(float, row.split())) == 9
    talk.all(f"set_range IP {row}")
    assert talk("show_range IP") == row
    assert talk(f"set_range IP {row} 1").startswith("ERROR: ")
    assert talk("set_range CO AA") == "ERROR: 'CO' is neither OOP nor IP"


def test_a_tree_that_is_not_solved_plays_every_action_equally_often(river: Talk) -> None:
    rows = numbers(river("show_strategy r:0:b37"))
    assert rows.shape == (3, 1326)
    assert np.unique(rows.round(6)).tolist() == [0.0, 0.333333]
    rows = numbers(river("show_strategy r:0:c"))
    assert np.unique(rows.round(6)).tolist() == [0.0, 0.5]


def test_what_is_missing_is_named(talk: Talk) -> None:
    talk.all("set_board KhQsJs2c3d\nset_pot 0 0 100")
    assert talk("build_tree") == "ERROR: the tree needs set_range OOP, set_range IP, set_eff_stack first"
    assert talk("calc_results") == "ERROR: there is no tree: send build_tree or load_tree first"
    assert talk("show_nodes") == "ERROR: unknown command 'show_nodes'; did you mean show_node?"
    assert talk("show_node") == "ERROR: the usage is: show_node NODE"


def test_lines_are_added_removed_forced_and_cut(talk: Talk) -> None:
    talk.all(RIVER)
    tree = talk("show_all_lines").splitlines()
    assert "r:0:b37:b120:c" in tree
    talk.all("remove_line 37 120\nbuild_tree")
    assert "r:0:b37" not in talk("show_all_lines").splitlines()
    talk.all("clear_lines\nadd_line 37 120\nadd_line 0 75\ncut_line 37\nbuild_tree")
    assert [line for line in talk("show_all_lines").splitlines() if line.startswith("r:0:b37")] == [
        "r:0:b37", "r:0:b37:c", "r:0:b37:f",
    ]  # fmt: skip
    talk.all("force_line 37\nbuild_tree")
    assert talk("show_all_lines").splitlines() == ["r:0", "r:0:b37", "r:0:b37:c", "r:0:b37:f"]
    talk.all("clear_lines\nadd_line 0 75\nremove_line 0 0\nbuild_tree")
    assert "r:0:c:c" not in talk("show_all_lines").splitlines()
    talk.all("clear_lines\nadd_line 0 75\nadd_line 30\nbuild_tree\ncut_line r:0:c\nbuild_tree")
    assert talk("show_all_lines").splitlines() == ["r:0", "r:0:b30", "r:0:b30:c", "r:0:b30:f", "r:0:c", "r:0:c:c"]
    talk.all("clear_lines\nbuild_tree")
    assert talk("show_all_lines").splitlines() == ["r:0", "r:0:c", "r:0:c:c"]


def test_amounts_need_not_be_exact(talk: Talk) -> None:
    talk.all(RIVER)
    talk.all("clear_lines\nadd_line 10.1 10.1")
    assert talk("cut_line 0").startswith("ERROR")
    talk.all(f"{FLOP}clear_lines\nadd_line 10.1 10.1 30.3 90.9\nbuild_tree")
    assert "r:0:b10.1:c:b30.3:b90.9" in talk("show_all_lines").splitlines()
    talk.all("cut_line r:0:b10.1:c:2d:b30.3\nbuild_tree")
    lines = talk("show_all_lines").splitlines()
    assert "r:0:b10.1:c:b30.3:c" in lines
    assert "r:0:b10.1:c:b30.3:b90.9" not in lines
    talk.all("remove_line 10.101 10.099 30.3\nforce_line 10.1 10.1\nbuild_tree")
    assert talk("show_all_lines").splitlines() == [
        "r:0", "r:0:b10.1", "r:0:b10.1:c", "r:0:b10.1:c:c", "r:0:b10.1:c:c:c", "r:0:b10.1:c:c:c:c",
        "r:0:b10.1:c:c:c:c:c", "r:0:b10.1:f",
    ]  # fmt: skip


def test_a_line_that_matches_nothing_is_an_error(river: Talk) -> None:
    assert river("cut_line 30") == river("remove_line 30") == "ERROR: no line begins with 30"
    assert river("remove_line 0 30 30") == "ERROR: no line begins with 0 30"
    assert river("cut_line r:0:b37:f") == "ERROR: no line begins with 37 0"
    lines = river("show_all_lines")
    river.all("build_tree")
    assert river("show_all_lines") == lines


def test_lines_that_are_added_are_possible_again(river: Talk) -> None:
    river.all("remove_line 0 0\nadd_line 0 0\nbuild_tree")
    assert "r:0:c:c" in river("show_all_lines").splitlines()
    river.all("remove_line 0\nforce_line 0 10\nbuild_tree")
    assert river("show_all_lines").splitlines() == ["r:0", "r:0:c", "r:0:c:b10", "r:0:c:b10:c", "r:0:c:b10:f"]
    river.all("clear_lines\nadd_line 37\nremove_line 37 37\nremove_line 37\nbuild_tree")
    assert river("show_all_lines").splitlines() == ["r:0", "r:0:c", "r:0:c:c"]


def test_a_line_that_is_not_possible_is_named_as_it_was_sent(river: Talk) -> None:
    river.all("add_line 37 120 130")
    assert river("build_tree").startswith("ERROR: line 37 120 130: 'bet 37, raise 120, raise 130' at position 20: ")
    river.all("clear_lines\nadd_line 0 10\nremove_line 0\nremove_line 0 0")
    assert re.match(r"ERROR: line 0( 0)?: ", river("estimate_tree"))


def test_accuracy_is_in_chips_or_a_fraction_of_the_pot(river: Talk) -> None:
    assert solved(river, "5")["Exploitable for"] <= 5
    assert solved(river, "0.001 fraction")["Exploitable for"] <= 0.1
    more = solved(river, "0.01 chips")
    assert more["Exploitable for"] <= 0.01
    assert more["EV OOP"] + more["EV IP"] == pytest.approx(100, abs=1e-3)
    assert more["OOP's MES"] >= more["EV OOP"] - 1e-6


def test_go_takes_seconds_or_steps_and_goes_on_where_it_stopped(river: Talk) -> None:
    river.all("set_accuracy 0")
    assert river("go 10 steps").splitlines()[0] == "go ok!"
    river("wait_for_solver")
    assert river.client.session.current().iterations == 10
    assert "SOLVER: stopped (steps done)" in river.stream.getvalue()
    river("go 5")
    river("wait_for_solver")
    assert river.client.session.current().iterations == 15
    river("go 0.05 seconds")
    river("wait_for_solver")
    assert "SOLVER: stopped (time is up)" in river.stream.getvalue()


def test_go_and_stop_at_once(river: Talk) -> None:
    river.all("set_accuracy 0")
    for _ in range(5):
        assert river("go").splitlines()[0] == "go ok!"
        assert river("stop").splitlines()[-1] == "stop ok!"
        assert "SOLVER: stopped (requested)" in river.stream.getvalue()
    assert results(river("calc_results"))["Exploitable for"] >= 0
    assert river("stop") == "stop ok!"


def test_the_solver_speaks_between_answers(talk: Talk) -> None:
    talk.all(RIVER)
    talk("set_end_string DONE")
    talk("set_accuracy 0.1")
    talk("go")
    talk("wait_for_solver")
    text = talk.stream.getvalue()
    text = text[text.index("go ok!") :]
    number = r"-?[\d.]+\n"
    block = (
        rf"SOLVER:\nrunning time: {number}EV OOP: {number}EV IP: {number}OOP's MES: {number}IP's MES: {number}"
        rf"Exploitable for: {number}DONE\n"
    )
    stopped = r"SOLVER: stopped \(required accuracy reached\)\nwait_for_solver ok!\nDONE\n"
    assert re.fullmatch(rf"go ok!\nDONE\nSOLVER: started\n({block})+{stopped}", text)


def test_nothing_is_read_or_built_while_the_solver_runs(river: Talk) -> None:
    river.all("set_accuracy 0")
    river("go")
    busy = "ERROR: the solver is running: send stop or wait_for_solver first"
    for line in ("build_tree", "show_strategy r:0", "go", "free_tree", "lock_node r:0"):
        assert busy in river(line)
    assert "is_ready ok!" in river("is_ready")
    assert "OOP_DEC" in river("show_node r:0")
    river("stop")


def test_strategies_that_are_set_are_evaluated_exactly(river: Talk) -> None:
    solved(river)
    calls = "0 " * 1326 + "1 " * 1326 + "0 " * 1326
    before = results(river("calc_results"))
    river.all(f"set_strategy r:0:b37 {calls}")
    after = results(river("calc_results"))
    rows = numbers(river("show_strategy r:0:b37"))
    assert rows[0].max() == rows[2].max() == 0
    assert rows[1].max() == 1
    assert after["EV OOP"] + after["EV IP"] == pytest.approx(100, abs=1e-3)
    assert after["Exploitable for"] > before["Exploitable for"]
    # Every bet of 37 is now called: before the call, each hand is worth what it is worth after it.
    ev, matchups = numbers(river("calc_ev OOP r:0:b37:c"))
    at_bet, _ = numbers(river("calc_ev OOP r:0:b37"))
    live = ~np.isnan(ev) & (matchups > 0)
    assert np.allclose(ev[live], at_bet[live], atol=1e-4)
    assert river("dump_tree x.rgl").startswith("ERROR: strategies that were set are not part of a solution")


def test_set_mes_earns_what_calc_results_promises(river: Talk) -> None:
    promised = solved(river, "1 chips")["OOP's MES"]
    river.all("set_mes OOP")
    assert results(river("calc_results"))["EV OOP"] == pytest.approx(promised, abs=0.02)


def test_a_lock_of_some_hands_holds_them(river: Talk) -> None:
    solved(river)
    order = river("show_hand_order").split()
    flags = [str(int(hand[0] == hand[2] == "7")) for hand in order]
    sevens = np.array(flags) == "1"
    bets = " ".join(["1"] * 1326 + ["0"] * 1326)
    river.all(f"set_strategy r:0 {bets}\ncombo_lock_node r:0 {' '.join(flags)}")
    solved(river)
    bet, check = numbers(river("show_strategy r:0"))
    held = sevens & (bet + check > 0)
    assert held.sum() == 6
    assert bet[held].min() == 1
    others = ~sevens & (bet + check > 0)
    assert bet[others].mean() < 0.9
    assert "flags: LOCKED" in river("show_node r:0")
    river.all("unlock_node r:0")
    solved(river)
    assert numbers(river("show_strategy r:0"))[0][held].max() < 1


def test_frequencies_are_rounded(river: Talk) -> None:
    solved(river)
    river.all("round_up_to OOP 4 river")
    rows = numbers(river("show_strategy r:0"))
    assert np.allclose(rows * 4, np.rint(rows * 4), atol=1e-6)
    assert river("round_up_to OOP 4 flop").startswith("ERROR: 'flop': only strategies on the first street, the river")


def test_frequencies_of_lines_add_up(talk: Talk) -> None:
    talk.all(FLOP)
    solved(talk, "0.5")
    freqs = dict(line.split(" - ") for line in talk("show_all_freqs global").splitlines())
    assert list(freqs) == talk("show_all_lines").splitlines()
    assert float(freqs["r:0"]) == 1
    for parent, children in {"r:0": ("b50", "c"), "r:0:c:c": ("c",), "r:0:c:c:c": ("b75", "c")}.items():
        total = sum(float(freqs[f"{parent}:{child}"]) for child in children)
        assert total == pytest.approx(float(freqs[parent]), abs=1e-6)
    local = dict(line.split(" - ") for line in talk("show_all_freqs local").splitlines())
    assert float(local["r:0:b50"]) + float(local["r:0:c"]) == pytest.approx(1)
    nodes = [line.split(":\n")[1].split("\n")[0] for line in talk("show_children r:0:c:c").split("\n\n")]
    assert len(nodes) == 49
    total = sum(float(talk(f"calc_global_freq {node}:c:b75")) for node in nodes)
    assert total == pytest.approx(float(freqs["r:0:c:c:c:b75"]), rel=1e-5)
    assert float(talk("calc_line_freq r:0:b50")) == pytest.approx(float(freqs["r:0:b50"]))


def test_solutions_are_saved_and_loaded(river: Talk, tmp_path: Path) -> None:
    before = solved(river)
    path = tmp_path / "my tree.rgl"
    river.all(f'dump_tree "{path}"')
    river.all("free_tree")
    assert river("is_tree_present") == "false"
    river.all(f'load_tree "{path}"')
    assert river("is_tree_present") == "true"
    assert results(river("calc_results")) == pytest.approx(before)
    assert "#Board#Kh Qs Js 2c 3d\n#Pot#100\n#EffectiveStacks#200" in river("show_tree_info")
    river.all("set_accuracy 0.01")
    river("go")
    river("wait_for_solver")
    assert river.client.session.current().iterations > rl.load(path).iterations  # it went on from the file
    closed = "ERROR: the .cfr format of PioSOLVER is closed: solutions are saved to and read from .rgl files"
    assert river("load_tree x.cfr") == river("dump_tree x.cfr full") == closed
    assert river("load_tree missing.rgl") == "ERROR: missing.rgl: does not exist"


def save_river(path: Path, lock: AnyLock, **rules: float) -> str:
    spot = Spot(board="Kh Qs Js 2c 3d", pot=100, stack=200, oop="AK", ip="QQ, JT", bets={"bet": "50%"}, rules=rules)  # type: ignore[arg-type]
    rl.solve(spot, iterations=10, locks=[lock]).save(path, resumable=True)
    return f"load_tree {path}"


def test_locks_of_a_loaded_tree_are_those_of_its_nodes(talk: Talk, tmp_path: Path) -> None:
    talk.all(save_river(tmp_path / "locked.rgl", Lock("x", {"bet 50": 1.0})) + "\nset_accuracy 0")
    assert talk("show_node r:0:c").endswith("flags: LOCKED")
    talk("go 20")
    talk("wait_for_solver")
    assert talk.client.session.current().iterations == 30
    assert numbers(talk("show_strategy r:0:c"))[1].max() < 1e-6
    talk.all("unlock_node r:0:c")
    assert talk("show_node r:0:c").endswith("flags:")
    talk("go 20")
    talk("wait_for_solver")
    assert talk.client.session.current().iterations == 20
    assert numbers(talk("show_strategy r:0:c"))[1].max() > 0.5


def test_locks_of_turns_are_those_of_a_card(talk: Talk, tmp_path: Path) -> None:
    spot = Spot(board="Kh Qs Js 2c", pot=100, stack=50, oop="AK", ip="QQ, JT", bets={"bet": "50%"})  # type: ignore[arg-type]
    path = tmp_path / "turn.rgl"
    rl.solve(spot, iterations=1, locks=[Lock("check, check, 3d", {"all-in 50": 1.0}, "AK")]).save(path)
    talk.all(f"load_tree {path}")
    assert talk("show_node r:0:c:c:3d").endswith("flags: LOCKED")
    assert talk("show_node r:0:c:c:4d").endswith("flags:")
    rl.solve(spot, iterations=1, locks=[Lock("check, check", {"check": 1.0})]).save(path)
    assert talk(f"load_tree {path}") == (
        f"ERROR: {path}: has the lock 'check, check: check 1', which cannot be read: "
        "it omits a card, so it applies at many nodes"
    )
    assert talk("show_node r:0:c:c:3d").endswith("flags: LOCKED")  # what was loaded before


def test_a_lock_that_reads_another_file_is_refused(talk: Talk, tmp_path: Path) -> None:
    source = tmp_path / "source.rgl"
    save_river(source, Lock("check", {"bet 50": 1.0}))
    load_tree = save_river(tmp_path / "locked.rgl", LockFrom(str(source), player="oop"))
    source.unlink()
    assert re.fullmatch(r"ERROR: .* has the lock .*: it takes the strategy of another file", talk(load_tree))
    assert talk("is_tree_present") == "false"


def test_a_loaded_tree_is_built_anew_only_from_lines(talk: Talk, tmp_path: Path) -> None:
    talk.all(f"{RIVER}set_rake 0.5 1")
    talk.all(save_river(tmp_path / "raked.rgl", Lock("check", {"check": 1.0}), rake=0.05, rake_cap=3))
    unknown = "ERROR: the lines of a loaded tree are not known: send clear_lines, then add_line"
    for line in ("build_tree", "add_line 20", "remove_line 0 0", "force_line 20", "cut_line r:0:c", "estimate_tree"):
        assert talk(line) == unknown
    talk.all("clear_lines\nadd_line 20\nbuild_tree")
    assert talk("show_all_lines").splitlines() == ["r:0", "r:0:b20", "r:0:b20:c", "r:0:b20:f", "r:0:c", "r:0:c:c"]
    assert talk.client.session.built.rules.rake_cap == 3
    assert talk.client.session.built.locks == ()


def test_a_solve_that_does_not_fit_leaves_the_solution(river: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    before = solved(river)
    river.all("lock_node r:0")
    session = river.client.session
    solution = session.solution
    assert solution is not None
    with monkeypatch.context() as context:
        context.setenv("REGRETLESS_MEMORY", "1 KB")
        assert re.match(r"ERROR: the spot in 32 bits needs .*, but only .* are free", river("go"))
    assert results(river("calc_results")) == before
    needed = session.estimate(session.built).memory_bytes[32]  # of which the solution has some
    monkeypatch.setattr("regretless.upi.session.available_bytes", lambda: needed - solution.record.memory_bytes)
    assert river("go 5").startswith("go ok!")
    river("wait_for_solver")
    assert session.current().iterations == 5


@pytest.mark.parametrize(
    ("error", "reason"),
    [(MemoryError(), "not enough memory"), (ZeroDivisionError("by 0"), "unexpected ZeroDivisionError: by 0")],
)
def test_a_solve_that_fails_is_reported(
    river: Talk,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    reason: str,
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    solved(river)
    river.all("lock_node r:0")
    with monkeypatch.context() as context:
        context.setattr("regretless.upi.session.solve", fail)
        assert "go ok!" in river("go")
        river("wait_for_solver")
    assert river.stream.getvalue().endswith(f"SOLVER: stopped ({reason})\nwait_for_solver ok!\n")
    assert ("Traceback" in capsys.readouterr().err) is isinstance(error, ZeroDivisionError)
    assert river("calc_results") == f"ERROR: the last solve failed ({reason}): send go again"
    assert "Exploitable for" in str(solved(river))


def test_a_command_that_fails_is_an_error(
    river: Talk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("regretless.upi.session.solve", lambda *_, **__: {}["x"])
    assert river("calc_results") == "ERROR: unexpected KeyError: 'x'"
    assert "Traceback" in capsys.readouterr().err
    assert river("is_ready") == "is_ready ok!"


def test_the_tree_can_be_read_once_the_solver_says_it_stopped(river: Talk) -> None:
    stopped = threading.Event()

    def send(text: str) -> bool:
        if text.startswith("SOLVER: stopped"):
            stopped.set()
            time.sleep(0.2)  # as long as another thread may take
        return True

    river.client.session.send = send
    river("go 5")
    assert stopped.wait(60)
    assert numbers(river("show_strategy r:0")).shape == (2, 1326)


def test_results_can_be_asked_for_while_the_solver_runs(river: Talk) -> None:
    river.all("set_accuracy 0")
    river("go")
    while river.client.session.measured is None:
        time.sleep(0.01)
    assert "Exploitable for" in river("calc_results")
    river("stop")


def test_a_loaded_tree_of_sizes_has_node_ids(talk: Talk, tmp_path: Path) -> None:
    spot = Spot(board="Kh Qs Js 2c 3d", pot=100, stack=200, oop="AK", ip="QQ, JT", bets={"bet": "50%", "raise": "3x"})  # type: ignore[arg-type]
    rl.solve(spot, iterations=10).save(tmp_path / "sizes.rgl")
    talk.all(f"load_tree {tmp_path / 'sizes.rgl'}")
    assert "r:0:b50:b200:c" in talk("show_all_lines").splitlines()
    assert talk("show_effective_stack") == "200"


def test_bench_is_a_number_after_a_colon(talk: Talk) -> None:
    assert float(talk("bench").split(":")[1]) > 1


def test_scripts_and_redirected_answers(river: Talk, tmp_path: Path) -> None:
    river("set_end_string END")
    answers, script = tmp_path / "answers.txt", tmp_path / "script.txt"
    script.write_text(f'# a comment\n\nstdoutredi "{answers}"\nshow_node r:0\nfoo\nstdoutback\necho done\n')
    assert river(f"load_script {script}") == "stdoutback ok!\ndone\nload_script ok!\nEND"
    assert answers.read_text().splitlines()[:2] == ["r:0", "OOP_DEC"]
    assert "unknown command 'foo'" in answers.read_text()
    assert river(f"load_script_silent {script}") == "load_script_silent ok!\nEND"
    script.write_text(f"load_script {script}\n")
    assert "ERROR: " in river(f"load_script {script}")
    assert river("load_script no-such-file").startswith("ERROR: [Errno 2]")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_answers_come_back_if_their_file_is_full(talk: Talk) -> None:
    talk("stdoutredi /dev/full")
    assert talk("echo lost") == ("ERROR: /dev/full: [Errno 28] No space left on device; answers go to the client again")
    assert talk("echo found") == "found"
    assert talk("stdoutback") == "stdoutback ok!"


def test_notes_on_a_tree_are_kept(talk: Talk) -> None:
    talk.all("add_info_line #Pot#100\nadd_info_line #Board#Kh Qs Js")
    assert talk("show_tree_info") == "#Pot#100\n#Board#Kh Qs Js"
    talk.all("reset_tree_info")


def test_the_guide_lists_every_command() -> None:
    rows = re.findall(r"^\| `([^|]+)` \| (same|near|refused)", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name for names, how in rows if how != "refused" for name in re.findall(r"\w+", names)}
    refused = {name for names, how in rows if how == "refused" for name in re.findall(r"\w+", names)}
    assert listed == {*commands(), *LOOP_COMMANDS}
    assert refused
    assert not refused & listed
