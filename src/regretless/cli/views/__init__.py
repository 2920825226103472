"""Solutions as tables, grids and trees."""
