"""Whole hands on the page: any flop is solved when it comes and judges the decisions after it; the score adds up."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from starlette.testclient import TestClient
from tests.page.play_games import QUICK
from tests.page.serving import API

import regretless as rl
from regretless.cards.deck import parse_board
from regretless.cards.equity import equity
from regretless.cards.evaluator import evaluate
from regretless.cards.hands import hand_text
from regretless.cards.ranges import Range
from regretless.engines import available_cores
from regretless.holdem.games.pricing import PricedSolution
from regretless.holdem.solution import SpotSolution
from regretless.page import flop_solves, play
from regretless.page.app import make_app
from regretless.page.flop_solves import FlopSolve, FlopSolver
from regretless.page.library import Library
from regretless.page.play import PlayTable, _folders, _Seat
from regretless.page.play_session import FlopMissing, PlaySession
from regretless.solving.options import SolveOptions
from regretless.supervision import Message
from regretless.workers.flops import FlopTask

FOREVER = QUICK | {"target": 1e-9}
Play = dict[str, Any]


@pytest.fixture(scope="module")
def served(games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("play") / "served"
    shutil.copytree(games, folder)
    return folder


@pytest.fixture(scope="module")
def table(served: Path) -> Iterator[TestClient]:
    """A client for tests that change no file of the folder; all flops are solved by one process."""
    with TestClient(make_app(served, token=None), base_url="http://127.0.0.1:8040") as client:
        yield client


@pytest.fixture
def own(games: Path, tmp_path: Path) -> Path:
    """A folder that a test may change, with the game that needs no flops."""
    shutil.copy(games / "all-in.rgl", tmp_path)
    return tmp_path


@pytest.fixture
def own_table(own: Path) -> Iterator[TestClient]:
    with TestClient(make_app(own, token=None), base_url="http://127.0.0.1:8040") as client:
        yield client


def begin(client: TestClient, file: str = "flops.rgl", **body: Any) -> Play:
    answer = client.post(f"{API}/play", json={"file": file, "seed": 3, **QUICK} | body)
    assert answer.status_code == 201, answer.text
    return answer.json()["play"]  # type: ignore[no-any-return]


def post(client: TestClient, state: Play, move: str, status: int = 200, **body: Any) -> Play:
    answer = client.post(f"{API}/play/{state['id']}/{move}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()["play" if status == 200 else "error"]  # type: ignore[no-any-return]


def until(client: TestClient, state: Play, done: Callable[[Play], bool], seconds: float = 120) -> Play:
    """The state, once it is as wanted."""
    ends = time.monotonic() + seconds
    while not done(state):
        assert time.monotonic() < ends, state["solve"]
        time.sleep(0.02)
        state = client.get(f"{API}/play/{state['id']}").json()["play"]
    return state


def solved(state: Play) -> bool:
    assert state["solve"] is None or state["solve"]["state"] != "failed", state["solve"]
    return state["solve"] is None


def to_flop(client: TestClient, file: str = "flops.rgl", first_seed: int = 3, **body: Any) -> Play:
    """A hand of the small blind that waits for its flop."""
    for seed in range(first_seed, first_seed + 40):  # the big blind may fold
        state = post(client, begin(client, file, **({"seed": seed, "player": "ip"} | body)), "act", action="call")
        if state["solve"] is not None:
            return state
    raise AssertionError("no hand came to a flop")


def seat_of(client: TestClient, state: Play) -> _Seat:
    table: PlayTable = client.app.state.parts[PlayTable]  # type: ignore[attr-defined]
    return table._seats[state["id"]]


def play_on(client: TestClient, state: Play, *wanted: str) -> Play:
    """Play to the end with the first of these actions that is possible."""
    while not state["over"]:
        if state["solve"] is not None:
            assert state["actions"] == []
            state = until(client, state, solved)
            continue
        names = [action["name"] for action in state["actions"]]
        action = next((each for prefix in wanted for each in names if each.startswith(prefix)), names[0])
        state = post(client, state, "act", action=action)
    return state


def test_whole_hands_are_played_and_the_score_adds_up(table: TestClient) -> None:
    state = begin(table, seed=5)
    results, seats = [], []
    for number in range(1, 4):
        seats.append(state["player"])
        assert (state["hand_number"], state["board"], state["outcome"]) == (number, [], None)
        state = play_on(table, state, "call", "check") if number > 1 else play_on(table, state, "fold")
        results.append(state["outcome"]["won"])
        showdown = state["outcome"]["end"] == "showdown"
        assert (state["outcome"]["opponent"] is not None) == showdown
        if showdown:
            cards = [*state["hole"], *state["outcome"]["opponent"], *state["board"]]
            assert len(set(cards)) == 9
            board = list(parse_board(" ".join(state["board"])))
            both = [[*parse_board(" ".join(each)), *board] for each in (state["hole"], state["outcome"]["opponent"])]
            mine, other = evaluate(both).tolist()
            assert (state["outcome"]["won"] > 0) == (mine > other)
        score = state["score"]
        assert score["hands"] == number
        assert score["won"] == pytest.approx(sum(results), abs=1e-5)
        assert score["per_hundred"] == pytest.approx(100 * sum(results) / number, abs=1e-4)
        state = post(table, state, "deal")
    assert seats == ["ip", "oop", "ip"]
    assert results[0] == -0.5


def test_a_flop_is_solved_once_and_its_solution_judges_decisions(table: TestClient, served: Path) -> None:
    state = to_flop(table, keep=True)
    line = state["line"]
    assert line == f"call, check, {' '.join(state['board'])}"
    assert (state["solve"]["line"], state["solve"]["target"], state["decisions"][0]["grade"]) == (line, 100, None)
    state = until(table, state, solved)
    (file,) = (served / "flops.flops").glob("*.rgl")
    solution = rl.load(file)
    assert isinstance(solution, SpotSolution)
    game = rl.load(served / "flops.rgl")
    assert isinstance(game, PricedSolution)
    assert solution.spot == game.spot_at(line)
    before, state = state, post(table, state, "act", action=state["actions"][-1]["name"])
    judged = state["decisions"][-1]
    assert judged["line"] == before["line"]
    view = solution.node(before["line"].removeprefix(line).removeprefix(", "))
    column = [hand_text(hand) for hand in view.acting.hand].index(state["hand"])
    ev = view.action_ev[:, column]
    assert list(judged["ev"].values()) == pytest.approx(ev.tolist(), abs=1e-5)
    assert judged["lost"] == pytest.approx(max(ev) - ev[-1], abs=1e-5)
    seen = file.stat().st_mtime_ns
    again = post(table, begin(table, seed=_seed_of(table, line), player="ip"), "act", action="call")
    assert (again["line"].startswith(line), again["solve"]) == (True, None)
    assert file.stat().st_mtime_ns == seen


def _seed_of(client: TestClient, line: str) -> int:
    """The seed with which `to_flop` came to a line."""
    for seed in range(3, 40):
        state = post(client, begin(client, seed=seed, player="ip"), "act", action="call")
        if state["line"].startswith(line):
            return seed
        if state["solve"] is not None:
            post(client, state, "stop")
    raise AssertionError(line)


def test_a_solve_that_is_stopped_can_be_repeated_or_left(table: TestClient) -> None:
    state = until(table, to_flop(table, **FOREVER), lambda state: state["solve"]["state"] == "running")
    assert state["solve"]["exploitability"] > 0
    for move, body in (("act", {"action": "check"}), ("deal", {}), ("solve", {})):
        assert post(table, state, move, 409, **body)["code"] == "conflict"
    stopped = until(table, post(table, state, "stop"), lambda state: state["solve"]["state"] == "stopped")
    assert stopped["actions"] == []
    assert post(table, stopped, "stop", 409)["message"] == "no flop is being solved for this hand"
    again = post(table, stopped, "solve")
    assert (again["line"], again["solve"]["id"] != stopped["solve"]["id"]) == (stopped["line"], True)
    assert again["version"] > stopped["version"]
    stopped = until(table, post(table, again, "stop"), lambda state: state["solve"]["state"] == "stopped")
    dealt = post(table, stopped, "deal")
    assert (dealt["hand_number"], dealt["score"]["hands"], dealt["solve"], dealt["over"]) == (2, 0, None, False)
    assert dealt["version"] > stopped["version"]


def test_a_process_that_dies_is_explained_and_replaced(table: TestClient) -> None:
    state = until(table, to_flop(table, **FOREVER), lambda state: state["solve"]["state"] == "running")
    solver: FlopSolver = table.app.state.parts[FlopSolver]  # type: ignore[attr-defined]
    assert solver._process is not None
    os.kill(solver._process.pid, signal.SIGKILL)
    state = until(table, state, lambda state: state["solve"]["state"] == "failed")
    assert state["solve"]["message"] == "the process was ended by SIGKILL, perhaps because memory ran out"
    again = until(table, post(table, state, "solve"), lambda state: state["solve"]["state"] == "running")
    post(table, again, "stop")


def test_a_second_table_waits_for_its_turn(table: TestClient) -> None:
    first = until(table, to_flop(table, **FOREVER), lambda state: state["solve"]["state"] == "running")
    second = to_flop(table, "buckets.rgl")
    assert (second["solve"]["state"], second["solve"]["place"]) == ("queued", 1)
    stopped = post(table, second, "stop")
    assert stopped["solve"]["state"] == "stopped"
    second = post(table, stopped, "solve")
    post(table, first, "stop")
    until(table, second, solved)


def test_one_solve_begins_for_requests_at_once(own: Path, games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(games / "flops.rgl", own)
    library = Library(own)
    table = PlayTable(library)
    monkeypatch.setattr(table.solver, "prepare", lambda: None)

    def wait(session: PlaySession, solution: PricedSolution) -> None:
        session.line = f"call, check, {play.TYPICAL_FLOP}"
        session.missing = FlopMissing(solution.spot_at(session.line), session.line)

    with library.whole_game("flops.rgl") as (_, revision):
        pass
    seat = _Seat(
        PlaySession(
            id="w",
            file="flops.rgl",
            revision=revision,
            seat=None,
            random=random.Random(1),
            target=1,
            safe=False,
            folders=_folders(library, "flops.rgl", keep=False),
            big_blind=2,
            hands=(1325, 1000),
        ),
        SolveOptions(),
    )

    async def ask() -> tuple[Play, Play]:
        barrier = asyncio.Barrier(2)

        async def in_step(work: Callable[[], object]) -> object:
            result = work()
            await barrier.wait()
            return result

        monkeypatch.setattr(play, "run_in_threadpool", in_step)
        return await asyncio.gather(table.play(seat, wait), table.play(seat, wait))

    first, second = (answer["solve"]["id"] for answer in asyncio.run(ask()))
    assert [solve.id for solve in table.solver._waiting] == [first] == [second]


def test_a_hand_goes_on_although_its_flop_cannot_be_solved_yet(
    table: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(flop_solves, "MAX_WAITING", 0)
        state = to_flop(table, **FOREVER)
        assert (state["solve"]["state"], state["solve"]["message"]) == ("failed", "0 flops are waiting already")
    state = post(table, state, "solve")
    state = until(table, state, lambda state: state["solve"]["state"] == "running")
    until(table, post(table, state, "stop"), lambda state: state["solve"]["state"] == "stopped")

    def refuse(path: Path, root: Path) -> Path:
        raise OSError(errno.EROFS, "read-only")

    with monkeypatch.context() as patch:
        patch.setattr(flop_solves, "state_folder", refuse)
        state = until(table, to_flop(table, **FOREVER), lambda state: state["solve"]["state"] == "failed")
    assert state["solve"]["message"] == (
        "the solve could not be started: .regretless/play: cannot be created: read-only file system"
    )
    state = until(table, post(table, state, "solve"), lambda state: state["solve"]["state"] == "running")
    post(table, state, "stop")


def test_a_flop_that_arrives_as_the_process_is_about_to_end_is_solved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SolvesAtOnce:
        """A process that has solved whatever is sent."""

        def __init__(self, module: str, log: BinaryIO, on_message: Callable[[Message], None], on_exit: object) -> None:
            log.close()
            self.on_message = on_message

        def send(self, line: str) -> None:
            self.on_message({"event": "end", "state": "done", "seconds": 1.0, "device": "cpu"})

        def hang_up(self) -> None:
            pass

    solver = FlopSolver(Library(tmp_path), set)
    task = FlopTask(toml="", folder=str(tmp_path / "flops"), path="call", options=SolveOptions())
    solves: list[FlopSolve] = []

    async def time_out(arrived: Coroutine[Any, Any, bool], seconds: float) -> None:
        arrived.close()
        if not solves:
            solves.append(solver.add(task, 1.0))
        raise TimeoutError

    async def serve() -> None:
        solver.prepare()
        assert solver._serving is not None
        await solver._serving

    monkeypatch.setattr(flop_solves, "WorkerProcess", SolvesAtOnce)
    monkeypatch.setattr(asyncio, "wait_for", time_out)
    asyncio.run(serve())
    assert [solve.state for solve in solves] == ["done"]


@pytest.mark.slow
def test_safe_flops_have_files_of_their_own(table: TestClient, served: Path) -> None:
    state = until(table, to_flop(table, "buckets.rgl", safe=True, keep=True), solved)
    names = [path.name for path in (served / "buckets.flops").glob("*.rgl")]
    assert names == [f"call-check-{'-'.join(state['board'][:3])}-safe.rgl"]


def test_an_all_in_before_the_flop_needs_no_flop_and_is_adjusted(table: TestClient) -> None:
    for seed in range(1, 60):
        state = post(table, begin(table, "all-in.rgl", seed=seed, player="ip"), "act", action="all-in")
        if not state["over"] or state["outcome"]["end"] == "showdown":
            break
    assert (state["over"], len(state["board"]), state["solve"]) == (True, 5, None)
    assert abs(state["outcome"]["won"]) in (0, 20)
    assert f"{abs(state['outcome']['won']) / 2:g} bb" in state["outcome"]["text"]
    odds = equity(*(Range.parse("".join(each)) for each in (state["hole"], state["outcome"]["opponent"])))
    expected = 1000 * (odds.win - (1 - odds.win - odds.tie))  # 10 big blinds a hand
    assert state["score"]["adjusted"] == pytest.approx(expected, abs=1e-3)
    assert state["score"]["per_hundred"] == pytest.approx(50 * state["outcome"]["won"])


def test_what_the_other_player_holds_is_not_told(table: TestClient) -> None:
    state = begin(table, "all-in.rgl")
    assert not {"opponent", "hands"} & set(state)
    assert all(action["frequency"] is None for tile in state["strip"] for action in tile.get("actions", ()))
    assert state["strip"][0]["kind"] == "decision"
    folded = post(table, begin(table, "all-in.rgl", player="ip"), "act", action="fold")
    assert (folded["outcome"]["opponent"], folded["outcome"]["text"], folded["score"]["won"]) == (
        None,
        "You fold",
        -0.5,
    )
    assert post(table, folded, "act", 409, action="call")["message"] == "the hand is over: deal the next one"


def test_how_long_a_flop_takes_is_said_beforehand(table: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "iteration_speed", lambda: 1e-8)
    many = table.get(f"{API}/play/estimate", params={"file": "all-in.rgl", "device": "cpu", "threads": 9999}).json()
    assert many["threads"] == available_cores()
    found = table.get(f"{API}/play/estimate", params={"file": "buckets.rgl", "device": "cpu", "threads": 1}).json()
    lines = {line["line"]: line for line in found["lines"]}
    assert set(lines) == {"call, check", "raise 2, call"}
    assert sum(line["share"] for line in lines.values()) == pytest.approx(1)
    assert found["can_be_safe"]
    seconds = lines["call, check"]["seconds"]
    finer = table.get(f"{API}/play/estimate", params={"file": "buckets.rgl", "threads": 1, "target": 0.1, "safe": True})
    assert {line["line"]: line for line in finer.json()["lines"]}["call, check"]["seconds"] > 2 * seconds > 1
    none = table.get(f"{API}/play/estimate", params={"file": "flops.rgl", "threads": 1}).json()
    assert not none["can_be_safe"]


@pytest.mark.parametrize(("in_use", "deleted"), [((), (0, 1)), ((0, 3), (1, 2))])
def test_flops_that_nobody_keeps_take_so_much_room_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_use: tuple[int, ...], deleted: tuple[int, ...]
) -> None:
    files = [tmp_path / "play" / game / f"{number}.rgl" for number, game in enumerate("abaa")]
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes(10))
        os.utime(file, (number, number))
    monkeypatch.setattr(flop_solves, "MAX_FLOP_BYTES", 20)
    flop_solves._delete_oldest(tmp_path / "play", tmp_path, {files[number] for number in in_use})
    assert [number for number, file in enumerate(files) if not file.exists()] == list(deleted)


def test_the_flop_that_another_player_waits_for_stays(
    own_table: TestClient, own: Path, games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(games / "flops.rgl", own)
    monkeypatch.setattr(flop_solves, "MAX_FLOP_BYTES", 0)
    first = to_flop(own_table)
    solve = seat_of(own_table, first).solve
    assert solve is not None
    while not solve.is_over:  # and its player is not told
        time.sleep(0.02)
    second = to_flop(own_table, first_seed=100)
    second = until(own_table, second, solved)
    assert len(list(own.glob(".regretless/play/*/*.rgl"))) == 2
    assert solved(until(own_table, first, solved))
    for state in (first, second):
        post(own_table, play_on(own_table, state, "check", "call"), "deal")
    until(own_table, to_flop(own_table, first_seed=200), solved)
    ends = time.monotonic() + 60
    while len(list(own.glob(".regretless/play/*/*.rgl"))) > 1:  # they are deleted after the player is told
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_flops_are_kept_beside_the_game_only_if_asked(table: TestClient, served: Path) -> None:
    before = set(served.rglob("*.rgl"))
    state = until(table, to_flop(table), solved)
    (file,) = set(served.rglob("*.rgl")) - before
    assert file.relative_to(served).parts[:2] == (".regretless", "play")
    assert SpotSolution.load(file).spot.name == ", ".join(state["line"].split(", ")[:3])


def test_a_game_that_was_solved_further_needs_a_new_session(own_table: TestClient, own: Path) -> None:
    state = begin(own_table, "all-in.rgl")
    os.utime(own / "all-in.rgl", (1, 1))
    refused = post(own_table, state, "act", 409, action="fold")
    assert refused["message"] == "file: 'all-in.rgl' has been solved further: start a new session"


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({}, 400, "file: is missing"),
        ({"file": "nowhere.rgl"}, 404, "file: 'nowhere.rgl' is not in the served folder"),
        ({"file": "../games.rgl"}, 403, "../games.rgl"),
        ({"file": "push-fold.rgl"}, 404, "file: 'push-fold.rgl' ends before the flop: it has no whole hands to play"),
        ({"file": "kuhn.rgl"}, 404, "file: 'kuhn.rgl' has no charts of play before the flop"),
        ({"file": "flops.rgl", "safe": True}, 422, "safe: True needs the values of hands on every flop"),
        ({"file": "flops.rgl", "target": 0}, 400, "target: 0 is not above 0"),
        ({"file": "flops.rgl", "target": 101}, 400, "target: 101 is more than 100"),
        ({"file": "flops.rgl", "device": "gpu"}, 400, "device: is not one of auto, cpu, cuda"),
        ({"file": "flops.rgl", "threads": 0}, 400, "threads: 0 is less than 1"),
        ({"file": "flops.rgl", "player": "button"}, 400, "player: is not one of oop, ip"),
        ({"file": "flops.rgl", "more": 1}, 400, "more: is not known here"),
    ],
)
def test_wrong_requests_get_one_sentence(
    table: TestClient, served: Path, solved: Path, body: Play, status: int, sentence: str
) -> None:
    for name in ("push-fold.rgl", "kuhn.rgl"):
        shutil.copy(solved / name, served / name)
    refused = table.post(f"{API}/play", json=body)
    assert refused.status_code == status, refused.text
    assert sentence in refused.json()["error"]["message"]


def test_wrong_moves_get_one_sentence(table: TestClient) -> None:
    state = begin(table, "all-in.rgl", player="ip")
    assert "raise 7" in post(table, state, "act", 422, action="raise 7")["message"]
    assert "is not one action" in post(table, state, "act", 422, action="fold, fold")["message"]
    assert post(table, state, "deal", 409)["message"] == "the hand is not over: act first"
    assert post(table, state, "stop", 409)["code"] == "conflict"
    assert table.get(f"{API}/play/{state['id']}").json()["play"] == state
    for move in ("act", "deal", "stop", "solve"):
        lost = table.post(f"{API}/play/nobody/{move}", json={"action": "fold"} if move == "act" else {})
        assert (lost.status_code, lost.json()["error"]["message"]) == (
            404,
            "there is no session 'nobody': start a new one",
        )
    with table.stream("GET", f"{API}/play/{state['id']}/events") as events:
        assert "".join(events.iter_text()) == ""  # there is nothing to follow


def test_a_folder_behind_a_link_is_refused(own_table: TestClient, own: Path, games: Path) -> None:
    (own / "all-in.flops").symlink_to(games)
    refused = own_table.post(f"{API}/play", json={"file": "all-in.rgl"})
    assert refused.status_code == 422
    assert "is a link" in refused.json()["error"]["message"]
