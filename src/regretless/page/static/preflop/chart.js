/** A chart of the 169 classes: a cell is split by the mix of actions and filled to the share of the class that gets there. */

import { CLASSES } from "../shared/cards.js";
import { classGrid } from "../shared/class-grid.js";
import { actionColours, mixBackground } from "../shared/colours.js";
import { make, set } from "../shared/dom.js";
import { percent } from "../shared/format.js";

const SHORT = { fold: "folds", call: "calls", check: "checks" };

/** An action as players write it, with its size in big blinds. */
export function labelOf({ name, amount }) {
  if (amount === null) return name;
  const size = `${Math.round(100 * amount) / 100} bb`;
  return /^(all-in|push)/.test(name) ? `all-in ${size}` : `raise to ${size}`;
}

/** "SB folds 41.7 %, raises to 2.5 bb 30.2 %". */
export function summaryOf({ seat, actions }) {
  const parts = actions.map((action) => {
    const label = labelOf(action);
    return `${SHORT[label] ?? label} ${percent(action.frequency)} %`;
  });
  return `${seat}: ${parts.join(", ")}`;
}

export const coloursOf = ({ actions }) => actionColours(actions.map(labelOf));

/** How a cell is painted: its mix, as high as the share of the class that gets here. */
function paint(mix, weight, colours) {
  if (!(weight > 0) || mix.includes(null)) return { background: "none", "background-size": "100% 100%" };
  return { background: `${mixBackground(mix, colours)} bottom / 100% ${percent(weight)}% no-repeat` };
}

/** `moved(place)` is called when a class is chosen. */
export function bigChart(moved) {
  const cells = CLASSES.map((name) => make("span.cell", { role: "gridcell", "data-class": name, tabindex: -1 }, make("b", {}, name)));
  const grid = classGrid(".preflop-chart", "Strategy by class", cells, (place) => moved(place));
  let pinned = null;
  grid.root.addEventListener("click", (event) => {
    const place = grid.placeOf(event.target);
    if (place < 0) return;
    grid.reach(place);
    moved(place);
  });
  return {
    root: grid.root,
    show(chart, order, pin) {
      const colours = coloursOf(chart);
      cells.forEach((cell, place) => {
        const row = order[place];
        const weight = chart.weights[row] ?? 0;
        const mix = chart.classes[row];
        set(cell, { style: paint(mix, weight, colours), "aria-label": describe(chart, CLASSES[place], mix, weight) });
        cell.classList.toggle("absent", !(weight > 0));
      });
      pinned?.classList.remove("pinned");
      pinned = pin >= 0 ? cells[pin] : null;
      pinned?.classList.add("pinned");
    },
  };
}

function describe({ actions }, name, mix, weight) {
  if (!(weight > 0) || mix.includes(null)) return `${name}: does not get here`;
  const parts = actions.map((action, place) => `${labelOf(action)} ${percent(mix[place])} %`);
  return `${name}: ${parts.join(", ")}`;
}

/** A reply as a small chart. */
export function smallChart(chart, order) {
  const colours = coloursOf(chart);
  return make(
    "span.small-chart",
    { role: "img", "aria-label": summaryOf(chart) },
    ...CLASSES.map((_, place) =>
      make("i", { style: paint(chart.classes[order[place]], chart.weights[order[place]] ?? 0, colours) }),
    ),
  );
}

/** The mix of one class, action by action. */
export function classDetails(chart, order, place) {
  const row = order[place];
  const colours = coloursOf(chart);
  const [mix, weight] = [chart.classes[row], chart.weights[row] ?? 0];
  const here = weight > 0 && !mix.includes(null);
  return make(
    "section.panel.class-details",
    { "aria-label": "Class", "aria-live": "polite" },
    make("h2", {}, CLASSES[place], make("span.hint", {}, here ? ` ${percent(weight)} % of it gets here` : " does not get here")),
    here &&
      make(
        "ul",
        {},
        ...chart.actions.map((action, at) =>
          make(
            "li",
            {},
            make("span.swatch", { style: { background: colours[at] } }),
            make("span", {}, labelOf(action)),
            make("strong", {}, `${percent(mix[at])} %`),
          ),
        ),
      ),
  );
}

/** The order of the page's classes among the server's. */
export function classOrder(classes) {
  const rows = new Map(classes.map((name, row) => [name, row]));
  return CLASSES.map((name) => rows.get(name));
}

