/** How equity and EV are spread over both ranges, weakest hand on the left. */

import { lineChart, linear } from "../shared/chart.js";
import { fill, make } from "../shared/dom.js";
import { chips } from "../shared/format.js";

export function graphTab() {
  const root = make(".graph-tab");
  return {
    root,
    show({ node }) {
      const held = ["oop", "ip"].filter((player) => node.players[player].distribution);
      if (!held.length) {
        fill(root, make("p.hint", {}, "Nobody gets here with any hand, so there is nothing to draw."));
        return;
      }
      fill(root, chart(node, held, "equity", "Equity", (value) => `${Math.round(100 * value)} %`), chart(node, held, "ev", "EV in chips", chips));
    },
  };
}

function chart(node, players, kind, title, text) {
  const values = players.flatMap((player) => node.players[player].distribution[kind]).filter((value) => value !== null);
  const low = kind === "equity" ? 0 : Math.min(0, ...values);
  const high = kind === "equity" ? 1 : Math.max(...values, low + 1);
  return make(
    "figure.panel",
    {},
    make("figcaption", {}, make("span.label", {}, title), ...players.map((player) => make(`span.legend.line-${player}`, {}, player.toUpperCase()))),
    lineChart({
      width: 400,
      height: 250,
      label: `${title} over the ranges of ${players.join(" and ")}, weakest hand first`,
      x: linear(0, 100, (value) => `${value} %`),
      y: linear(low, high, text),
      lines: players.map((player) => ({ class: `line-${player}`, points: node.players[player].distribution[kind].map((value, place) => [place, value]) })),
    }),
  );
}
