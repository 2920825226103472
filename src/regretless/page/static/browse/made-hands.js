/** Made hands and draws of the shown range: how much of it each is, what it does, its EV and equity. */

import { mixBackground } from "../shared/colours.js";
import { fill, make } from "../shared/dom.js";
import { fixed, percent } from "../shared/format.js";

/** `choose(label)` filters the table of hands to a category. */
export function madeHands(choose) {
  const root = make(".made-tab.scroll.panel", { tabindex: 0, role: "region", "aria-label": "Made hands and draws" });
  return {
    root,
    show(scene) {
      const { meta, node, player } = scene;
      const { made, draws } = node.players[player];
      fill(
        root,
        categoryTable("Made hand", made, meta.made, scene, choose),
        draws.length ? categoryTable("Draw", draws, meta.draws, scene, choose) : null,
      );
    },
  };
}

function categoryTable(title, held, names, { actions, colours, labels, amounts }, choose) {
  const label = (key) => names.find((each) => each.key === key)?.label ?? key;
  const most = Math.max(...held.map((each) => each.share), 1e-9);
  const rows = held.map(({ key, combos, share, mix, ev: chips, equity }) =>
    make(
      "tr",
      {},
      make("td", {}, make("button.link", { onclick: () => choose(label(key)), title: "Show these hands" }, label(key))),
      make(
        "td.share",
        {},
        make("span.track", {}, make("span.bar", { style: { width: `${(100 * share) / most}%` } })),
        percent(share),
      ),
      make("td", {}, fixed(combos, 1)),
      actions.length
        ? make(
            "td.mix-column",
            {},
            make("span.mix", { style: { background: mix ? mixBackground(mix, colours) : "none" } }),
          )
        : null,
      ...actions.map((_, action) => make("td", {}, percent(mix?.[action]))),
      make("td.main-number", {}, amounts.ev(chips)),
      make("td", {}, percent(equity)),
    ),
  );
  const head = (text) => make(`th${text === "Strategy" ? ".mix-column" : ""}`, { scope: "col" }, text);
  const heads = [
    "Combos",
    ...(actions.length ? ["Strategy"] : []),
    ...actions.map((action) => labels[action.name]),
    "EV",
    "Equity",
  ];
  return make(
    "table.made",
    {},
    make("thead", {}, make("tr", {}, head(title), head("% of range"), ...heads.map(head))),
    make("tbody", {}, ...rows),
  );
}
