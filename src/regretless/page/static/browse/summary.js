/**
 * Both players: EV, equity, EQR, what they did last, and the stack behind. Clicking one shows that range. If hands are
 * filtered, the numbers of the player whose range is shown are those of the hands that pass.
 */

import { make, say, set } from "../shared/dom.js";
import { fixed, percent } from "../shared/format.js";
import { actionAmount } from "../shared/labels.js";

const DONE = { check: "checked", call: "called", fold: "folded", raise: "raised to", "all-in": "all in" };

export function summary(choose) {
  const parts = ["oop", "ip"].map((player) => playerPart(player, choose));
  return {
    root: make(".summary", {}, ...parts.map((part) => part.root)),
    show: (scene) => parts.forEach((part) => part.show(scene)),
  };
}

function playerPart(player, choose) {
  const name = make("strong");
  const last = make("span.label");
  const behind = make("span.label.status", {}, "…");
  const [chipsWon, equity, realised] = ["EV", "Equity", "EQR"].map((label) => {
    const value = make("dd", {}, "–");
    return { value, root: make("div", {}, make("dt.label", {}, label), value) };
  });
  const root = make(
    "button.player",
    { onclick: () => choose(player) },
    make("span.who", {}, name, last),
    behind,
    make("dl", {}, chipsWon.root, equity.root, realised.root),
  );
  return {
    root,
    show({ node, player: shown, amounts, seats, totals }) {
      const filtered = totals && shown === player;
      const numbers = filtered ? totals : node.players[player];
      say(name, seats[player]);
      say(last, filtered ? `${fixed(totals.combos, 1)} combos` : doing(node, player, amounts));
      say(behind, `${amounts.amount(node.stacks[player])} behind`);
      say(chipsWon.value, numbers.ev === null ? "–" : amounts.evText(numbers.ev));
      say(equity.value, numbers.equity === null ? "–" : `${percent(numbers.equity)} %`);
      say(realised.value, fixed(numbers.eqr, 2));
      root.classList.toggle("to-act", node.kind === "decision" && node.player === player);
      set(root, { "aria-pressed": String(shown === player), title: filtered ? "Only the hands that pass the filter" : `Show the range of ${seats[player]}` });
    },
  };
}

function doing(node, player, amounts) {
  if (node.kind === "decision" && node.player === player) return "to act";
  const last = node.players[player].last;
  if (!last) return "yet to act";
  const [kind, chips] = last.split(" ");
  const amount = chips ? ` ${actionAmount({ amount: Number(chips) }, amounts)}` : "";
  return (DONE[kind] ?? kind) + amount;
}
