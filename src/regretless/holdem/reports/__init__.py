"""Reports on solved spots: comparisons, grids by class of hands, exports."""
