/** What the solve will cost, kept up to date as the spot changes, and the button that starts it. */

import { post } from "../shared/api.js";
import { make, say } from "../shared/dom.js";
import { bytes, count, duration } from "../shared/format.js";
import { store, stored } from "../shared/settings.js";
import { DEFAULTS, go } from "../shared/state.js";
import { spotToSend } from "./draft.js";
import { isMissing } from "./fields.js";

const MISSING = { "oop.range": "OOP's range", "ip.range": "IP's range" };

export function estimateBar({ meta, changed }) {
  const options = {
    target: meta.defaults.target,
    device: "auto",
    threads: "",
    storage: "32",
    ...stored("options", {}),
  };
  const change = (key) => (event) => {
    options[key] = event.target.value;
    store("options", options);
    changed();
  };
  const number = (key, label, placeholder = "") => {
    const input = make("input.field", { inputmode: "decimal", placeholder, "data-option": key, oninput: change(key) });
    input.value = options[key];
    return make("label.option", {}, make("span.label", {}, label), input);
  };
  const choice = (key, label, values) => {
    const select = make(
      "select.field",
      { onchange: change(key) },
      ...values.map(([value, text]) => make("option", { value }, text)),
    );
    select.value = options[key];
    return make("label.option", {}, make("span.label", {}, label), select);
  };
  const facts = Object.fromEntries(["Nodes", "Memory", "Time", "File"].map((label) => [label, make("dd", {}, "–")]));
  const problem = make("p.problem", { role: "status" });
  const solve = make("button.button.primary.solve", { onclick: start, disabled: true }, "Solve");
  const devices = [["auto", "automatic"], ...meta.devices.map(({ name, label }) => [name, label])];
  const root = make(
    "section.estimate",
    { "aria-label": "Estimate and start" },
    make(
      ".options",
      {},
      number("target", "Target, % of pot"),
      choice("device", "Device", devices),
      number("threads", "Threads", "all"),
      choice("storage", "Storage", [
        ["32", "32 bits"],
        ["16", "16 bits"],
      ]),
    ),
    problem,
    make(
      "dl",
      {},
      ...Object.entries(facts).map(([label, value]) => make("div", {}, make("dt.label", {}, label), value)),
    ),
    solve,
  );

  const wanted = () => ({
    target: options.target === "" ? null : Number(options.target),
    device: options.device,
    threads: options.threads === "" ? null : Number(options.threads),
    storage: Number(options.storage),
  });

  /** A sentence about an option that cannot be sent. */
  function wrongOption() {
    const { target, threads } = wanted();
    if (target !== null && !(target > 0)) return `Target: '${options.target}' must be a number above 0`;
    if (threads !== null && !(Number.isInteger(threads) && threads > 0))
      return `Threads: '${options.threads}' must be a whole number above 0`;
    return "";
  }

  async function start() {
    solve.disabled = true;
    try {
      const spot = spotToSend();
      const { solve: started } = await post("/solves", { spot, name: spot.name || undefined, ...wanted() });
      go({ ...DEFAULTS, view: "solve", solve: started.id });
    } catch (error) {
      problem.textContent = error.message;
      solve.disabled = false;
    }
  }

  return {
    root,
    wanted,
    show({ valid, estimate, errors }, elsewhere) {
      const bits = options.storage;
      say(facts.Nodes, estimate ? count(estimate.nodes) : "–");
      say(facts.Memory, estimate ? bytes(estimate.memory_bytes[bits]) : "–");
      say(facts.Time, roughTime(estimate?.seconds));
      say(facts.File, estimate ? bytes(estimate.file_bytes) : "–");
      const missing = errors
        .filter((error) => isMissing(error.message))
        .map((error) => MISSING[error.field] ?? error.field);
      const todo = missing.length ? `Still to set: ${missing.join(", ")}` : "";
      const wrong = wrongOption();
      problem.textContent = elsewhere.join(" ") || wrong || (valid ? (estimate?.note ?? "") : todo);
      solve.disabled = !valid || wrong !== "" || !(estimate?.fits[bits] ?? true);
    },
  };
}

const roughTime = (seconds) => (seconds >= 1 ? `about ${duration(seconds)}` : duration(seconds));
