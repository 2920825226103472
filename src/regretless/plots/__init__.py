"""Plots of solutions, as matplotlib figures to show, save or change."""

from regretless.plots.convergence import convergence
from regretless.plots.strategy_bars import strategy_bars

__all__ = ["convergence", "strategy_bars"]
