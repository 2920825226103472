/** The mix of the range, or of the hands that pass the filter, as one bar; clicking a part takes the action. */

import { fill, make, set } from "../shared/dom.js";
import { percent } from "../shared/format.js";
import { actionTitle } from "./strip.js";

const UNSEEN = 0.0005; // a share that rounds to 0.0 %: the strip still offers the action
const LETTER = 8; // px, about; and the same again for the margins
const fits = (text, width) => (text.length + 3) * LETTER <= width;

/** `go(line)` takes an action, largest bet on the left; `showAll()` takes the filter away. */
export function actionBar(go, showAll) {
  const root = make(".action-bar", { role: "group", "aria-label": "Mix of the whole range" });
  let width = 0; // kept: asking an element that just changed would lay the page out twice
  let shown = null;
  new ResizeObserver(([{ contentRect }]) => {
    width = contentRect.width;
    if (shown) draw(shown);
  }).observe(root);

  function draw({ node, colours, labels, seats, amounts, totals, state }) {
    const clear = totals && clearButton(state.filter);
    set(root, { "aria-label": totals ? "Mix of the hands that pass the filter" : "Mix of the whole range" });
    if (!node.actions.length) {
      fill(root, make("span.hint", {}, nothingToChoose(node, seats)), clear);
      return;
    }
    const frequencies = totals?.frequencies ?? node.actions.map((action) => action.frequency);
    const room = width - (clear ? Math.min(width / 3, 8 * (state.filter.length + 4)) : 0);
    const parts = node.actions.map((action, place) => {
      const frequency = frequencies[place];
      if (!(frequency > UNSEEN)) return null;
      const share = `${percent(frequency)} %`;
      const label = `${labels[action.name]} · ${share}`;
      return make(
        "button",
        {
          style: { "flex-grow": frequency, background: colours[place] },
          title: actionTitle(action, amounts),
          "aria-label": label,
          onclick: () => go(action.next),
        },
        [label, labels[action.name], share].find((text) => fits(text, frequency * room)) ?? "",
      );
    });
    const none = parts.some(Boolean) ? null : make("span.hint", {}, totals ? "No hand passes the filter" : "No hand gets here");
    fill(root, ...parts.reverse(), none, clear);
  }

  const clearButton = (filter) =>
    make("button.clear-filter", { "aria-label": `Show every hand, not only ${filter}`, title: `Only ${filter}: click to show every hand`, onclick: showAll }, `× ${filter}`);

  return {
    root,
    show(scene) {
      shown = scene;
      draw(scene);
    },
  };
}

function nothingToChoose({ kind, player }, seats) {
  if (kind === "chance") return "A card is dealt";
  return kind === "fold" ? `${seats[player]} folded` : "Showdown";
}
