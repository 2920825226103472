"""Plots of solutions and studies, as matplotlib figures: notebooks display them, `show` opens a window."""

from regretless.plots.bars import stacked_bars, strategy_bars
from regretless.plots.charts import Chart, charts
from regretless.plots.convergence import convergence
from regretless.plots.scatter import scatter

__all__ = ["Chart", "charts", "convergence", "scatter", "stacked_bars", "strategy_bars"]
