/** Starting a study: a formation and flops, what they cost, and the button that starts the solves. */

import { get, latest, post } from "../shared/api.js";
import { debounced, fill, make, say } from "../shared/dom.js";
import { bytes, count, memory, roughTime } from "../shared/format.js";
import { store, stored } from "../shared/settings.js";
import { DEFAULTS, go } from "../shared/state.js";
import { spotToSend } from "../setup/draft.js";

export const NEW = "+"; // in the address, where the folder of a study stands
const DRAFT = "draft"; // the spot in Set up, in the menu of formations
const SAMPLE = // of each kind about as many as there are among all flops
  "As8h3d, KsTh5d, Qs7h2d, JsTh8d, 9s6h4d, 7s5h3d, AsTs4h, Ah9h6s, KsQs8h, Kh6h4s, QsJs9h, Jh9h5s, Ts8s7h, 8h5h2s, " +
  "KsKh7d, 9s9h4s, 5s5h2d, Js7s3s";
const FLOPS = [
  [SAMPLE, "18 flops, for a first look"],
  ["subset(25)", "25 flops"],
  ["subset(49)", "49 flops"],
  ["subset(95)", "95 flops"],
  ["subset(184)", "184 flops"],
  ["all", "all 1,755"],
  ["", "others …"],
];
const TREES = [
  ["small", "small"],
  ["usual", "usual"],
  ["fine", "fine"],
];

const askCheck = latest((body, signal) => post("/studies/check", body, signal));

export function studyStarter() {
  const options = { flops: FLOPS[0][0], others: "", tree: "small", target: "1", storage: "16", keep: false };
  Object.assign(options, stored("study-options", {}));
  let formations = [];

  const formation = make("select.field", { id: "study-formation", onchange: named });
  const name = make("input.field", { id: "study-name", maxlength: 120, placeholder: "as the formation", oninput: check });
  const flops = menu("flops", FLOPS);
  const others = make("input.field", {
    id: "study-others",
    "aria-label": "Other flops",
    placeholder: "paired two-tone; or Ks7d2c, QsJh2h",
    spellcheck: "false",
    oninput: (event) => change("others", event.target.value),
  });
  const tree = menu("tree", TREES);
  const target = menu("target", [["0.5", "0.5 % of the pot"], ["1", "1 % of the pot"], ["3", "3 % of the pot, rough"]]);
  const storage = menu("storage", [["16", "16 bits"], ["32", "32 bits"]]);
  const keep = make("input", {
    type: "checkbox",
    id: "study-keep",
    onchange: (event) => change("keep", event.target.checked),
  });
  others.value = options.others;
  keep.checked = options.keep;
  const facts = Object.fromEntries(["Flops", "Memory", "Time", "Disk"].map((label) => [label, make("dd", {}, "–")]));
  const problem = make("p.problem", { role: "status" });
  const button = make("button.button.primary", { disabled: true }, "Start the study");
  const field = (label, control) => [make("label.label", { for: control.id }, label), control];
  const root = make(
    "form.study-start.panel",
    { onsubmit: start, "aria-label": "A new study" },
    make("h1", {}, "A new study"),
    make("p.hint", {}, "One formation, solved over many flops: how often each player bets, by kind of flop."),
    ...field("Formation", formation),
    ...field("Name", name),
    ...field("Flops", flops),
    others,
    ...field("Tree", tree),
    ...field("Solve to", target),
    ...field("Storage", storage),
    make("label.keep", {}, keep, "keep the whole solution of every flop, to browse it at once"),
    make("dl", {}, ...Object.entries(facts).map(([label, value]) => make("div", {}, make("dt.label", {}, label), value))),
    problem,
    button,
  );

  function menu(key, values) {
    const select = make(
      "select.field",
      { id: `study-${key}`, onchange: () => change(key, select.value) },
      ...values.map(([value, label]) => make("option", { value }, label)),
    );
    select.value = options[key];
    return select;
  }

  function change(key, value) {
    options[key] = value;
    store("study-options", options);
    check();
  }

  function named() {
    name.value = "";
    check();
  }

  /** What is asked of the server; without the board, which the flops replace. */
  function body() {
    const chosen = formations.find((each) => each.key === formation.value);
    const { board, ...draft } = spotToSend();
    return {
      spot: chosen ? spotOf(chosen, options.tree) : draft,
      flops: options.flops || options.others || "all",
      target: Number(options.target),
      storage: Number(options.storage),
      keep_solutions: options.keep,
    };
  }

  const ask = debounced(async () => {
    try {
      const answer = await askCheck(body());
      if (answer) show(answer);
    } catch (error) {
      show({ valid: false, errors: [error], estimate: null });
    }
  }, 150);

  function check() {
    others.hidden = options.flops !== "";
    tree.disabled = formation.value === DRAFT;
    button.disabled = true;
    ask();
  }

  function show({ valid, errors, estimate }) {
    const size = estimate ?? {};
    say(facts.Flops, count(size.spots));
    say(facts.Memory, memory(size.memory_bytes));
    say(facts.Time, roughTime(size.seconds));
    say(facts.Disk, bytes(size.disk_bytes));
    const [wrong] = errors;
    const tooLarge = estimate && !estimate.fits && `It needs ${memory(size.memory_bytes)}, ${memory(size.available_bytes)} are free: take a smaller tree.`;
    problem.textContent = wrong ? [wrong.field, wrong.message].filter(Boolean).join(": ") : (tooLarge || "");
    button.disabled = !valid || Boolean(tooLarge);
  }

  async function start(event) {
    event.preventDefault();
    button.disabled = true;
    const label = formations.find((each) => each.key === formation.value)?.label;
    try {
      const { study } = await post("/studies", { ...body(), name: name.value.trim() || label || "" });
      go({ ...DEFAULTS, view: "studies", study });
    } catch (error) {
      problem.textContent = error.message;
      button.disabled = false;
    }
  }

  async function load() {
    ({ presets: formations } = await get("/presets"));
    const groups = Map.groupBy(formations, (each) => each.group);
    fill(
      formation,
      ...[...groups].map(([group, members]) =>
        make("optgroup", { label: group }, ...members.map((each) => make("option", { value: each.key }, each.label))),
      ),
      spotToSend().pot ? make("option", { value: DRAFT }, "the spot in Set up") : null,
    );
    check();
  }

  load().catch((error) => (problem.textContent = error.message));
  return { root };
}

/** A formation as the fields of a spot, with a tree of another level. */
const spotOf = ({ fields: { bets, rules, ...fields } }, tree) => ({ ...fields, rules: { chip: rules.chip }, tree });
