/** Rake, thresholds and lines given by hand. */

import { make } from "../shared/dom.js";
import { writeField } from "./draft.js";

const RULES = [
  ["rake", "Rake", "0", "of the pot: 5% or 0.05"],
  ["rake_cap", "Rake cap", "no cap", "chips"],
  ["add_allin", "Add all-in below", "1.5", "an all-in is offered where the stack is at most this many pots; 0: never"],
  [
    "force_allin",
    "Force all-in below",
    "0.15",
    "a bet becomes all-in if at most this many pots would remain behind once it is called",
  ],
  ["merge", "Merge sizes within", "0.1", "sizes this close become one; 0: keep all"],
  ["min_bet", "Smallest bet", "1", "chips"],
  ["chip", "Smallest chip", "1", "bets are rounded to it"],
];

export function ruleFields({ fields, changed }) {
  const inputs = [
    ...RULES.map(([key, label, placeholder, hint]) => fields.text(`rules.${key}`, label, { placeholder, hint })),
    fields.text("oop.name", "Position of OOP", { placeholder: "BB" }),
    fields.text("ip.name", "Position of IP", { placeholder: "BTN" }),
  ];
  const lines = [
    ["lines.only", "Lines of the whole tree, instead of bet sizes", "check, bet 94, raise 300"],
    ["lines.add", "Lines to add", "bet 94, raise 300"],
    ["lines.remove", "Lines to remove", "check, bet 94"],
  ].map(([path, label, placeholder]) => {
    const area = make("textarea.field", {
      id: `field-${path}`,
      rows: 2,
      placeholder,
      spellcheck: "false",
      "data-field": path,
      oninput: () => (writeField(path, area.value), changed()),
    });
    return make(
      ".labelled",
      {},
      make("label.label", { for: area.id }, `${label}, one per row`),
      area,
      fields.register(path, area),
    );
  });
  return make(
    "details.panel.rules",
    {},
    make("summary", {}, "Rake, thresholds, positions, single lines"),
    make(".rule-grid", {}, ...inputs),
    make(".rule-lines", {}, ...lines),
  );
}
