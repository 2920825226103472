/**
 * The deck, 4 × 13: what is played after each card that can come, and each player's EV there.
 *
 * At a chance node these are the cards to choose from. At a decision, the report is about the card that began this
 * street: the same decision on every other card.
 */

import { get, latest } from "../shared/api.js";
import { RANKS, SUIT_NAMES, SUITS, SYMBOLS } from "../shared/cards.js";
import { actionColours, mixBackground } from "../shared/colours.js";
import { fill, make, set } from "../shared/dom.js";
import { ev, percent } from "../shared/format.js";

const ask = latest((fields, signal) => get("/cards", fields, signal));

const isCard = (step) => /^[2-9TJQKA][cdhs]$/.test(step);

/** The chance node a report is about, and the actions after its card; null on the first street. */
export function reportAt(node) {
  if (node.kind === "chance") return { line: node.line, then: "", card: null };
  const steps = node.line ? node.line.split(", ") : [];
  const last = steps.findLastIndex(isCard);
  if (last < 0) return null;
  return { line: steps.slice(0, last).join(", "), then: steps.slice(last + 1).join(", "), card: steps[last] };
}

export function cardsTab(go) {
  const note = make("p.hint");
  const deck = make(".deck", { role: "group", "aria-label": "Cards" });
  const root = make(".cards-tab.scroll", {}, note, deck);
  let key = "";

  function choice(card, report, node, answer, player) {
    const [rank, suit] = card;
    const found = answer?.cards.find((each) => each.card === card);
    const onBoard = node.board.includes(card) && card !== report.card;
    const next = found?.next ?? [report.line, card, report.then].filter(Boolean).join(", ");
    const shares = found?.frequencies ?? [];
    const mix = found && shares.map((share, place) => `${found.actions[place]} ${percent(share)} %`).join(", ");
    const colours = found ? actionColours(found.actions) : [];
    const numbers = found && `, EV ${ev(found.ev[player], node.pot)}, equity ${percent(found.equity[player])} %`;
    const name = `${rank} of ${SUIT_NAMES[suit]}`;
    return make(
      `button.deck-card${card === report.card ? ".here" : ""}`,
      { disabled: onBoard, onclick: () => go(next), "aria-label": found ? `${name}: ${mix}${numbers}` : name, title: found ? `${mix}${numbers}` : null },
      make(`span.suit-${suit}`, {}, rank + SYMBOLS[suit]),
      make("span.mix", { style: { background: found ? mixBackground(shares, colours) : "none" } }),
      make("small", {}, found ? ev(found.ev[player], node.pot) : onBoard ? "" : "\u00a0"),
    );
  }

  function draw({ node, player }, report, answer) {
    const rows = [...SUITS].map((suit) => make(".deck-row", {}, ...[...RANKS].map((rank) => choice(rank + suit, report, node, answer, player))));
    fill(deck, ...rows);
  }

  return {
    root,
    async show(scene) {
      const { node, file, player } = scene;
      const report = reportAt(node);
      if (!report) {
        key = "";
        fill(deck);
        note.textContent = node.board.length === 5 ? "The board is complete: no card is left to come." : "Play this street to its end to see the cards that can come next.";
        return;
      }
      const wanted = JSON.stringify([file.file, node.revision, report.line, report.then, player]);
      note.textContent = describe(report, player);
      if (wanted === key) return;
      key = wanted;
      draw(scene, report, null);
      set(deck, { "aria-busy": "true" });
      try {
        const answer = await ask({ file: file.file, line: report.line, then: report.then });
        if (answer && key === wanted) draw(scene, report, answer);
      } catch (error) {
        note.textContent = error.message;
        key = "";
      }
      set(deck, { "aria-busy": null });
    },
  };
}

function describe({ then, card }, player) {
  const what = card === null ? "Choose the card that comes" : then ? `This decision (${then}) on every card that could have come` : "The first decision on every card that could have come";
  return `${what}. Bars show the mix of the player who acts, numbers the EV of ${player.toUpperCase()}.`;
}
