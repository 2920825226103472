"""Reports on solutions: comparisons, grids by class of hands, exports, and tables of lines of play."""
