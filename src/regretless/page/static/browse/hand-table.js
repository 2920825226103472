/**
 * Every hand of the shown range: strategy, weight, EV, equity, EQR and each action with its EV.
 *
 * Sortable by any column. Only the rows in sight exist: a range has up to 1,326 of them, and a new node must show in
 * a fraction of a second.
 */

import { handText, CLASSES } from "../shared/cards.js";
import { mixBackground } from "../shared/colours.js";
import { fill, make, set } from "../shared/dom.js";
import { fixed, percent } from "../shared/format.js";
import { readSort, sortableHead, sortedBy } from "../shared/sorting.js";
import { tallRows } from "../shared/tall-rows.js";
import { handFilter } from "./filter.js";

const ROW = 40; // px, as in tabs.css

/** `change({sort, filter})` changes the state; `pin(class)` pins the class of a row that is clicked. */
export function handTable({ change, pin }) {
  const head = make("tr");
  const body = make("tbody");
  const table = make("table.hands", {}, make("thead", {}, head), body);
  const scroll = make(".scroll.panel", { tabindex: 0, role: "region", "aria-label": "Hands" }, table);
  const filter = handFilter((text) => change({ filter: text }));
  const none = make("p.hint.none", { hidden: true });
  const root = make(".hands-tab", {}, scroll, none);
  const tall = tallRows({ scroll, body, row: ROW, draw: row });
  let rows = [];
  let scene = null;

  function row(hand, place) {
    const { actions, colours, amounts, state } = scene;
    const name = CLASSES[hand.class];
    const cells = actions.map((_, action) =>
      make("td", {}, percent(hand.mix[action]), make("small", {}, amounts.ev(hand.actionEv[action]))),
    );
    return make(
      `tr${name === state.pin ? ".pinned" : ""}`,
      { "aria-rowindex": place + 2, onclick: () => pin(name) },
      make("td", {}, handText(hand.name), hand.locked && make("span.lock-mark", { title: "Locked" }, " locked")),
      actions.length
        ? make("td.mix-column", {}, make("span.mix", { style: { background: mixBackground(hand.mix, colours) } }))
        : null,
      ...cells,
      make("td", {}, percent(hand.weight, hand.weight > 0.0995 ? 0 : 1)),
      make("td.main-number", {}, amounts.ev(hand.ev)),
      make("td", {}, percent(hand.equity)),
      make("td", {}, fixed(hand.eqr, 2)),
    );
  }

  return {
    root,
    beside: filter.root,
    show(given) {
      const before = scene?.state;
      scene = given;
      if (before?.sort !== scene.state.sort || before?.filter !== scene.state.filter) tall.toTop();
      drawHead(head, scene, change);
      filter.show(scene);
      const { test, error } = scene.filter;
      rows = sorted(
        scene.hands.filter((hand) => hand.held && test(hand)),
        scene,
      );
      none.hidden = rows.length > 0 || Boolean(error);
      none.textContent = scene.state.filter ? "No hand of this range passes the filter." : "No hand gets here.";
      set(table, { "aria-rowcount": rows.length + 1 });
      tall.show(rows);
    },
    /** Bring a hand or the first hand of a class into view. */
    reveal(className) {
      const place = rows.findIndex((hand) => CLASSES[hand.class] === className);
      if (place >= 0) tall.reveal(place);
    },
  };
}

const COLUMNS = { weight: "Weight", ev: "EV", equity: "Equity", eqr: "EQR" };

function drawHead(head, { actions, labels, state }, change) {
  const sortable = (key, label) => sortableHead(key, label, state.sort, change);
  fill(
    head,
    sortable("hand", "Hand"),
    actions.length ? make("th.mix-column", { scope: "col" }, "Strategy") : null,
    ...actions.map((action) => sortable(action.name, labels[action.name])),
    ...Object.entries(COLUMNS).map(([key, label]) => sortable(key, label)),
  );
}

function sorted(hands, { state, actions }) {
  const { column, descending } = readSort(state.sort);
  const action = actions.findIndex((each) => each.name === column);
  const key =
    action >= 0
      ? (hand) => hand.mix[action]
      : column === "hand"
        ? (hand) => -hand.class
        : (hand) => hand[column in COLUMNS ? column : "ev"];
  return sortedBy(hands, key, descending, (a, b) => a.class - b.class || b.index - a.index);
}
