/** Both ranges side by side, at the present node. */

import { make, say } from "../shared/dom.js";
import { fixed } from "../shared/format.js";
import { handGrid } from "./grid.js";
import { readClasses, readHands } from "./scene.js";

export function rangesTab() {
  const parts = ["oop", "ip"].map((player) => {
    const grid = handGrid(`Range of ${player.toUpperCase()}`);
    const combos = make("span.hint");
    const name = make("span");
    const root = make("figure", {}, make("figcaption.label", {}, name, " ", combos), grid.root);
    return { player, grid, combos, name, root };
  });
  return {
    root: make(".ranges-tab", {}, ...parts.map((part) => part.root)),
    show({ meta, node, colours, state, pinned, seats }) {
      for (const { player, grid, combos, name } of parts) {
        const acts = node.kind === "decision" && node.player === player;
        const actions = acts ? node.actions : [];
        const classes = readClasses(
          readHands(meta, node, player, acts),
          actions.map((action) => action.name),
        );
        grid.show({ classes, actions, colours, pinned, versus: state.versus, whole: state.fill === "whole" });
        say(name, seats[player]);
        say(combos, `${fixed(node.players[player].combos, 1)} combos${acts ? ", to act" : ""}`);
      }
    },
  };
}
