"""One solve: it says before it starts if its kernels are not compiled yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.spot_texts import SMALL

NOTE = "compiling kernels for this machine"


@pytest.mark.parametrize(
    ("folder", "options"), [("public", ()), ("buckets", ("--buckets", "river=5,method=percentile"))]
)
def test_the_first_solve_says_that_kernels_are_compiled(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, options: tuple[str, ...]
) -> None:
    (tmp_path / "turn.toml").write_text(SMALL.replace(" 3d", ""), encoding="utf-8")

    def is_noted(compiled: bool, *more: str) -> bool:
        target = f"regretless.engines.numba.{folder}.engine.kernels_are_compiled"
        monkeypatch.setattr(target, lambda *_: compiled)
        result = run("solve", "turn.toml", "--iterations", "1", *options, *more)
        assert result.code == 0
        return NOTE in result.err

    assert is_noted(compiled=False)
    assert not is_noted(compiled=True)
    assert not is_noted(False, "--engine", "numpy")
