/** Opening a flop of a study: its solution if there is one, else an offer to solve it. */

import { get, post } from "../shared/api.js";
import { openDialog } from "../shared/dialog.js";
import { make } from "../shared/dom.js";
import { duration, memory } from "../shared/format.js";
import { DEFAULTS, go } from "../shared/state.js";

/** The part of a line that a solution has: up to the first card that stands for every card. */
const known = (line) => line.split(/(?:^|, )any(?:,|$)/)[0];

/** `isWanted()` says whether the flop is still the one to open once the server has answered. */
export async function openFlop(study, { spot, flop }, line, isWanted) {
  const found = await get("/study/spot", { study: study.study, spot });
  if (!isWanted()) return;
  if (found.file) go({ ...DEFAULTS, view: "browse", file: found.file, line: known(line) });
  else offer(flop, found.request);
}

function offer(flop, request) {
  const cost = make("p.hint", { role: "status" }, "Estimating…");
  const problem = make("p.problem", { role: "alert" });
  const solve = make("button.button.primary", { onclick: start }, "Solve it");
  const dialog = openDialog(
    `Solve ${flop}?`,
    make("p", {}, "The study keeps the numbers of this flop, not its whole solution, so it has to be solved again."),
    cost,
    problem,
    make(".dialog-end", {}, solve),
  );

  async function start() {
    solve.disabled = true;
    try {
      const { solve: started } = await post("/solves", request);
      dialog.close();
      go({ ...DEFAULTS, view: "solve", solve: started.id });
    } catch (error) {
      problem.textContent = error.message;
      solve.disabled = false;
    }
  }

  post("/spots/check", { spot: request.spot, target: request.target }).then(
    ({ estimate, errors }) => {
      cost.textContent = estimate
        ? `It needs ${memory(estimate.memory_bytes[request.storage])} of memory` +
          (request.target === null ? "." : ` and about ${duration(estimate.seconds)} on this machine.`)
        : (errors[0]?.message ?? "");
    },
    (error) => (cost.textContent = error.message),
  );
}
