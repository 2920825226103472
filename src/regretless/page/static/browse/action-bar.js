/** The mix of the whole range as one bar, largest bet on the left; clicking a part takes the action. */

import { fill, make } from "../shared/dom.js";
import { percent } from "../shared/format.js";
import { actionTitle } from "./strip.js";

const UNSEEN = 0.0005; // a share that rounds to 0.0 %: the strip still offers the action
const LETTER = 8; // px, about; and the same again for the margins
const fits = (text, width) => (text.length + 3) * LETTER <= width;

export function actionBar(go) {
  const root = make(".action-bar", { role: "group", "aria-label": "Mix of the whole range" });
  let width = 0; // kept: asking an element that just changed would lay the page out twice
  let shown = null;
  new ResizeObserver(([{ contentRect }]) => {
    width = contentRect.width;
    if (shown) draw(shown);
  }).observe(root);

  function draw({ node, colours, labels, seats, amounts }) {
    if (!node.actions.length) {
      fill(root, make("span.hint", {}, nothingToChoose(node, seats)));
      return;
    }
    const parts = node.actions.map((action, place) => {
      if (!(action.frequency > UNSEEN)) return null;
      const share = `${percent(action.frequency)} %`;
      const label = `${labels[action.name]} · ${share}`;
      return make(
        "button",
        {
          style: { "flex-grow": action.frequency, background: colours[place] },
          title: actionTitle(action, amounts),
          "aria-label": label,
          onclick: () => go(action.next),
        },
        [label, labels[action.name], share].find((text) => fits(text, action.frequency * width)) ?? "",
      );
    });
    fill(root, ...parts.reverse());
  }

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
