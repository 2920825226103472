/** Columns that sort: "-ev" is by EV, largest first. */

import { make } from "./dom.js";

export function readSort(sort) {
  const descending = sort.startsWith("-");
  return { column: descending ? sort.slice(1) : sort, descending };
}

/** The head of a column that sorts: largest first, then smallest first. */
export function sortableHead(key, label, sort, change) {
  const { column, descending } = readSort(sort);
  const chosen = column === key;
  return make(
    "th",
    { scope: "col", "aria-sort": chosen ? (descending ? "descending" : "ascending") : null },
    make(
      "button",
      { onclick: () => change({ sort: chosen && descending ? key : `-${key}` }), title: `Sort by ${label}` },
      label + (chosen ? (descending ? " ↓" : " ↑") : ""),
    ),
  );
}

/** Sorted by a number of each item, then by `otherwise`; items without a number come last, whichever way. */
export function sortedBy(items, key, descending, otherwise) {
  const sign = descending ? -1 : 1;
  const value = (item) => key(item) ?? sign * Infinity;
  return items.toSorted((a, b) => sign * (value(a) - value(b)) || otherwise(a, b));
}
