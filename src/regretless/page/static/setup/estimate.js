/** What the solve will cost, kept up to date as the spot changes, and the button that starts it. */

import { post } from "../shared/api.js";
import { make, say, set } from "../shared/dom.js";
import { bytes, count, duration } from "../shared/format.js";
import { store, stored } from "../shared/settings.js";
import { DEFAULTS, go } from "../shared/state.js";
import { spotToSend } from "./draft.js";
import { isMissing } from "./fields.js";

const MISSING = { "oop.range": "OOP's range", "ip.range": "IP's range" };

export function estimateBar({ meta, changed }) {
  const options = {
    target: String(meta.defaults.target),
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
  const typed = {};
  const number = (key, label, placeholder) => {
    const input = make("input.field", {
      inputmode: "decimal",
      placeholder,
      "aria-describedby": "problem-estimate",
      "data-option": key,
      oninput: change(key),
    });
    input.value = options[key];
    typed[key] = { input, label };
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
  const problem = make("p.problem", { id: "problem-estimate", role: "status" });
  const solve = make("button.button.primary.solve", { onclick: start, disabled: true }, "Solve");
  const devices = [["auto", "automatic"], ...meta.devices.map(({ name, label }) => [name, label])];
  const root = make(
    "section.estimate",
    { "aria-label": "Estimate and start" },
    make(
      ".options",
      {},
      number("target", "Target, % of pot", String(meta.defaults.target)),
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
    target: String(options.target).trim() === "" ? null : Number(options.target),
    device: options.device,
    threads: String(options.threads).trim() === "" ? null : Number(options.threads),
    storage: Number(options.storage),
  });

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

    /** The options that are typed, valid or not. */
    typed: () => ({ target: String(options.target), threads: String(options.threads) }),

    /** Mark the options that are wrong: a sentence for each, and the errors that are not about options. */
    showErrors(errors) {
      const wrong = new Map(errors.filter(({ field }) => field in typed).map(({ field, message }) => [field, message]));
      for (const [key, { input }] of Object.entries(typed))
        set(input, { "aria-invalid": wrong.has(key) ? "true" : null });
      return {
        sentences: [...wrong].map(([key, message]) => `${typed[key].label.split(",")[0]}: ${message}`),
        left: errors.filter(({ field }) => !(field in typed)),
      };
    },

    show({ valid, estimate, errors }, elsewhere) {
      const bits = options.storage;
      say(facts.Nodes, estimate ? count(estimate.nodes) : "–");
      say(facts.Memory, estimate ? bytes(estimate.memory_bytes[bits]) : "–");
      say(facts.Time, roughTime(estimate?.seconds));
      say(facts.File, estimate ? bytes(estimate.file_bytes[bits]) : "–");
      const missing = errors
        .filter((error) => isMissing(error.message))
        .map((error) => MISSING[error.field] ?? error.field);
      const todo = missing.length ? `Still to set: ${missing.join(", ")}` : "A field above needs attention";
      problem.textContent = elsewhere.join(". ") || (valid ? (estimate?.note ?? "") : todo);
      solve.disabled = !valid || !(estimate?.fits[bits] ?? true);
    },
  };
}

const roughTime = (seconds) => (seconds >= 1 ? `about ${duration(seconds)}` : duration(seconds));
