/**
 * The deck, 4 × 13: what is played after each card that can come, and a player's EV there.
 *
 * At a chance node these are the cards to choose from. At a decision there are up to two reports: the same decision
 * on every other card that could have begun this street, and the first decision of the next street if this one is
 * checked or called through.
 */

import { get, latest } from "../shared/api.js";
import { RANKS, SUITS, SYMBOLS } from "../shared/cards.js";
import { actionColours, mixBackground } from "../shared/colours.js";
import { fill, make, set } from "../shared/dom.js";
import { ev, percent } from "../shared/format.js";

const ask = latest((fields, signal) => get("/cards", fields, signal));

const isCard = (step) => /^[2-9TJQKA][cdhs]$/.test(step);
const NEXT = { flop: "turn", turn: "river" };
const joined = (...steps) => steps.filter(Boolean).join(", ");

/** The reports at a node: each about a street, with the line to its chance node and the actions after the card. */
export function reportsAt(node) {
  const next = NEXT[node.street];
  if (node.kind === "chance")
    return [{ street: next, line: node.line, then: "", card: null, text: `Choose the ${next}` }];
  const found = [];
  const steps = node.line ? node.line.split(", ") : [];
  const last = steps.findLastIndex(isCard);
  if (last >= 0) {
    const then = joined(...steps.slice(last + 1));
    found.push({
      street: node.street,
      line: joined(...steps.slice(0, last)),
      then,
      card: steps[last],
      text: `This decision on every ${node.street}`,
    });
  }
  if (next && node.kind === "decision") {
    const rest = node.to_call > 0 ? "call" : node.player === "oop" ? "check, check" : "check";
    found.push({
      street: next,
      line: joined(node.line, rest),
      then: "",
      card: null,
      text: `Every ${next} after ${rest}`,
    });
  }
  return found;
}

export function cardsTab(go) {
  const choices = make(".row", { role: "group", "aria-label": "Which cards" });
  const note = make("p.hint");
  const deck = make(".deck", { role: "group", "aria-label": "Cards" });
  const root = make(".cards-tab.scroll", {}, choices, deck, note);
  let scene = null;
  let street = ""; // of the report that was chosen
  let drawn = "";

  function cardButton(card, report, answer) {
    const { node, player } = scene;
    const [rank, suit] = card;
    const found = answer?.cards.find((each) => each.card === card);
    const onBoard = node.board.includes(card) && card !== report.card;
    const mix = found?.frequencies.map((share, place) => `${found.actions[place]} ${percent(share)} %`).join(", ");
    const numbers =
      found &&
      [mix, `EV ${ev(found.ev[player], node.pot)}`, `equity ${percent(found.equity[player])} %`]
        .filter(Boolean)
        .join(", ");
    return make(
      `button.deck-card${card === report.card ? ".here" : ""}`,
      {
        disabled: onBoard,
        onclick: () => go(found?.next ?? joined(report.line, card, report.then)),
        title: numbers ?? null,
      },
      make(`span.suit-${suit}`, {}, rank + SYMBOLS[suit]),
      make("span.mix", {
        style: { background: found ? mixBackground(found.frequencies, actionColours(found.actions)) : "none" },
      }),
      make("small", {}, found ? ev(found.ev[player], node.pot) : "\u00a0"),
      numbers ? make("span.for-readers", {}, numbers) : null,
    );
  }

  function drawDeck(report, answer) {
    fill(
      deck,
      ...[...SUITS].map((suit) =>
        make(".deck-row", {}, ...[...RANKS].map((rank) => cardButton(rank + suit, report, answer))),
      ),
    );
  }

  async function draw() {
    const { node, file, player } = scene;
    const reports = reportsAt(node);
    const report = reports.find((each) => each.street === street) ?? reports[0];
    fill(
      choices,
      ...reports.map((each) =>
        make(
          "button.choice",
          { "aria-pressed": String(each === report), onclick: () => ((street = each.street), draw()) },
          each.text,
        ),
      ),
    );
    if (!report) {
      drawn = "";
      fill(deck);
      note.textContent = "The board is complete: no card is left to come.";
      return;
    }
    const wanted = JSON.stringify([file.file, node.revision, report.line, report.then, report.card, player]);
    if (wanted === drawn) return;
    drawn = wanted;
    note.textContent = `Bars show the mix of the player who acts, numbers the EV of ${player.toUpperCase()}. Click a card to go there.`;
    drawDeck(report, null);
    set(deck, { "aria-busy": "true" });
    try {
      const answer = await ask({ file: file.file, line: report.line, then: report.then });
      if (answer && drawn === wanted) drawDeck(report, answer);
    } catch (error) {
      note.textContent = error.message;
      drawn = "";
    }
    set(deck, { "aria-busy": null });
  }

  return {
    root,
    show(given) {
      scene = given;
      return draw();
    },
  };
}
