"""Studies started from the page: what is wrong with one, how large it is, starting, stopping and resuming."""

from __future__ import annotations

import json
import re
from typing import Annotated

from starlette.concurrency import run_in_threadpool

from regretless.cards.deck import parse_board
from regretless.errors import RegretlessError
from regretless.files.state import check_state_folder, state_folder
from regretless.forms.memory import available_bytes
from regretless.holdem.estimate import STORAGES
from regretless.holdem.field_errors import FieldError, field_error
from regretless.holdem.problem import TARGET
from regretless.holdem.reading.columns import pyarrow
from regretless.holdem.spots.sizes import number_text
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.sizes import study_size
from regretless.page.endpoint import Routes
from regretless.page.library import Library
from regretless.page.schema import Json, array, boolean, integer, nullable, number, obj, text
from regretless.page.spots import InvalidSpot, SpotFields, error_json, read_spot
from regretless.page.studies import StudyName
from regretless.page.study_runs import RUN, StudyRuns
from regretless.page.study_shelf import StudyShelf

__all__ = ["routes", "study_toml"]

FOLDER = "studies"  # of the served folder, for studies that are started here
STAND_IN = "Qs Jh 2d"  # for the flops, while the fields of a spot are checked
_FLOP = re.compile(r"(?:[2-9TJQKA][cdhs]\s*){3}")


def study_toml(spot: Json, library: Library, *, name: str, flops: str, target: float, storage: int, keep: bool) -> str:
    """The TOML of a study: a spot whose board is replaced by flops."""
    toml = read_spot({**spot, "board": STAND_IN, "name": name}, library).to_toml()
    fields = "\n".join(line for line in toml.splitlines() if not line.startswith("board = "))
    parts = [part.strip() for part in flops.split(",")]
    selection: str | list[str] = flops.strip()
    if all(_FLOP.fullmatch(part) for part in parts):  # else a name such as subset(25), or properties
        for part in parts:
            parse_board(part, "flops")
        selection = parts
    return (
        f"flops = {json.dumps(selection)}\ntarget = {number_text(target)}\nstorage = {storage}\n"
        f"keep.solutions = {'true' if keep else 'false'}\n{fields}\n"
    )


def _check_plan(toml: str) -> None:
    """Refuse a study that cannot be read, or whose ranges allow none of its flops."""
    list(StudyPlan.parse(toml).spots)  # raises if there are none


_TARGET = number("percent of the pot", exclusiveMinimum=0, maximum=100)
_Target = Annotated[float, _TARGET]
_Flops = Annotated[str, text('"all", "subset(49)", properties of flops, or flops with commas', longest=40_000)]
_Storage = Annotated[int, integer(enum=sorted(STORAGES))]
_Keep = Annotated[bool, boolean("keep the whole solution of every flop")]
_ERROR = obj({"field": text(), "message": text("without the field"), "position": nullable(integer())})
ESTIMATE = obj(
    {
        "spots": integer(),
        "impossible": integer("flops left out: the ranges do not allow them"),
        "memory_bytes": integer("of the largest spot"),
        "fits": boolean(),
        "available_bytes": integer(),
        "device": text(),
        "cores": integer(),
        "seconds": number("expected, roughly"),
        "disk_bytes": integer("about"),
    }
)
STARTED = obj({"study": text("its folder"), "run": RUN})

routes = Routes()


@routes.endpoint(
    "POST",
    "/studies/check",
    "What is wrong with a study, or how large it is",
    obj({"valid": boolean(), "errors": array(_ERROR), "estimate": nullable(ESTIMATE), "toml": nullable(text())}),
)
def check_study(
    library: Library,
    spot: SpotFields,
    flops: _Flops = "all",
    target: _Target = TARGET,
    storage: _Storage = 32,
    keep_solutions: _Keep = False,
) -> Json:
    try:
        toml = study_toml(spot, library, name="", flops=flops, target=target, storage=storage, keep=keep_solutions)
        size = study_size(StudyPlan.parse(toml), device="auto")
    except InvalidSpot as error:
        message = str(error).removeprefix(f"{error.field}: ")
        located = FieldError(error.field or "", message, getattr(error, "position", None))
        return {"valid": False, "errors": [error_json(located)], "estimate": None, "toml": None}
    except RegretlessError as error:
        return {"valid": False, "errors": [error_json(field_error(error))], "estimate": None, "toml": None}
    free = available_bytes()
    estimate = {name: getattr(size, name) for name in ("spots", "impossible", "memory_bytes", "device", "cores")}
    estimate |= {"seconds": round(size.seconds, 1), "disk_bytes": size.disk_bytes}
    estimate |= {"fits": size.device != "cpu" or size.memory_bytes <= free, "available_bytes": free}
    return {"valid": True, "errors": [], "estimate": estimate, "toml": toml}


@routes.endpoint("POST", "/studies", "Start a study: a formation over many flops", STARTED, status=201)
async def start(
    library: Library,
    runs: StudyRuns,
    spot: SpotFields,
    name: Annotated[str, text("what it is called", longest=120)] = "",
    flops: _Flops = "all",
    target: _Target = TARGET,
    storage: _Storage = 32,
    keep_solutions: _Keep = False,
) -> Json:
    pyarrow()

    def prepare() -> tuple[str, str]:
        title = name.strip() or str(spot.get("name") or "") or "Study"
        toml = study_toml(spot, library, name=title, flops=flops, target=target, storage=storage, keep=keep_solutions)
        _check_plan(toml)
        return _free_folder(title, library, runs), toml

    study, toml = await run_in_threadpool(prepare)
    return {"study": study, "run": runs.add(study, toml).as_json()}


def _free_folder(title: str, library: Library, runs: StudyRuns) -> str:
    """A name for the folder of a new study."""
    try:
        state_folder(library.folder / FOLDER, library.folder)
    except OSError as error:
        raise RegretlessError(f"the served folder cannot be written: {error.strerror}") from None
    return library.free_name(title, runs.runs, below=FOLDER, suffix="")


@routes.endpoint("POST", "/study/stop", "Stop a study; what is solved stays", STARTED)
async def stop(runs: StudyRuns, study: StudyName) -> Json:
    return {"study": study, "run": runs.stop(study).as_json()}


@routes.endpoint("POST", "/study/resume", "Solve what a study does not have yet", STARTED)
async def resume(library: Library, shelf: StudyShelf, runs: StudyRuns, study: StudyName) -> Json:
    def read() -> str:
        opened = shelf.open(study)
        check_state_folder(opened.folder.path, library.folder)
        return opened.folder.manifest.toml

    return {"study": study, "run": runs.add(study, await run_in_threadpool(read)).as_json()}
