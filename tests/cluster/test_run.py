"""Runs of a study: what a folder keeps, refuses and heals, whatever solves the spots."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.studies import FLOPS, InlineExecutor, solve_here, study_text, tables

from regretless.cluster.jobs import TOKEN, Ended, Lost, SpotOutcome, StudyJob, solve_job
from regretless.cluster.run import RETRIES, open_run
from regretless.engines.cuda.device import IF_FULL
from regretless.errors import Advice, DeviceFailed, InvalidFile, InvalidText, RegretlessError, WouldNotFit
from regretless.holdem.studies.folder import GrowingFolder, StudyFolder
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.reports import study_report
from regretless.holdem.studies.rows import TABLES
from regretless.holdem.studies.study import Study

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study; tests do not change it."""
    folder = tmp_path_factory.mktemp("studies") / "solved"
    assert solve_here(study_text(), folder).done == len(FLOPS)
    return folder


@pytest.fixture
def copy(solved: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in solved.rglob("*"):
        target = folder / path.relative_to(solved)
        target.mkdir() if path.is_dir() else target.write_bytes(path.read_bytes())
    return folder


def test_a_finished_study_is_not_solved_again(copy: Path) -> None:
    executor = InlineExecutor()
    run = solve_here(study_text(), copy, executor)
    assert (run.done, run.solved, executor.jobs) == (len(FLOPS), 0, [])


def test_only_runs_may_differ(solved: Path, copy: Path) -> None:
    run = solve_here(study_text(), copy.parent / "again")
    assert run.solved == len(FLOPS)
    assert tables(copy.parent / "again") == tables(solved)
    assert len(tables(solved)) == 2 * len(FLOPS) + 2


@pytest.mark.parametrize("damage", ["truncated", "emptied", "changed", "removed", "foreign"])
@pytest.mark.parametrize("table", ["summary", "hands", "runs"])
def test_a_rerun_heals_a_damaged_part(solved: Path, copy: Path, table: str, damage: str) -> None:
    part = copy / table / "QsJh2h.parquet"
    content = part.read_bytes()
    if damage == "removed":
        part.unlink()
    elif damage == "foreign":
        part.write_bytes((copy / table / "As7h2d.parquet").read_bytes())
    elif damage == "changed":
        flip_bit(part, last_bytes(part)[0])
    else:
        part.write_bytes({"truncated": content[:-100], "emptied": b""}[damage])
    executor = InlineExecutor()
    assert solve_here(study_text(), copy, executor).solved == 1
    assert [job.spots for job in executor.jobs] == [("QsJh2h",)]
    assert tables(copy) == tables(solved)


def last_bytes(part: Path) -> list[int]:
    """Where the compressed values of each column of a Parquet file end."""
    from pyarrow import parquet

    group = parquet.ParquetFile(part).metadata.row_group(0)
    columns = [group.column(place) for place in range(group.num_columns)]
    return [column.data_page_offset + _data_bytes(column) - 1 for column in columns]


def _data_bytes(column: Any) -> int:
    first = column.dictionary_page_offset
    before = 0 if first is None else column.data_page_offset - first
    return int(column.total_compressed_size - before)


def flip_bit(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_a_bit_that_flips_in_any_column_of_runs_is_noticed(copy: Path) -> None:
    """No digest covers this part: the checksums of its pages do."""
    part = copy / "runs" / "QsJh2h.parquet"
    content, plan = part.read_bytes(), StudyPlan.parse(study_text())
    places = last_bytes(part)
    assert len(places) == len(TABLES["runs"])
    for place in places:
        part.write_bytes(content)
        flip_bit(part, place)
        assert StudyFolder.open(copy).done(plan) == set(FLOPS) - {"QsJh2h"}


def test_a_bit_that_flips_in_the_footer_of_runs_changes_no_row(copy: Path) -> None:
    """No checksum covers the footer, which has the names of columns."""
    (copy / "merged.json").unlink()
    part, folder, plan = copy / "runs" / "QsJh2h.parquet", StudyFolder.open(copy), StudyPlan.parse(study_text())
    content, rows = part.read_bytes(), folder.dataset("runs").to_table().to_pylist()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    noticed = 0
    for place in range(len(content) - footer, len(content), 37):
        part.write_bytes(content)
        flip_bit(part, place)
        if folder.done(plan) == set(FLOPS):
            assert folder.dataset("runs").to_table().to_pylist() == rows
        else:
            noticed += 1
    assert noticed > 0


@pytest.mark.parametrize("damage", ["nothing left", "a flipped bit"])
def test_a_damaged_part_is_reported_when_it_is_read(copy: Path, damage: str) -> None:
    (copy / "merged.json").unlink()
    part = copy / "summary" / "QsJh2h.parquet"
    if damage == "a flipped bit":
        flip_bit(part, last_bytes(part)[list(TABLES["summary"]).index("frequency")])
    else:
        part.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(InvalidFile, match=r"summary/QsJh2h.parquet: is damaged, or was copied from another spot"):
        Study(copy).report()


@pytest.mark.parametrize("merged", [True, False])
def test_a_missing_folder_of_parts_is_named(copy: Path, merged: bool) -> None:
    shutil.rmtree(copy / "summary")
    if not merged:
        (copy / "merged.json").unlink()
    with pytest.raises(InvalidFile, match=r"/summary(/\w+\.parquet: is missing|: cannot be read: no such file)"):
        Study(copy).report()
    assert solve_here(study_text(), copy).solved == len(FLOPS)
    assert Study(copy).report().coverage.is_complete


@pytest.mark.parametrize("tables", [("summary",), ("runs",), ("summary", "hands", "runs")], ids="+".join)
@pytest.mark.parametrize("folder_class", [StudyFolder, GrowingFolder])
def test_a_part_under_the_name_of_another_spot_is_noticed(
    copy: Path, folder_class: type[StudyFolder], tables: tuple[str, ...]
) -> None:
    (copy / "merged.json").unlink()
    for table in tables:
        (copy / table / "QsJh2h.parquet").write_bytes((copy / table / "As7h2d.parquet").read_bytes())
    said = rf"/{tables[-1]}/QsJh2h.parquet: is damaged, or was copied from another spot: running the study again"
    with pytest.raises(InvalidFile, match=said):
        study_report(folder_class.open(copy))
    assert solve_here(study_text(), copy).solved == 1


def test_a_part_of_another_study_is_noticed(copy: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    solve_here(study_text(iterations=11), other)
    (copy / "merged.json").unlink()
    for table in ("summary", "hands", "runs"):
        shutil.copy(other / table / "QsJh2h.parquet", copy / table)
    with pytest.raises(InvalidFile, match=r"runs/QsJh2h.parquet: was copied from another study: running the study"):
        Study(copy).report()
    assert solve_here(study_text(), copy).solved == 1


def test_a_spot_that_the_study_does_not_have_is_noticed(copy: Path, tmp_path: Path) -> None:
    """One flop more and one less are not the whole study."""
    other = tmp_path / "other"
    solve_here(study_text(("Ad4c4h",)), other)
    for table in ("summary", "hands", "runs"):
        (copy / table / "QsJh2h.parquet").unlink()
        (name,) = (other / table).iterdir()
        shutil.copy(name, copy / table)
    with pytest.raises(InvalidFile, match=rf"runs/{name.name}: is the file of a spot that the study does not have"):
        Study(copy).report()


@pytest.mark.parametrize("table", ["summary", "hands", "runs"])
def test_a_damaged_merged_file_is_reported_and_a_rerun_repairs_it(solved: Path, copy: Path, table: str) -> None:
    merged = copy / f"{table}.parquet"
    assert StudyFolder.open(copy).dataset(table).files == [str(merged)]
    flip_bit(merged, last_bytes(merged)[0])
    with pytest.raises(InvalidFile, match=f"{table}.parquet: is damaged: running the study again repairs it"):
        Study(copy).query(f"SELECT min(spot) FROM {table}")
    assert solve_here(study_text(), copy).solved == 0
    assert merged.read_bytes() == (solved / merged.name).read_bytes()
    assert Study(copy).query(f"SELECT min(spot) AS spot FROM {table}").to_pylist() == [{"spot": min(FLOPS)}]


@pytest.mark.parametrize("name", ["it's mine", "study[1]", "study*", "a {b} c"])
def test_a_query_reads_a_folder_whatever_its_name(copy: Path, name: str) -> None:
    folder = copy.rename(copy.parent / name)
    assert Study(folder).query("SELECT count(*) AS spots FROM runs").to_pylist() == [{"spots": len(FLOPS)}]


def test_a_query_reads_nothing_but_the_tables(copy: Path) -> None:
    (copy / "secret.csv").write_text("a\n1\n")
    for path in (copy / "secret.csv", copy / "runs" / "QsJh2h.parquet"):
        with pytest.raises(InvalidText, match="disabled"):
            Study(copy).query(f"SELECT * FROM '{path}', summary")


def test_parts_are_read_where_the_merged_file_is_out_of_date(copy: Path) -> None:
    before = Study(copy).report()
    (copy / "runs" / "QsJh2h.parquet").unlink()
    after = Study(copy).report()
    assert (before.total.spots, after.total.spots) == (6, 5)


def test_half_written_files_are_not_counted(copy: Path) -> None:
    (copy / "runs" / ".Qs2h2d.parquet.0123abcd.part").write_bytes(b"half")
    run = solve_here(study_text((*FLOPS, "Qs2h2d")), copy)
    assert (run.done, run.solved) == (7, 1)
    assert not list(copy.rglob("*.part"))


def test_new_flops_are_added(copy: Path) -> None:
    run = solve_here(study_text((*FLOPS, "Ad4c4h", "3c3d3h")), copy)
    assert (run.done, run.solved) == (8, 2)
    assert Study(copy).report(by="flop").total.weight == 12 + 24 + 4 + 24 + 12 + 24 + 12 + 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (study_text().replace("stack = 100", "stack = 120"), "holds another study: the file has changed since"),
        (study_text(iterations=11), "holds another study"),
        (study_text(more=""), "holds another study"),
        (study_text(FLOPS[1:]), "has QsJh2h, which the study no longer has"),
    ],
)
def test_a_changed_study_is_refused(copy: Path, text: str, sentence: str) -> None:
    with pytest.raises(InvalidFile, match=sentence):
        solve_here(text, copy)


def test_a_new_name_or_device_changes_nothing(copy: Path) -> None:
    text = 'name = "other"\ndevice = "cpu"\n' + study_text().replace("QQ, AKs, 76s", "AKs, 76s, QQ")
    assert solve_here(text, copy).solved == 0


def test_another_schema_is_refused(copy: Path) -> None:
    manifest = json.loads((copy / "study.json").read_text())
    (copy / "study.json").write_text(json.dumps(manifest | {"schema": 99}))
    with pytest.raises(InvalidFile, match="written by a newer version of Regretless, with tables of schema 99"):
        Study(copy)
    with pytest.raises(InvalidFile, match="schema 99"):
        solve_here(study_text(), copy)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InvalidFile, match="is neither empty nor the folder of a study"):
        solve_here(study_text(), tmp_path)
    with pytest.raises(InvalidFile, match="is not the folder of a study: regretless study run"):
        Study(tmp_path)
    with pytest.raises(InvalidFile, match="does not exist"):
        Study(tmp_path / "missing")
    with pytest.raises(InvalidFile, match=r"thesis.txt: is a file, not the folder of a study"):
        Study(tmp_path / "thesis.txt")
    with pytest.raises(InvalidFile, match=r"thesis.txt: is a file, not a folder"):
        solve_here(study_text(), tmp_path / "thesis.txt")


def test_a_full_disk_stops_the_run_and_the_rerun_finishes_it(
    solved: Path, tmp_path: Path, room_for: Callable[[int], AbstractContextManager[None]]
) -> None:
    folder = tmp_path / "study"
    with room_for(6_000):
        run = solve_here(study_text(), folder)
    assert (run.done, list(run.errors)) == (0, ["QsJh2h"]), "the other spots are not even tried"
    assert "cannot be written: file too large" in str(run.errors["QsJh2h"].error)
    assert not list(folder.rglob("*.part"))
    assert solve_here(study_text(), folder).done == len(FLOPS)
    assert tables(folder) == tables(solved)


def test_a_disk_too_full_to_merge_is_reported_and_the_rerun_merges(
    solved: Path, copy: Path, room_for: Callable[[int], AbstractContextManager[None]]
) -> None:
    (copy / "merged.json").unlink()
    with room_for(6_000):
        run = solve_here(study_text(), copy)
    assert (run.done, run.errors) == (len(FLOPS), {})
    assert "summary.parquet: cannot be written: file too large" in str(run.merge_error)
    assert Study(copy).report().total.spots == len(FLOPS), "the parts are all there"
    assert solve_here(study_text(), copy).merge_error is None
    assert tables(copy) == tables(solved)


def test_a_spot_that_fits_on_no_machine_is_refused_and_the_others_are_solved(tmp_path: Path) -> None:
    needs = {"QsJh2h": 2**20}
    text = study_text(("QsJh2h", "5s4h3d"))  # a rainbow flop has more runouts
    run = solve_here(text, tmp_path / "study", InlineExecutor(most=3 * needs["QsJh2h"]))
    assert (run.done, list(run.errors)) == (1, ["5s4h3d"])
    assert "5s4h3d needs 4.9 MB of memory on one machine, but only" in str(run.errors["5s4h3d"].error)
    assert run.errors["5s4h3d"].exit_code == 3


def test_a_spot_that_does_not_fit_in_memory_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regretless.holdem.fitting.available_bytes", lambda: 3 * 2**20)
    run = solve_here(study_text(("5s4h3d", "QsJh2h")), tmp_path / "study")
    assert (run.done, list(run.errors)) == (1, ["5s4h3d"])
    assert "5s4h3d in 32 bits needs 4.9 MB of memory, but only 3.1 MB are free" in str(run.errors["5s4h3d"].error)
    assert run.errors["5s4h3d"].exit_code == 3


SIZES = {"needed": 3 * 10**9, "available": 2 * 10**9}
ADVICE = (Advice("storage", 16, "needs 1.5 GB"), Advice("device", "cpu", "needs 3.2 GB"))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (WouldNotFit("it", **SIZES, advice=ADVICE), 'free: storage = 16 needs 1.5 GB; device = "cpu" needs 3.2 GB'),
        (
            DeviceFailed("it is full", advice=IF_FULL),
            'storage = 16 takes less than 32; device = "cpu" takes none of it',
        ),
        (
            InvalidFile("my --storage 16 tests/lock.rgl", "does not exist"),
            "my --storage 16 tests/lock.rgl: does not exist",
        ),
    ],
    ids=["memory", "device", "file"],
)
def test_settings_that_an_error_advises_are_spelled_as_in_a_study_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: RegretlessError, said: str
) -> None:
    def solve_spots(
        spots: object, options: object, *, failed: Callable[[int, RegretlessError], None], **callbacks: object
    ) -> None:
        failed(0, error)

    monkeypatch.setattr("regretless.cluster.jobs.solve_spots", solve_spots)
    run = solve_here(study_text(("QsJh2h",)), tmp_path / "study")
    assert str(run.errors["QsJh2h"].error).endswith(said)


@pytest.mark.parametrize("deaths", [1, RETRIES, RETRIES + 1])
def test_the_spots_of_a_lost_worker_are_tried_again(solved: Path, tmp_path: Path, deaths: int) -> None:
    left = [deaths]

    def dying(job: StudyJob, tell: Callable[[SpotOutcome], None]) -> None:
        if job.spots == ("As7h2d",) and left[0]:
            left[0] -= 1
            raise ConnectionError("the node is gone")
        solve_job(job, tell)

    run = solve_here(study_text(), tmp_path / "study", InlineExecutor(dying))
    if deaths <= RETRIES:
        assert run.errors == {}
        assert tables(tmp_path / "study") == tables(solved)
    else:
        assert run.done == len(FLOPS) - 1
        assert run.errors["As7h2d"].error == "failed 4 times: the node is gone"


def test_a_spot_that_is_written_when_a_worker_dies_is_not_given_up_for_it(solved: Path, tmp_path: Path) -> None:
    class Unsuspecting(InlineExecutor):
        def wait(self, seconds: float) -> list[Ended | Lost]:
            found = super().wait(seconds)
            return [replace(each, is_suspect=False) if isinstance(each, Lost) else each for each in found]

    left = [RETRIES + 3]

    def dying(job: StudyJob, tell: Callable[[SpotOutcome], None]) -> None:
        if job.spots == ("As7h2d",) and left[0]:
            left[0] -= 1
            raise ConnectionError("another spot took too much memory")
        solve_job(job, tell)

    run = solve_here(study_text(), tmp_path / "study", Unsuspecting(dying))
    assert (run.errors, left) == ({}, [0])
    assert tables(tmp_path / "study") == tables(solved)


def test_a_second_run_is_refused_and_the_first_goes_on(solved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    refusals: list[str] = []

    def meanwhile(job: StudyJob, tell: Callable[[SpotOutcome], None]) -> None:
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        with pytest.raises(InvalidFile) as refused:
            solve_here(study_text((*FLOPS, "Ad4c4h")), folder)
        refusals.append(str(refused.value))
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        solve_job(job, tell)

    run = solve_here(study_text(), folder, InlineExecutor(meanwhile))
    assert (run.done, run.errors) == (len(FLOPS), {})
    said = f"{folder}: has a run in progress: another process is solving the study there"
    assert refusals == [said] * len(FLOPS)
    assert tables(folder) == tables(solved)
    assert solve_here(study_text((*FLOPS, "Ad4c4h")), folder).solved == 1, "once the first has ended"


HOLD = """
import sys
from regretless.cluster import open_run
from regretless.holdem.studies.plan import StudyPlan
with open_run(sys.argv[1], StudyPlan.parse(sys.stdin.readline().replace("|", chr(10)))):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_killed_run_leaves_no_lock(tmp_path: Path) -> None:
    folder, text = tmp_path / "study", study_text(("QsJh2h",))
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(text.replace("\n", "|") + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(InvalidFile, match="has a run in progress"):
            solve_here(text, folder)
        process.kill()
    assert solve_here(text, folder).done == 1


@pytest.mark.parametrize("left", ["run.lock", ".study.json.0123abcd.part", "summary/", "runs/"])
def test_a_run_that_was_killed_before_its_manifest_was_written_is_begun_again(tmp_path: Path, left: str) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / left).mkdir() if left.endswith("/") else (folder / left).touch()
    assert solve_here(study_text(("QsJh2h",)), folder).done == 1


def test_a_run_that_another_took_over_leaves_the_token_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without locks."""
    monkeypatch.setattr("regretless.files.state._lock", lambda descriptor, wait: True)
    plan = StudyPlan.parse(study_text(("QsJh2h",)))
    with open_run(tmp_path / "study", plan):
        second = ExitStack()
        folder = second.enter_context(open_run(tmp_path / "study", plan))
    assert (folder.path / TOKEN).read_text() == folder.token
    second.close()
    assert not (folder.path / TOKEN).exists()


def test_a_worker_that_cannot_see_the_folder_sends_its_files(solved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    sent: list[SpotOutcome] = []

    def elsewhere(job: StudyJob, tell: Callable[[SpotOutcome], None]) -> None:
        token = folder / TOKEN
        hidden = token.rename(folder / "hidden")
        before = set(folder.rglob("*"))
        solve_job(job, sent.append)
        assert set(folder.rglob("*")) == before
        hidden.rename(token)
        tell(sent[-1])

    assert solve_here(study_text(), folder, InlineExecutor(elsewhere)).done == len(FLOPS)
    names = [f"{table}/QsJh2h.parquet" for table in ("summary", "hands", "runs")]
    assert list(sent[0].files) == names
    assert tables(folder) == tables(solved)


def test_whole_solutions_are_kept_on_request(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    text = study_text(FLOPS[:2], more="keep.solutions = true")
    solve_here(text, folder)
    solution = Study(folder).solution("Jh 2h Qs")
    assert solution.iterations == 10
    os.truncate(folder / "solutions" / "QsJh2h.rgl", 1000)
    assert solve_here(text, folder).solved == 1
    with pytest.raises(InvalidFile, match="is not kept"):
        Study(folder).solution("Ah Kh Qh")


WHOLE_SOLUTIONS = study_text(FLOPS[:2], more="keep.solutions = true")


@pytest.fixture(scope="module")
def whole_solutions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies") / "whole"
    solve_here(WHOLE_SOLUTIONS, folder)
    return folder


@pytest.mark.parametrize("kind", ["a file", "nothing", "a pipe"])
@pytest.mark.parametrize(
    "name",
    ["study.json", "run.token", "merged.json", "summary.parquet", "solutions/QsJh2h.rgl", "summary/QsJh2h.parquet",
     "runs/QsJh2h.parquet", "runs", "solutions"],
)  # fmt: skip
def test_a_file_of_the_study_that_is_a_link_or_a_pipe_is_refused(
    whole_solutions: Path, tmp_path: Path, name: str, kind: str
) -> None:
    folder = Path(shutil.copytree(whole_solutions, tmp_path / "study"))
    home = tmp_path / "home"
    home.mkdir()
    (home / "p.txt").write_text("precious")
    path = folder / name
    if path.is_dir():
        path.rename(folder.parent / "moved")
    path.unlink(missing_ok=True)
    if kind == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(home / ("p.txt" if kind == "a file" else "absent"))
    sentence = f"{name}: is (a link|not an ordinary file|not a folder)"
    with pytest.raises(InvalidFile, match=sentence):
        solve_here(WHOLE_SOLUTIONS, folder)
    if name != "run.token":  # which no reader opens
        with pytest.raises(InvalidFile, match=f"{sentence}|study: is not the folder of a study"):
            Study(folder).report()
    assert os.listdir(home) == ["p.txt"]
    assert (home / "p.txt").read_text() == "precious"


@pytest.mark.parametrize("content", ["[]", '{"parts": 5}', '{"parts": "{parts}", "sha256": [1]}', "[" * 10**5])
def test_a_hostile_merged_json_is_as_good_as_none(copy: Path, content: str) -> None:
    expected = Study(copy).report().total.oop_ev
    merged = copy / "merged.json"
    merged.write_text(content.replace("{parts}", json.loads(merged.read_text())["parts"]))
    assert Study(copy).report().total.oop_ev == pytest.approx(expected, rel=1e-12)
    os.truncate(merged, 2**40)
    assert Study(copy).report().total.oop_ev == pytest.approx(expected, rel=1e-12)
