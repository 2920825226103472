/** Before practice: which solutions, which decisions, and the mistakes made so far. */

import { get, remove } from "../shared/api.js";
import { cardsIn, cardText, classOf, handText } from "../shared/cards.js";
import { fill, make } from "../shared/dom.js";
import { fileLinks } from "../shared/files.js";
import { fixed } from "../shared/format.js";
import { store, stored } from "../shared/settings.js";
import { address, DEFAULTS, go } from "../shared/state.js";

const CHOICES = {
  mode: { label: "Ask", values: [["single", "one decision per hand"], ["whole", "whole hands"]] },
  player: { label: "Play as", values: [["", "either"], ["oop", "OOP"], ["ip", "IP"]] },
  street: { label: "Street", values: [["", "any"], ["flop", "flop"], ["turn", "turn"], ["river", "river"]] },
  facing: { label: "Decision", values: [["", "any"], ["check", "to bet or check"], ["bet", "against a bet"]] },
};

const options = () => ({ mode: "single", player: "", street: "", facing: "", ...stored("practice-options", {}) });

/** The body of a session with some files, as the reader has set it up. */
export function sessionOf(files, changes = {}) {
  const { mode, player, street, facing } = { ...options(), ...changes };
  return {
    files,
    player: player || null,
    streets: street ? [street] : null,
    facing: facing ? [facing] : null,
    single: mode === "single",
  };
}

/** `begin(body)` starts a session with solved spots; whole games have a view of their own. */
export function practiceStart(files, games, begin) {
  const chosen = new Set(files.map((file) => file.file));
  const deal = make("button.button.primary", { onclick: () => begin(sessionOf([...chosen])) }, "Deal");
  const count = make("span.hint", { role: "status" });
  const all = make("input", { type: "checkbox", checked: true, onchange: () => chooseAll(all.checked) });
  const boxes = files.map((file) => {
    const box = make("input", { type: "checkbox", checked: true, onchange: () => choose(file, box.checked) });
    return { file, box };
  });

  function choose({ file }, on) {
    if (on) chosen.add(file);
    else chosen.delete(file);
    draw();
  }

  function chooseAll(on) {
    for (const { file, box } of boxes) {
      box.checked = on;
      choose(file, on);
    }
  }

  function draw() {
    count.textContent = `${chosen.size} of ${files.length} solutions`;
    all.checked = chosen.size === files.length;
    all.indeterminate = chosen.size > 0 && !all.checked;
    deal.disabled = !chosen.size;
  }

  function choiceRow([key, { label, values }]) {
    const buttons = values.map(([value, text]) => {
      const root = make("button.choice", { onclick: () => take(value) }, text);
      return { value, root };
    });
    const mark = () => {
      for (const { value, root } of buttons) root.setAttribute("aria-pressed", String(options()[key] === value));
    };
    const take = (value) => {
      store("practice-options", { ...options(), [key]: value });
      mark();
    };
    mark();
    return make(
      ".choice-row",
      { role: "group", "aria-label": label },
      make("span.label", {}, label),
      ...buttons.map((button) => button.root),
    );
  }

  draw();
  return make(
    ".practice-start",
    {},
    make(".practice-choices", {}, files.length ? ofSpots() : null, games.length ? ofGames() : null),
    mistakeList(),
  );

  function ofGames() {
    return make(
      "section.panel",
      { "aria-label": "Whole hands" },
      make("h2", {}, "Play whole hands, from the deal to the river"),
      make("p.hint", {}, "Any flop may come; it is solved when it is dealt, with the ranges that arrive there."),
      fileLinks(games, { view: "play" }),
    );
  }

  function ofSpots() {
    return make(
      "section.panel",
      { "aria-label": "What to practise" },
      make("h1", {}, "Practise"),
      ...Object.entries(CHOICES).map(choiceRow),
      make(".row", {}, deal, count),
      make("label.pick.all", {}, all, "All solutions"),
      make(
        ".picks",
        {},
        ...boxes.map(({ file, box }) =>
          make("label.pick", {}, box, make("span", {}, file.file.replace(/\.rgl$/, "")), make("span.hint", {}, ...boardText(file.board))),
        ),
      ),
    );
  }
}

const boardText = (board) => cardsIn(board ?? "").map(cardText);

/** The mistakes of all sessions by what they cost, each a link to its decision. */
export function mistakeList() {
  const root = make("section.panel.mistakes", { "aria-label": "Mistakes" });
  const load = async () => show((await get("/practice/mistakes", { most: 50 })).mistakes);
  const forget = async () => show((await remove("/practice/mistakes")).mistakes);

  function show(mistakes) {
    fill(
      root,
      make("header", {}, make("h2.label", {}, "Mistakes by EV lost"), mistakes.length > 0 && make("button.link", { onclick: forget }, "Forget all")),
      mistakes.length
        ? make("ol", {}, ...mistakes.map(entry))
        : make("p.hint", {}, "What costs more than half a percent of the pot is listed here."),
    );
  }

  function entry({ file, line, board, hand, chosen, best, lost_pct_pot: lost, grade }) {
    const to = { ...DEFAULTS, view: "browse", file, line, pin: classOf(hand) };
    return make(
      "li",
      {},
      make(
        "a",
        { href: address(to), onclick: (event) => (event.preventDefault(), go(to)), title: `${file}: ${line || "first decision"}` },
        make(`strong.${grade}`, {}, `−${fixed(lost, 1)} %`),
        make("span", {}, handText(hand), make("span.hint", {}, " on "), ...boardText(board)),
        make("span.hint", {}, `${chosen}, best ${best}`),
      ),
    );
  }

  load().catch((error) => fill(root, make("p.problem", { role: "alert" }, error.message)));
  return root;
}
