/** Bet sizes: a row per street and player, and one on top that writes into all of them. */

import { cardsIn } from "../shared/cards.js";
import { make, say, set } from "../shared/dom.js";
import { NO_SIZES, STREETS, positionOf, readField, together, writeField } from "./draft.js";

const KINDS = ["bet", "raise", "reraise", "donk"];
const TITLES = { bet: "Bet", raise: "Raise", reraise: "Reraise", donk: "Donk", max_raises: "Raises" };
const HINTS = {
  reraise: "Facing a raise; 3x | a: the second raise, then the rest. Empty: as raise",
  donk: "Leading into the player who bet the street before. Empty: as bet",
  max_raises: "Raises per street at most, after the first bet. Empty: no limit",
};
const PLACEHOLDERS = { bet: NO_SIZES, raise: NO_SIZES, reraise: "as raise", donk: "as bet", max_raises: "no limit" };
const PLAYERS = ["oop", "ip"];

export function sizeFields({ fields, help, changed }) {
  const problem = make("p.problem", { id: "problem-sizes", role: "status" });
  const cells = []; // {street, kind, path, input}
  const players = []; // {player, element}: where positions are named

  function cell(street, player, kind) {
    const path = ["bets", street, player, kind].filter(Boolean).join(".");
    const input = make("input.field", {
      "aria-label": [street, player, kind === "max_raises" ? "raises at most" : kind].filter(Boolean).join(" "),
      placeholder: PLACEHOLDERS[kind],
      spellcheck: "false",
      autocomplete: "off",
      "data-field": path,
      oninput: () => (writeField(path, input.value), showEvery(), changed()),
    });
    fields.register(path, input, { problem, name: [street, player?.toUpperCase(), kind].filter(Boolean).join(" ") });
    cells.push({ street, kind, path, input });
    return input;
  }

  const every = Object.fromEntries(
    [...KINDS, "max_raises"].map((kind) => [
      kind,
      make("input.field", {
        "aria-label": TITLES[kind],
        "aria-describedby": problem.id,
        spellcheck: "false",
        autocomplete: "off",
        oninput: ({ target }) => {
          const shown = cells.filter((each) => each.kind === kind && isPlayed(each.street));
          together(() => shown.forEach(({ path }) => writeField(path, target.value)));
          for (const { path, input } of shown) input.value = readField(path);
          changed();
        },
      }),
    ]),
  );

  const head = ["", "", ...Object.keys(TITLES)].map((kind) =>
    make("th", { scope: "col", title: HINTS[kind] ?? null }, TITLES[kind] ?? ""),
  );
  const rows = STREETS[3].flatMap((street) =>
    PLAYERS.map((player, index) => {
      const name = make("th", { scope: "row" });
      players.push({ player, element: name });
      return {
        street,
        root: make(
          index ? "tr" : "tr.first",
          {},
          index ? null : make("th", { scope: "rowgroup", rowspan: 2 }, street),
          name,
          ...KINDS.map((kind) => make("td", {}, kind === "donk" && player === "ip" ? "" : cell(street, player, kind))),
          index ? null : make("td", { rowspan: 2 }, cell(street, null, "max_raises")),
        ),
      };
    }),
  );
  const table = make(
    "table.sizes-table",
    {},
    make("thead", {}, make("tr", {}, ...head)),
    make(
      "tbody",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "row", colspan: 2 }, "every"),
        ...Object.values(every).map((input) => make("td", {}, input)),
      ),
      ...rows.map((row) => row.root),
    ),
  );
  const syntax = make(
    "details",
    {},
    make("summary", {}, "33 is 33 % of the pot · 2.5x the bet faced · 100c chips · a all-in · none: no such bet"),
    make(
      "dl.syntax",
      { "aria-label": "How sizes are written" },
      ...help.map(({ text, means }) => make("div", {}, make("dt", {}, make("code", {}, text)), make("dd", {}, means))),
    ),
  );

  const streets = () => STREETS[cardsIn(readField("board")).length] ?? STREETS[3];
  const isPlayed = (street) => streets().includes(street);

  /** The top row: what all rows have in common. */
  function showEvery() {
    for (const [kind, input] of Object.entries(every)) {
      const shown = cells.filter((each) => each.kind === kind && isPlayed(each.street));
      const texts = new Set(shown.map(({ path }) => readField(path)));
      if (document.activeElement !== input) input.value = texts.size === 1 ? [...texts][0] : "";
      set(input, { placeholder: texts.size === 1 ? PLACEHOLDERS[kind] : "various" });
    }
  }

  return {
    root: make("section.sizes", { "aria-label": "Bet sizes" }, table, problem, syntax),
    /** Read the draft again; only the streets that are still to be played are shown. */
    show() {
      for (const { street, root } of rows) set(root, { hidden: !isPlayed(street) });
      for (const { player, element } of players) say(element, positionOf(player));
      showEvery();
    },
    /** After the server's errors are shown: a top field is wrong if all that it wrote is. */
    showErrors() {
      for (const [kind, input] of Object.entries(every)) {
        const shown = cells.filter((each) => each.kind === kind && isPlayed(each.street));
        const wrong = shown.every((each) => each.input.getAttribute("aria-invalid") === "true");
        set(input, { "aria-invalid": wrong ? "true" : null });
      }
    },
  };
}
