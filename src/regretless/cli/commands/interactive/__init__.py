"""Interactive commands: the page, and hands against a solution."""
