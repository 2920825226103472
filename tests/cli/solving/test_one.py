"""A solve whose kernels are not compiled yet says so before it starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.spot_texts import SMALL

NOTE = "compiling kernels for this machine"


@pytest.mark.parametrize(
    ("form", "options"), [("public", ()), ("bucketed", ("--buckets", "river=5,method=percentile"))]
)
def test_the_first_solve_says_that_kernels_are_compiled(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, options: tuple[str, ...]
) -> None:
    (tmp_path / "turn.toml").write_text(SMALL.replace(" 3d", ""), encoding="utf-8")

    def said(compiled: bool, *more: str) -> bool:
        target = f"regretless.engines.{form}.compiled.engine.kernels_are_compiled"
        monkeypatch.setattr(target, lambda *_: compiled)
        result = run("solve", "turn.toml", "--iterations", "1", *options, *more)
        assert result.code == 0
        return NOTE in result.err

    assert said(compiled=False)
    assert not said(compiled=True)
    assert not said(False, "--engine", "numpy")
