/**
 * The 13 × 13 grid: each cell is split by action mix, filled to the range's weight, and shows one number.
 *
 * Text on a full cell is dark; on any other it can be read across the edge of the fill: in the dark theme it has an
 * outline in the cell's own colour. Cells are made once; a new node changes fills and digits only.
 */

import { CLASSES } from "../shared/cards.js";
import { classGrid } from "../shared/class-grid.js";
import { mixBackground } from "../shared/colours.js";
import { make, say, set } from "../shared/dom.js";
import { ev, percent } from "../shared/format.js";
import { NUMBERS } from "./scene.js";

const FULL = 0.97;

/** `on.preview(name or null)`, `on.pin(name, second)`; without `on`, the grid is only looked at. */
export function handGrid(label, on = null) {
  const cells = CLASSES.map((name) => makeCell(name, on));
  const elements = cells.map((cell) => cell.root);
  const grid = classGrid(".grid", label, elements, on && ((place, event) => on.pin(CLASSES[place], event.shiftKey)));
  const { root } = grid;

  if (on) {
    root.addEventListener("pointermove", (event) => {
      const moved = event.movementX || event.movementY; // not when the page changes under a mouse at rest
      if (event.pointerType === "mouse" && moved) on.preview(CLASSES[grid.placeOf(event.target)] ?? null);
    });
    root.addEventListener("pointerleave", () => on.preview(null));
    root.addEventListener("click", (event) => {
      const place = grid.placeOf(event.target);
      if (place < 0) return;
      grid.focus(place);
      on.pin(CLASSES[place], event.shiftKey);
    });
  }

  return {
    root,
    /** `classes` as in the scene; `pinned` and `versus` are names of classes. */
    show({ classes, actions = [], colours = [], number = "none", pot = 0, pinned = "", versus = "" }) {
      classes.forEach((cell, place) => cells[place].show(cell, { actions, colours, number, pot }));
      CLASSES.forEach((name, place) => {
        cells[place].root.classList.toggle("pinned", name === pinned);
        cells[place].root.classList.toggle("versus", name === versus);
        set(cells[place].root, on ? { "aria-selected": String(name === pinned || name === versus) } : {});
      });
      if (pinned && on) grid.reach(CLASSES.indexOf(pinned));
    },
    focus: () => grid.focus(),
  };
}

function makeCell(name, on) {
  const fill = make("span.fill", { "aria-hidden": "true" });
  const number = make("span.number");
  const title = make("span.name", {}, on ? name : name.slice(0, 2));
  const root = make(
    on ? "button.cell" : "span.cell",
    { role: "gridcell", "data-class": name, tabindex: on ? -1 : null },
    fill,
    title,
    number,
  );

  function show(cell, { actions, colours, number: shown, pot }) {
    root.classList.toggle("out", cell === null);
    set(root, { "aria-disabled": cell === null ? "true" : null });
    if (cell === null) {
      say(number, "");
      fill.style.height = "0";
      root.classList.remove("full", "partly");
      set(root, { "aria-label": `${title.textContent} not in the range`, "data-locked": null });
      return;
    }
    say(number, ` ${NUMBERS[shown].text(cell, pot)}`);
    root.classList.toggle("full", cell.height > FULL);
    root.classList.toggle("partly", cell.height <= FULL);
    fill.style.height = `${Math.min(100, 100 * cell.height).toFixed(1)}%`;
    fill.style.background = actions.length ? mixBackground(cell.mix, colours) : "var(--range)";
    const mix = actions.map((action, place) => `${action.name} ${percent(cell.mix[place])} %`).join(", ");
    const played = mix || `weight ${percent(cell.weight)} %`;
    const locked = cell.locked ? ", locked" : "";
    set(root, {
      "aria-label": `${title.textContent}${number.textContent}: ${played}, EV ${ev(cell.ev, pot)}${locked}`,
      "data-locked": cell.locked,
    });
  }

  return { root, show };
}
