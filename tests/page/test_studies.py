"""Studies as the page gets them: the numbers of the tables, of whatever is solved, and nothing outside the folder."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.cluster.studies import edit_part
from tests.page.serving import API, is_over, wait_for

from regretless.files.container import write_container

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
from pyarrow import compute, parquet  # noqa: E402

HOSTILE = "<img src=x onerror=alert(1)>"
MEANS = ("oop_ev", "ip_ev", "oop_equity", "ip_equity")


def ask(client: TestClient, path: str, **params: Any) -> dict[str, Any]:
    answer = client.get(f"{API}{path}", params={"study": "study", **params})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def refusal(client: TestClient, path: str, **params: Any) -> str:
    answer = client.get(f"{API}{path}", params={"study": "study", **params})
    assert 400 <= answer.status_code < 500, answer.text
    return str(answer.json()["error"]["message"])


def rows_of(folder: Path, variation: int, line: str) -> list[dict[str, Any]]:
    """Rows of the parts, read without DuckDB and without the merged file."""
    found = [row for path in (folder / "study" / "summary").iterdir() for row in parquet.read_table(path).to_pylist()]
    return [row for row in found if row["variation"] == variation and row["line"] == line]


@pytest.mark.parametrize("line", ["", "check", "check, bet 30"])
def test_totals_equal_a_direct_computation(reading: TestClient, solved: Path, line: str) -> None:
    found = ask(reading, "/study/flops", line=line, variation=2)
    rows = rows_of(solved, 2, line)
    columns, weights = found["columns"], np.array(found["columns"]["weight"])
    assert len(rows) == len(columns["spot"]) * len(found["actions"])
    for place, action in enumerate(found["actions"]):
        taken = [row for row in rows if row["action"] == action]
        reached = sum(row["weight"] * row["reach"] for row in taken)
        direct = sum(row["weight"] * row["reach"] * row["frequency"] for row in taken) / reached
        assert found["total"]["frequencies"][place] == pytest.approx(direct, abs=1e-6)
        assert weights @ found["frequencies"][place] / weights.sum() == pytest.approx(direct, abs=1e-5)
    once = [row for row in rows if row["place"] == 0]
    for name in MEANS:
        direct = sum(row["weight"] * row["reach"] * row[name] for row in once) / reached
        assert found["total"][name] == pytest.approx(direct, abs=1e-6)
        assert weights @ columns[name] / weights.sum() == pytest.approx(direct, abs=1e-3)
    expected = sum(row["weight"] * row["reach"] * row["oop_equity"] * row["node_pot"] for row in once)
    realised = sum(row["weight"] * row["reach"] * row["oop_ev"] for row in once) / expected
    assert found["total"]["oop_eqr"] == pytest.approx(realised, abs=1e-6)


def test_a_study_says_what_varies_and_which_lines_it_has(reading: TestClient) -> None:
    assert [each["study"] for each in reading.get(f"{API}/studies").json()["studies"]] == ["study"]
    about = ask(reading, "/study")
    assert (about["name"], about["spots"], about["done"]) == ("Formation", 12, 12)
    assert (about["varied"], about["variations"]) == (["rules.rake"], [[0], [0.05]])
    lines = {each["line"]: each for each in ask(reading, "/study/lines", variation=2)["lines"]}
    assert {"", "check", "bet 30", "check, bet 30"} <= set(lines)
    total = ask(reading, "/study/flops", line="check", variation=2)["total"]
    assert [action["frequency"] for action in lines["check"]["actions"]] == total["frequencies"]
    assert (lines["check"]["player"], lines["check"]["spots"], lines["check"]["pot"]) == ("ip", 6, 60)
    assert "'bet 31': is not in the study" in refusal(reading, "/study/flops", line="bet 31")
    assert "variation: 3 is more than 2" in refusal(reading, "/study/flops", variation=3)


def test_a_study_that_is_running_shows_what_is_there(client: TestClient, folder: Path) -> None:
    whole = ask(client, "/study")
    assert ask(client, "/study/flops")["coverage"] == {"solved": 6, "spots": 6, "weight": 1.0, "complete": True}
    parts = sorted((folder / "study" / "runs").iterdir())
    kept = parts[0].read_bytes()
    for path in parts[:4]:
        path.unlink()
    found = ask(client, "/study")
    assert (found["done"], found["spots"]) == (8, 12)
    assert found["revision"] != whole["revision"]
    flops = ask(client, "/study/flops")
    assert len(flops["columns"]["flop"]) == 4
    weight = pytest.approx(1 - (24 + 4) / 100)
    assert flops["coverage"] == {"solved": 4, "spots": 6, "weight": weight, "complete": False}
    parts[0].write_bytes(kept)  # the study goes on
    assert len(ask(client, "/study/flops")["columns"]["flop"]) == 5
    for path in [parts[0], *parts[4:]]:
        path.unlink()
    assert ask(client, "/study/lines")["lines"] == []


def test_a_kept_solution_is_opened_and_another_is_solved_as_the_study_did(client: TestClient) -> None:
    kept = ask(client, "/study/spot", spot="QsJh2h-2")
    assert kept["file"] == "study/solutions/QsJh2h-2.rgl"
    assert client.get(f"{API}/node", params={"file": kept["file"]}).status_code == 200
    missing = ask(client, "/study/spot", spot="9s8s7s-1")
    assert missing["file"] is None
    started = client.post(f"{API}/solves", json=missing["request"] | {"threads": 1})
    assert started.status_code == 201, started.text
    solve = wait_for(client, started.json()["solve"]["id"], is_over)
    assert solve["state"] == "done", solve
    again = ask(client, "/study/spot", spot="9s8s7s-1")
    assert again["file"] == solve["file"] == "Formation 9s8s7s-1.rgl"
    columns = ask(client, "/study/flops")["columns"]
    root = client.get(f"{API}/node", params={"file": again["file"]}).json()
    assert root["players"]["ip"]["ev"] == pytest.approx(columns["ip_ev"][columns["spot"].index("9s8s7s-1")], abs=1e-3)
    assert "is not in the study" in refusal(client, "/study/spot", spot="../../x")


def change(folder: Path, edit: Callable[[Any], Any]) -> None:
    """Rewrite a part of the table, and drop the merged files."""
    edit_part(folder / "study", "QsJh2h-1", lambda table: edit(table).cast(table.schema))
    (folder / "study" / "merged.json").unlink()


def test_means_over_the_rows_of_a_line_that_is_hardly_ever_played(client: TestClient, folder: Path) -> None:

    def edit(table: Any) -> Any:
        rare = compute.multiply(table["reach"], 1e-9)
        return table.set_column(table.column_names.index("reach"), "reach", rare)

    for path in (folder / "study" / "summary").iterdir():
        edit_part(folder / "study", path.stem, edit)
    (folder / "study" / "merged.json").unlink()
    found = ask(client, "/study/flops", line="check")
    weights = np.array(found["columns"]["weight"])
    assert weights.sum() == pytest.approx(found["total"]["weight"], rel=1e-9)
    for place, share in enumerate(found["total"]["frequencies"]):
        assert weights @ found["frequencies"][place] / weights.sum() == pytest.approx(share, abs=1e-5)


def test_texts_and_numbers_of_a_hostile_study_stay_texts_and_numbers(client: TestClient, folder: Path) -> None:
    def edit(table: Any) -> Any:
        for name, value in (("action", HOSTILE), ("flop", HOSTILE), ("texture", None), ("player", "nobody")):
            table = table.set_column(table.column_names.index(name), name, pyarrow.array([value] * len(table), "str"))
        odd = pyarrow.array([float("nan"), float("inf"), *[1e300] * (len(table) - 2)])
        return table.set_column(table.column_names.index("oop_ev"), "oop_ev", odd)

    change(folder, edit)
    found = ask(client, "/study/flops")
    assert HOSTILE in found["actions"]
    assert HOSTILE in found["columns"]["flop"]
    manifest = folder / "study" / "study.json"
    manifest.write_text(manifest.read_text().replace("Formation", "<script>alert(1)</script>"))
    assert ask(client, "/study")["name"] == "<script>alert(1)</script>"


def test_what_cannot_be_read_is_told_in_one_sentence(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "duckdb", None)
        assert "[report]" in refusal(client, "/study/flops")
    study = folder / "study"
    part = study / "summary" / "QsJh2h-1.parquet"
    part.write_bytes(part.read_bytes()[:-50])
    (study / "merged.json").unlink()
    assert refusal(client, "/study/flops").startswith("study/summary/QsJh2h-1.parquet: is damaged, or was copied from")
    part.unlink()
    assert "is missing: running the study again" in refusal(client, "/study/flops")
    manifest = json.loads((study / "study.json").read_text())
    (study / "study.json").write_text(json.dumps(manifest | {"schema": 99}))
    assert "newer version" in refusal(client, "/study")
    (listed,) = client.get(f"{API}/studies").json()["studies"]
    assert "newer version" in listed["note"]
    shutil.rmtree(study / "runs")
    (study / "study.json").write_text(json.dumps(manifest))
    assert "cannot be read" in refusal(client, "/study")


@pytest.mark.parametrize(
    "study",
    ["../study", "/etc", "study/../../study", ".hidden", "linked", "study\\x", "", "absent", "..", "a" * 280, "\0"],
)
def test_no_name_of_a_study_leads_out_of_the_folder(client: TestClient, folder: Path, study: str) -> None:
    shutil.move(folder / "study", folder.parent / "study")
    os.symlink(folder.parent / "study", folder / "linked")
    for path in ("/study", "/study/lines", "/study/flops", "/study/spot"):
        params = {"study": study} | ({"spot": "QsJh2h-1"} if path == "/study/spot" else {})
        answer = client.get(f"{API}{path}", params=params)
        assert answer.status_code in (400, 403, 404), (path, study, answer.text)


def test_links_inside_a_study_are_not_followed(client: TestClient, folder: Path) -> None:
    part = folder / "study" / "summary" / "QsJh2h-1.parquet"
    shutil.move(part, folder.parent / "elsewhere.parquet")
    os.symlink(folder.parent / "elsewhere.parquet", part)
    assert "summary/QsJh2h-1.parquet: is a link" in refusal(client, "/study/flops")
    part.unlink()
    shutil.move(folder / "study" / "summary", folder.parent / "summary")
    os.symlink(folder.parent / "summary", folder / "study" / "summary")
    assert "is not in the served folder" in refusal(client, "/study/flops")


def test_files_of_a_study_are_not_listed_and_whole_games_say_how_to_read_them(client: TestClient, folder: Path) -> None:
    write_container(folder / "deal.rgl", "flop-holdem", {"iterations": 5, "exploitability": None}, {})
    files = {each["file"]: each for each in client.get(f"{API}/files").json()["files"]}
    assert set(files) == {"river.rgl", "turn.rgl", "kuhn.rgl", "leduc.rgl", "push-fold.rgl", "river.toml", "deal.rgl"}
    assert files["deal.rgl"]["kind"] == "flop-holdem"
    assert "regretless show deal.rgl" in files["deal.rgl"]["note"]
    answer = client.get(f"{API}/game", params={"file": "deal.rgl"})
    assert answer.status_code == 404
    assert "regretless show" in answer.json()["error"]["message"]


def test_the_served_folder_may_itself_be_a_study(folder: Path) -> None:
    from regretless.page.app import make_app

    with TestClient(make_app(folder / "study", token=None), base_url="http://127.0.0.1:8040") as client:
        (listed,) = client.get(f"{API}/studies").json()["studies"]
        assert listed["study"] == "."
        assert ask(client, "/study/spot", study=".", spot="QsJh2h-1")["file"] == "solutions/QsJh2h-1.rgl"
