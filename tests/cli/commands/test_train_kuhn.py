"""`regretless train-kuhn`."""

from __future__ import annotations

from pathlib import Path


def test_train_kuhn(run, tmp_path: Path) -> None:
    line = ["train-kuhn", "--iterations", "3000", "--seed", "1"]
    result = run(*line, "--plot", "kuhn.png", "--information-sets", "J,Q,K")
    assert result.code == 0
    for words in ("trained on 3,000 hands", "mean value so far", "−0.05556", "(−1/18)", "exploitability", "Jpb"):
        assert words in result.out
    assert (tmp_path / "kuhn.png").read_bytes().startswith(b"\x89PNG")
    answer = run(*line, "--json").json
    assert answer == {**run(*line, "--json").json, "seconds": answer["seconds"]}
    assert len(answer["strategy"]) == 12
    assert answer["exploitability"] < 0.05
