/** One hand of practice: the line so far, the board, the hole cards, the choices, the verdict and the score. */

import { lineStrip } from "../browse/strip.js";
import { cardText, cardTile, classOf, handText } from "../shared/cards.js";
import { actionColours, mixBackground } from "../shared/colours.js";
import { openDialog } from "../shared/dialog.js";
import { fill, make, set } from "../shared/dom.js";
import { fixed, percent } from "../shared/format.js";
import { actionAmount, actionLabels } from "../shared/labels.js";
import { now } from "../shared/state.js";
import { amounts as amountsOf } from "../shared/units.js";

const GRADES = { best: "Best", fine: "Fine", inaccuracy: "Inaccuracy", mistake: "Mistake", blunder: "Blunder" };

export function practiceTable({ act, deal, explain, restart }) {
  const strip = lineStrip(() => {});
  const board = make(".board-cards", { "aria-label": "Board" });
  const hole = make(".hole-cards", { "aria-label": "Your hand" });
  const situation = make("p.hint");
  const choices = make(".choices", { role: "group", "aria-label": "Your action" });
  const verdict = make("section.verdict.panel", { "aria-label": "Verdict", "aria-live": "polite" });
  const score = make("section.score.panel", { "aria-label": "Score" });
  const problem = make("p.problem", { role: "alert" });
  const from = make("p.from");
  const root = make(
    ".practice",
    {},
    strip.root,
    make(
      ".practice-body",
      {},
      make("section.felt.panel", { "aria-label": "Hand" }, from, board, hole, situation, choices, problem),
      make(".practice-side", {}, verdict, score),
    ),
  );

  const unitOf = ({ big_blind: bigBlind, pot }) => amountsOf({ unit: now().unit, bigBlind, pot });

  function showChoices(hand) {
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
          make("span", {}, actionAmount(action, unitOf(hand))),
        ),
      ),
    );
  }

  function showVerdict({ feedback }) {
    if (!feedback) {
      fill(
        verdict,
        make("h2.label", {}, "Verdict"),
        make(
          "p.hint",
          {},
          "Choose an action: what the solution does with this hand, and what your choice costs, is shown here.",
        ),
      );
      return;
    }
    const names = Object.keys(feedback.strategy);
    const amounts = unitOf(feedback);
    const labels = actionLabels(feedback.actions);
    const colours = actionColours(names);
    fill(
      verdict,
      make(
        "header",
        {},
        make(`h2.grade.${feedback.grade}`, {}, GRADES[feedback.grade]),
        make("span.lost", {}, feedback.lost > 0.005 ? `−${amounts.loss(feedback.lost)}` : "nothing lost"),
      ),
      make(
        "p.hint",
        {},
        handText(feedback.hand),
        " on ",
        ...feedback.board.map(cardText),
        ` ${feedback.line ? `after ${feedback.line}` : "at the first decision"}: you chose ${labels[names.indexOf(feedback.chosen)]}`,
      ),
      make("span.mix", { style: { background: mixBackground(Object.values(feedback.strategy), colours) } }),
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make("tr", {}, ...["Action", "Solution", "EV"].map((text) => make("th", { scope: "col" }, text))),
        ),
        make(
          "tbody",
          {},
          ...names.map((name, place) =>
            make(
              `tr${name === feedback.chosen ? ".chosen" : ""}`,
              {},
              make("td", {}, make("span.swatch", { style: { background: colours[place] } }), ` ${labels[place]}`),
              make("td", {}, `${percent(feedback.strategy[name])} %`),
              make("td", {}, amounts.precise(feedback.ev[name])),
            ),
          ),
        ),
      ),
      make(
        "button.link",
        { onclick: () => explain({ file: feedback.file, line: feedback.line, class: classOf(feedback.hand) }) },
        "Look at this decision",
      ),
    );
  }

  function showScore(hand) {
    const { score: kept, player, files, seats, big_blind: bigBlind } = hand;
    const { unit } = now();
    const ofSession = amountsOf({ unit: unit === "pot" ? "chips" : unit, bigBlind, pot: 0 }); // over many pots
    const entry = (label, value) => make("div", {}, make("dt.label", {}, label), make("dd", {}, value));
    fill(
      score,
      make("h2.label", {}, "Score"),
      make(
        "dl",
        {},
        entry("Hands", String(kept.hands)),
        entry("Decisions", String(kept.decisions)),
        files.length === 1 && entry("EV lost", ofSession.loss(kept.lost)),
        entry("Per decision", kept.decisions ? `${fixed(kept.lost_pct_pot, 2)} % of pot` : "–"),
      ),
      make(
        "ul.grades",
        {},
        ...Object.entries(GRADES).map(([key, label]) =>
          make("li", {}, make(`span.${key}`, {}, label), make("strong", {}, String(kept.grades[key] ?? 0))),
        ),
      ),
      make(
        ".row",
        { role: "group", "aria-label": "Play as" },
        make("span.hint", {}, "Start again as"),
        ...["oop", "ip"].map((each) =>
          make(
            "button.choice",
            { "aria-pressed": String(each === player), onclick: () => restart(each) },
            files.length === 1 ? seats[each] : each.toUpperCase(),
          ),
        ),
        make("button.choice", { onclick: () => restart("") }, "either"),
        make("button.link", { onclick: explainScore }, "How is this scored?"),
      ),
    );
  }

  return {
    root,
    showProblem: (text) => (problem.textContent = text),
    show(hand) {
      problem.textContent = "";
      const spot = { oop: { name: hand.seats.oop }, ip: { name: hand.seats.ip }, big_blind: hand.big_blind };
      strip.show({ strip: hand.strip, spot, unit: now().unit });
      for (const button of strip.root.querySelectorAll("button")) set(button, { disabled: true });
      fill(board, ...hand.board.map(cardTile));
      fill(hole, ...hand.hole.map(cardTile));
      from.textContent = hand.files.length > 1 ? hand.file.replace(/\.rgl$/, "") : "";
      const amounts = unitOf(hand);
      const call = hand.to_call ? ` · ${amounts.amount(hand.to_call)} to call` : "";
      situation.textContent =
        `You are ${hand.seats[hand.player]} · pot ${amounts.pot(hand.pot)}${call}` +
        ` · ${amounts.amount(hand.stacks[hand.player])} behind`;
      showChoices(hand);
      showVerdict(hand);
      showScore(hand);
    },
  };
}

const explainScore = () =>
  openDialog(
    "How practice is scored",
    make("p", {}, "Every action has an EV with your hand. What you lose is the EV of the best action less that of yours:"),
    make(
      "ul.score-limits",
      {},
      ...[
        ["best", "up to 0.1 % of the pot"],
        ["fine", "up to 0.5 %, or an action that the solution takes at least 5 % of the time"],
        ["inaccuracy", "up to 1.5 %"],
        ["mistake", "up to 5 %"],
        ["blunder", "more"],
      ].map(([grade, limit]) => make("li", {}, make(`strong.${grade}`, {}, GRADES[grade]), ` ${limit}`)),
    ),
    make(
      "p",
      {},
      "The cards that come and what the other player holds do not count: folding the best hand to a bluff costs nothing if " +
        "folding was right against the whole range. Two actions that the solution mixes have the same EV, so both are best.",
    ),
  );
