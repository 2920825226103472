"""The install commands in the README, run in a fresh environment beside a copy of the tracked files."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.pages import ROOT, blocks


def install_lines() -> list[str]:
    """Every `pip install …` in the README's shell blocks."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for block in blocks(text) if block.language == "sh" for line in block.body.splitlines()]
    return [line for line in lines if line.startswith("pip install")]


@pytest.mark.slow
def test_the_readme_installs_a_command_that_solves(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    clone, environment = tmp_path / "clone", tmp_path / "environment"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)

    variables = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    variables |= {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "MPLBACKEND": "agg"}

    def run(*words: str, folder: Path) -> str:
        command = [str(environment / "bin" / words[0]), *words[1:]]
        result = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
        assert result.returncode == 0, f"{shlex.join(words)}\n{result.stdout}{result.stderr}"
        return result.stdout

    lines = install_lines()
    assert len(lines) == 2
    for line in lines:
        run(*shlex.split(line, comments=True), folder=clone)
    spot = str(ROOT / "tests" / "data" / "river_narrow.toml")
    assert "% of the pot" in run("regretless", "solve", spot, "--target", "0.3", "--out", "river.rgl", folder=tmp_path)
    assert "exploitability" in run("regretless", "solve", "kuhn", "--plot", "kuhn.png", folder=tmp_path)
    assert (tmp_path / "kuhn.png").stat().st_size > 1_000
