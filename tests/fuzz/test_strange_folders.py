"""Folders that a stranger has prepared, opened by every command and by the page.

A folder with solutions, a study, a price and the state of a server is spoiled at random: links, pipes, devices,
sockets, files that are oversized, empty, of another kind or hostile. Whatever it is, nothing outside the folder
changes, nothing hangs or takes gigabytes, the command says one sentence, and the page answers with a status below 500.
"""

from __future__ import annotations

import io
import json
import os
import random
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cli.commands.test_price import GAME, two_buckets
from tests.cluster.studies import InlineExecutor, solve_here, study_text
from tests.page.serving import API, RIVER, Server, is_over, wait_for

import regretless as rl
from regretless import supervision
from regretless.cli import main
from regretless.holdem import Spot
from regretless.holdem.games import whole_game as problem
from regretless.page import serve

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
TestClient = pytest.importorskip("starlette.testclient").TestClient

PREPARATIONS = 26  # per seed
SECONDS = 60  # a command takes less than one, but the machine may be busy
STUDY = study_text(("QsJh2h", "As7h2d"), iterations=3, more="keep.solutions = true\nkeep.hands = true")
FLOPS = "AcAdAh, 7s6s5s"
SOLVES = ".regretless/solves"
FILES = (
    ".regretless/server.lock", f"{SOLVES}/done.json", f"{SOLVES}/stopped.json", f"{SOLVES}/stopped.log",
    f"{SOLVES}/new.json", "study/study.json", "study/run.token", "study/merged.json", "study/summary.parquet",
    "study/hands.parquet", "study/runs.parquet", "study/runs/QsJh2h.parquet", "study/summary/QsJh2h.parquet",
    "study/hands/As7h2d.parquet", "study/solutions/QsJh2h.rgl", "game.price/price.json", "game.price/flops/AsAhAd.rgl",
    "game.price/flops/7s6s5s.rgl", "solved/river.rgl", "solved/turn.rgl", "kuhn.png",
)  # fmt: skip
FOLDERS = (
    ".regretless", SOLVES, "study/runs", "study/summary", "study/hands", "study/solutions", "game.price",
    "game.price/flops",
)  # fmt: skip
NAMED = ("river.rgl", "kuhn.rgl", "game.rgl", "river.toml", "study.toml")  # by the person, who may name a link
COMMANDS = (
    ("solve", "kuhn", "--iterations", "2"),
    ("solve", "river.toml", "--iterations", "2", "--threads", "1"),
    ("solve", "river.toml", "turn.toml", "--iterations", "1", "--threads", "1", "--out", "solved"),
    ("solve", "--resume", "river.rgl", "--iterations", "4"),
    ("estimate", "river.toml"),
    ("show", "river.rgl"),
    ("show", "kuhn.rgl"),
    ("show", "game.rgl", "--line", ""),
    ("compare", "river.rgl", "study/solutions/QsJh2h.rgl"),
    ("verify", "kuhn.rgl"),
    ("export", "river.rgl", "--out", "river.csv"),
    ("export", "kuhn.rgl"),
    ("plot", "kuhn.rgl"),
    ("play", "river.rgl", "--hands", "1"),
    ("games",),
    ("equity", "AhKh", "QQ", "--board", "Qs Jh 2h"),
    ("range", "22+"),
    ("train-kuhn", "--iterations", "50"),
    *[("price", "game.rgl", "--flops", FLOPS, "--threads", "1")] * 4,
    *[("study", "run", "study.toml", "--out", "study")] * 6,
    *[("study", "report", "study")] * 4,
    ("study", "report", "study", "--sql", "SELECT count(*) FROM hands"),
    ("study", "estimate", "study.toml"),
)


class Hangs(BaseException):
    """It takes too long."""


@contextmanager
def limited() -> Iterator[None]:
    """Neither hangs nor takes gigabytes."""

    def fail(number: int, frame: object) -> None:
        raise Hangs

    before, peak = signal.signal(signal.SIGALRM, fail), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 2**20  # KiB


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as its owner left it."""
    folder = tmp_path_factory.mktemp("sound")
    spot = Spot.from_mapping(RIVER)
    (folder / "river.toml").write_text(spot.to_toml())
    (folder / "turn.toml").write_text(spot.to_toml())
    (folder / "study.toml").write_text(STUDY)
    rl.solve(spot, iterations=3, threads=1).save(folder / "river.rgl", resumable=True)
    rl.solve("kuhn", iterations=3).save(folder / "kuhn.rgl")
    solve_here(STUDY, folder / "study")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problem, "build_buckets", two_buckets)
        options = {"buckets": "flop=2,turn=2,river=2,method=percentile", "sample_runouts": 4}
        game = rl.solve(GAME, iterations=3, threads=1, **options)
        game.save(folder / "game.rgl")
        game.price(FLOPS, folder=folder / "game.price", threads=1)
    (folder / "solved").mkdir()
    (folder / SOLVES).mkdir(parents=True)
    for id_, request, saved in (
        ("done", {"name": "river", "file": "river.rgl"}, True),
        ("stopped", {"name": "x", "file": "x.rgl", "toml": spot.to_toml(), "options": {"iterations": 2}}, False),
    ):
        job = {"id": id_, "created": 1.0, "state": id_, "request": request, "saved": saved}
        (folder / SOLVES / f"{id_}.json").write_text(json.dumps(job))
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """What lies outside."""
    path = tmp_path / "outside"
    (path / "empty").mkdir(parents=True)
    (path / "full" / "runs").mkdir(parents=True)
    (path / "full" / "p.json").write_text("{}")
    (path / "p.txt").write_text("precious")
    return path


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Everything in a folder."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


# --- preparations ----------------------------------------------------------------------------------------------------


def links(home: Path) -> list[str | Path]:
    return [
        home / "p.txt", home / "absent", home / "empty", home / "full", home / "absent" / "deep", "/dev/zero",
        "/dev/null", "/etc/passwd", "itself", "../river.rgl", "study.json",
    ]  # fmt: skip


def hostile_json(chance: random.Random, content: bytes) -> bytes:
    """The JSON of a file with some values replaced, or JSON that is hard to read."""
    values = [
        None, True, [], {}, "", "x" * 5000, "../../outside/p.txt", "/etc/passwd", -1, 10**30, 1e300, "\ud800",
        "\x1b[2J", ["a"] * 50, {"a": {"b": []}}, "openspiel:chess", "/dev/zero", "secret.efg",
    ]  # fmt: skip

    def spoil(value: Any, depth: int = 0) -> Any:
        if isinstance(value, dict) and depth < 4:
            kept = {name: spoil(each, depth + 1) for name, each in value.items() if chance.random() > 0.05}
            return kept | ({"unknown": chance.choice(values)} if chance.random() < 0.1 else {})
        return chance.choice(values) if chance.random() < 0.25 else value

    try:
        table = json.loads(content)
    except ValueError:
        table = {"parts": "", "sha256": {}, "version": 1, "schema": 1, "id": "new", "created": 0, "request": {}}
    texts = [b"[" * 100_000, b"NaN", b'"\\ud800"', b"1" * 5000, b'{"id":' * 2000, b"{}", b"[]", b"null"]
    return chance.choice([json.dumps(spoil(table)).encode()] * 6 + texts)


def make_way(path: Path) -> None:
    """Remove whatever is under a name."""
    if path.is_dir() and not path.is_symlink():  # rmtree would wait for a pipe
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)


def spoil_file(path: Path, original: Path, home: Path, chance: random.Random) -> str:
    """Replace a file by something else, and say by what."""
    content = original.read_bytes() if original.is_file() else b""
    kinds = ["link"] * 4 + ["pipe", "device", "socket", "folder", "hard link", "sparse", "empty", "noise", "cut"]
    kind = chance.choice(kinds + ["json"] * 6 * (path.suffix == ".json"))
    make_way(path)
    match kind:
        case "link":
            path.symlink_to(target := chance.choice(links(home)) if path.suffix != "" else home / "p.txt")
            return f"link to {target}"
        case "pipe":
            os.mkfifo(path)
        case "device" if os.geteuid() == 0:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero
        case "socket" if len(str(path)) < 100:
            with socket.socket(socket.AF_UNIX) as opened:
                opened.bind(str(path))
        case "folder":
            path.mkdir()
        case "hard link":
            os.link(home / "p.txt", path)
        case "sparse":
            path.write_bytes(content)
            os.truncate(path, 2**42)
        case "noise":
            path.write_bytes(chance.randbytes(chance.choice([1, 9, 500, 100_000])))
        case "cut":
            path.write_bytes(content[: chance.randrange(len(content) + 1)])
        case "json":
            path.write_bytes(hostile_json(chance, content))
        case _:
            path.touch()
    return kind


def spoil_folder(path: Path, home: Path, chance: random.Random) -> str:
    make_way(path)
    kind = chance.choice(["link", "link", "dangling", "link to study", "pipe", "file", "nothing"])
    match kind:
        case "link":
            path.symlink_to(chance.choice([home, home / "empty", home / "full"]))
        case "dangling":
            path.symlink_to(home / "absent")
        case "link to study":
            path.symlink_to(Path(os.path.relpath(home.parent / "prepared" / "study", path.parent)))
        case "pipe":
            os.mkfifo(path)
        case "file":
            path.write_text("x")
    return kind


def prepare(sound: Path, home: Path, chance: random.Random) -> tuple[Path, list[str]]:
    """A folder that somebody has spoiled, and how."""
    folder = home.parent / "prepared"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sound, folder)
    done = []
    for _ in range(chance.randint(1, 4)):
        names = chance.choice([FILES, FILES, FILES, FOLDERS, FOLDERS, NAMED])
        path = folder / chance.choice(names)
        behind = next((each for each in path.relative_to(folder).parents if (folder / each).is_symlink()), None)
        if behind is not None or not all(each.is_dir() for each in path.parents if each.exists()):
            continue  # below something that is spoiled already
        original = sound / path.relative_to(folder)
        how = spoil_folder(path, home, chance) if names is FOLDERS else spoil_file(path, original, home, chance)
        done.append(f"{path.relative_to(folder)}: {how}")
    return folder, done


# --- opening them ----------------------------------------------------------------------------------------------------


def ask_everything(client: Any, chance: random.Random) -> None:
    """What the page asks, and more."""

    def check(answer: Any) -> dict[str, Any]:
        assert answer.status_code < 500, (answer.request.url, answer.text)
        found: dict[str, Any] = answer.json()
        assert answer.status_code < 400 or "\n" not in found["error"]["message"]
        return found

    def get(path: str, **params: Any) -> dict[str, Any]:
        return check(client.get(f"{API}{path}", params=params))

    for each in get("/files")["files"]:
        get("/file", file=each["file"])
    get("/studies")
    for path, params in (
        ("/study", {}),
        ("/study/lines", {}),
        ("/study/flops", {}),
        ("/study/spot", {"spot": "QsJh2h"}),
    ):
        get(path, study="study", **params)
    get("/node", file="river.rgl")
    for solve in get("/solves")["solves"]:
        get(f"/solves/{solve['id']}")
        check(client.post(f"{API}/solves/{solve['id']}/resume", json={"iterations": chance.choice([None, 2, 9])}))
    check(client.post(f"{API}/solves", json={"game": "kuhn", "iterations": 2}))
    for solve in get("/solves")["solves"]:
        if chance.random() < 0.5:
            check(client.request("DELETE", f"{API}/solves/{solve['id']}"))


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A command in this process: studies are solved here, and solves of the page end as soon as they begin."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("regretless.cli.commands.study._executor", lambda *given: InlineExecutor())
    monkeypatch.setattr(supervision, "sys", SimpleNamespace(executable="/bin/true"))
    monkeypatch.setattr("sys.stdin", io.StringIO())

    def run(*arguments: str) -> str:
        capsys.readouterr()
        with limited():
            code = main(arguments)
        said = capsys.readouterr().err
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        assert "Traceback" not in said, said
        assert code in (0, 1, 3), (code, said)
        assert len(errors) <= 3, said
        assert code == 0 or errors, said
        return said

    return run


SERVE = ("serve", "--port", "0", "--no-browser", "--no-token")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::regretless.errors.RegretlessWarning")
@pytest.mark.parametrize("seed", range(20))
def test_a_prepared_folder_harms_nobody(
    seed: int, sound: Path, home: Path, run_command: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, before = random.Random(seed), contents(home)

    def served(self: Any, sockets: object) -> None:
        with TestClient(self.config.app, base_url="http://127.0.0.1:8040") as client:
            ask_everything(client, chance)

    monkeypatch.setattr(serve._Server, "run", served)
    for number in range(PREPARATIONS):
        folder, how = prepare(sound, home, chance)
        monkeypatch.chdir(folder)
        for arguments in (chance.choice(COMMANDS), chance.choice(COMMANDS), SERVE):
            try:
                run_command(*arguments)
                assert contents(home) == before
            except BaseException as error:
                error.add_note(f"preparation {number}: {'; '.join(how)}; regretless {' '.join(arguments)}")
                raise
        monkeypatch.chdir(home.parent)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_a_prepared_folder_harms_nobody_in_processes_of_their_own(seed: int, sound: Path, home: Path) -> None:
    chance, before = random.Random(1000 + seed), contents(home)
    folder, how = prepare(sound, home, chance)
    arguments = chance.choice(COMMANDS)
    command = [sys.executable, "-m", "regretless", *arguments]
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=5 * SECONDS
    )
    assert done.returncode in (0, 1, 3), (how, arguments, done.stderr)
    assert "Traceback" not in done.stderr, (how, arguments, done.stderr)
    assert contents(home) == before, (how, arguments)
    lock = folder / ".regretless"
    if any(path.is_symlink() or not path.is_dir() for path in (lock, lock / "solves") if os.path.lexists(path)):
        return
    if os.path.lexists(lock / "server.lock") and not stat.S_ISREG((lock / "server.lock").lstat().st_mode):
        return  # which the server refuses to start with
    server = Server(folder)
    try:
        for solve in server.client.get(f"{API}/solves").json()["solves"]:
            answer = server.client.post(f"{API}/solves/{solve['id']}/resume", json={})
            assert answer.status_code < 500, (how, answer.text)
        for solve in server.client.get(f"{API}/solves").json()["solves"]:
            wait_for(server.client, solve["id"], is_over, seconds=5 * SECONDS)
    finally:
        server.close()
    assert contents(home) == before, how
