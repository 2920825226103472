/** Before the first hand: the seat, how flops are solved, and how long that takes on this machine. */

import { get, latest } from "../shared/api.js";
import { debounced, fill, make } from "../shared/dom.js";
import { bytes, chips, memory, percent, roughTime } from "../shared/format.js";
import { store, stored } from "../shared/settings.js";

const SEATS = [
  ["", "alternating"],
  ["ip", "SB"],
  ["oop", "BB"],
];
const ask = latest((fields, signal) => get("/play/estimate", fields, signal));
const options = () => ({ player: "", target: 0.5, safe: false, keep: false, ...stored("play-options", {}) });

/** `begin(body)` starts a session with the game of a file. */
export function playStart(file, begin) {
  const change = (fields) => store("play-options", { ...options(), ...fields });
  const waits = make("section.panel.waits", { "aria-label": "How long you wait", "aria-live": "polite" });
  const problem = make("p.problem", { role: "alert" });
  const target = make("input.field", { id: "play-target", inputmode: "decimal", autocomplete: "off" });
  target.value = options().target;
  const deal = make("button.button.primary", {}, "Deal");
  const safe = flag("play-safe", "safe", "Safe: no hand of mine gains more on a flop than against the game's own solution; solves twice", true);
  const keep = flag("play-keep", "keep", "Keep the solved flops beside the game", false);
  safe.root.hidden = true; // until the server says that the game can be solved so
  const askSoon = debounced(estimate, 300);
  target.addEventListener("input", askSoon);

  function flag(id, name, label, changesTime) {
    const box = make("input", { id, type: "checkbox" });
    box.checked = options()[name];
    box.addEventListener("change", () => {
      change({ [name]: box.checked });
      if (changesTime) estimate();
    });
    return { box, root: make("label.pick", { for: id }, box, make("span", {}, label)) };
  }

  function seats() {
    const buttons = SEATS.map(([value, text]) => {
      const choose = () => {
        change({ player: value });
        mark();
      };
      return { value, root: make("button.choice", { type: "button", onclick: choose }, text) };
    });
    const mark = () => {
      for (const { value, root } of buttons) root.setAttribute("aria-pressed", String(options().player === value));
    };
    mark();
    return make(".choice-row", { role: "group", "aria-label": "Your seat" }, make("span.label", {}, "Your seat"), ...buttons.map(({ root }) => root));
  }

  const goal = () => Number(String(target.value).replace(",", "."));
  const isSafe = () => !safe.root.hidden && safe.box.checked;

  async function estimate() {
    problem.textContent = "";
    if (!(goal() > 0 && goal() <= 100)) return fill(waits);
    if (!waits.childElementCount) fill(waits, make("p.hint", {}, "Measuring this machine…"));
    try {
      const found = await ask({ file, target: goal(), safe: isSafe() });
      if (!found) return;
      safe.root.hidden = !found.can_be_safe;
      showWaits(found);
    } catch (error) {
      fill(waits);
      problem.textContent = error.message;
    }
  }

  function showWaits(found) {
    const { lines, device, threads, available_bytes: free } = found;
    const row = (street, wait, more = "") => make("tr", {}, make("th", { scope: "row" }, street), make("td", {}, wait), make("td.hint", {}, more));
    const largest = Math.max(0, ...lines.map((line) => line.memory_bytes));
    const file = Math.max(0, ...lines.map((line) => line.file_bytes));
    fill(
      waits,
      make("h2.label", {}, "How long you wait"),
      make(
        "table",
        {},
        make("thead.for-readers", {}, make("tr", {}, ...["Street", "Wait", "Why"].map((text) => make("th", { scope: "col" }, text)))),
        make(
          "tbody",
          {},
          row("Preflop", "none", "the game's own solution"),
          lines.length ? row("Flop", flopWait(lines), "solved when it is dealt") : row("Flop", "none", "nobody acts after it"),
          row("Turn, river", "none", "solved with the flop"),
        ),
      ),
      lines.length > 1 && device === "cpu" && make("p.hint", {}, ...lines.slice(0, 4).map(lineWait)),
      lines.length > 0 &&
        make("p.hint", {}, device === "cpu" ? `On ${threads} idle CPU ${threads === 1 ? "core" : "cores"}, up to ${memory(largest)} of memory.` : "On the GPU."),
      lines.length > 0 && device === "cpu" && largest > free && make("p.problem", {}, `Only ${memory(free)} are free: some flops will be refused.`),
      lines.length > 0 && make("p.hint", {}, `The solution of a flop takes up to ${bytes(file)} on disk.`),
    );
  }

  const lineWait = ({ line, seconds, share }) =>
    make("span.line-wait", {}, `${line}: ${about(seconds)}${share === null ? "" : `, ${percent(share, 0)} % of flops`}`);

  async function start(event) {
    event.preventDefault();
    problem.textContent = "";
    if (!(goal() > 0 && goal() <= 100)) {
      problem.textContent = `'${target.value}' is not a target: give percent of the pot, such as 0.5`;
      return;
    }
    change({ target: goal() });
    deal.disabled = true;
    try {
      await begin({ file, player: options().player || null, target: goal(), safe: isSafe(), keep: keep.box.checked });
    } catch (error) {
      problem.textContent = error.message;
    }
    deal.disabled = false;
  }

  estimate();
  return make(
    ".practice-start",
    {},
    make(
      "form.panel.play-start",
      { onsubmit: start, "aria-label": "A table" },
      make("h1", {}, "Play whole hands"),
      make("p.hint", {}, "From the deal to the river, against the solution. Any flop may come; it is solved with the ranges that arrive there before the hand goes on."),
      seats(),
      make(".choice-row", {}, make("label.label", { for: "play-target" }, "Flops to"), target, make("span.hint", {}, "% of the pot")),
      safe.root,
      keep.root,
      make(".row", {}, deal),
      problem,
    ),
    waits,
  );
}

const about = (seconds) => (seconds === null ? "about a second" : `about ${roughTime(Math.max(seconds, 1))}`);

/** From the fastest to the slowest flop, weighted by nothing. */
function flopWait(lines) {
  const known = lines.map((line) => line.seconds).filter((seconds) => seconds !== null);
  if (!known.length) return "a second or two";
  const [least, most] = [Math.max(1, Math.min(...known)), Math.max(1, ...known)];
  return most < 1.5 * least ? about(most) : `${roughTime(least)} to ${roughTime(most)}`;
}
