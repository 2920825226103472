/** Every solve of this server, newest first: its state, how far it is, how exact. */

import { fill, make } from "../shared/dom.js";
import { exploitability } from "../shared/format.js";

export function solveList(choose) {
  const root = make("ul.solve-list");
  let chosen = "";
  let shown = [];

  function draw() {
    fill(
      root,
      ...shown.map((solve) =>
        make(
          "li",
          {},
          make(
            "button",
            { onclick: () => choose(solve.id), "aria-current": solve.id === chosen ? "true" : null },
            make("strong", {}, solve.name || solve.file || solve.id),
            make(`span.state.${solve.state}`, {}, describe(solve)),
            make(
              "small",
              {},
              [solve.board, solve.exploitability === null ? null : exploitability(solve.exploitability, solve.unit)].filter(Boolean).join(" · "),
            ),
          ),
        ),
      ),
      shown.length
        ? null
        : make("li.hint", {}, "Nothing has been solved here yet. Set up a spot, or solve a small game below."),
    );
  }

  return {
    root,
    show(solves, id) {
      [shown, chosen] = [solves, id];
      draw();
    },
    mark(id) {
      chosen = id;
      draw();
    },
  };
}

function describe({ state, place }) {
  return state === "queued" && place ? `queued, number ${place}` : state;
}
