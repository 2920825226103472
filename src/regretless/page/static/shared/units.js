/**
 * Amounts in chips, big blinds, or percent of the pot: one choice for the whole page, kept in the address.
 *
 * The pot itself is never shown in percent of the pot.
 */

import { evDigits, fitted, fixed, chips as plain } from "./format.js";

export const UNITS = {
  chips: { label: "chips", suffix: "" },
  bb: { label: "big blinds", suffix: " bb" },
  pot: { label: "% of pot", suffix: " %" },
};

/**
 * The amounts of a node, in a unit; `bigBlind` in chips, null if it is not known: then big blinds are chips. If no unit is
 * chosen, they are written as the spot has them: in big blinds where one is 1.
 */
export function amounts({ unit, bigBlind = null, pot }) {
  const wanted = unit in UNITS ? unit : bigBlind === 1 ? "bb" : "chips";
  const chosen = wanted === "bb" && !bigBlind ? "chips" : wanted;
  const chipsEach = { chips: 1, bb: bigBlind, pot: pot / 100 || 1 }[chosen];
  const blinds = chosen === "bb" ? bigBlind : 1;
  const { suffix } = UNITS[chosen];
  const digits = evDigits(pot / chipsEach);
  const shown = (value) => (value === null || value === undefined ? value : value / chipsEach);
  return {
    unit: chosen,
    suffix,
    /** An EV with as many decimals everywhere, so that columns align. */
    ev: (value) => fixed(shown(value), digits),
    /** The same with its unit, in a sentence. */
    evText: (value) => fixed(shown(value), Math.max(digits, 1)) + suffix,
    /** With a decimal more, to see small differences. */
    precise: (value) => fixed(shown(value), digits + 1) + suffix,
    /** A loss in a sentence, with its unit. */
    loss: (value) => fixed(shown(value), digits + 1) + (suffix || " chips"),
    lossFitted: (value, fits) => fitted(shown(value), digits + 1, fits),
    /** An EV where there is little room. */
    evFitted: (value, fits) => fitted(shown(value), digits, fits),
    /** A bet, a stack: without needless zeros. */
    amount: (value) => plain(shown(value)) + suffix,
    pot: (value) => plain(value / blinds) + (chosen === "bb" ? suffix : ""),
  };
}
