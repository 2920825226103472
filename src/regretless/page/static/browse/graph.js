/** How equity and EV are spread over both ranges, weakest hand on the left. */

import { fittedChart, linear } from "../shared/chart.js";
import { fill, make, say } from "../shared/dom.js";
import { chips, percent } from "../shared/format.js";

const KINDS = [
  { kind: "equity", title: "Equity", text: (value) => `${percent(value, 0)} %` },
  { kind: "ev", title: "EV", text: chips },
];

const axis = () => make("span.hint", {}, "range, weakest to strongest");

export function graphTab() {
  const parts = KINDS.map((each) => {
    const chart = fittedChart();
    const legend = ["oop", "ip"].map((player) => make(`span.legend.line-${player}`));
    return {
      ...each,
      chart,
      legend,
      root: make(
        "figure.panel",
        {},
        make("figcaption", {}, make("span.label", {}, each.title), ...legend, axis()),
        chart.root,
      ),
    };
  });
  const none = make("p.hint", {}, "Nobody gets here with any hand, so there is nothing to draw.");
  const root = make(".graph-tab");
  return {
    root,
    show({ node, seats, amounts }) {
      for (const { legend } of parts) ["oop", "ip"].forEach((player, place) => say(legend[place], seats[player]));
      const held = ["oop", "ip"].filter((player) => node.players[player].distribution);
      fill(root, ...(held.length ? parts.map((part) => part.root) : [none]));
      if (held.length)
        for (const { kind, title, text, chart } of parts)
          chart.show(describe(node, held, kind, title, kind === "ev" ? amounts.amount : text));
    },
  };
}

function describe(node, players, kind, title, text) {
  const values = players.flatMap((player) => node.players[player].distribution[kind]).filter((value) => value !== null);
  const low = kind === "equity" ? 0 : Math.min(0, ...values);
  const high = kind === "equity" ? 1 : Math.max(...values, low + 1);
  return {
    label: `${title} over the ranges of ${players.join(" and ")}, weakest hand first`,
    x: linear(0, 100, (value) => `${value} %`),
    y: linear(low, high, text),
    lines: players.map((player) => ({
      class: `line-${player}`,
      points: node.players[player].distribution[kind].map((value, place) => [place, value]),
    })),
  };
}
