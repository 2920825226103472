"""Readable solvers on the rules of a game: CFR (start with `vanilla`), best response, linear program, Kuhn trainer."""
