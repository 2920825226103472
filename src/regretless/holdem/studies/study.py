"""`rl.Study`: the results of a study, to query, group, plot and open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.cards.deck import parse_board
from regretless.errors import InvalidFile, InvalidOption, MissingExtra
from regretless.files.state import check_state
from regretless.holdem.solution import SpotSolution
from regretless.holdem.studies.folder import StudyFolder
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.queries import run_sql
from regretless.holdem.studies.reports import Coverage, StudyReport, study_coverage, study_report
from regretless.plots.bars import stacked_bars
from regretless.plots.scatter import scatter

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from pyarrow import Table

__all__ = ["Study"]


class Study:
    """The folder of a study, finished or under way: whatever is solved can be read.

    study = rl.Study("study/")
    study.report(by="texture", sort="bet").rows
    study.query("SELECT flop, frequency FROM summary WHERE line = '' AND kind = 'bet'")
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = StudyFolder.open(folder)

    def __repr__(self) -> str:
        return f"Study({str(self.folder.path)!r}, {len(self)} of {self.folder.manifest.spots} spots)"

    def __len__(self) -> int:
        """Spots that are solved."""
        return len(self.folder.written())

    @property
    def plan(self) -> StudyPlan:
        """What is studied."""
        return self.folder.plan

    def coverage(self, where: str = "") -> Coverage:
        """How much of the study is solved, or of the flops with the properties `where`."""
        return study_coverage(self.folder, where=where)

    def query(self, sql: str, parameters: Mapping[str, object] | None = None) -> Table:
        """The answer of one SELECT over `summary`, `hands` and `runs`, as a `pyarrow.Table`.

        The query sees nothing but these tables. `$name` in it stands for a parameter.
        """
        return run_sql(self.folder, sql, parameters)

    def to_arrow(self, table: str = "summary") -> Table:
        """A whole table as a `pyarrow.Table`; its schema says what each column means."""
        self._check(table)
        return self.folder.dataset(table).to_table()

    def to_pandas(self, table: str = "summary") -> DataFrame:
        """A whole table as a `pandas.DataFrame`."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            raise MissingExtra("pandas", "report") from None
        return self.to_arrow(table).to_pandas()

    def report(
        self, line: str = "", *, by: str | Sequence[str] = "texture", sort: str | None = None, where: str = ""
    ) -> StudyReport:
        """Means by group at a line of play; `study_report` says what the options mean."""
        columns = [name for name in by.split(",") if name.strip()] if isinstance(by, str) else list(by)
        return study_report(self.folder, line=line, by=columns, sort=sort, where=where)

    def solution(self, flop: str, *, variation: int = 1) -> SpotSolution:
        """The whole solution of a flop, if the study keeps them (`keep.solutions`)."""
        cards = parse_board(flop, "flop")
        name = "".join(flop.split())
        for spot in self.plan.spots:
            if set(spot.flop.cards) == set(cards) and spot.variation.number == variation:
                name = spot.id
        path = self.folder.part("solutions", name)
        check_state(path, self.folder.path)
        if not path.exists():
            raise InvalidFile(path, "is not kept: keep.solutions = true in the study file keeps whole solutions")
        return SpotSolution.load(path)

    # --- plots -------------------------------------------------------------------------------------------------------

    def plot_frequencies(
        self, line: str = "", *, by: str = "texture", sort: str | None = None, where: str = ""
    ) -> Figure:
        """Stacked bars: how often each action is taken, group by group."""
        report = self.report(line, by=by, sort=sort, where=where)
        names = [" · ".join(map(str, row.group)) or "all" for row in report.rows]
        shares = {action: [row.frequencies[action] for row in report.rows] for action in report.actions}
        return stacked_bars(names, shares, title=self._title(report, f"{report.player}, {_where(line)}"))

    def plot_ev(self, line: str = "", *, action: str = "bet", where: str = "") -> Figure:
        """The acting player's EV against how often an action, or a kind of action, is taken: a point per flop."""
        report = self.report(line, by="flop", where=where)
        chosen = [name for name in report.actions if action in (name, report.kinds[name])]
        if not chosen:
            raise InvalidOption("action", action, f"is not one of {', '.join(report.actions)}")
        rows = report.rows
        return scatter(
            [sum(row.frequencies[name] for name in chosen) for row in rows],
            [getattr(row, f"{report.player}_ev") for row in rows],
            sizes=[row.weight for row in rows],
            names=[str(row.group[0]) for row in rows],
            across=f"how often {report.player} plays {action}",
            up=f"EV of {report.player}, chips",
            title=self._title(report, _where(line)),
        )

    def _title(self, report: StudyReport, what: str) -> str:
        solved = report.coverage
        part = "" if solved.is_complete else f"{solved.solved:,} of {solved.spots:,} spots of "
        return f"{part}{self.folder.manifest.name or 'Study'}: {what}"  # a long title is cut off at its end

    def _check(self, table: str) -> None:
        if table not in self.folder.tables:
            raise InvalidOption("table", table, f"is not one of {', '.join(self.folder.tables)}")


def _where(line: str) -> str:
    return f"after {line}" if line.strip() else "first decision"
