/** The line of play: one tile per decision from the root to now, and one per street with its cards. */

import { cardTile } from "../shared/cards.js";
import { actionColours } from "../shared/colours.js";
import { fill, make } from "../shared/dom.js";
import { chips, percent } from "../shared/format.js";

/** `go(line)` is called when an action or a street is clicked; `openCards()` to choose a card that is to come. */
export function lineStrip(go, openCards) {
  const root = make("section.strip", { "aria-label": "Line of play", tabindex: 0 });
  return {
    root,
    show({ strip, locks = [] }) {
      fill(root, ...strip.map((tile, place) => makeTile(tile, place === strip.length - 1, { go, openCards }, locks)));
      requestAnimationFrame(() => (root.scrollLeft = root.scrollWidth)); // the present tile stays in view
    },
  };
}

function makeTile(tile, present, { go, openCards }, locks) {
  if (tile.kind === "street") return streetTile(tile, present, tile.cards.length ? () => go(tile.line) : openCards);
  if (tile.kind === "end") return endTile(tile);
  return decisionTile(tile, present, go, locks);
}

/** The first line of a tile. */
export function heading(left, right, locked = false) {
  return make(
    "h3.label",
    {},
    make("span.caps", {}, left),
    locked && make("span.lock-mark", { title: "Locked here" }, "locked"),
    make("span", {}, right),
  );
}

function streetTile({ street, cards, pot }, present, open) {
  const shown = cards.length ? cards.map(cardTile) : [make("span.hint", {}, `Choose the ${street} card`)];
  return make(
    `.tile.street${present ? ".present" : ""}`,
    {},
    heading(street, `pot ${chips(pot)}`),
    make(
      "button.cards",
      { onclick: open, title: cards.length ? `Go to the ${street}` : `Show the ${street} cards` },
      ...shown,
    ),
  );
}

/** A decision with its actions; one whose `next` is null cannot be taken. */
export function decisionTile({ line, player, pot, taken, actions }, present, go, locks = []) {
  const colours = actionColours(actions.map((action) => action.name));
  const buttons = actions.map((action, place) => {
    const chosen = taken === place;
    const share = action.frequency === null || action.frequency === undefined ? "" : percent(action.frequency);
    return make(
      `button${chosen ? ".taken" : ""}`,
      {
        onclick: () => go(action.next),
        disabled: action.next === null,
        "aria-pressed": String(chosen),
        title: actionTitle(action),
      },
      make("span.swatch", { style: { background: colours[place] } }),
      make("span", {}, action.name),
      make("span.share", {}, share),
    );
  });
  return make(
    `.tile.decision${present ? ".present" : ""}`,
    { "aria-current": present ? "step" : null },
    heading(player, `pot ${chips(pot)}`, locks.includes(line)),
    ...buttons,
  );
}

/** What hovering an action tells: its size against the pot, and its EV. */
export function actionTitle(action) {
  const parts = [action.name];
  if (action.pot_share !== null && action.pot_share !== undefined)
    parts.push(`${percent(action.pot_share, 0)} % of the pot`);
  if (action.frequency !== null && action.frequency !== undefined)
    parts.push(`${percent(action.frequency)} % of the range`);
  if (action.ev !== null && action.ev !== undefined) parts.push(`EV ${chips(action.ev)}`);
  return parts.join(" · ");
}

function endTile({ end, pot }) {
  return make(
    ".tile.present",
    {},
    heading(end, `pot ${chips(pot)}`),
    make("p.hint", {}, end === "fold" ? "The hand is over." : "Hands are shown."),
  );
}
