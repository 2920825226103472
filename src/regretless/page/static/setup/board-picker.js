/** The board: a deck of 4 × 13 to click, text, and a random flop. */

import { get } from "../shared/api.js";
import { RANKS, SUITS, SUIT_NAMES, SYMBOLS, cardsIn } from "../shared/cards.js";
import { make, set } from "../shared/dom.js";
import { readField, writeField } from "./draft.js";

const MOST = 5;

export function boardPicker({ fields, changed }) {
  const field = fields.text("board", "Board", { placeholder: "Qs Jh 2h" });
  const input = field.querySelector("input");
  const buttons = new Map();
  const deck = make(
    ".picker",
    { role: "group", "aria-label": "Deck" },
    ...[...SUITS].map((suit) =>
      make(
        ".picker-row",
        {},
        ...[...RANKS].map((rank) => {
          const card = rank + suit;
          const button = make(
            `button.picker-card.suit-${suit}`,
            { "aria-label": `${rank} of ${SUIT_NAMES[suit]}`, onclick: () => toggle(card) },
            rank + SYMBOLS[suit],
          );
          buttons.set(card, button);
          return button;
        }),
      ),
    ),
  );

  function write(cards) {
    writeField("board", cards.join(" "), { step: true });
    changed();
    show();
  }

  function toggle(card) {
    const cards = cardsIn(readField("board"));
    if (cards.includes(card)) write(cards.filter((each) => each !== card));
    else if (cards.length < MOST) write([...cards, card]);
  }

  async function deal(count) {
    const before = readField("board");
    const kept = cardsIn(before).slice(0, count - 1); // a random turn keeps the flop
    const keep = count === 3 || kept.length < 3 ? undefined : kept.join(" ");
    const { board } = await get("/boards/random", { cards: count, keep });
    if (readField("board") === before) write(cardsIn(board));
  }

  function show() {
    const text = readField("board");
    if (document.activeElement !== input) input.value = text;
    const cards = cardsIn(text);
    for (const [card, button] of buttons) {
      set(button, {
        "aria-pressed": String(cards.includes(card)),
        disabled: cards.length >= MOST && !cards.includes(card),
      });
    }
  }

  input.addEventListener("input", show);
  const dealButton = (count, label) => make("button.button", { onclick: () => deal(count) }, label);
  return {
    root: make(
      "section.board-picker",
      { "aria-label": "Cards of the board" },
      deck,
      make(
        ".board-row",
        {},
        field,
        make(
          ".row",
          { role: "group", "aria-label": "Random board" },
          dealButton(3, "Random flop"),
          dealButton(4, "turn"),
          dealButton(5, "river"),
        ),
      ),
    ),
    show,
  };
}
