/** A 13 × 13 grid to paint on: drag sets the weight of the brush, starting on a painted cell erases. */

import { CLASSES, RANKS } from "../shared/cards.js";
import { make, say, set } from "../shared/dom.js";
import { percent } from "../shared/format.js";

/**
 * `on.paint(place, erase)` changes a cell, `on.done()` ends a stroke, `on.choose(place)` shows the cell's suits;
 * `weightOf(place)` is its mean weight.
 */
export function paintGrid(label, { weightOf, paint, done, choose }) {
  const cells = CLASSES.map((name) => {
    const fill = make("span.fill", { "aria-hidden": "true", style: { background: "var(--paint)" } });
    const details = make("span.for-readers");
    const root = make("button.cell", { role: "gridcell", tabindex: -1, "data-class": name }, fill, make("span.name", {}, name), details);
    return { root, fill, details };
  });
  const rows = [...RANKS].map((_, row) => make(".grid-row", { role: "row" }, ...cells.slice(13 * row, 13 * row + 13).map((cell) => cell.root)));
  const root = make(".grid.paint", { role: "grid", "aria-label": label }, ...rows);
  let stroke = null; // {erase, last}
  let focused = 0;
  set(cells[0].root, { tabindex: 0 });

  const placeAt = (x, y) => {
    const cell = document.elementFromPoint(x, y)?.closest(".cell");
    return cell && root.contains(cell) ? CLASSES.indexOf(cell.dataset.class) : -1;
  };

  function touch(place) {
    if (place < 0 || place === stroke.last) return;
    stroke.last = place;
    paint(place, stroke.erase);
    draw(place);
  }

  root.addEventListener("pointerdown", (event) => {
    const place = placeAt(event.clientX, event.clientY);
    if (place < 0 || event.button !== 0) return;
    event.preventDefault();
    root.setPointerCapture(event.pointerId);
    focus(place, true);
    stroke = { erase: weightOf(place) > 0 && !event.shiftKey, last: -1 };
    if (event.shiftKey) {
      stroke = null;
      choose(place);
      return;
    }
    touch(place);
    choose(place);
  });
  root.addEventListener("pointermove", (event) => {
    if (!stroke) return;
    const passed = event.getCoalescedEvents?.() ?? []; // a fast stroke skips no cell
    for (const { clientX, clientY } of passed.length ? passed : [event]) touch(placeAt(clientX, clientY));
  });
  for (const name of ["pointerup", "pointercancel"]) {
    root.addEventListener(name, () => {
      if (stroke) done();
      stroke = null;
    });
  }

  function focus(place, moveFocus) {
    set(cells[focused].root, { tabindex: -1 });
    focused = place;
    set(cells[focused].root, { tabindex: 0 });
    if (moveFocus) cells[focused].root.focus({ preventScroll: true });
  }

  root.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -13, ArrowDown: 13 }[event.key];
    if (step !== undefined) {
      const column = (focused % 13) + (Math.abs(step) === 1 ? step : 0);
      if (column >= 0 && column <= 12 && cells[focused + step]) {
        focus(focused + step, true);
        choose(focused);
      }
    } else if (event.key === " " || event.key === "Enter") {
      paint(focused, weightOf(focused) > 0);
      draw(focused);
      choose(focused);
      done();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function draw(place) {
    const weight = weightOf(place);
    const { root: cell, fill, details } = cells[place];
    fill.style.height = `${100 * weight}%`;
    cell.classList.toggle("out", weight === 0);
    cell.classList.toggle("full", weight > 0.97);
    say(details, weight === 0 ? "not in the range" : `${percent(weight, 0)} %`);
    set(cell, { "aria-selected": String(weight > 0) });
  }

  return {
    root,
    show: () => CLASSES.forEach((_, place) => draw(place)),
    mark: (place) => cells.forEach((cell, other) => cell.root.classList.toggle("pinned", other === place)),
  };
}
