/** One hand of practice: the line so far, the board, the hole cards, the choices, the verdict and the score. */

import { classOf } from "../shared/cards.js";
import { openDialog } from "../shared/dialog.js";
import { fill, make } from "../shared/dom.js";
import { fixed } from "../shared/format.js";
import { now } from "../shared/state.js";
import { amounts as amountsOf } from "../shared/units.js";
import { GRADES, handFelt, showVerdict } from "./felt.js";

export function practiceTable({ act, deal, explain, restart }) {
  const felt = handFelt({ act, deal });
  const verdict = make("section.verdict.panel", { "aria-label": "Verdict", "aria-live": "polite" });
  const score = make("section.score.panel", { "aria-label": "Score" });
  const root = make(
    ".practice",
    {},
    felt.strip,
    make(".practice-body", {}, felt.root, make(".practice-side", {}, verdict, score)),
  );

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
    showProblem: felt.showProblem,
    show(hand) {
      const { feedback, files, file } = hand;
      const { unit } = now();
      felt.show(hand, { unit, title: files.length > 1 ? file.replace(/\.rgl$/, "") : "" });
      const look = () => explain({ file: feedback.file, line: feedback.line, class: classOf(feedback.hand) });
      showVerdict(verdict, feedback, unit, feedback && make("button.link", { onclick: look }, "Look at this decision"));
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
