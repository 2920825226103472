"""Counting what a person does on the page, from the page's own events.

A click, a tap, a drag and a key count 1 each, a character of a text field 1 (however it gets there: typed, filled or
pasted), and an entry of a menu 2: one to open it, one to choose. A click or a slider set by a script counts too.
Waiting, scrolling and hovering are free.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Acts"]

LISTEN = """() => {
  const count = (name, by) => window.countActs(name, by);
  const isMenu = (element) => element instanceof HTMLSelectElement;
  const writes = (element) => element.isContentEditable || element.matches?.("textarea, input:not([type=range])");
  const on = (name, then) => window.addEventListener(name, then, { capture: true });
  on("pointerdown", ({ target }) => isMenu(target) || target instanceof HTMLOptionElement || count("clicks", 1));
  on("change", ({ target }) => isMenu(target) && count("clicks", 2));
  on("click", ({ isTrusted }) => isTrusted || count("clicks", 1));
  on("input", ({ target, data, inputType, isTrusted }) => {
    const pasted = data === null && inputType?.startsWith("insert") ? target.value : data;
    if (writes(target)) count("keys", (pasted ?? "").length || 1);
    else if (!isTrusted && target.type === "range") count("clicks", 1);
  });
  on("keydown", ({ key, target, repeat }) => {
    const written = writes(target) && (key.length === 1 || key === "Backspace" || key === "Delete");
    if (!written && !repeat && !["Shift", "Control", "Alt", "Meta"].includes(key)) count("keys", 1);
  });
}"""


class Acts:
    """Clicks and keys on a page since this was created.

    Counts go on when the page is loaded again. `total` is what a task's limit is compared with.
    """

    def __init__(self, page: Any) -> None:
        self._page = page
        self._counts = {"clicks": 0, "keys": 0}
        page.expose_function("countActs", self._add)
        page.add_init_script(f"({LISTEN})()")
        page.evaluate(LISTEN)

    @property
    def clicks(self) -> int:
        return self._count("clicks")

    @property
    def keys(self) -> int:
        return self._count("keys")

    @property
    def total(self) -> int:
        return self.clicks + self.keys

    def _add(self, name: str, by: int) -> None:
        self._counts[name] += by

    def _count(self, name: str) -> int:
        self._page.evaluate("0")  # what the page has counted arrives before the answer
        return self._counts[name]
