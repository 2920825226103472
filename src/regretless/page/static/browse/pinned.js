/** The combos of the pinned or hovered class as chips: suits, EV and mix. A second class can stand beside it. */

import { handText } from "../shared/cards.js";
import { mixBackground } from "../shared/colours.js";
import { fill, make } from "../shared/dom.js";
import { percent } from "../shared/format.js";

export function pinnedClass(find) {
  const root = make("section.pinned-class.panel", {
    "aria-label": "Combos of a class",
    tabindex: 0,
  });
  return {
    root,
    /** `names`: the classes to show, one or two. */
    show(scene, names) {
      const shown = names.filter(Boolean);
      if (!shown.length) {
        fill(
          root,
          make("p.hint", {}, "Pin a cell", make("span.with-mouse", {}, ", shift-click to compare two"), ", or "),
          make("button.button", { onclick: find }, "find a hand"),
        );
        return;
      }
      fill(root, ...shown.flatMap((name) => classChips(scene, name)));
    },
  };
}

function classChips({ classes, actions, colours, labels, amounts, totals }, name) {
  const cell = classes.find((each) => each?.name === name);
  const title = make("strong", {}, name);
  if (!cell) return [title, make("span.hint", {}, totals ? "none that passes the filter" : "not in this range")];
  const combos = cell.hands.map((hand) => {
    const mix = actions.map((action, place) => `${labels[action.name]}: ${percent(hand.mix[place])} %`).join(", ");
    return make(
      `.combo${hand.locked ? ".locked" : ""}`,
      { title: `${hand.name}: ${mix || `weight ${percent(hand.weight)} %`}` },
      make("span", {}, handText(hand.name), make("small", {}, `EV ${amounts.ev(hand.ev)}`)),
      make("span.mix", { style: { background: actions.length ? mixBackground(hand.mix, colours) : "var(--range)" } }),
    );
  });
  return [title, ...combos];
}
