/**
 * A 13 × 13 grid to paint on: dragging sets the weight of the brush, or erases if it starts on a painted cell. A
 * shift-click only shows the suits of a cell.
 */

import { CLASSES } from "../shared/cards.js";
import { classGrid } from "../shared/class-grid.js";
import { make, say, set } from "../shared/dom.js";
import { percent } from "../shared/format.js";

const FULL = 0.97;
const STEP = 5; // pixels, less than half a cell

/**
 * `on.paint(place, erase)` changes a cell, `on.done()` ends a stroke, `on.choose(place)` shows the cell's suits;
 * `weightOf(place)` is its mean weight.
 */
export function paintGrid(label, { weightOf, paint, done, choose }) {
  const cells = CLASSES.map((name) => {
    const fill = make("span.fill", { "aria-hidden": "true", style: { background: "var(--paint)" } });
    const details = make("span.for-readers");
    const root = make(
      "button.cell",
      { role: "gridcell", tabindex: -1, "data-class": name },
      fill,
      make("span.name", {}, name),
      details,
    );
    return { root, fill, details };
  });
  const elements = cells.map((cell) => cell.root);
  const grid = classGrid(".grid.paint", label, elements, choose);
  const { root } = grid;
  let stroke = null; // {erase, last}

  const placeAt = (x, y) => grid.placeOf(document.elementFromPoint(x, y));

  function touch(place) {
    if (place < 0 || place === stroke.last) return;
    stroke.last = place;
    paint(place, stroke.erase);
    draw(place);
  }

  /** Every cell on the way from where the stroke was: between two events, a fast pointer passes several. */
  function touchUpTo(x, y) {
    const [fromX, fromY] = stroke.at;
    const steps = Math.ceil(Math.hypot(x - fromX, y - fromY) / STEP);
    for (let step = 1; step <= steps; step++)
      touch(placeAt(fromX + ((x - fromX) * step) / steps, fromY + ((y - fromY) * step) / steps));
    stroke.at = [x, y];
  }

  root.addEventListener("pointerdown", (event) => {
    const place = placeAt(event.clientX, event.clientY);
    if (place < 0 || event.button !== 0) return;
    event.preventDefault();
    grid.focus(place);
    if (!event.shiftKey) {
      root.setPointerCapture(event.pointerId);
      stroke = { erase: weightOf(place) > 0, last: -1, at: [event.clientX, event.clientY] };
      touch(place);
    }
    choose(place);
  });
  root.addEventListener("pointermove", (event) => {
    if (!stroke) return;
    const passed = event.getCoalescedEvents?.() ?? [];
    for (const { clientX, clientY } of passed.length ? passed : [event]) touchUpTo(clientX, clientY);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    root.addEventListener(name, () => {
      if (stroke) done();
      stroke = null;
    });
  }

  root.addEventListener("keydown", (event) => {
    if (event.key !== " " && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    const place = grid.focused();
    paint(place, weightOf(place) > 0);
    draw(place);
    choose(place);
    done();
  });

  function draw(place) {
    const weight = weightOf(place);
    const { root: cell, fill, details } = cells[place];
    fill.style.height = `${100 * weight}%`;
    cell.classList.toggle("out", weight === 0);
    cell.classList.toggle("full", weight > FULL);
    cell.classList.toggle("partly", weight > 0 && weight <= FULL);
    say(details, weight === 0 ? "not in the range" : `${percent(weight, 0)} %`);
    set(cell, { "aria-selected": String(weight > 0) });
  }

  return {
    root,
    show: () => CLASSES.forEach((_, place) => draw(place)),
    mark: (place) => cells.forEach((cell, other) => cell.root.classList.toggle("pinned", other === place)),
  };
}
