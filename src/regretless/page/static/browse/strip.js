/** The line of play: one tile per decision from the root to now, and one per street with its cards. */

import { cardTile } from "../shared/cards.js";
import { actionColours } from "../shared/colours.js";
import { fill, make } from "../shared/dom.js";
import { percent } from "../shared/format.js";
import { actionAmount, actionLabels, betsTogether, seatNames } from "../shared/labels.js";
import { amounts as amountsOf } from "../shared/units.js";

/** `go(line)` is called when an action or a street is clicked; `openCards()` to choose a card that is to come. */
export function lineStrip(go, openCards) {
  const root = make("section.strip", { "aria-label": "Line of play", tabindex: 0 });
  let before = null;
  return {
    root,
    /** `locks` are those that apply or will: with `after`, the frequencies that they will have here. */
    show({ strip, locks = [], unit = "", spot = null }) {
      const about = { go, openCards, locks, unit, spot };
      fill(root, ...strip.map((tile, place) => makeTile(tile, place === strip.length - 1, about)));
      const { line } = strip.at(-1);
      if (line !== before) requestAnimationFrame(() => (root.scrollLeft = root.scrollWidth)); // the present tile
      before = line;
    },
  };
}

function makeTile(tile, present, about) {
  const amounts = amountsOf({ unit: about.unit, bigBlind: about.spot?.big_blind, pot: tile.pot });
  if (tile.kind === "street") {
    return streetTile(tile, present, tile.cards.length ? () => about.go(tile.line) : about.openCards, amounts);
  }
  if (tile.kind === "end") return endTile(tile, amounts);
  return decisionTile(tile, present, about.go, { locks: about.locks, seats: seatNames(about.spot), amounts });
}

/** The first line of a tile. */
export function heading(left, right, locked = false, total = null) {
  return make(
    "h3.label",
    {},
    make("span.caps", {}, left),
    locked && make("span.lock-mark", { title: "Locked here" }, "locked"),
    total && make("span.total", { title: `All ${total.label} together` }, `${total.label} ${percent(total.share)} %`),
    make("span", {}, right),
  );
}

function streetTile({ street, cards, pot }, present, open, amounts) {
  const shown = cards.length ? cards.map(cardTile) : [make("span.hint", {}, `Choose the ${street} card`)];
  return make(
    `.tile.street${present ? ".present" : ""}`,
    {},
    heading(street, `pot ${amounts.pot(pot)}`),
    make(
      "button.cards",
      { onclick: open, title: cards.length ? `Go to the ${street}` : `Show the ${street} cards` },
      ...shown,
    ),
  );
}

/** A decision with its actions; one whose `next` is null cannot be taken. */
export function decisionTile({ line, player, pot, taken, actions }, present, go, { locks = [], seats, amounts } = {}) {
  const here = locks.filter((lock) => lock.node === line);
  const after = here.findLast((lock) => lock.after)?.after;
  const shown = actions.map((action, place) => (after ? { ...action, frequency: after[place] } : action));
  const colours = actionColours(actions.map((action) => action.name));
  const labels = actionLabels(actions);
  const shownAmounts = amounts ?? amountsOf({ unit: "chips", pot });
  const buttons = shown.map((action, place) => {
    const chosen = taken === place;
    const share = action.frequency === null || action.frequency === undefined ? "" : percent(action.frequency);
    const free = actions[place].frequency;
    return make(
      `button${chosen ? ".taken" : ""}`,
      {
        onclick: () => go(action.next),
        disabled: action.next === null,
        "aria-pressed": String(chosen),
        title: actionTitle(action, shownAmounts) + (after ? ` · ${percent(free)} % before the lock` : ""),
        "data-action": action.name,
      },
      make("span.swatch", { style: { background: colours[place] } }),
      make("span", {}, labels[place]),
      make("span.amount", {}, actionAmount(action, shownAmounts)),
      make(`span.share${after ? ".locked" : ""}`, {}, share),
    );
  });
  return make(
    `.tile.decision${present ? ".present" : ""}`,
    { "aria-current": present ? "step" : null },
    heading(seats?.[player] ?? player, `pot ${shownAmounts.pot(pot)}`, here.length > 0, betsTogether(shown)),
    ...buttons,
  );
}

/** What hovering an action tells: its size against the pot, how often it is taken, and its EV. */
export function actionTitle(action, amounts) {
  const parts = [action.name];
  if (action.pot_share !== null && action.pot_share !== undefined)
    parts.push(`${percent(action.pot_share, 0)} % of the pot`);
  if (action.frequency !== null && action.frequency !== undefined)
    parts.push(`${percent(action.frequency)} % of the range`);
  if (action.ev !== null && action.ev !== undefined) parts.push(`EV ${amounts.evText(action.ev)}`);
  return parts.join(" · ");
}

function endTile({ end, pot }, amounts) {
  return make(
    ".tile.present",
    {},
    heading(end, `pot ${amounts.pot(pot)}`),
    make("p.hint", {}, end === "fold" ? "The hand is over." : "Hands are shown."),
  );
}
