"""What newcomers write in Python works, or is answered in one sentence that names what works there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.pages import ROOT

import regretless as rl
from regretless.errors import Advice, InvalidFile, InvalidGame, InvalidOption, InvalidText
from regretless.games.game import TwoPlayerGame
from regretless.variants.presets import ALIASES, PRESETS, read_variant

RIVER: dict[str, Any] = {"board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 200}
BETS = {"bet": "50%"}


class Pennies(TwoPlayerGame[str]):
    """Matching pennies, without a name."""

    moves: Sequence[Any] = ("h", "t")

    def initial_state(self) -> str:
        return ""

    def is_terminal(self, state: str) -> bool:
        return len(state) == 2

    def player(self, state: str) -> int:
        return len(state)

    def actions(self, state: str) -> Sequence[Any]:
        return self.moves

    def next_state(self, state: str, action: Any) -> str:
        return state + str(action)

    def info_set_key(self, state: str) -> Any:
        return f"player {len(state)}"

    def utilities(self, state: str) -> tuple[float, float]:
        return (1.0, -1.0) if state[0] == state[1] else (-1.0, 1.0)


# --- games -----------------------------------------------------------------------------------------------------------


def test_a_game_without_a_name_is_called_like_its_class() -> None:
    solution = rl.solve(Pennies(), iterations=10)
    assert solution.game == "Pennies"
    assert repr(Pennies()) == "<Pennies Pennies>"
    assert rl.Solver(Pennies()).solve(10, verbose=False)["player 0"] == {"h": 0.5, "t": 0.5}
    with pytest.raises(AttributeError, match="'Pennies' object has no attribute 'nmae'"):
        _ = Pennies().nmae  # type: ignore[attr-defined]


def test_actions_and_keys_must_be_text() -> None:
    class Numbered(Pennies):
        moves = (0, 1)

    class Keyed(Pennies):
        def info_set_key(self, state: str) -> Any:
            return len(state)

    for solve in (rl.solve, rl.Solver):
        with pytest.raises(InvalidGame, match=r"^Numbered: the action 0 must be text, such as '0'$"):
            solve(Numbered())
        with pytest.raises(InvalidGame, match=r"^Keyed: the information set 0 must be text, such as '0'$"):
            solve(Keyed())


# --- spots -----------------------------------------------------------------------------------------------------------


def test_a_spot_takes_text_where_a_file_has_text() -> None:
    spot = rl.Spot(**RIVER, oop="AK", ip={"range": "QQ, JT"}, bets=BETS, rules={"rake": 0.05})
    mapping = RIVER | {"oop": {"range": "AK"}, "ip": {"range": "QQ, JT"}, "bets": BETS, "rules": {"rake": 0.05}}
    assert spot == rl.Spot.from_mapping(mapping)
    assert rl.Spot(**vars(spot) | {"board": list(spot.board)}) == spot


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"board": "Kh Qs Jx"}, "board: 'Kh Qs Jx' at position"),
        (
            {"board": ["Kh", "Qs", "Js"]},
            "board: ['Kh', 'Qs', 'Js'] must be cards, such as 'Kh Qs Js', or their numbers",
        ),
        ({"board": (1, 2, 99)}, "board: (1, 2, 99) must be cards"),
        ({"oop": "AKx"}, "oop.range: 'AKx' at position 3: "),
        ({"ip": 5}, "ip: 5 must be text such as 'QQ+, AKs'"),
        ({"bets": "50%"}, "bets: '50%' must be a dictionary such as {'bet': '50%'}"),
        ({"rules": 3}, "rules: 3 must be a dictionary such as {'add_allin': 1.5}"),
    ],
)
def test_a_wrong_spot_is_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises((InvalidOption, InvalidText), match="^" + re.escape(sentence)):
        rl.Spot(**{**RIVER, "oop": "AK", "ip": "QQ", "bets": BETS, **change})


@pytest.mark.parametrize("line", [0, ["check"], None])
def test_a_line_that_is_no_text_is_one_sentence(line: Any) -> None:
    solution = rl.solve(rl.Spot(**RIVER, oop="AK", ip="QQ", bets=BETS), iterations=1)
    with pytest.raises(InvalidOption, match=r"^line: .* must be text, such as 'check, bet 50'$"):
        solution.node(line)


# --- names of the literature -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "preset"), [item for item in ALIASES.items() if item[1] in PRESETS])
def test_variants_are_known_by_the_names_of_the_literature(name: str, preset: str) -> None:
    assert read_variant(name) == read_variant(name.upper()) == PRESETS[preset]
    assert rl.solve("kuhn", variant=name, iterations=3).variant == preset
    assert rl.Solver("kuhn", variant=name).rule == PRESETS[preset]


def test_parameters_follow_a_name_of_the_literature() -> None:
    assert rl.solve("kuhn", variant="DCFR(gamma=3)", iterations=3).variant == "discounted(gamma=3)"
    assert rl.solve("kuhn", variant="hs-dcfr(horizon=10)", iterations=3).variant == "scheduled(horizon=10)"


def test_mccfr_samples_externally() -> None:
    named = rl.solve("leduc", variant="mccfr", iterations=50, seed=3)
    spelled = rl.solve("leduc", variant="vanilla", sampling="external", iterations=50, seed=3)
    assert (named.variant, named.settings.sampling) == ("vanilla", "external")
    assert named.strategy == spelled.strategy
    assert rl.solve("leduc", variant="MCCFR", sampling="outcome", iterations=5).settings.sampling == "outcome"
    assert rl.solve("push-fold(stack=2)", variant="mccfr", iterations=5).settings.sampling == "external"
    solver = rl.Solver("leduc", variant="mccfr")
    solver.solve(20, verbose=False)
    assert solver.exploitability() > 0.1  # a full iteration would have done better
    with pytest.raises(InvalidOption, match="batch_size: 1 is the readable recursion"):
        rl.Solver("leduc", variant="mccfr", batch_size=1)
    with pytest.raises(InvalidOption, match="sampling: 'full' cannot be combined with variant mccfr"):
        rl.solve("leduc", variant="mccfr", sampling="full")
    with pytest.raises(InvalidOption, match=r"^variant: 'mccfr' samples the tree: the games of a batch are"):
        rl.solve_batch(["kuhn"], variant="mccfr")


@pytest.mark.parametrize(
    ("name", "meant"), [("hidden_dim", "width"), ("lr", "learning_rate"), ("traversal", "traversals")]
)
def test_train_says_what_a_setting_is_called(name: str, meant: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(InvalidOption, match=f"^{name}: 1 is not an option of train; did you mean {meant}\\?$"):
        rl.train("kuhn", **{name: 1})


# --- hints -----------------------------------------------------------------------------------------------------------


def test_hints_are_spelled_for_where_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "spot.toml"
    file.write_text(rl.Spot(**RIVER, oop="AK", ip="QQ", bets=BETS).to_toml(), encoding="utf-8")
    with pytest.raises(InvalidFile) as unsolved:
        rl.load(file)
    assert str(unsolved.value) == f"{file}: is not solved: rl.solve({str(file)!r})"
    assert unsolved.value.worded(Advice.as_option) == f"{file}: is not solved: regretless solve {file} --out spot.rgl"

    solution = rl.solve(file, iterations=5)
    solution.save(tmp_path / "spot.rgl")
    with pytest.raises(InvalidOption) as finished:
        rl.solve(resume=tmp_path / "spot.rgl", iterations=10)
    assert str(finished.value).endswith("which a resume needs: save(path, resumable=True) saves them")
    assert finished.value.worded(Advice.as_option).endswith("which a resume needs: --keep-regrets saves them")
    assert finished.value.worded(Advice.in_words).endswith("which a resume needs: keep regrets saves them")


def test_no_message_outside_the_command_names_its_options() -> None:
    """Options are spelled by `Advice`; whole commands, such as `regretless study run … --out`, may be quoted."""
    package = ROOT / "src" / "regretless"
    for path in package.rglob("*.py"):
        if "cli" in path.relative_to(package).parts:
            continue
        for line, text in texts_in(ast.parse(path.read_text(encoding="utf-8"))):
            assert not re.search(r"(?<![\w-])--[a-z]", re.sub(r"(?:regretless|ray) .*", "", text)), f"{path}:{line}"


def texts_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every text of a module, with its line, but docstrings."""
    inside: set[int] = set()  # parts of a longer text, and docstrings
    for node in ast.walk(tree):  # from the outside in
        if isinstance(node, ast.Expr):
            inside.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            inside.update(map(id, node.values))
            yield (
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def test_deep_cfr_without_pytorch_is_one_sentence() -> None:
    code = "import sys; sys.modules['torch'] = None; import regretless.deep.deep_cfr"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stderr.splitlines()[-1].startswith(
        "regretless.errors.MissingExtra: torch is not installed: pip install "
    )
