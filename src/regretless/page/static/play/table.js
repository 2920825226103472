/** One whole hand: the felt of practice, a flop being solved, the verdict, the log of the hand, and the score. */

import { cardText } from "../shared/cards.js";
import { openDialog } from "../shared/dialog.js";
import { fill, make, say, set } from "../shared/dom.js";
import { chips, exploitability, fixed, roughTime } from "../shared/format.js";
import { actionLabels } from "../shared/labels.js";
import { isOver } from "../shared/solves.js";
import { now } from "../shared/state.js";
import { GRADES, handFelt, showVerdict } from "../practice/felt.js";

const signed = (value, digits) => (value > 0 ? "+" : "") + fixed(value, digits);
const unitNow = () => now().unit || "bb";

export function playTable({ act, deal, stop, again, leave }) {
  const felt = handFelt({ act, deal });
  const verdict = make("section.verdict.panel", { "aria-label": "Verdict", "aria-live": "polite" });
  const log = make("section.hand-log.panel", { "aria-label": "This hand" });
  const score = make("section.score.panel", { "aria-label": "Score" });
  const news = make("p.for-readers", { role: "status" });
  let bar = null; // parts of the progress that is shown
  const root = make(
    ".practice.play",
    {},
    felt.strip,
    make(".practice-body", {}, felt.root, make(".practice-side", {}, verdict, score, log)),
    news,
  );

  function showSolve(hand) {
    const { solve } = hand;
    if (isOver(solve) && solve.state !== "done") return showStopped(solve);
    if (!bar || !bar.root.isConnected) bar = buildBar();
    const left = solve.seconds_left === null ? "" : ` · about ${roughTime(Math.max(1, solve.seconds_left))} left`;
    const exact = solve.exploitability === null ? "" : ` ${exploitability(solve.exploitability)}, to ${chips(solve.target)} %`;
    const place = solve.place > 1 ? `${solve.place - 1} other flops come first` : "waiting for its turn";
    const texts = {
      queued: place,
      starting: solve.message ?? "setting up",
      running: (exact || "measuring") + left,
      stopping: "stopping",
      done: "solved",
    };
    say(bar.text, texts[solve.state].trim());
    bar.progress.value = solve.share;
    set(bar.stop, { disabled: solve.state === "stopping" || solve.state === "done" });
  }

  function buildBar() {
    const progress = make("progress", { max: 1, "aria-label": "Solving the flop" });
    const text = make("p.hint");
    const cancel = make("button.button", { onclick: stop }, "Stop");
    fill(felt.choices, make(".flop-solve", {}, make("p.outcome", {}, "Solving this flop"), progress, text, cancel));
    return { root: progress, progress, text, stop: cancel };
  }

  function showStopped({ state, message }) {
    bar = null;
    say(news, state === "failed" ? "The flop could not be solved." : "The flop was not solved.");
    fill(
      felt.choices,
      make(
        ".flop-solve",
        {},
        make("p.outcome", {}, state === "failed" ? "This flop could not be solved" : "Stopped: this flop is not solved"),
        message && make("p.problem", { role: "alert" }, message),
        make(
          ".row",
          {},
          make("button.button.primary", { onclick: again }, "Solve it again"),
          make("button.button", { onclick: deal }, "Next hand"),
        ),
        make("p.hint", {}, "A hand that is not played to the end does not count."),
      ),
    );
  }

  /** What has happened, one entry per action and street; the user's own decisions with what they cost. */
  function showLog(hand) {
    const entries = hand.strip.flatMap((tile) => {
      if (tile.kind === "street") {
        return [make("li.street", {}, make("strong", {}, tile.street), " ", ...tile.cards.map(cardText))];
      }
      if (tile.kind === "end" || tile.taken === null) return [];
      const own = tile.player === hand.player;
      const said = own && hand.decisions.find((decision) => decision.line === tile.line);
      return [
        make(
          own ? "li.own" : "li",
          {},
          make("span", {}, `${own ? "You" : hand.seats[tile.player]}: ${actionLabels(tile.actions)[tile.taken]}`),
          said?.grade && make(`strong.${said.grade}`, {}, GRADES[said.grade]),
        ),
      ];
    });
    fill(log, make("h2.label", {}, `Hand ${hand.hand_number}`), make("ol", {}, ...entries, hand.over && make("li.own", {}, hand.outcome.text)));
    log.scrollTop = log.scrollHeight;
  }

  function showScore({ score: kept, big_blind: bigBlind }) {
    const entry = (label, value) => make("div", {}, make("dt.label", {}, label), make("dd", {}, value));
    const adjusted = kept.error === null ? signed(kept.adjusted ?? 0, 1) : `${signed(kept.adjusted, 1)} ± ${fixed(kept.error, 1)}`;
    fill(
      score,
      make("h2.label", {}, "Score"),
      make(
        "dl",
        {},
        entry("Hands", String(kept.hands)),
        entry("Won", `${signed(kept.won, 2)} bb`),
        entry("bb/100", kept.hands ? signed(kept.per_hundred, 1) : "–"),
        entry("All-in adjusted", kept.hands ? adjusted : "–"),
      ),
      make(
        "ul.grades",
        {},
        ...Object.entries(GRADES).map(([key, label]) =>
          make("li", {}, make(`span.${key}`, {}, label), make("strong", {}, String(kept.grades[key] ?? 0))),
        ),
      ),
      kept.decisions > 0 && make("p.hint", {}, `${fixed(kept.lost / bigBlind, 2)} bb of EV lost after the flop`),
      make(
        ".row",
        {},
        make("button.link", { onclick: leave }, "Another table"),
        make("button.link", { onclick: explainScore }, "How is this scored?"),
      ),
    );
  }

  return {
    root,
    showProblem: felt.showProblem,
    showSolve,
    show(hand) {
      const unit = unitNow();
      felt.show(hand, { unit, title: hand.game });
      bar = null;
      say(news, hand.over ? hand.outcome.text : hand.solve ? "The flop is being solved." : "Your turn.");
      if (hand.solve) showSolve(hand);
      showVerdict(verdict, hand.decisions.at(-1) ?? null, unit);
      showLog(hand);
      showScore(hand);
    },
  };
}

const explainScore = () =>
  openDialog(
    "How whole hands are scored",
    make("p", {}, "What you win or lose is counted in big blinds, and per hundred hands, from the start of each hand: 0 is to break even."),
    make(
      "p",
      {},
      "All-in adjusted: a hand that ends all-in counts as its average over all cards that could have come, which takes that luck out. ± is one standard error.",
    ),
    make(
      "p",
      {},
      "Before the flop you see how often the solution plays each action with your hand. After it, each decision is judged by EV against the range that the solution brings to this flop, as in practice.",
    ),
  );
