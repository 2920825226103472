/** A row per flop with its mix as a bar, and above them the weighted mean of the rows that are shown. */

import { cardsIn, SYMBOLS } from "../shared/cards.js";
import { mixBackground } from "../shared/colours.js";
import { fill, make, set } from "../shared/dom.js";
import { count, ev, fixed, percent } from "../shared/format.js";
import { sortableHead } from "../shared/sorting.js";
import { tallRows } from "../shared/tall-rows.js";
import { sumOf } from "./flop-rows.js";

const ROW = 36; // px, as in studies.css
const HEAD = 2 * ROW; // the names of the columns and the mean

/** `change({sort})` changes the state; `open(row)` is called when a flop is chosen. */
export function flopTable({ change, open }) {
  const head = make("tr");
  const mean = make("tr.mean");
  const body = make("tbody");
  const table = make("table.flops", {}, make("thead", {}, head, mean), body);
  const scroll = make(".scroll.panel", { tabindex: 0, role: "region", "aria-label": "Flops" }, table);
  const none = make("p.hint.none", { hidden: true });
  const root = make(".flops-part", {}, scroll, none);
  const tall = tallRows({ scroll, body, row: ROW, draw });
  let scene = null; // {rows, total, answer, labels, together, colours, player, pot, sort, pin}

  /** How much more often this study bets or raises than the one it is compared with, in percentage points. */
  function difference(row, twin) {
    const { answer, otherAnswer } = scene;
    const bets = (frequencies, { kinds }) =>
      sumOf(frequencies, kinds.flatMap((kind, place) => (["bet", "raise", "all-in"].includes(kind) ? [place] : [])));
    if (!twin) return "–";
    const points = 100 * (bets(row.frequencies, answer) - bets(twin.frequencies, otherAnswer));
    return `${points > 0 ? "+" : ""}${fixed(points)}`;
  }

  function numbers(row, cell) {
    const { answer, together, player, pot, total, others } = scene;
    const twin = others && (row === total ? scene.otherTotal : others.find((each) => each.flop === row.flop));
    return [
      others && make(`${cell}.versus`, {}, difference(row, twin)),
      others && make(`${cell}.versus`, {}, twin ? ev(twin[`${player}_ev`], pot) : "–"),
      ...answer.actions.map((_, action) => make(cell, {}, percent(row.frequencies[action]))),
      together && make(`${cell}.together`, {}, percent(sumOf(row.frequencies, together.places))),
      make(`${cell}.main-number`, {}, ev(row[`${player}_ev`], pot)),
      make(cell, {}, percent(row[`${player}_equity`])),
      make(cell, {}, fixed(row[`${player}_eqr`], 2)),
      make(`${cell}.share-column`, {}, percent(total.weight ? row.weight / total.weight : null, 2)),
    ];
  }

  const mix = (row) =>
    make("span.mix", { style: { background: mixBackground(row.frequencies, scene.colours) } });

  function draw(row, place) {
    return make(
      `tr${row.spot === scene.pin ? ".pinned" : ""}`,
      { "aria-rowindex": place + 3, "data-place": place, onclick: () => open(row) },
      make("td", {}, make("button.flop", { title: `Open ${row.flop}` }, ...flopText(row.flop))),
      make("td.mix-column", {}, mix(row)),
      ...numbers(row, "td"),
    );
  }

  function drawHead() {
    const { answer, labels, together, sort, rows, total } = scene;
    const sortable = (key, label) => sortableHead(key, label, sort, change);
    fill(
      head,
      sortable("flop", "Flop"),
      make("th.mix-column", { scope: "col" }, "Strategy"),
      scene.others && make("th.versus", { scope: "col", title: "bets and raises, in points, against the other study" }, "± bets"),
      scene.others && make("th.versus", { scope: "col" }, "EV there"),
      ...answer.actions.map((action, place) => sortable(action, labels[place])),
      together && sortable(together.kind, `all ${together.kind}s`),
      sortable("ev", "EV"),
      sortable("equity", "Equity"),
      sortable("eqr", "EQR"),
      set(sortable("weight", "Share"), { class: "share-column" }),
    );
    fill(
      mean,
      make("th", { scope: "row" }, `${count(rows.length)} flop${rows.length === 1 ? "" : "s"}`),
      make("th.mix-column", {}, mix(total)),
      ...numbers(total, "th"),
    );
  }

  return {
    root,
    /** Show other rows; `top` scrolls to the first. */
    show(given, { top }) {
      scene = given;
      if (top) tall.toTop();
      drawHead();
      set(table, { "aria-rowcount": scene.rows.length + 2 });
      none.hidden = scene.rows.length > 0;
      none.textContent = "No flop passes the filter.";
      tall.show(scene.rows);
    },
    reveal(spot) {
      const place = scene?.rows.findIndex((row) => row.spot === spot) ?? -1;
      if (place >= 0) tall.reveal(place, HEAD);
    },
    /** Move the focus along the rows, from the first. */
    step(by) {
      if (!scene?.rows.length) return false;
      const place = Math.min(Math.max(tall.focused() + by, 0), scene.rows.length - 1);
      tall.reveal(place, HEAD);
      tall.focus(place);
    },
  };
}

/** A flop as coloured cards; a text that is none, as it is. */
function flopText(flop) {
  const cards = cardsIn(flop);
  if (cards.length !== 3) return [flop];
  return cards.map((card) => make(`span.suit-${card[1]}`, {}, card[0] + SYMBOLS[card[1]]));
}
