/** Solving a small game: Kuhn, Leduc and the others that the server names. */

import { get, post } from "../shared/api.js";
import { fill, make } from "../shared/dom.js";
import { count } from "../shared/format.js";

export function gameStarter(choose) {
  const menu = make("select.field", { "aria-label": "Game" });
  const problem = make("p.problem", { role: "status" });
  get("/games")
    .then(({ games }) =>
      fill(
        menu,
        ...games.map(({ name, title, information_sets: sets }) =>
          make("option", { value: name, title }, sets ? `${name}, ${count(sets)} information sets` : name),
        ),
      ),
    )
    .catch((error) => (problem.textContent = error.message));

  async function start(event) {
    event.preventDefault();
    problem.textContent = "";
    try {
      const { solve } = await post("/solves", { game: menu.value });
      choose(solve.id);
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  return make(
    "form.game-starter.panel",
    { onsubmit: start },
    make("label.label", {}, "A small game", menu),
    make("button.button", {}, "Solve"),
    problem,
  );
}
