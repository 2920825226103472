/**
 * What is played after each card that can come, as a deck of 4 × 13 or as a table to sort.
 *
 * At a chance node these are the cards to choose from. At a decision there are reports to choose from: the same
 * decision on every other card that could have begun this street, and both players' first decisions of the next street
 * if this one is checked or called through.
 */

import { get, latest } from "../shared/api.js";
import { RANKS, SUITS, SYMBOLS, handText } from "../shared/cards.js";
import { actionColours, mixBackground } from "../shared/colours.js";
import { fill, make, set } from "../shared/dom.js";
import { percent } from "../shared/format.js";
import { actionLabels, sizedActions } from "../shared/labels.js";
import { readSort, sortableHead, sortedBy } from "../shared/sorting.js";
import { textMeasure } from "../shared/text-width.js";

const ask = latest((fields, signal) => get("/cards", fields, signal));

const isCard = (step) => /^[2-9TJQKA][cdhs]$/.test(step);
const isBet = (action) => /^(bet|raise|all-in)/.test(action);
const NEXT = { flop: "turn", turn: "river" };
const joined = (...steps) => steps.filter(Boolean).join(", ");
const title = (street) => `${street[0].toUpperCase()}${street.slice(1)}`;

/** The reports at a node: each about a street, with the line to its chance node and the actions after the card. */
export function reportsAt(node, seats = { oop: "OOP", ip: "IP" }) {
  const next = NEXT[node.street];
  if (node.kind === "chance") return firstDecisions(node, node.line, `${title(next)} cards`, seats);
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
      text: `This decision, on other ${node.street} cards`,
    });
  }
  if (next && node.kind === "decision") {
    const rest = node.to_call > 0 ? "call" : node.player === "oop" ? "check, check" : "check";
    const after = node.to_call > 0 ? "a call" : rest === "check" ? "a check" : "two checks";
    const line = joined(node.line, rest);
    found.push(...firstDecisions(node, line, `${title(next)} cards after ${after}`, seats));
  }
  return found;
}

/** The reports on the next street's first decisions; once a player is all in, on who wins, as nobody acts any more. */
function firstDecisions({ street, stacks }, line, text, seats) {
  const report = { street: NEXT[street], line, then: "", card: null };
  if (stacks.oop === 0 || stacks.ip === 0) return [{ ...report, text, allIn: true }];
  return [
    { ...report, text: `${text}: ${seats.oop} acts` },
    { ...report, then: "check", text: `${seats.ip} after a check` },
  ];
}

/** `go(line)` follows a card; `change({cards})` changes how the report is shown. */
export function cardsTab(go, change) {
  const choices = make(".row", { role: "group", "aria-label": "Which cards" });
  const note = make("p.hint");
  const deck = make(".deck", { role: "group", "aria-label": "Cards" });
  const content = make("div", {}, deck);
  const root = make(".cards-tab.scroll", {}, choices, content, note);
  let scene = null;
  let chosen = ""; // the text of the report that was chosen
  let answered = { wanted: "", answer: null };
  let sameDecision = false; // the report is about the decision that is shown, on other cards
  let fits = () => true;
  const forced = new Set(); // reports whose player can only check, on every card

  new ResizeObserver(([{ contentRect }]) => {
    const button = deck.querySelector(".deck-card");
    if (!button) return;
    const columns = getComputedStyle(button.parentElement).gridTemplateColumns.split(" ").length;
    const measure = textMeasure(button.querySelector("small"));
    const room = contentRect.width / columns - 16; // its gap, padding and border
    fits = (text) => measure(text) <= room;
    if (scene) draw();
  }).observe(content);

  const labelsOf = (actions, pot) =>
    sameDecision ? actions.map((action) => scene.labels[action] ?? action) : actionLabels(sizedActions(actions, pot));

  function describe({ frequencies, actions, pot, ev, equity }) {
    const labels = labelsOf(actions, pot);
    const mix = frequencies.map((share, place) => `${labels[place]}: ${percent(share)} %`);
    const { player, amounts } = scene;
    return [...mix, `EV ${amounts.evText(ev[player])}`, `equity ${percent(equity[player])} %`].join(", ");
  }

  function cardButton(card, report, answer) {
    const { node, player, amounts } = scene;
    const [rank, suit] = card;
    const found = answer?.cards.find((each) => each.card === card);
    const onBoard = node.board.includes(card) && card !== report.card;
    const numbers = found && describe(found);
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
      make("small", {}, found ? amounts.evFitted(found.ev[player], fits) : "\u00a0"),
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
    fill(content, deck);
  }

  /** A row per card; what all bets and raises make together stands before the single actions. */
  function drawTable({ cards }) {
    const actions = [...new Set(cards.flatMap((each) => each.actions))];
    const labels = labelsOf(actions, cards[0]?.pot);
    const share = (each, action) => each.frequencies[each.actions.indexOf(action)] ?? null;
    const bets = (each) =>
      each.actions.length
        ? each.frequencies.reduce((sum, value, place) => sum + (isBet(each.actions[place]) ? value : 0), 0)
        : null;
    const columns = [
      ["bets", "Bets %", bets],
      ...actions.map((action, place) => [action, labels[place], (each) => share(each, action)]),
      ...["oop", "ip"].map((player) => [`ev-${player}`, `EV ${scene.seats[player]}`, (each) => each.ev[player]]),
      ["equity", `Equity ${scene.seats[scene.player]}`, (each) => each.equity[scene.player]],
    ];
    const sort = scene.state.cards;
    const { column, descending } = readSort(sort);
    const key = columns.find(([name]) => name === column)?.[2] ?? bets;
    const order = (card) => -(4 * RANKS.indexOf(card[0]) + SUITS.indexOf(card[1]));
    const rows = sortedBy(cards, key, descending, (a, b) => order(b.card) - order(a.card)).map((each) =>
      make(
        "tr",
        {},
        make("td", {}, make("button.link", { onclick: () => go(each.next) }, handText(each.card))),
        make(
          "td.mix-column",
          {},
          make("span.mix", { style: { background: mixBackground(each.frequencies, actionColours(each.actions)) } }),
        ),
        ...columns.map(([name, , read]) =>
          make("td", {}, name.startsWith("ev-") ? scene.amounts.ev(read(each)) : percent(read(each))),
        ),
      ),
    );
    const heads = columns.map(([name, text]) => sortableHead(name, text, sort, ({ sort: cards }) => change({ cards })));
    const first = ["Card", "Strategy"].map((text) =>
      make(`th${text === "Strategy" ? ".mix-column" : ""}`, { scope: "col" }, text),
    );
    fill(
      content,
      make("table.panel", {}, make("thead", {}, make("tr", {}, ...first, ...heads)), make("tbody", {}, ...rows)),
    );
  }

  function show(report, answer) {
    if (scene.state.cards && answer) drawTable(answer);
    else drawDeck(report, answer);
  }

  function drawChoices(reports, report) {
    const choice = (text, pressed, onclick) =>
      make("button.choice", { "aria-pressed": String(pressed), onclick }, text);
    const table = Boolean(scene.state.cards);
    fill(
      choices,
      ...reports.map((each) => choice(each.text, each === report, () => ((chosen = each.text), draw()))),
      report && make("span.spring"),
      report && choice("Deck", !table, () => change({ cards: "" })),
      report && choice("Table", table, () => change({ cards: "-bets" })),
    );
  }

  async function draw() {
    const { node, file, player, seats, amounts, state } = scene;
    const reports = reportsAt(node, seats);
    const keyOf = ({ line, then, card }) => JSON.stringify([file.file, node.revision, line, then, card]);
    const report =
      reports.find((each) => each.text === chosen) ?? reports.find((each) => !forced.has(keyOf(each))) ?? reports[0];
    drawChoices(reports, report);
    if (!report) {
      answered = { wanted: "", answer: null };
      fill(content);
      note.textContent = "The board is complete: no card is left to come.";
      return;
    }
    const wanted = keyOf(report);
    sameDecision = report.card !== null;
    note.textContent = state.cards
      ? "One row per card. Click a heading to sort, a card to go there."
      : `${report.allIn ? "" : "Bars: how the player to act plays on that card. "}Numbers: EV of ${seats[player]}${amounts.suffix ? `, in${amounts.suffix}` : ""}. Click a card to go there.`;
    if (wanted === answered.wanted) {
      if (answered.answer) show(report, answered.answer);
      return;
    }
    answered = { wanted, answer: null };
    drawDeck(report, null);
    set(deck, { "aria-busy": "true" });
    try {
      const answer = await ask({ file: file.file, line: report.line, then: report.then });
      if (answer && answered.wanted === wanted) {
        answered = { wanted, answer };
        const following = reports[reports.indexOf(report) + 1];
        const mustCheck = following?.line === report.line && answer.cards.every(({ actions }) => actions.length < 2);
        if (mustCheck && !chosen && !forced.has(wanted)) {
          forced.add(wanted);
          return draw(); // the other player's decision says more
        }
        show(report, answer);
      }
    } catch (error) {
      note.textContent = error.message;
      answered = { wanted: "", answer: null };
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
