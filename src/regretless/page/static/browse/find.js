/** `/`: type a hand or a class, and it is pinned: "qjs", "QJ", "QhJh". */

import { RANKS, SUITS, classOf } from "../shared/cards.js";
import { openDialog } from "../shared/dialog.js";
import { make } from "../shared/dom.js";

/** The class that a text names, or null: a pair or two ranks with s or o; two ranks alone are suited. */
function readClass(text) {
  const plain = text.replace(/[\s,]/g, "");
  const hand = plain.match(/^([2-9tjqka])([cdhs])([2-9tjqka])([cdhs])$/i);
  if (hand) {
    const [first, second] = [
      hand[1].toUpperCase() + hand[2].toLowerCase(),
      hand[3].toUpperCase() + hand[4].toLowerCase(),
    ];
    return first === second ? null : classOf(first + second);
  }
  const named = plain.match(/^([2-9tjqka])([2-9tjqka])([so]?)$/i);
  if (!named) return null;
  const [high, low] = [named[1].toUpperCase(), named[2].toUpperCase()].sort(
    (a, b) => RANKS.indexOf(a) - RANKS.indexOf(b),
  );
  if (high === low) return named[3] ? null : high + low;
  return high + low + (named[3].toLowerCase() || "s");
}

export function findHand(found) {
  const problem = make("p.problem", { role: "status" });
  const input = make("input.field", {
    "aria-label": "Hand",
    placeholder: `AKs, 77 or A${SUITS[1]}K${SUITS[1]}`,
    autofocus: true,
    spellcheck: "false",
  });
  const dialog = openDialog(
    "Find a hand",
    make(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          const name = readClass(input.value);
          if (name === null) {
            problem.textContent = `'${input.value}' is not a hand: write AKs, AKo, 77 or AhKh`;
            return;
          }
          dialog.close();
          found(name);
        },
      },
      input,
      problem,
    ),
  );
  input.focus();
}
