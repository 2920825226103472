/** Sliders of shares. Of one mix: together they always make 100 %, and moving one scales the others. */

import { fill, make, set } from "../shared/dom.js";

const PERCENT = 100;
const STEP = 0.1; // of a slider

/** A slider with a number beside it, from 0 to 100 %; `changed(share)` is called while it moves. */
export function shareSlider(label, changed) {
  const slider = make("input", {
    type: "range",
    min: 0,
    max: PERCENT,
    step: STEP,
    "aria-label": label,
    oninput: () => changed(slider.value / PERCENT),
  });
  const number = make("input.field", {
    type: "number",
    min: 0,
    max: PERCENT,
    step: "any",
    "aria-label": `${label}, as a number`,
    onfocus: () => number.select(),
    oninput: () => number.value !== "" && changed(Math.min(PERCENT, Math.max(0, number.value)) / PERCENT),
    onchange: () => draw(share),
  });
  let share = 0;
  function draw(to) {
    share = to;
    const value = Math.round(to * PERCENT * 10) / 10;
    slider.value = value;
    if (document.activeElement !== number) number.value = value;
  }
  return { slider, number, draw };
}

export function mixSliders(changed = () => {}) {
  const root = make(".sliders");
  let shares = [];
  let rows = [];

  function move(place, share) {
    const rest = shares.reduce((sum, each, other) => sum + (other === place ? 0 : each), 0);
    const others = shares.length - 1;
    shares = shares.map((each, other) => {
      if (other === place) return others ? share : 1;
      return rest > 0 ? (each / rest) * (1 - share) : (1 - share) / others;
    });
    draw();
    changed();
  }

  const draw = () => rows.forEach((row, place) => row.draw(shares[place]));

  return {
    root,
    /** The mix, which adds up to 1. */
    read() {
      const sum = shares.reduce((total, share) => total + share, 0);
      return sum > 0 ? shares.map((share) => share / sum) : shares.map(() => 1 / shares.length);
    },
    show(actions, labels, colours, start) {
      shares = start;
      rows = actions.map((action, place) => shareSlider(`${action.name}, percent`, (share) => move(place, share)));
      fill(
        root,
        ...rows.map(({ slider, number }, place) =>
          make(
            ".lock-action",
            {},
            make("span.swatch", { style: { background: colours[place] } }),
            make("span", {}, labels[actions[place].name]),
            slider,
            number,
          ),
        ),
      );
      draw();
      set(root, { role: "group", "aria-label": "Locked mix" });
    },
  };
}
