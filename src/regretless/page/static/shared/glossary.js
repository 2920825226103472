/** The words of the page, one click away. */

import { openDialog } from "./dialog.js";
import { make } from "./dom.js";

const WORDS = {
  "EV": "What a hand or a range wins from here on, on average, the pot included. In chips or big blinds.",
  "Equity": "The share of the pot a hand would win if nobody bet any more.",
  "EQR": "Equity realised: EV divided by equity × pot. Above 1, a hand wins more than its share, by position or by betting.",
  "Exploitability":
    "How much a perfect opponent gains against this strategy, as the mean of both players. 0 is an equilibrium; under 0.5 % of the pot, little is left to win.",
  "Reach": "How likely a line is, or how much of a hand is still in the range: what earlier decisions leave of it.",
  "Combo": "Two cards with their suits. A pair has 6 combos, a suited hand 4, an offsuit hand 12.",
  "Range": "All combos that a player can have, each with a weight from 0 to 1.",
  "Runout": "The cards that come: the turn and the river.",
  "Texture": "The kind of flop: rainbow, two-tone or monotone; unpaired, paired or trips; connected or not.",
  "OOP, IP": "Out of position: acts first after the flop. In position: acts last.",
  "Lock": "A decision that is fixed before solving; everything else adapts to it.",
  "Node": "A point of the hand: the cards and actions so far.",
  "Study": "One formation solved over many flops.",
  "mbb/g": "Thousandths of a big blind per game: how exploitability is quoted before the flop.",
  "GTO, equilibrium": "A pair of strategies of which neither player gains by changing theirs alone.",
};

export function showGlossary() {
  openDialog(
    "Words",
    make(
      "dl.glossary",
      {},
      ...Object.entries(WORDS).map(([word, means]) => make("div", {}, make("dt", {}, word), make("dd", {}, means))),
    ),
  );
}
