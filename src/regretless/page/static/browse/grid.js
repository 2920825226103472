/**
 * The 13 × 13 grid: each cell is coloured by action mix or by a number, filled to the range's weight or whole, and shows
 * one number.
 *
 * Text is dark on every cell that is in the range, in the dark theme too: what is not filled is light enough for it.
 * Cells are made once; a new node changes fills and digits only. A number that is too wide for its cell shows less
 * detail.
 */

import { CLASSES } from "../shared/cards.js";
import { classGrid } from "../shared/class-grid.js";
import { make, say, set } from "../shared/dom.js";
import { fixed, percent } from "../shared/format.js";
import { textMeasure } from "../shared/text-width.js";
import { COLOURS, NUMBERS } from "./scene.js";

const SIDE = 13;
const GAP = 2; // px between cells, as in browse.css
const MARGINS = 5; // px beside a number
const TALL_ENOUGH = 25; // px: below, a cell shows its name alone

/** `on.preview(name or null)`, `on.pin(name, second)`; without `on`, the grid is only looked at. */
export function handGrid(label, on = null) {
  const cells = CLASSES.map((name) => makeCell(name, on));
  const elements = cells.map((cell) => cell.root);
  const grid = classGrid(".grid", label, elements, on && ((place, event) => on.pin(CLASSES[place], event.shiftKey)));
  const { root } = grid;
  let fits = () => true;
  let shown = null;
  let brush = null; // called with the name of a class when the mouse or a key goes over its cell
  let painted = new Map(); // class -> colour

  new ResizeObserver(([{ contentRect }]) => {
    const room = (contentRect.width - GAP * (SIDE - 1)) / SIDE;
    const measure = textMeasure(elements[0].querySelector(".number"));
    fits = (text) => room >= TALL_ENOUGH && measure(text) + MARGINS <= room;
    if (shown) draw();
  }).observe(root);

  if (on) {
    const paint = (event) => {
      const name = CLASSES[grid.placeOf(event.target)];
      if (name) brush(name);
    };
    root.addEventListener("pointerdown", (event) => brush && event.button === 0 && paint(event));
    root.addEventListener("pointermove", (event) => {
      const moved = event.movementX || event.movementY; // not when the page changes under a mouse at rest
      if (brush && event.buttons & 1) paint(event);
      else if (event.pointerType === "mouse" && moved) on.preview(CLASSES[grid.placeOf(event.target)] ?? null);
    });
    root.addEventListener("pointerleave", () => on.preview(null));
    root.addEventListener("click", (event) => {
      const place = grid.placeOf(event.target);
      if (place < 0) return;
      grid.focus(place);
      if (!brush) on.pin(CLASSES[place], event.shiftKey);
      else if (event.detail === 0) brush(CLASSES[place]); // by Enter or Space
    });
  }

  function draw() {
    const { classes, scale = null, number = "none", pinned = "", versus = "" } = shown;
    classes.forEach((cell, place) =>
      cells[place].show(cell, { ...shown, scale, number, fits, paint: painted.get(CLASSES[place]) ?? null }),
    );
    CLASSES.forEach((name, place) => {
      cells[place].root.classList.toggle("pinned", name === pinned);
      cells[place].root.classList.toggle("versus", name === versus);
      set(cells[place].root, on ? { "aria-selected": String(name === pinned || name === versus) } : {});
    });
    if (pinned && on) grid.reach(CLASSES.indexOf(pinned));
  }

  return {
    root,
    /**
     * `classes` as in the scene; `amounts` as in units.js; `colour` and `number` are keys of COLOURS and NUMBERS, `whole`
     * fills whole cells; `pinned` and `versus` are names of classes.
     */
    show(scene) {
      const { read } = COLOURS[scene.colour ?? "action"];
      shown = { ...scene, scale: read && colourScale(scene.classes, read) };
      draw();
    },
    /** Cells that the mouse drags over go to `run`, until it is null. */
    setBrush(run) {
      brush = run;
      root.classList.toggle("brushed", Boolean(run));
    },
    /** Colours of some classes, over what they play. */
    setPainted(colours) {
      painted = colours;
      if (shown) draw();
    },
    focus: () => grid.focus(),
  };
}

/** From a cell to its place between the least and the greatest number of the grid, 0 to 1. */
function colourScale(classes, read) {
  const values = classes.map((cell) => cell && read(cell)).filter((value) => value !== null);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return (cell) => (read(cell) === null ? null : high > low ? (read(cell) - low) / (high - low) : 0.5);
}

function makeCell(name, on) {
  const fill = make("span.fill", { "aria-hidden": "true" });
  const number = make("span.number");
  const title = make("span.name", {}, name);
  const root = make(
    on ? "button.cell" : "span.cell",
    { role: "gridcell", "data-class": name, tabindex: on ? -1 : null },
    fill,
    title,
    number,
  );

  function show(cell, scene) {
    root.classList.toggle("out", cell === null);
    set(root, { "aria-disabled": cell === null ? "true" : null });
    if (cell === null) {
      say(number, "");
      fill.style.height = "0";
      set(root, { "aria-label": `${name} not in the range`, "data-locked": null });
      return;
    }
    const { actions = [], number: shown, amounts, fits, whole, paint } = scene;
    const text = NUMBERS[shown].text(cell, amounts, fits);
    say(number, text && ` ${text}`);
    fill.style.height = `${whole || paint ? 100 : fixed(Math.min(100, 100 * cell.height))}%`;
    fill.style.background = paint ?? background(cell, scene);
    const mix = actions.map((action, place) => `${action.name} ${percent(cell.mix[place])} %`).join(", ");
    const played = mix || `weight ${percent(cell.weight)} %`;
    const locked = cell.locked ? ", locked" : "";
    const chips = amounts ? `, EV ${amounts.ev(cell.ev)}` : "";
    set(root, { "aria-label": `${name}${number.textContent}: ${played}${chips}${locked}`, "data-locked": cell.locked });
  }

  return { root, show };
}

function background(cell, { actions = [], colours = [], colour = "action", scale }) {
  return COLOURS[colour].background(cell, { acts: actions.length > 0, colours, share: scale && scale(cell) });
}
