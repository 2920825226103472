/** The betting tree of the spot, to look at before it is solved; branches open one at a time. */

import { latest, post } from "../shared/api.js";
import { actionColours } from "../shared/colours.js";
import { fill, make } from "../shared/dom.js";
import { chips, count } from "../shared/format.js";
import { positionOf, spotToSend } from "./draft.js";

const ask = latest((body, signal) => post("/spots/tree", body, signal));
const MOST = 3000;

export function treePreview() {
  const body = make(".tree");
  const root = make(
    "details.panel.tree-panel",
    { ontoggle: () => root.open && draw() },
    make("summary", {}, "Betting tree"),
    body,
  );

  async function draw() {
    try {
      const answer = await ask({ spot: spotToSend(), most: MOST });
      if (!answer) return;
      const children = Map.groupBy(answer.nodes, (node) => node.parent);
      fill(
        body,
        make(
          "p.hint",
          {},
          `${count(answer.betting_nodes)} betting nodes${answer.truncated ? `; the first ${count(answer.nodes.length)} are shown` : ""}`,
        ),
        branch(answer.nodes[0], children, null),
      );
    } catch (error) {
      fill(body, make("p.problem", {}, error.message));
    }
  }

  return { root, refresh: () => root.open && draw() };
}

const ENDS = { fold: "fold", showdown: "showdown", chance: "next card" };

function branch(node, children, colour) {
  const below = children.get(node.id) ?? [];
  const colours = actionColours(below.map((child) => child.action ?? ""));
  const what = node.kind === "decision" ? `${positionOf(node.player)} acts` : ENDS[node.kind];
  const title = [
    colour ? make("span.swatch", { style: { background: colour } }) : null,
    make("span", {}, node.action ?? node.street),
    make("span.hint", {}, `${what} · pot ${chips(node.pot)}`),
  ];
  if (!below.length) return make(".leaf", {}, ...title.filter(Boolean));
  const inside = make(".inside");
  const open = node.parent === null;
  const fillOnce = () =>
    inside.childElementCount ||
    fill(
      inside,
      ...below.map((child, place) => branch(child, children, node.kind === "decision" ? colours[place] : null)),
    );
  if (open) fillOnce();
  return make("details", { open, ontoggle: fillOnce }, make("summary", {}, ...title.filter(Boolean)), inside);
}
