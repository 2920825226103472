/** Trees to start from: three cards with what each takes, and who raised before the flop, which decides on them. */

import { fill, make, set } from "../shared/dom.js";
import { count, memory, roughTime } from "../shared/format.js";
import { positionOf, readField, takeTree, writeField } from "./draft.js";

const unbroken = (text) => text.replaceAll(" ", "\u00a0");
const LEVELS = ["small", "usual", "fine"];

/** `bits()` is the storage that was chosen; `changed()` is called when a tree is taken. */
export function treeCards({ bits, changed }) {
  const cards = LEVELS.map((level) => {
    const facts = make("span.hint", {}, "–");
    const nodes = make("span.hint", {}, " ");
    const root = make(
      "button.tree-card",
      { "aria-pressed": "false", disabled: true, onclick: () => (takeTree(trees[level]), changed()) },
      make("strong", {}, level),
      facts,
      nodes,
    );
    return { level, root, facts, nodes };
  });
  const raiser = make("select.field.compact", {
    "aria-label": "Who raised last before the flop",
    onchange: () => (writeField("raiser", raiser.value), changed()),
  });
  let trees = {};

  return {
    root: make(
      "section.trees",
      { "aria-label": "Trees to start from" },
      make(
        "header",
        {},
        make("h2", {}, "Tree"),
        make("label.row", {}, make("span.label", {}, "Raised before the flop"), raiser),
      ),
      make(".tree-cards", {}, ...cards.map((card) => card.root)),
    ),
    /** Read the draft again. */
    refresh() {
      fill(
        raiser,
        make("option", { value: "" }, "not known"),
        ...["oop", "ip"].map((player) => make("option", { value: player }, positionOf(player))),
      );
      raiser.value = readField("raiser");
    },
    show(given) {
      trees = Object.fromEntries(given.map((tree) => [tree.level, tree]));
      for (const { level, root, facts, nodes } of cards) {
        const tree = trees[level];
        set(root, { disabled: !tree, "aria-pressed": String(Boolean(tree?.current)) });
        facts.textContent = tree ? [memory(tree.memory_bytes[bits()]), roughTime(tree.seconds)].map(unbroken).join(" · ") : "–";
        nodes.textContent = tree ? `${count(tree.nodes)} nodes` : " ";
        facts.classList.toggle("problem", Boolean(tree && !tree.fits[bits()]));
      }
    },
  };
}
