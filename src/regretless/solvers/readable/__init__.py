"""Readable solvers on the rules of a game: CFR, best response, linear program, and the Kuhn trainer."""
