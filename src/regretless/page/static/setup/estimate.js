/** What the solve will cost, kept up to date as the spot changes, and the button that starts it. */

import { post } from "../shared/api.js";
import { make, say, set } from "../shared/dom.js";
import { count, memory, roughTime } from "../shared/format.js";
import { store, stored } from "../shared/settings.js";
import { DEFAULTS, go } from "../shared/state.js";
import { openDialog } from "../shared/dialog.js";
import { spotToSend, takeTree } from "./draft.js";
import { isMissing } from "./fields.js";

const SHRINK = "Shrink to fit…";
const MISSING = { "oop.range": "OOP's range", "ip.range": "IP's range" };

/** `changed()` is called after an option changed, `treeTaken()` after the tree was cut. */
export function estimateBar({ meta, changed, treeTaken }) {
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
  const selects = {};
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
    selects[key] = select;
    return make("label.option", {}, make("span.label", {}, label), select);
  };
  const facts = Object.fromEntries(["Nodes", "Memory", "Time", "File"].map((label) => [label, make("dd", {}, "–")]));
  const problem = make("p.problem", { id: "problem-estimate", role: "status" });
  const halve = make("button.button", { hidden: true, onclick: () => takeOptions({ storage: "16" }) }, "Use 16 bits");
  const shrink = make("button.button", { hidden: true, onclick: proposeCuts }, SHRINK);
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
    make(".estimate-says", {}, problem, halve, shrink),
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

  function takeOptions(given) {
    Object.assign(options, given);
    store("options", options);
    for (const [key, { input }] of Object.entries(typed)) input.value = options[key];
    for (const [key, select] of Object.entries(selects)) select.value = options[key];
    changed();
  }

  /** What could go, what each saves, and a button that takes all of it. */
  async function proposeCuts() {
    set(shrink, { disabled: true });
    shrink.textContent = "Looking for cuts…";
    try {
      const { threads, storage } = options;
      const spot = spotToSend();
      const answer = await post("/spots/shrink", { spot, threads, storage: Number(storage) });
      if (!root.isConnected || JSON.stringify(spot) !== JSON.stringify(spotToSend())) return;
      const take = () => {
        dialog.close();
        takeTree(answer);
        treeTaken();
      };
      const after = `${memory(answer.memory_bytes)} of ${memory(answer.available_bytes)} that are free`;
      const dialog = openDialog(
        answer.fits ? "Cuts that make it fit" : "No cuts make it fit",
        make(
          "ul.cuts",
          {},
          ...answer.cuts.map(({ text, saves_bytes: saves }) =>
            make("li", {}, make("span", {}, text), make("span.hint", {}, saves === null ? "" : `saves ${memory(saves)}`)),
          ),
        ),
        make("p.hint", {}, answer.fits ? `It then takes ${after}.` : `It would still take ${after}: start on a later street.`),
        answer.fits ? make("button.button.primary", { onclick: take, autofocus: true }, "Take these cuts") : null,
      );
    } catch (error) {
      problem.textContent = error.message;
    } finally {
      set(shrink, { disabled: false });
      shrink.textContent = SHRINK;
    }
  }

  async function start() {
    solve.disabled = true;
    try {
      const spot = spotToSend();
      const { solve: started } = await post("/solves", { spot, name: spot.name || undefined, ...wanted() });
      if (root.isConnected) go({ ...DEFAULTS, view: "solve", solve: started.id });
    } catch (error) {
      problem.textContent = error.message;
      solve.disabled = false;
    }
  }

  return {
    root,

    takeOptions,
    bits: () => options.storage,

    /** Something changed: until the server has answered, the figures are old and nothing can be started. */
    stale() {
      root.classList.add("stale");
      solve.disabled = true;
    },

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
      root.classList.remove("stale");
      say(facts.Nodes, estimate ? count(estimate.nodes) : "–");
      say(facts.Memory, estimate ? memory(estimate.memory_bytes[bits]) : "–");
      say(facts.Time, roughTime(estimate?.seconds));
      say(facts.File, estimate ? memory(estimate.file_bytes[bits]) : "–");
      const missing = errors
        .filter((error) => isMissing(error.message))
        .map((error) => MISSING[error.field] ?? error.field);
      const todo = missing.length ? `Still to set: ${missing.join(", ")}` : "A field above needs attention";
      const tooLarge = Boolean(estimate && !estimate.fits[bits]);
      const needs = tooLarge
        ? `Needs ${memory(estimate.memory_bytes[bits])}; ${memory(estimate.available_bytes)} are free`
        : "";
      problem.textContent = elsewhere.join(". ") || (valid ? needs : todo);
      set(halve, { hidden: !tooLarge || bits === "16" || !estimate.fits["16"] });
      set(shrink, { hidden: !tooLarge });
      solve.disabled = !valid || tooLarge;
    },
  };
}
