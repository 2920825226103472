"""A study whose `study.json` is damaged or missing: what rebuilds it, and what is refused."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path

import pytest
from tests.cluster.studies import solve_here, study_text, tables

from regretless.errors import InvalidFile, RebuiltFile
from regretless.holdem.studies.study import Study

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

FLOPS = ("QsJh2h", "As7h2d")
VARIED = "vary.rules.rake = [0, 0.05]"
TEXT = study_text(FLOPS, iterations=2, more=VARIED)
DAMAGES = ["", "[]", "{}", "{" * 50_000, '{"schema": "1"}', None]  # None: the file is missing


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study; tests do not change it."""
    folder = tmp_path_factory.mktemp("studies") / "solved"
    assert solve_here(TEXT, folder).done == 4
    return folder


@pytest.fixture
def copy(solved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(solved, tmp_path / "copy"))


def damage(folder: Path, content: str | None) -> None:
    if content is None:
        (folder / "study.json").unlink()
    else:
        (folder / "study.json").write_text(content)


def cut_in_half(folder: Path) -> str:
    content = (folder / "study.json").read_text()
    return content[: len(content) // 2]


@pytest.mark.parametrize("content", [*DAMAGES, "half"], ids=lambda content: str(content)[:20] or "empty")
def test_running_the_study_again_rebuilds_it_and_solves_nothing(solved: Path, copy: Path, content: str | None) -> None:
    damage(copy, cut_in_half(copy) if content == "half" else content)
    with pytest.warns(RebuiltFile) as warned:
        run = solve_here(TEXT, copy)
    assert (run.done, run.solved) == (4, 0)
    (said,) = (str(each.message) for each in warned)
    what = "was missing" if content is None else "was damaged"
    assert said == f"{copy / 'study.json'}: {what} and has been rebuilt; solved spots are kept"
    assert (copy / "study.json").read_bytes() == (solved / "study.json").read_bytes()
    assert tables(copy) == tables(solved)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert solve_here(TEXT, copy).solved == 0


@pytest.mark.parametrize("content", DAMAGES, ids=lambda content: str(content)[:20] or "empty")
def test_a_reader_says_how_to_rebuild_it(copy: Path, content: str | None) -> None:
    damage(copy, content)
    with pytest.raises(InvalidFile) as refused:
        Study(copy)
    assert str(refused.value).endswith(f": regretless study run STUDY.toml --out {copy}")
    assert ("study.json: is damaged; to rebuild it and keep every solved spot" in str(refused.value)) == (
        content is not None
    )


@pytest.mark.parametrize("content", ["", None], ids=["damaged", "missing"])
def test_only_the_study_of_the_solved_spots_rebuilds_it(copy: Path, content: str | None) -> None:
    damage(copy, content)
    with pytest.raises(InvalidFile, match="holds another study"):
        solve_here(study_text(FLOPS, iterations=3, more=VARIED), copy)
    with pytest.raises(InvalidFile, match="has QsJh2h-1 and 1 more, which the study no longer has"):
        solve_here(study_text(FLOPS[1:], iterations=2, more=VARIED), copy)
    damaged = copy / "runs" / "QsJh2h-1.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-50])
    with pytest.warns(RebuiltFile):
        assert solve_here(TEXT, copy).solved == 1, "a damaged part is no proof against the others"


def test_a_file_of_the_same_name_is_not_overwritten_without_proof(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text(foreign := json.dumps({"trials": 12}))
    with pytest.raises(InvalidFile, match=r"study.json: is damaged, and no solved spot beside it tells what"):
        solve_here(TEXT, tmp_path)
    assert (tmp_path / "study.json").read_text() == foreign
    assert [path.name for path in tmp_path.iterdir()] == ["study.json"]
