/** One slider per action; together they always make 100 %: moving one scales the others. */

import { fill, make, set } from "../shared/dom.js";

export function mixSliders() {
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
  }

  function draw() {
    rows.forEach(({ slider, number }, place) => {
      const value = Math.round(1000 * shares[place]) / 10;
      slider.value = value;
      if (document.activeElement !== number) number.value = value;
    });
  }

  return {
    root,
    read: () => shares,
    show(actions, colours, start) {
      shares = start;
      rows = actions.map((action, place) => {
        const label = `${action.name}, percent`;
        const slider = make("input", {
          type: "range",
          min: 0,
          max: 100,
          step: 1,
          "aria-label": label,
          oninput: () => move(place, slider.value / 100),
        });
        const number = make("input.field", {
          type: "number",
          min: 0,
          max: 100,
          step: "any",
          "aria-label": `${label}, as a number`,
          onchange: () => move(place, Math.min(100, Math.max(0, number.value)) / 100),
        });
        return { slider, number, name: action.name, colour: colours[place] };
      });
      fill(
        root,
        ...rows.map(({ slider, number, name, colour }) =>
          make(
            ".lock-action",
            {},
            make("span.swatch", { style: { background: colour } }),
            make("span", {}, name),
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
