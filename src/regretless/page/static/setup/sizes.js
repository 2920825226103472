/** Bet sizes: for every street at once, with their syntax beside them, and finer for a street, a player or both. */

import { cardsIn } from "../shared/cards.js";
import { fill, make, set } from "../shared/dom.js";
import { NO_SIZES, readField } from "./draft.js";

const KINDS = [
  ["bet", "Bet"],
  ["raise", "Raise"],
  ["reraise", "Reraise"],
];
const STREETS = { 3: ["flop", "turn", "river"], 4: ["turn", "river"], 5: ["river"] };

export function sizeFields({ fields, help }) {
  const everywhere = make(
    ".size-row",
    {},
    ...KINDS.map(([kind, label]) =>
      fields.text(`bets.${kind}`, label, { placeholder: kind === "reraise" ? "as raise" : NO_SIZES }),
    ),
    fields.text("bets.max_raises", "Raises per street", { placeholder: "no limit" }),
  );
  const finer = make("tbody");
  const table = make(
    "table.finer",
    {},
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        ...["Street", "Player", "Bet", "Raise", "Reraise", "Donk"].map((text) => make("th", { scope: "col" }, text)),
      ),
    ),
    finer,
  );
  const details = make(
    "details.panel.finer-panel",
    {},
    make("summary", {}, "Sizes by street and player"),
    make(
      "p.hint",
      {},
      "An empty OOP or IP field takes its street's sizes, and an empty street those at the top; ",
      `"${NO_SIZES}" means no such bet.`,
    ),
    table,
  );
  const rows = ["flop", "turn", "river"].flatMap((street) =>
    ["", "oop", "ip"].map((player) => {
      const cell = (kind) =>
        make(
          "td",
          {},
          sizeCell(
            fields,
            ["bets", street, player, kind].filter(Boolean).join("."),
            `${street} ${player || "both players"} ${kind}`,
          ),
        );
      const kinds = player === "ip" ? ["bet", "raise", "reraise"] : ["bet", "raise", "reraise", "donk"];
      return {
        street,
        root: make(
          "tr",
          {},
          make("td", {}, player ? "" : street),
          make("td", {}, player ? player.toUpperCase() : "both"),
          ...kinds.map(cell),
        ),
      };
    }),
  );
  fill(finer, ...rows.map((row) => row.root));
  const syntax = make(
    "dl.syntax",
    { "aria-label": "How sizes are written" },
    ...help.map(({ text, means }) => make("div", {}, make("dt", {}, make("code", {}, text)), make("dd", {}, means))),
  );

  return {
    root: make("section.sizes.panel", { "aria-label": "Bet sizes" }, everywhere, syntax),
    finer: details,
    /** Only the streets that are still to be played. */
    show() {
      const streets = STREETS[cardsIn(readField("board")).length] ?? STREETS[3];
      for (const { street, root } of rows) set(root, { hidden: !streets.includes(street) });
    },
  };
}

/** A field inside the table: the column and row name it. */
function sizeCell(fields, path, name) {
  const labelled = fields.text(path, name);
  labelled.querySelector(".label").classList.add("for-readers");
  return labelled;
}
