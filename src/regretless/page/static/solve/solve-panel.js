/** One solve: its curve, its numbers, and what can be done with it now. */

import { post, remove } from "../shared/api.js";
import { fill, make, say } from "../shared/dom.js";
import { chips, count, duration, exploitability, memory, short } from "../shared/format.js";
import { isOver } from "../shared/solves.js";
import { DEFAULTS, go, now } from "../shared/state.js";
import { solveCurve } from "./curve.js";

const FINER = 3; // how much smaller the next target is

/** What is said until there is a measurement. */
const WAITING = {
  queued: "Waits until another solve ends.",
  starting: "Starting. The first solve on a machine compiles its kernels, which can take half a minute.",
  running: "The first measurement is on its way.",
  stopping: "Stopping.",
};

export function solvePanel(choose) {
  const title = make("h2");
  const subtitle = make("p.hint");
  const curve = solveCurve();
  const names = ["Exploitability", "Iteration", "Time", "Time left", "Memory"];
  const values = Object.fromEntries(names.map((name) => [name, make("dd", {}, "–")]));
  const numbers = make(
    "dl.solve-numbers.panel",
    {},
    ...names.map((name) => make("div", {}, make("dt.label", {}, name), values[name])),
  );
  const progress = make("progress", { max: 1, "aria-label": "How far the solve is" });
  const buttons = make(".row");
  const message = make("p.problem", { role: "status" });
  const body = make(
    ".solve-body",
    {},
    make("header", {}, make("div", {}, title, subtitle), buttons),
    message,
    progress,
    curve.root,
    numbers,
  );
  const empty = make(
    ".empty",
    {},
    make("h2", {}, "Nothing is being solved"),
    make("p", {}, "Set up a spot and press Solve; its curve is drawn here while it runs."),
    make("button.button.primary", { onclick: () => go({ ...DEFAULTS, view: "setup" }) }, "Set up a spot"),
  );
  const root = make("section.solve-panel", { "aria-label": "Chosen solve" });
  let drawn = null;

  async function attempt(work) {
    try {
      message.textContent = "";
      await work();
    } catch (error) {
      message.textContent = error.message;
    }
  }

  function refine(id, typed) {
    const target = Number(typed);
    if (target > 0) resume(id, target);
    else message.textContent = `Finer target: '${typed}' must be a number above 0`;
  }

  const resume = (id, target) => attempt(() => post(`/solves/${id}/resume`, { target, iterations: null }));

  function drawButtons(solve) {
    const { id, state, file, again, readable, resumable, what, target } = solve;
    const over = isOver(solve);
    const key = JSON.stringify([id, state, readable, resumable, file, target]);
    if (key === drawn) return;
    drawn = key;
    const finer = make("input.field", { inputmode: "decimal", "aria-label": "Finer target" });
    finer.value = target ? short(target / FINER, 1) : "";
    const browse = { ...DEFAULTS, view: "browse", file };
    fill(
      buttons,
      readable && make("button.button.primary", { onclick: () => go(browse) }, "Browse"),
      readable &&
        again &&
        make(
          "button.button",
          { onclick: () => go({ ...browse, tab: "compare", other: again }) },
          `Compare with ${again}`,
        ),
      !over &&
        state !== "stopping" &&
        make("button.button", { onclick: () => attempt(() => post(`/solves/${id}/stop`)) }, "Stop"),
      over && resumable && state !== "done" && make("button.button", { onclick: () => resume(id, null) }, "Resume"),
      over &&
        resumable &&
        what === "spot" &&
        make(
          "form.row",
          { onsubmit: (event) => (event.preventDefault(), refine(id, finer.value)) },
          finer,
          make("button.button", {}, "Solve to a finer target"),
        ),
      over &&
        make(
          "button.button",
          { onclick: () => attempt(async () => (await remove(`/solves/${id}`), now().solve === id && choose(""))), title: "The file stays" },
          "Remove from this list",
        ),
    );
  }

  return {
    root,
    showNone: () => ((drawn = null), fill(root, empty)),
    showProblem: (text) => (
      (drawn = null),
      fill(root, make(".empty", { role: "alert" }, make("h2", {}, "This solve is not here"), make("p", {}, text)))
    ),
    show(solve) {
      if (!body.isConnected) fill(root, body);
      const spot = solve.board ? `${solve.board} · pot ${chips(solve.pot)}, stack ${chips(solve.stack)}` : "";
      const locks = solve.locks ? `${solve.locks} locked` : "";
      say(title, solve.name || solve.file || solve.id);
      say(
        subtitle,
        [
          solve.state,
          spot,
          locks,
          solve.file,
          solve.device === "auto" ? "" : solve.device,
          solve.threads ? `${solve.threads} ${solve.threads === 1 ? "thread" : "threads"}` : "",
        ]
          .filter(Boolean)
          .join(" · "),
      );
      message.textContent = solve.message ?? "";
      progress.hidden = isOver(solve);
      if (solve.share === null || solve.state === "starting") progress.removeAttribute("value");
      else progress.value = solve.share;
      const ofPot = solve.unit === "% of the pot" && solve.exploitability !== null;
      say(values.Exploitability, ofPot ? `${short(solve.exploitability)} %` : exploitability(solve.exploitability, solve.unit));
      say(values.Iteration, count(solve.iteration));
      say(values.Time, duration(solve.seconds));
      say(values["Time left"], isOver(solve) ? "–" : solve.seconds_left === null ? "…" : duration(solve.seconds_left));
      say(values.Memory, memory(solve.memory_bytes));
      const waiting = WAITING[solve.state] ?? "There is no measurement.";
      curve.show(solve.curve ?? [], solve.target, solve.unit ?? "", waiting);
      drawButtons(solve);
    },
  };
}
