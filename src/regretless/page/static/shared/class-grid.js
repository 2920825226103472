/** The frame of a 13 × 13 grid: rows of cells, one of which can be reached by Tab, and arrow keys between them. */

import { CLASSES, RANKS } from "./cards.js";
import { make, set } from "./dom.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const SIDE = RANKS.length;

/** `cells` are the 169 elements; `moved(place, event)` is called when an arrow key moves the focus. */
export function classGrid(description, label, cells, moved = null) {
  const rows = [...RANKS].map((_, row) =>
    make(".grid-row", { role: "row" }, ...cells.slice(SIDE * row, SIDE * (row + 1))),
  );
  const root = make(description, { role: "grid", "aria-label": label }, ...rows);
  let focused = 0;

  /** Make a cell the one that Tab reaches. */
  function reach(place) {
    set(cells[focused], { tabindex: -1 });
    focused = place;
    set(cells[focused], { tabindex: 0 });
  }

  function focus(place = focused) {
    reach(place);
    cells[place].focus({ preventScroll: true });
  }

  if (moved) {
    reach(0);
    root.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      const [row, column] = [Math.floor(focused / SIDE) + step[0], (focused % SIDE) + step[1]];
      if (row < 0 || column < 0 || row >= SIDE || column >= SIDE) return;
      focus(SIDE * row + column);
      moved(focused, event);
    });
  }

  return {
    root,
    reach,
    focus,
    focused: () => focused,
    /** The place of the cell that contains an element, or −1. */
    placeOf(element) {
      const cell = element?.closest?.(".cell");
      return cell && root.contains(cell) ? CLASSES.indexOf(cell.dataset.class) : -1;
    },
  };
}
