/** The mix of the whole range as one bar, largest bet on the left; clicking a part takes the action. */

import { fill, make } from "../shared/dom.js";
import { percent } from "../shared/format.js";
import { actionTitle } from "./strip.js";

const FITS = 0.16; // share of the bar from which its label fits

export function actionBar(go) {
  const root = make(".action-bar", { role: "group", "aria-label": "Mix of the whole range" });
  return {
    root,
    show({ node, colours }) {
      if (!node.actions.length) {
        fill(root, make("span.hint", {}, nothingToChoose(node)));
        return;
      }
      const parts = node.actions.map((action, place) =>
        make(
          "button",
          {
            style: { "flex-grow": Math.max(action.frequency ?? 0, 0.004), background: colours[place] },
            title: actionTitle(action),
            "aria-label": `${action.name}, ${percent(action.frequency)} %`,
            onclick: () => go(action.next),
          },
          action.frequency > FITS ? `${action.name} ${percent(action.frequency)} %` : "",
        ),
      );
      fill(root, ...parts.reverse());
    },
  };
}

function nothingToChoose({ kind, player }) {
  if (kind === "chance") return "A card is dealt";
  return kind === "fold" ? `${player?.toUpperCase()} folded` : "Showdown";
}
