"""Cached kernels: reused while nothing changes, recompiled when damaged or when a file they inline is edited.

Also: every private attribute of numba that Regretless uses exists, and is used in one module only.
"""

from __future__ import annotations

import ast
import errno
import hashlib
import importlib.util
import os
import pickle  # noqa: TID251  (numba writes its index with it)
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import pytest

from regretless.compiling import kernel, numba_internals

LAYERS = ("engines", "cards")
DECORATORS = {
    "engines": "from regretless.compiling import fast_inlined as inlined, fast_kernel as kernel",
    "cards": "from regretless.compiling import inlined, kernel",
}
PART = """
{decorators}

@inlined
def part(x):
    return x + {added}
"""
MIDDLE = """
{decorators}
from regretless.{layer}.room.part import part

@inlined
def middle(x):
    return part(x)
"""
WHOLE = """
{decorators}
from regretless.{layer}.middle import middle

@kernel
def whole(x):
    return 2 * middle(x)

print(whole(1), "kept" if sum(whole.stats.cache_hits.values()) else "compiled")
"""

Package = Callable[..., str]


@pytest.fixture(
    params=[("engines", "where the environment says"), ("engines", "where the user's cache is")],
    ids=" ".join,
)
def answer_of(request: pytest.FixtureRequest, tmp_path: Path) -> Package:
    """Runs a kernel of a small package that inlines a function two files away in a nested folder."""
    layer, place = request.param
    folder = tmp_path / "regretless" / layer
    (folder / "room").mkdir(parents=True)
    shutil.copytree(
        Path(numba_internals.__file__).parent, folder.parent / "compiling", ignore=shutil.ignore_patterns("__pycache__")
    )
    decorators = DECORATORS[layer]
    for path, text in (
        (folder.parent / "__init__.py", ""),
        (folder / "__init__.py", ""),
        (folder / "room" / "__init__.py", ""),
        (folder / "middle.py", MIDDLE.format(layer=layer, decorators=decorators)),
        (folder / "whole.py", WHOLE.format(layer=layer, decorators=decorators)),
    ):
        path.write_text(text, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "user")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # Python takes an edit within a second, of equal length, for no edit
    if place == "where the environment says":
        environment["NUMBA_CACHE_DIR"] = str(tmp_path / "given")
    if place == "where the user's cache is":
        (folder / "__pycache__").write_text("a file, so that this folder cannot be had", encoding="utf-8")

    def run(*, added: int, room: int | None = None, unrelated: str = "") -> str:
        text, part = PART.format(decorators=decorators, added=added), folder / "room" / "part.py"
        if not part.exists() or part.read_text(encoding="utf-8") != text:
            part.write_text(text, encoding="utf-8")
        (folder / "room" / "unrelated.py").write_text(unrelated, encoding="utf-8")
        command = [sys.executable, "-m", f"regretless.{layer}.whole"]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True,
            preexec_fn=None if room is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
        )  # fmt: skip
        return done.stdout.strip()

    return run


def test_an_edit_of_an_inlined_function_is_noticed(answer_of: Package) -> None:
    assert answer_of(added=10) == "22 compiled"
    assert answer_of(added=10) == "22 kept"
    assert answer_of(added=10, unrelated="# a comment in a file that the kernel does not import") == "22 kept"
    assert answer_of(added=40) == "82 compiled"


@pytest.mark.parametrize(
    "answer_of", [(layer, "beside the source") for layer in LAYERS], indirect=True, ids=list(LAYERS)
)
def test_an_edit_is_noticed_and_a_full_disk_neither_ends_a_solve_nor_brings_an_old_kernel_back(
    answer_of: Package,
) -> None:
    assert answer_of(added=10) == "22 compiled"
    assert answer_of(added=10) == "22 kept"
    assert answer_of(added=40, room=2500) == "82 compiled"  # bytes: an index can be written, code cannot
    assert answer_of(added=40) == "82 compiled"
    assert answer_of(added=40) == "82 kept"


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def blank_end(data: bytes) -> bytes:
    """What a crash may leave of a file whose length was written before its blocks were."""
    return data[: len(data) // 2] + bytes(len(data) - len(data) // 2)


DAMAGE = {"empty": lambda data: b"", "cut short": cut, "blank at the end": blank_end, "other": lambda data: b"no cache"}


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Loads a module with a kernel as a new process would, and says whether the kernel was cached or compiled."""
    source = tmp_path / "kept_kernel.py"
    source.write_text("def double(x):\n    return 2 * x\n", encoding="utf-8")

    def load() -> str:
        spec = importlib.util.spec_from_file_location("kept_kernel", source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "kept_kernel", module)  # where numba looks for it
        spec.loader.exec_module(module)
        double = kernel(module.double)
        assert double(21) == 42
        return "kept" if sum(double.stats.cache_hits.values()) else "compiled"

    return load


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("files", ["nbi", "nbc"], ids=["index", "code"])
def test_a_damaged_file_is_recompiled_and_replaced(files: str, damage: str, load, tmp_path: Path) -> None:
    assert [load(), load()] == ["compiled", "kept"]
    (path,) = tmp_path.rglob(f"*.{files}")
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert [load(), load()] == ["compiled", "kept"]


def test_an_index_that_names_a_renamed_class_is_replaced(load, tmp_path: Path) -> None:
    """As after an upgrade that renamed the class of an argument: a pickle finds classes by name."""
    assert load() == "compiled"
    (path,) = tmp_path.rglob("*.nbi")
    version = pickle.dumps(numba.__version__)
    contents = version + b"cregretless.compiling\nRenamedSince\n."
    path.write_bytes(contents + hashlib.sha256(contents).digest())
    assert [load(), load()] == ["compiled", "kept"]


def test_unreadable_files_cost_a_compilation(load, tmp_path: Path) -> None:
    assert load() == "compiled"
    for path in list(tmp_path.rglob("*.nb?")):
        path.unlink()
        path.mkdir()
    assert [load(), load()] == ["compiled", "compiled"]


@pytest.mark.parametrize("failing", [errno.ENOSPC, errno.EROFS, errno.EDQUOT], ids=errno.errorcode.get)
def test_a_disk_that_refuses_costs_a_compilation(
    failing: int, load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(failing, os.strerror(failing))

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", refuse)
        assert [load(), load()] == ["compiled", "compiled"]
        assert not list(tmp_path.rglob("*.nb*"))
    assert [load(), load()] == ["compiled", "kept"]


@pytest.mark.slow
def test_the_command_after_a_crash_left_empty_files(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    line = [sys.executable, "-m", "regretless", "equity", "AhKh", "QQ", "--board", "Qs Jh 2h Td"]
    for _ in range(2):
        answer = subprocess.run(line, capture_output=True, text=True, env=environment)
        assert (answer.returncode, answer.stderr) == (0, "")
        kept = list(tmp_path.rglob("*.nb?"))
        assert kept
        for path in kept:
            path.write_bytes(b"")


def test_a_function_that_cannot_be_cached_still_compiles() -> None:
    namespace: dict[str, Callable[[int], int]] = {}
    exec("def double(x):\n    return 2 * x\n", namespace)  # no file, so numba has no place for its code
    assert kernel(namespace["double"])(21) == 42


# --- internals of numba ----------------------------------------------------------------------------------------------

SOURCES = Path(numba_internals.__file__).parents[1]


def double(x: int) -> int:
    return 2 * x


def test_the_private_attributes_of_numba_that_are_used() -> None:
    dispatcher = kernel(double)
    cache = dispatcher._cache
    file = super(type(cache), cache)  # methods that are overridden must exist in numba's own class
    owners = {
        "_cache": dispatcher,
        "_cache_file": cache,
        "_cache_path": cache,
        "_data_path": cache._cache_file,
        "_impl": cache,
        "_index_path": cache._cache_file,
        "_load_data": numba.core.caching.IndexDataCacheFile,
        "_load_index": numba.core.caching.IndexDataCacheFile,
        "_open_for_write": numba.core.caching.IndexDataCacheFile,
        "_source_stamp": cache._cache_file,
    }
    assert [name for name, owner in owners.items() if not hasattr(owner, name)] == []
    assert all(hasattr(file, name) for name in ("load_overload", "save_overload"))
    assert hasattr(cache._impl, "filename_base")
    tree = ast.parse(Path(numba_internals.__file__).read_text(encoding="utf-8"))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    private = {name for name in used | defined if re.fullmatch(r"_[a-z_]+[a-z]", name)}
    assert private - {"_check", "_is_whole"} == set(owners)


def test_the_private_options_and_functions_of_numba_that_are_used() -> None:
    flags = numba.core.compiler.Flags()
    assert hasattr(flags, "noalias")
    assert callable(numba.core.compiler.DefaultPassBuilder.define_nopython_pipeline)
    assert {"_nrt", "forceinline"} <= set(numba.core.options.DefaultOptions.__dict__)
    assert callable(importlib.import_module("numba.np.linalg").ensure_blas)
    for name in ("alloca_once", "get_or_insert_function", "unpack_tuple"):
        assert callable(getattr(numba_internals.cgutils, name))


def test_only_one_module_imports_internals_of_numba() -> None:
    importers = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if re.search(r"numba\.(core|np|misc|cpython|parfors|experimental|typed)\b", path.read_text(encoding="utf-8"))
    }
    assert importers == {"compiling/numba_internals.py"}


def test_numba_is_bounded_by_a_version_that_was_tested() -> None:
    root = Path(__file__).parents[2]
    dependency = re.search(r'"numba>=[\d.]+,<0\.(\d+)"', (root / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = re.search(r"^numba==0\.(\d+)\.", (root / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert dependency is not None
    assert pinned is not None
    assert int(dependency[1]) == int(pinned[1]) + 1
