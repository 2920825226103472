/**
 * The flops of a study at one line: an object per row, their order, and the mean of any of them.
 *
 * A mean weighs each flop by its weight in the study times how often the line is played there, as `regretless study
 * report` does.
 */

import { RANKS, SUITS } from "../shared/cards.js";
import { readSort, sortedBy } from "../shared/sorting.js";

export const MEANS = ["oop_ev", "ip_ev", "oop_equity", "ip_equity", "oop_eqr", "ip_eqr"];
const AGGRESSIVE = ["bet", "raise"];

/** Rows of an answer of /study/flops. */
export function readRows({ columns, frequencies }) {
  const names = Object.keys(columns);
  return columns.spot.map((_, place) => {
    const row = { frequencies: frequencies.map((column) => column[place]) };
    for (const name of names) row[name] = columns[name][place];
    row.order = flopOrder(row.flop);
    return row;
  });
}

/** High cards first; among equal ranks, by suits. */
function flopOrder(flop) {
  let order = 0;
  for (const place of [0, 2, 4]) order = 13 * order + RANKS.indexOf(flop[place]);
  for (const place of [1, 3, 5]) order = 4 * order + SUITS.indexOf(flop[place]);
  return order;
}

/** Bets or raises of several sizes together, as one more number per flop: {kind, places}, or null. */
export function betsTogether({ kinds }) {
  for (const kind of AGGRESSIVE) {
    const places = kinds.flatMap((each, place) => (each === kind ? [place] : []));
    if (places.length > 1) return { kind, places };
  }
  return null;
}

export const sumOf = (frequencies, places) =>
  places.reduce((sum, place) => (frequencies[place] === null ? sum : (sum ?? 0) + frequencies[place]), null);

/** The rows in the order that `sort` asks for; `player` is whose EV, equity and EQR are shown. */
export function sortedRows(rows, { actions, together, player, sort }) {
  const { column, descending } = readSort(sort);
  const byFlop = (a, b) => a.order - b.order;
  const action = actions.indexOf(column);
  let key = (row) => row[`${player}_${["equity", "eqr"].includes(column) ? column : "ev"}`];
  if (action >= 0) key = (row) => row.frequencies[action];
  else if (together && column === together.kind) key = (row) => sumOf(row.frequencies, together.places);
  else if (column === "weight") key = (row) => row.weight;
  else if (column === "flop") key = (row) => -row.order;
  return sortedBy(rows, key, descending, byFlop);
}

/** The weighted means of some rows; `pot` is that of the decision, equal on all flops. */
export function totalOf(rows, actions, pot) {
  let weight = 0;
  const sums = Object.fromEntries(MEANS.map((name) => [name, 0]));
  const taken = actions.map(() => 0);
  for (const row of rows) {
    weight += row.weight;
    for (const name of MEANS) sums[name] += row.weight * (row[name] ?? 0);
    row.frequencies.forEach((share, action) => (taken[action] += row.weight * (share ?? 0)));
  }
  const over = (sum, total) => (total ? sum / total : null);
  const total = Object.fromEntries(MEANS.map((name) => [name, over(sums[name], weight)]));
  for (const player of ["oop", "ip"])
    total[`${player}_eqr`] = over(sums[`${player}_ev`], pot * sums[`${player}_equity`]);
  return { ...total, weight, frequencies: taken.map((sum) => over(sum, weight)) };
}
