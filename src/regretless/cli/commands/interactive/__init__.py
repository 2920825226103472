"""Commands that answer to what a person does: the page, and hands against a solution."""
