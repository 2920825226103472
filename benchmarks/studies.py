"""Studies: how fast their tables answer, how fast the page shows them, and what handing out spots costs.

    python benchmarks/studies.py query      grouped queries over 1,755 flops × 20 lines of made-up rows
    python benchmarks/studies.py page       the page's table of the same study, measured in Chromium
    python benchmarks/studies.py overhead   what a spot costs besides its solve, with one worker and with two
    python benchmarks/studies.py formation [95] [cuda] [RESULTS.json]   a study of a 3-bet pot, run by its command

`query` asks each question in a new process, and then again in the same one. It prints wall time and CPU time.

`page` measures, in milliseconds until the browser has painted: opening the study by its address, with a new server;
each key typed into the filter; each click that sorts; choosing another line. While it scrolls from the first flop to
the last with the mouse wheel, it notes the longest task of the page and the longest time between two frames.

`overhead` solves the same spots four times: in one and in two processes that do nothing else (no study, no tables, no
scheduler), and as a study with one and with two workers. Two processes slow each other down (they share caches and
memory), so two workers are compared with two processes, and also with twice the speed of one worker. Processes and
workers have solved a spot before the clock starts; what that takes is printed as set-up. On a machine that does other
work, only the CPU time of reading and writing means anything.

`formation` solves the ranges, stacks and sizes of `tests/data/flop_3bet.toml` on a subset of flops to 0.3 % of the pot,
with rows for all decisions on the flop. The seconds are those of the whole command, from the shell to the merged
tables, divided by the flops.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from subprocess import PIPE
from typing import Any

from machine import hardware

import regretless as rl
from regretless.cluster import LocalExecutor, open_run, run_study
from regretless.holdem.flops import texture_of
from regretless.holdem.many import solve_spots
from regretless.holdem.studies.folder import StudyFolder
from regretless.holdem.studies.parts import SpotRows
from regretless.holdem.studies.plan import StudyPlan, StudySpot
from regretless.holdem.studies.rows import TABLES
from regretless.holdem.studies.sizes import study_size

FIELDS = """
flops = "{flops}"
iterations = {iterations}
pot = 60
stack = 100
oop.range = "QQ, AKs, 76s, T9s"
ip.range = "JJ, KQs, 98s, A5s"
bets.flop.bet = "50%"
rules.add_allin = 0
"""
SPOTS = """
flops = [{flops}]
iterations = 80
pot = 60
stack = 100
oop.range = "99-22, AJs-A2s, KTs+, QTs+, JTs, T9s, 98s, 87s, 76s"
ip.range = "TT+, 66-22, AQs+, KQs, QJs, JTs, T9s, AKo"
bets.bet = "50%"
bets.raise = "3x"
"""  # about 2 s each
FLOPS = (  # two-tone, so that all take about as long
    "AsKh7h", "AsQh6h", "AsJh4h", "AsTh3h", "As9h5h", "As8h2h", "KsQh5h", "KsJh6h",
    "KsTh2h", "Ks9h4h", "Ks8h3h", "Ks7h2h", "QsJh2h", "QsTh4h", "Qs9h6h", "Qs8h5h",
    "Qs7h3h", "JsTh5h", "Js9h3h", "Js8h6h", "Js7h2h", "Ts9h4h", "Ts8h2h", "Ts7h5h",
)  # fmt: skip
FLOP_3BET = Path(__file__).parents[1] / "tests" / "data" / "flop_3bet.toml"
ALL_CLASSES = 1_755  # flops up to the names of suits
REPEATS = 7
BETS = [f"{before}bet {size}" for before in ("", "check, ") for size in (20, 60)]
RAISES = [f"{bet}, raise {size}" for bet in BETS for size in (80, 100)]
LINES = [
    "", "check", *BETS, *RAISES, *(f"{bet}, raise 80, raise 100" for bet in BETS), "check, check, any",
    "check, check, any, check",
]  # fmt: skip
QUERIES = {
    "report by texture": lambda study: study.report("check", by="texture", sort="bet"),
    "report by flop": lambda study: study.report("check", by="flop"),
    "SQL over all lines": lambda study: study.query(
        "SELECT line, texture, action, sum(weight * frequency) / sum(weight) FROM summary GROUP BY ALL"
    ),
}


def made_up(spot: StudySpot, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Rows of `summary` with every column filled."""
    numbers = [name for name, (kind, _) in TABLES["summary"].items() if kind == "number"]
    for line in LINES:
        last = line.rpartition(", ")[2]
        actions = ("fold", "call", "raise 200") if last[:3] in ("bet", "rai") else ("check", "bet 20", "bet 60")
        shares = [chance.random() for _ in actions]
        of_line = {name: chance.random() for name in numbers}
        for place, action in enumerate(actions):
            yield {
                "spot": spot.id,
                "flop": spot.flop.text,
                "variation": 1,
                "flops": spot.flop.multiplicity,
                **asdict(texture_of(spot.flop.cards)),
                "line": line.replace("any", "2c"),
                "pattern": line,
                "street": "turn" if "any" in line else "flop",
                "player": "ip" if line.count(",") % 2 == 0 and line else "oop",
                "place": place,
                "action": action,
                "kind": action.split()[0],
                **of_line,
                "weight": spot.flop.weight,
                "frequency": shares[place] / sum(shares),
                "node_pot": 60.0,
                "oop_ev": 60 * of_line["oop_ev"],
                "ip_ev": 60 * of_line["ip_ev"],
            }


def write_made_up(path: Path) -> int:
    """A finished study with made-up rows; returns how many spots it has."""
    plan = StudyPlan.parse(FIELDS.format(flops="all", iterations=1))
    chance = random.Random(1)
    folder = StudyFolder.prepare(path, plan)
    for spot in plan.spots:
        folder.write(spot.id, SpotRows({"spot": spot.id}, list(made_up(spot, chance)), None))
    folder.merge()
    return len(plan.spots)


def query() -> None:
    """Seconds of grouped queries: the first of a process with and without its imports, and the next ones."""
    with tempfile.TemporaryDirectory() as name:
        spots = write_made_up(Path(name) / "study")
        print(f"{spots:,} flops × {len(LINES)} lines × 3 actions; wall time (CPU time), median of {REPEATS}")
        print(f"{'':<20} {'imports':>16} {'first query':>16} {'next queries':>16} {'slowest':>16}")
        for what in QUERIES:
            command = [sys.executable, __file__, "ask", str(Path(name) / "study"), what]
            asked = [json.loads(subprocess.check_output(command)) for _ in range(REPEATS)]
            cells = [_median(each[column] for each in asked) for column in ("imports", "first", "next")]
            cells.append(max(each["first"] for each in asked))
            print(f"{what:<20} " + " ".join(f"{f'{wall:.3f} ({cpu:.3f}) s':>16}" for wall, cpu in cells), flush=True)


def ask(folder: str, what: str) -> None:
    """Ask one question several times in this process."""

    def timed(call: Callable[[], object]) -> tuple[float, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        return time.perf_counter() - wall, time.process_time() - cpu

    def imports() -> None:
        import duckdb  # noqa: F401
        import pyarrow.parquet  # noqa: F401

    times: dict[str, Any] = {"imports": timed(imports)}
    times["first"] = timed(lambda: QUERIES[what](rl.Study(folder)))
    times["next"] = _median([timed(lambda: QUERIES[what](rl.Study(folder))) for _ in range(REPEATS)])
    print(json.dumps(times))


def _median(pairs: Iterable[Sequence[float]]) -> tuple[float, float]:
    wall, cpu = zip(*pairs, strict=True)
    return statistics.median(wall), statistics.median(cpu)


# --- the page --------------------------------------------------------------------------------------------------------

PAUSE = 100  # milliseconds that nobody notices
TYPED = ["paired two-tone", "k-high or q-high rainbow", "ak", "monotone connected"]
WATCH = """
window.keys = []; window.tasks = []; window.frames = [];
const painted = (then) => requestAnimationFrame(() => setTimeout(then));
let pressed = 0;
addEventListener("keydown", () => { pressed = performance.now(); }, true);
addEventListener("input", () => { const from = pressed; painted(() => keys.push(performance.now() - from)); }, true);
new PerformanceObserver((list) => tasks.push(...list.getEntries().map((each) => each.duration)))
  .observe({type: "longtask"});
window.rowsShown = async (before) => {
  const rows = () => document.querySelector(".flops tbody:has(.flop)")?.innerText;
  while (!rows() || rows() === before) await new Promise(requestAnimationFrame);
  await new Promise((resolve) => painted(resolve));
  return performance.now();
};
window.after = async (act) => {
  const before = document.querySelector(".flops tbody").innerText;
  const began = performance.now();
  act();
  return await rowsShown(before) - began;
};
window.watchFrames = () => {
  let last = performance.now();
  const frame = (time) => { frames.push(time - last); last = time; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
};
"""
SORT = "name => after(() => document.querySelector(`.flops [title='Sort by ${name}']`).click())"
CHOOSE = """line => after(() => {
  const menu = document.querySelector('.study-choices select');
  menu.value = line;
  menu.dispatchEvent(new Event('change'));
})"""


def page() -> None:
    """Milliseconds until the page has painted what was asked."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name:
        write_made_up(Path(name) / "study")
        command = [sys.executable, "-m", "regretless", "serve", name, "--port", "0", "--no-browser", "--no-token"]
        with subprocess.Popen(command, stderr=PIPE, text=True) as server, sync_playwright() as playwright:
            assert server.stderr is not None
            found = re.search(r"http://[^ /]+", server.stderr.readline())
            assert found is not None
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium") or shutil.which("chromium-headless-shell"),
                args=["--no-sandbox"],
            )
            shown = browser.new_page(viewport={"width": 1280, "height": 720})
            shown.add_init_script(WATCH)
            try:
                measured = measure_page(shown, f"{found[0]}/studies?study=study")
            finally:
                browser.close()
                server.terminate()
    print(json.dumps(measured, indent=2))
    slow = [each for each in ("key_ms", "sort_ms") if measured[each]["worst"] > PAUSE]
    slow += ["longest_task_ms"] if measured["scrolling"]["longest_task_ms"] > PAUSE else []
    if slow:
        sys.exit(f"more than {PAUSE} ms: {', '.join(slow)}")


def measure_page(shown: Any, address: str) -> dict[str, Any]:
    shown.goto(address)
    opened = shown.evaluate("rowsShown('')")
    shown.keyboard.press("/")
    for text in TYPED:
        for key in text:
            shown.keyboard.press("Space" if key == " " else key)
        for _ in text:
            shown.keyboard.press("Backspace")
    shown.wait_for_function(f"keys.length === {2 * sum(map(len, TYPED))}")
    keys = shown.evaluate("keys")
    shown.keyboard.press("Escape")
    sorts = [shown.evaluate(SORT, name) for name in ("Flop", "bet 60", "all bets", "Equity", "EQR", "bet 20", "EV")]
    lines = [shown.evaluate(CHOOSE, line) for line in LINES[1:8]]
    shown.evaluate("tasks.length = 0; watchFrames()")
    shown.locator(".flops-part .scroll").hover()
    while shown.evaluate(
        "(s => s.scrollTop + s.clientHeight < s.scrollHeight - 1)(document.querySelector('.flops-part .scroll'))"
    ):
        shown.mouse.wheel(0, 720)
    scrolled = shown.evaluate("({tasks, frames})")
    return {
        "first_view_ms": round(opened, 1),
        "key_ms": summary(keys),
        "sort_ms": summary(sorts),
        "another_line_ms": summary(lines),
        "scrolling": {
            "frames": len(scrolled["frames"]),
            "longest_frame_ms": round(max(scrolled["frames"]), 1),
            "longest_task_ms": round(max(scrolled["tasks"], default=0.0), 1),
        },
    }


def summary(times: list[float]) -> dict[str, float]:
    return {"count": len(times), "median": round(statistics.median(times), 1), "worst": round(max(times), 1)}


# --- handing out spots ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """How long some spots took."""

    setup: float  # wall seconds until everything could start
    wall: float  # seconds for all spots after that
    cpu: float  # seconds of the processes that solve
    driver: float = 0.0  # CPU seconds of the process that hands out spots


def overhead() -> None:
    """What spots cost besides their solves."""
    plan = StudyPlan.parse(SPOTS.format(flops=", ".join(map(repr, FLOPS))))
    bare, study = {}, {}
    for count in (1, 2):
        bare[count] = _bare(count)
        study[count] = _study(plan, count)
        for what, each in (("processes" if count > 1 else "process", bare[count]), ("as a study", study[count])):
            print(
                f"{count} {what:<10} {each.wall:6.1f} s, {each.cpu / len(FLOPS):.3f} s of CPU per spot, "
                f"{1e3 * each.driver / len(FLOPS):.1f} ms in the driver; set-up {each.setup:.1f} s",
                flush=True,
            )
    read, written = _reading_and_writing(plan)
    print(
        f"of a spot, reading the solution takes {1e3 * read:.0f} ms of CPU, writing its tables {1e3 * written:.0f} ms"
    )
    for count in (1, 2):
        wall = count * (study[count].wall - bare[count].wall) / len(FLOPS)
        cpu = (study[count].cpu + study[count].driver - bare[count].cpu) / len(FLOPS)
        print(f"overhead with {count} worker(s): {1e3 * wall:.0f} ms per spot, {1e3 * cpu:.0f} ms of CPU")
    print(f"two workers reach {study[1].wall / study[2].wall / 2:.0%} of twice the speed of one worker,")
    print(f"{bare[2].wall / study[2].wall:.0%} of the speed of two processes without a study,")
    print(f"which reach {bare[1].wall / bare[2].wall / 2:.0%} of twice the speed of one")


def _bare(count: int) -> Measured:
    """Solve the spots in processes that share nothing, each with its part of them."""
    began = time.perf_counter()
    command = [sys.executable, __file__, "solve"]
    parts = [subprocess.Popen([*command, *FLOPS[place::count]], stdin=PIPE, stdout=PIPE) for place in range(count)]
    for each in parts:
        assert each.stdout is not None
        each.stdout.readline()  # it has solved a spot
    ready = time.perf_counter()
    for each in parts:
        assert each.stdin is not None
        each.stdin.write(b"go\n")
        each.stdin.flush()
    said = [each.communicate()[0] for each in parts]
    ended = time.perf_counter()
    return Measured(ready - began, ended - ready, sum(map(float, said)))


def solve(flops: Sequence[str]) -> None:
    """Solve a spot, wait for a line, solve spots, and say how much CPU time they took."""
    plan = StudyPlan.parse(SPOTS.format(flops=", ".join(map(repr, FLOPS))))
    spots = {spot.id: spot.spot for spot in plan.spots}
    options = replace(plan.options, device="cpu", threads=1)
    solve_spots([spots[flops[0]]], options)
    print("ready", flush=True)
    sys.stdin.readline()
    cpu = time.process_time()
    for flop in flops:
        solve_spots([spots[flop]], options)
    print(time.process_time() - cpu, flush=True)


def _reading_and_writing(plan: StudyPlan) -> tuple[float, float]:
    """Median CPU seconds for what a study does with a solved spot: these hardly depend on what else runs."""
    times: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = StudyFolder.prepare(Path(name) / "study", plan)
        for spot in plan.spots[: 1 + REPEATS]:
            (solution,) = solve_spots([spot.spot], replace(plan.options, device="cpu", threads=1))
            solved = time.process_time()
            rows = folder.read(spot, solution, plan, 0.0)
            read = time.process_time()
            folder.write(spot.id, rows)
            times.append((read - solved, time.process_time() - read))
    return _median(times[1:])  # the first loads libraries


class WarmExecutor(LocalExecutor):
    """Keeps its workers from one study to the next."""

    def close(self) -> None:
        pass

    def end(self) -> None:
        super().close()


def _study(plan: StudyPlan, count: int) -> Measured:
    warm = StudyPlan.parse(SPOTS.format(flops=", ".join(map(repr, FLOPS[:count]))))
    with tempfile.TemporaryDirectory() as name:
        executor = WarmExecutor(size := study_size(plan), workers=count, threads=1)
        began = time.perf_counter()
        with open_run(Path(name) / "warm", warm) as folder:
            run_study(warm, folder, executor, size)
        ready, driver, cpu = time.perf_counter(), time.process_time(), _cpu_of_children()
        with open_run(Path(name) / "study", plan) as folder:
            run = run_study(plan, folder, executor, size)
        ended, used = time.perf_counter(), _cpu_of_children() - cpu
        driver = time.process_time() - driver
        executor.end()
        assert run.solved == len(FLOPS)
    return Measured(ready - began, ended - ready, used, driver)


def _cpu_of_children() -> float:
    """CPU seconds of the processes that this one has started and that still run; Linux only."""
    found = 0
    for pid in Path("/proc/self/task", str(os.getpid()), "children").read_text().split():
        fields = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
        found += int(fields[11]) + int(fields[12])
    return found / os.sysconf("SC_CLK_TCK")


# --- a formation -----------------------------------------------------------------------------------------------------


def formation(flops: str = "95", device: str = "cuda", results: str | None = None) -> None:
    """Run a study with the command, and say what a flop takes, everything included."""
    fields = FLOP_3BET.read_text(encoding="utf-8").partition("\n")[2]  # without its board
    with tempfile.TemporaryDirectory() as name:
        file, folder = Path(name) / "study.toml", Path(name) / "study"
        file.write_text(f'flops = "subset({flops})"\ntarget = 0.3\ndevice = "{device}"\n{fields}', encoding="utf-8")
        command = [sys.executable, "-m", "regretless", "study", "run", str(file), "--out", str(folder), "--json"]
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        runs = [_run_of(path) for path in sorted((folder / "runs").glob("*.parquet"))]
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    each = seconds / len(runs)
    found = {
        "date": datetime.date.today().isoformat(),
        "hardware": hardware(),
        "devices": sorted({run["device"] for run in runs}),
        "flops": len(runs),
        "seconds": seconds,
        "seconds_per_flop": each,
        "hours_for_all": each * ALL_CLASSES / 3600,
        "worst_pct_pot": max(run["exploitability_pct_pot"] for run in runs),
        "iterations": [min(run["iterations"] for run in runs), max(run["iterations"] for run in runs)],
        "bytes_per_flop": size / len(runs),
    }
    print(json.dumps(found, indent=1))
    if results is not None:
        Path(results).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _run_of(part: Path) -> dict[str, Any]:
    import pyarrow.parquet

    (row,) = pyarrow.parquet.read_table(part).to_pylist()
    return row


PARTS: dict[str, Callable[..., None]] = {
    "query": query,
    "page": page,
    "overhead": overhead,
    "formation": formation,
    "ask": ask,  # this and the next are for the processes that this one starts
    "solve": lambda *flops: solve(flops),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=PARTS, metavar="query|page|overhead|formation")
    parser.add_argument("more", nargs="*", help="for `formation`: number of flops, device, file for the results")
    asked = parser.parse_args()
    PARTS[asked.what](*asked.more)
