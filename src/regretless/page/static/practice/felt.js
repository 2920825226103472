/** What practice and whole hands share: the line, the board, the hole cards, the choices, and the verdict on a decision. */

import { lineStrip } from "../browse/strip.js";
import { cardText, cardTile, handText } from "../shared/cards.js";
import { actionColours, mixBackground } from "../shared/colours.js";
import { fill, make, set } from "../shared/dom.js";
import { percent } from "../shared/format.js";
import { actionAmount, actionLabels } from "../shared/labels.js";
import { amounts as amountsOf } from "../shared/units.js";

export const GRADES = { best: "Best", fine: "Fine", inaccuracy: "Inaccuracy", mistake: "Mistake", blunder: "Blunder" };

export const unitOf = ({ big_blind: bigBlind, pot }, unit) => amountsOf({ unit, bigBlind, pot });

/** Keys that take an action: `take(place)` and the actions that can be taken. */
export function actionKeys(actions, take) {
  const ofKind = (label) => actions().findIndex((action) => label.split(" or ").includes(action.kind));
  return [
    {
      keys: [..."123456789"],
      shown: "1 … 9",
      label: "take the first, second, … action",
      foot: "action",
      run: (_, key) => take(Number(key) - 1),
    },
    ...[
      ["f", "fold"],
      ["c", "check or call"],
      ["b", "bet"],
      ["r", "raise"],
      ["a", "all-in"],
    ].map(([key, label]) => ({ keys: [key], shown: key.toUpperCase(), label, run: () => take(ofKind(label)) })),
  ];
}

/** The table with a hand; `deal()` is called for the next one, `act(name)` with the action that was chosen. */
export function handFelt({ act, deal }) {
  const strip = lineStrip(() => {});
  const board = make(".board-cards", { "aria-label": "Board" });
  const hole = make(".hole-cards", { "aria-label": "Your hand" });
  const situation = make("p.hint");
  const choices = make(".choices", { role: "group", "aria-label": "Your action" });
  const problem = make("p.problem", { role: "alert" });
  const from = make("p.from");

  function showChoices(hand, unit) {
    if (hand.over) {
      fill(
        choices,
        make("p.outcome", {}, hand.outcome.text),
        ...(hand.outcome.opponent
          ? [make("span.opponent", {}, "They had ", ...hand.outcome.opponent.map(cardTile))]
          : []),
        make("button.button.primary", { onclick: deal }, "Next hand"),
      );
      return;
    }
    const colours = actionColours(hand.actions.map((action) => action.name));
    const labels = actionLabels(hand.actions);
    fill(
      choices,
      ...hand.actions.map((action, place) =>
        make(
          "button.act",
          { onclick: () => act(action.name), style: { background: colours[place] } },
          make("strong", {}, labels[place]),
          make("span", {}, actionAmount(action, unitOf(hand, unit))),
        ),
      ),
    );
  }

  return {
    strip: strip.root,
    choices,
    root: make("section.felt.panel", { "aria-label": "Hand" }, from, board, hole, situation, choices, problem),
    showProblem: (text) => (problem.textContent = text),
    /** `title` stands above the board. */
    show(hand, { unit, title = "" }) {
      problem.textContent = "";
      const spot = { oop: { name: hand.seats.oop }, ip: { name: hand.seats.ip }, big_blind: hand.big_blind };
      strip.show({ strip: hand.strip, spot, unit });
      for (const button of strip.root.querySelectorAll("button")) set(button, { disabled: true });
      fill(board, ...hand.board.map(cardTile));
      fill(hole, ...hand.hole.map(cardTile));
      from.textContent = title;
      const amounts = unitOf(hand, unit);
      const call = hand.to_call ? ` · ${amounts.amount(hand.to_call)} to call` : "";
      situation.textContent =
        `You are ${hand.seats[hand.player]} · pot ${amounts.pot(hand.pot)}${call}` +
        ` · ${amounts.amount(hand.stacks[hand.player])} behind`;
      showChoices(hand, unit);
    },
  };
}

/** What the solution does with the hand of a decision, and what the choice cost; `more` is added below. */
export function showVerdict(root, feedback, unit, ...more) {
  if (!feedback) {
    fill(
      root,
      make("h2.label", {}, "Verdict"),
      make(
        "p.hint",
        {},
        "Choose an action: what the solution does with this hand, and what your choice costs, is shown here.",
      ),
    );
    return;
  }
  const { strategy, ev, grade, lost } = feedback;
  const names = feedback.actions.map((action) => action.name);
  const amounts = unitOf(feedback, unit);
  const labels = actionLabels(feedback.actions);
  const colours = actionColours(names);
  const cost = lost > 0.005 ? `−${amounts.loss(lost)}` : "nothing lost";
  fill(
    root,
    make(
      "header",
      {},
      grade ? make(`h2.grade.${grade}`, {}, GRADES[grade]) : make("h2.grade", {}, ungraded(feedback)),
      grade && make("span.lost", {}, cost),
    ),
    make(
      "p.hint",
      {},
      handText(feedback.hand),
      ...(feedback.board.length ? [" on ", ...feedback.board.map(cardText)] : []),
      ` ${feedback.line ? `after ${feedback.line}` : "at the first decision"}: you chose ${labels[names.indexOf(feedback.chosen)]}`,
    ),
    strategy && make("span.mix", { style: { background: mixBackground(Object.values(strategy), colours) } }),
    strategy &&
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make("tr", {}, ...["Action", "Solution", ev && "EV"].filter(Boolean).map((text) => make("th", { scope: "col" }, text))),
        ),
        make(
          "tbody",
          {},
          ...names.map((name, place) =>
            make(
              `tr${name === feedback.chosen ? ".chosen" : ""}`,
              {},
              make("td", {}, make("span.swatch", { style: { background: colours[place] } }), ` ${labels[place]}`),
              make("td", {}, `${percent(strategy[name])} %`),
              ev && make("td", {}, amounts.precise(ev[name])),
            ),
          ),
        ),
      ),
    ...more,
  );
}

/** Where no EV is known: how often the solution does the same. */
function ungraded({ strategy, chosen }) {
  return strategy ? `Played ${percent(strategy[chosen], 0)} % of the time` : "The solution never has this hand here";
}
