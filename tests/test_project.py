"""Project-wide promises: one version, quick startup, explicit exports, commands that exist."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import pkgutil
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
from packaging.specifiers import SpecifierSet

import regretless
from regretless.errors import MissingExtra

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "regretless"
OPTIONAL = runpy.run_path(str(ROOT / "conftest.py"))["OPTIONAL"]  # every conftest has the same module name
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# Loaded when first needed, never by `import regretless` or `regretless --help`.
HEAVY = [
    "cupy", "duckdb", "matplotlib", "numba", "pandas", "pyarrow", "pyspiel", "ray", "scipy", "starlette",
    "torch", "uvicorn",
]  # fmt: skip


def modules() -> Iterator[str]:
    yield "regretless"
    for module in pkgutil.walk_packages([str(PACKAGE)], "regretless.", onerror=lambda _: None):
        if not module.name.endswith(".__main__"):
            yield module.name


def is_public(name: str) -> bool:
    return not any(part.startswith("_") for part in name.split("."))


def tracked_files() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


# --- one version -----------------------------------------------------------------------------------------------------


def test_the_version_is_defined_once() -> None:
    assert "version" not in PROJECT
    assert "version" in PROJECT["dynamic"]
    assignments = [
        path.relative_to(ROOT)
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^__version__\b.*=", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert assignments == [Path("src/regretless/__init__.py")]
    assert re.fullmatch(r"\d+\.\d+\.\d+([a-z]+\d+)?", regretless.__version__)


def test_the_installed_version_is_the_source_version() -> None:
    try:
        installed = importlib.metadata.version("regretless")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("regretless is not installed")
    assert installed == regretless.__version__, "run make again: the environment holds an older install"


def test_the_changelog_knows_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE)
    assert "Unreleased" in sections or regretless.__version__ in sections


# --- exports ---------------------------------------------------------------------------------------------------------


def test_every_exported_name_resolves() -> None:
    missing = [name for name in regretless.__all__ if not hasattr(regretless, name)]
    assert missing == []
    assert set(regretless.__all__) <= set(dir(regretless))


def is_room(module: ModuleType) -> bool:
    """A folder of modules that exports nothing itself: its `__init__.py` is a docstring."""
    text = Path(module.__file__ or "").read_text(encoding="utf-8")
    return hasattr(module, "__path__") and len(ast.parse(text).body) == 1


@pytest.mark.parametrize("name", sorted(filter(is_public, modules())))
def test_every_public_module_has_an_all(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except (ModuleNotFoundError, MissingExtra) as error:
        cause = error.__cause__ if isinstance(error, MissingExtra) else error
        library = getattr(cause, "name", None) or ""
        if library.split(".")[0] not in OPTIONAL:
            raise
        pytest.skip(f"{library} is not installed")
    if not hasattr(module, "__all__"):
        assert is_room(module), f"{name} has no __all__"
        return
    assert len(set(module.__all__)) == len(module.__all__)
    missing = [exported for exported in module.__all__ if not has(module, exported)]
    assert missing == []


def has(module: ModuleType, exported: str) -> bool:
    """Whether a module has what it exports, as far as the libraries that are installed can tell."""
    try:
        return hasattr(module, exported)
    except ModuleNotFoundError as error:  # a name that is imported when it is first used
        return (error.name or "").split(".")[0] in OPTIONAL


def test_types_travel_with_the_package() -> None:
    assert (PACKAGE / "py.typed").is_file()


# --- quick start -----------------------------------------------------------------------------------------------------

IMPORT = "import regretless"


def command(*arguments: str) -> str:
    return f"import sys; sys.argv = {['regretless', *arguments]!r}; from regretless.cli import main; main()"


HELP = command("--help")


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT / "src", capture_output=True, text=True)


# Loading modules is what takes the time: `benchmarks/two_versions.py` measures it.
LOADED = """
import atexit, sys
before = set(sys.modules)
atexit.register(lambda: print(*(set(sys.modules) - before), file=sys.stderr))
"""


@pytest.mark.parametrize(
    ("code", "libraries", "most"), [(IMPORT, set(), 60), (HELP, {"typer", "rich"}, 450)], ids=["import", "help"]
)
def test_little_is_loaded_at_startup(code: str, libraries: set[str], most: int) -> None:
    result = run_python(LOADED + code)
    assert result.returncode == 0, result.stderr
    loaded = result.stderr.split()
    assert "regretless" in loaded
    assert len(loaded) <= most
    packages = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"regretless"}
    if libraries:
        assert packages >= libraries
        assert packages & {"numpy", *HEAVY} == set()
    else:
        assert packages == set()


@pytest.mark.parametrize(
    "code",
    [
        "import regretless.holdem, regretless.holdem.buckets, regretless.holdem.studies.study",
        command("estimate", str(ROOT / "examples" / "turn.toml")),
        command("estimate", str(ROOT / "examples" / "heads_up_20bb.toml")),
    ],
    ids=["import", "spot", "game"],
)
def test_hold_em_is_sized_without_compilers(code: str) -> None:
    result = run_python(LOADED + code)
    assert result.returncode == 0, result.stderr
    loaded = {name.split(".")[0] for name in result.stderr.split()}
    assert "regretless.holdem" in result.stderr.split()
    assert loaded & {*HEAVY} == set()


def test_leduc_loads_no_holdem() -> None:
    result = run_python(LOADED + "import regretless as rl; rl.solve('leduc', iterations=1)")
    assert result.returncode == 0, result.stderr
    loaded = result.stderr.split()
    assert "regretless.solving.kinds" in loaded
    assert [name for name in loaded if name.startswith("regretless.holdem")] == []


CHOICE = """
from regretless.cli.solving.one import note_choice
from regretless.engines import Choice
note_choice(Choice("cuda", "cuda"), 32)
"""


def test_a_solve_on_a_gpu_loads_no_engine_for_the_cpu() -> None:
    result = run_python(LOADED + CHOICE)
    assert result.returncode == 0, result.stderr
    loaded = result.stderr.split()
    assert "regretless.engines.choice" in loaded
    assert [name for name in loaded if name.startswith(("numba", "regretless.engines.numba.public"))] == []


def test_the_command_exits_without_a_last_search_for_garbage() -> None:
    frozen = "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count()));"
    of_python = int(run_python(frozen).stdout.split()[-1])  # Python 3.12 freezes a few hundred objects of its own
    assert int(run_python(frozen + HELP).stdout.split()[-1]) > of_python + 1000
    assert int(run_python(frozen + IMPORT).stdout.split()[-1]) == of_python


# --- what the documents say ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    ["README.md", "CONTRIBUTING.md", *(p.relative_to(ROOT).as_posix() for p in sorted((ROOT / "docs").rglob("*.md")))],
)
def test_every_make_command_in_a_document_exists(document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = (ROOT / document).read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```.*?^```|`[^`\n]+`", text, re.MULTILINE | re.DOTALL))
    mentioned = set(re.findall(r"\bmake (?:[A-Z_]+=\S+ )*([a-z][a-z-]*)", code))
    assert mentioned <= targets


def test_an_extra_is_listed_only_if_code_uses_it() -> None:
    extras = PROJECT["optional-dependencies"]
    modules = {"cupy-cuda12x": "cupy", "cupy-cuda13x": "cupy", "open_spiel": "pyspiel"}
    source = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    for extra in set(extras) - {"all", "bench", "dev"}:
        for requirement in extras[extra]:
            name = re.split(r"[<>=;\[ ]", requirement)[0]
            assert re.search(rf"\bimport {modules.get(name, name)}\b|\bfrom {modules.get(name, name)}\b", source), (
                requirement
            )
    offered = set(re.findall(r"""(?:MissingExtra\([^)]*?, |extra=)"([a-z]+)\"""", source))
    assert {"plot", "torch", "gpu"} <= offered <= set(extras)
    (everything,) = extras["all"]
    one_of_many = {"gpu-cuda12", "gpu-cuda13"}  # two CuPys exclude each other; `gpu` is the one for CUDA 12
    assert (
        set(re.findall(r"[a-z]+", everything.partition("[")[2])) == set(extras) - {"all", "bench", "dev"} - one_of_many
    )


def test_the_makefile_tests_every_python_that_is_claimed() -> None:
    """The versions in the classifiers and no older ones, each of which the Makefile can find."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    tested = re.search(r"^PYTHONS \?= (.+)$", makefile, re.MULTILINE)
    candidates = re.search(r"^CANDIDATES := (.+)$", makefile, re.MULTILINE)
    assert tested is not None
    assert candidates is not None
    claimed = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={claimed[0]}"
    assert set(claimed) <= set(tested[1].split())
    assert {f"python{version}" for version in tested[1].split()} <= set(candidates[1].split())


def test_the_pinned_libraries_install_on_the_oldest_python_that_is_claimed() -> None:
    pins = dict(re.findall(r"^(\S+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE))
    too_new = []
    for name, version in pins.items():
        with suppress(importlib.metadata.PackageNotFoundError):  # not installed for this Python
            library = importlib.metadata.distribution(name)
            if library.version == version and "3.11.0" not in SpecifierSet(library.metadata["Requires-Python"] or ""):
                too_new.append(name)
    assert not too_new


def test_lint_and_docs_build_the_same_site() -> None:
    """`make lint` once ignored warnings that made `make docs` fail. It leaves out only listings and the search."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = dict(re.findall(r"^([a-z-]+):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE))
    assert recipes["docs"].strip() == "$(MKDOCS)"
    assert recipes["lint"].endswith("\tDOCS_WHOLE=false $(MKDOCS) --site-dir $(VENV)/checked-site\n")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert re.findall(r"(\w+): !ENV \[DOCS_WHOLE, true\]", settings) == ["enabled", "show_source"]
    build = re.search(r"^MKDOCS = (.+)$", makefile, re.MULTILINE)
    assert build is not None
    assert "--strict" in build[1]
    assert "--quiet" not in build[1]


def test_no_tracked_file_names_a_path_of_one_machine() -> None:
    pattern = re.compile(rb"/(?:work|root|opt|home|tmp|Users)/(?!\.\.\.)\w")
    found = []
    for path in tracked_files():
        content = path.read_bytes()
        if b"\0" not in content and path != Path(__file__):
            found += [f"{path.relative_to(ROOT)}: {match.group().decode()}" for match in pattern.finditer(content)]
    assert found == []


# --- where tests are --------------------------------------------------------------------------------------------------

OTHER_TESTS = {"data", "fuzz", "page/browser", "solving/golden"}  # of no package, or files that tests read


def test_folders_of_tests_mirror_the_package() -> None:
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("*.py")}
    packages = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("__init__.py")}
    assert {path.as_posix() for path in folders - packages} <= OTHER_TESTS
