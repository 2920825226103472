/** Actions and players as people say them: "bet 33 %" with its chips beside it, BTN and BB where the spot names them. */

import { chips, percent } from "./format.js";

/** What the players are called: their positions if the spot knows them. */
export const seatNames = (spot) => ({ oop: spot?.oop?.name || "OOP", ip: spot?.ip?.name || "IP" });

const sized = ({ kind, pot_share: share }) => (kind === "bet" || kind === "raise") && Number.isFinite(share);

/** The labels of the actions of one decision, in their order: sizes in percent, with a decimal where two would be alike. */
export function actionLabels(actions) {
  const labels = (digits) =>
    actions.map((action) => {
      if (action.kind === "all-in") return "all-in";
      return sized(action) ? `${action.kind} ${percent(action.pot_share, digits)} %` : action.name;
    });
  const short = labels(0);
  return new Set(short).size === short.length ? short : labels(1);
}

/** Actions known only by name, as those of a node: a bet is a share of the pot. */
export const sizedActions = (names, pot) =>
  names.map((name) => {
    const [kind, amount] = name.split(" ");
    return { name, kind, amount: Number(amount) || null, pot_share: kind === "bet" && pot > 0 ? amount / pot : null };
  });

/** What stands beside the label of a bet: its amount, in chips where the page's unit is percent of the pot. */
export function actionAmount({ amount }, amounts) {
  if (amount === null || amount === undefined) return "";
  return !amounts || amounts.unit === "pot" ? chips(amount) : amounts.amount(amount);
}

/** How often all bets and raises are made together; null unless there are several. */
export function betsTogether(actions) {
  const bets = actions.filter(({ kind }) => ["bet", "raise", "all-in"].includes(kind));
  if (bets.length < 2 || bets.some(({ frequency }) => frequency === null || frequency === undefined)) return null;
  const share = bets.reduce((sum, { frequency }) => sum + frequency, 0);
  return { label: actions.some(({ kind }) => kind === "fold" || kind === "call") ? "raises" : "bets", share };
}
