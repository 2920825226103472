/** The studies view: a list of studies, or one of them as a table of flops at a line of play. */

import { get, latest } from "../shared/api.js";
import { actionColours } from "../shared/colours.js";
import { debounced, fill, make } from "../shared/dom.js";
import { showFile } from "../shared/files.js";
import { count, percent } from "../shared/format.js";
import { setKeys } from "../shared/keys.js";
import { actionLabels, sizedActions } from "../shared/labels.js";
import { DEFAULTS, address, go, now } from "../shared/state.js";
import { flopFilter, readFlopFilter } from "./flop-filter.js";
import { betsTogether, readRows, sortedRows, totalOf } from "./flop-rows.js";
import { flopTable } from "./flop-table.js";
import { lineBefore, nextLine, studyStrip } from "./line-strip.js";
import { openFlop } from "./open-flop.js";
import { isRunning, runBar } from "./run-bar.js";
import { NEW, studyStarter } from "./start.js";
import { playerMeans, studyChoices } from "./study-side.js";
import { textureChart } from "./textures.js";

const askStudy = latest((study, signal) => get("/study", { study }, signal));
const askTable = latest((fields, lines, signal) =>
  Promise.all([
    lines ?? get("/study/lines", { study: fields.study, variation: fields.variation }, signal).then(readLines),
    get("/study/flops", fields, signal).catch((error) => {
      if (error.code === "invalid" && error.field === "line") return { wrongLine: error.message };
      throw error;
    }),
  ]),
);
const readLines = ({ lines }) => new Map(lines.map((each) => [each.line, each]));
const askOther = latest((fields, signal) => get("/study/flops", fields, signal));
const OTHER = { oop: "ip", ip: "oop" };
const WAIT = 1_500; // ms between looks at a study that is still running
const SHARE = 20; // and at least so many times as long as the last look took

export function mount(root) {
  let study = null; // answer of /study
  let table = null; // {tables, key, lines, answer, rows, together, colours}
  let parts = null;
  let compared = null; // the same line of another study: {key, name, answer, rows, problem}
  let shown = null; // how the table is drawn: {filter, sort, line, player}
  let begun = false; // the first line to show has been chosen
  let timer = 0;

  // --- building ---------------------------------------------------------------------------------------------------

  const change = (fields) => go(fields, { remember: false });
  const move = (line) => go({ line, player: "" });
  let typed = null; // the filter that is typed, until the address has it
  const rememberFilter = debounced(() => {
    if (typed === null || !study || !root.isConnected) return;
    const filter = typed;
    typed = null;
    change({ filter });
  }, 300);

  function build() {
    const strip = studyStrip(move);
    const choices = studyChoices((fields) => go(fields));
    typed = null;
    const filter = flopFilter((text) => {
      typed = text.trim();
      draw(now());
      rememberFilter();
    });
    const means = playerMeans((player) => change({ player }));
    const flops = flopTable({ change, open });
    const run = runBar(look);
    const textures = textureChart((word) => {
      typed = null;
      change({ filter: word });
    });
    const problem = make("p.panel", { role: "alert", hidden: true });
    parts = { strip, choices, filter, means, flops, run, textures, problem };
    fill(
      root,
      make(
        ".study",
        {},
        make("h1.for-readers", {}, "Study"),
        strip.root,
        make(
          ".study-body",
          {},
          make("aside.study-side", { "aria-label": "What is shown" }, choices.root, means.root, filter.root),
          make(".study-main", {}, run.root, problem, textures.root, flops.root),
        ),
      ),
    );
    setKeys(keys());
  }

  async function open(row) {
    change({ pin: row.spot });
    const isWanted = () => root.isConnected && now().pin === row.spot;
    try {
      await openFlop(study, row, now().line, isWanted);
    } catch (error) {
      if (isWanted()) say(error.message);
    }
  }

  function say(message, kind = "problem") {
    parts.problem.className = `panel said ${kind}`;
    parts.problem.textContent = message;
    parts.problem.hidden = !message;
  }

  function keys() {
    const lines = () => table?.lines ?? new Map();
    const back = () => {
      const before = lineBefore(lines(), now().line);
      return before !== null && now().line ? move(before) : false;
    };
    const take = (key) => {
      const action = lines().get(now().line)?.actions[Number(key) - 1];
      const next = action ? nextLine(lines(), now().line, action.name) : null;
      return next !== null ? move(next) : false;
    };
    return [
      { keys: ["ArrowLeft", "Backspace"], shown: "←", label: "back one step", foot: "back", run: back },
      {
        keys: [..."123456789"],
        shown: "1 … 9",
        label: "the line after the first, second, … action",
        foot: "action",
        run: (_, key) => take(key),
      },
      { keys: ["Home"], shown: "Home", label: "first decision", run: () => move("") },
      { keys: ["/"], shown: "/", label: "filter flops", foot: "filter", run: () => parts.filter.focus() },
      { keys: ["ArrowDown"], shown: "↓", label: "next flop", run: () => parts.flops.step(1) },
      { keys: ["ArrowUp"], shown: "↑", label: "previous flop", run: () => parts.flops.step(-1) },
      { keys: [], shown: "↑ ↓", foot: "flops" },
      { keys: [], shown: "Enter", label: "open the flop", foot: "open" },
      {
        keys: ["p"],
        shown: "P",
        label: "other player",
        foot: "other player",
        when: () => shown,
        run: () => change({ player: OTHER[shown.player] }),
      },
    ];
  }

  // --- the list ---------------------------------------------------------------------------------------------------

  async function showList() {
    showFile(null);
    setKeys([]);
    study = table = parts = shown = compared = null;
    const { studies } = await get("/studies");
    if (now().study || !root.isConnected) return;
    const entry = (each) => {
      const to = { ...DEFAULTS, view: "studies", study: each.study };
      const summary = each.note ?? progress(each);
      return make(
        "li",
        {},
        make(
          "a",
          { href: address(to), onclick: (event) => (event.preventDefault(), go(to)) },
          make("span", {}, each.name),
          make("span.hint", {}, each.study),
          make("small", {}, summary),
        ),
      );
    };
    const begin = make(
      "button.button.primary",
      { onclick: () => go({ ...DEFAULTS, view: "studies", study: NEW }) },
      "Start a study",
    );
    fill(
      root,
      studies.length
        ? make(
            ".empty.chooser",
            {},
            make("h1", {}, "Open a study"),
            make("ul.file-list", {}, ...studies.map(entry)),
            begin,
          )
        : make(
            ".empty",
            {},
            make("h1", {}, "No study here yet"),
            make("p", {}, "A study solves one formation over many flops and shows how often each player bets on which."),
            begin,
          ),
    );
    if (studies.some(isRunning)) timer = setTimeout(() => now().study || show(now()), 2 * WAIT);
  }

  function showStarter() {
    showFile(null);
    setKeys([]);
    study = table = parts = shown = compared = null;
    fill(root, make(".study-new", {}, studyStarter().root));
  }

  const progress = ({ done, spots, run }) =>
    spots && done >= spots
      ? `${count(spots)} spots`
      : [spots && `${count(done)} of ${count(spots)} spots solved so far`, run?.state].filter(Boolean).join(" · ");

  const incomplete = ({ coverage: { solved, spots, weight, complete } }) => {
    const share = weight === null ? "" : `, with ${percent(Math.min(weight, 0.999))} % of the weight`;
    return complete ? "" : `${count(solved)} of ${count(spots)} flops are solved${share}; means are over these.`;
  };

  // --- one study --------------------------------------------------------------------------------------------------

  const variationOf = (state) => {
    const number = Number(state.variation);
    return Number.isInteger(number) && number >= 1 && number <= study.variations.length ? number : 1;
  };

  async function load(state) {
    const variation = variationOf(state);
    const tables = JSON.stringify([study.study, study.revision, variation]);
    const key = JSON.stringify([tables, state.line]);
    if (table?.key === key) return true;
    if (!study.done) {
      table = { tables, key, lines: new Map(), answer: null };
      return true;
    }
    const known = table?.tables === tables ? table.lines : null;
    const found = await askTable({ study: study.study, variation, line: state.line }, known);
    const changed = now().study !== study?.study || now().line !== state.line || variationOf(now()) !== variation;
    if (!found || changed) return false;
    const [lines, { wrongLine }] = found;
    const answer = wrongLine ? null : found[1];
    table = { tables, key, lines, answer, wrongLine };
    if (answer) {
      table.rows = readRows(answer);
      table.together = betsTogether(answer);
      table.colours = actionColours(answer.actions);
    }
    return true;
  }

  /** The first decision at which there is something to choose: where nobody leads into the raiser, after the check. */
  function firstChoice(lines) {
    let line = "";
    while (lines.get(line)?.actions.length === 1) line = nextLine(lines, line, lines.get(line).actions[0].name);
    return line;
  }

  /** Load the same line of the study that is compared with this one. */
  async function loadOther({ other, line, variation }) {
    if (!other || other === study.study) return (compared = null);
    const key = JSON.stringify([other, line, variation]);
    if (compared?.key === key) return;
    try {
      const answer = await askOther({ study: other, line, variation: 1 });
      if (answer && now().other === other) compared = { key, name: other, answer, rows: readRows(answer) };
    } catch (error) {
      compared = { key, name: other, problem: error.message };
    }
  }

  /** Filter, sort and draw what is loaded. */
  function draw(state) {
    const { answer, lines, rows, together, colours } = table ?? {};
    if (!answer) return;
    const filter = parts.filter.text();
    const player = state.player in OTHER ? state.player : answer.player in OTHER ? answer.player : "oop";
    const pot = lines.get(answer.line)?.pot ?? 0;
    const { test } = readFlopFilter(filter);
    const passing = rows.filter(test);
    const total = totalOf(passing, answer.actions, pot);
    const { sort } = state;
    const ordered = sortedRows(passing, { actions: answer.actions, together, player, sort });
    const top = !shown || shown.filter !== filter || shown.sort !== sort || shown.line !== answer.line;
    const labels = actionLabels(sizedActions(answer.actions, pot));
    const { seats } = study;
    const scene = { rows: ordered, total, answer, labels, together, colours, player, seats, pot, sort, pin: state.pin };
    if (compared?.rows) {
      scene.others = compared.rows.filter(test);
      scene.otherAnswer = compared.answer;
      scene.otherTotal = totalOf(scene.others, compared.answer.actions, pot);
    }
    parts.flops.show(scene, { top });
    parts.means.show(scene);
    parts.strip.showMix(total.frequencies);
    parts.textures.show({ ...scene, coloursOf: ({ actions }) => actionColours(actions) });
    if (!shown && state.pin) parts.flops.reveal(state.pin);
    shown = { filter, sort, line: answer.line, player };
  }

  async function showStudy(state) {
    if (study?.study !== state.study) {
      study = table = shown = null;
      begun = false;
      build();
      say("Reading the study…", "hint");
      parts.flops.root.hidden = parts.textures.root.hidden = true;
      const found = await askStudy(state.study);
      if (!found || !root.isConnected) return;
      study = found;
      watch(WAIT);
    }
    if (!(await load(state)) || now().study !== study?.study) return;
    if (!begun && table.lines.size) {
      begun = true;
      if (!state.line && firstChoice(table.lines)) return change({ line: firstChoice(table.lines) });
    }
    if (table.answer) await loadOther({ ...state, variation: variationOf(state) });
    if (now().study !== study?.study) return;
    if (table.answer && table.answer.line !== state.line) change({ line: table.answer.line }); // the server's spelling
    const current = { study, lines: table.lines, line: now().line, variation: variationOf(now()) };
    showFile({ file: study.study, name: study.name });
    parts.run.show(study);
    parts.strip.show(current);
    parts.choices.show({ ...current, other: now().other, studies: await otherStudies() });
    parts.filter.show(typed ?? now().filter);
    const wrong = table.wrongLine ?? compared?.problem;
    if (study.done) say(wrong ?? incomplete(table.answer), wrong ? "problem" : "hint");
    else say("No flop is solved yet. The table fills as the study runs.", "hint");
    parts.flops.root.hidden = parts.means.root.hidden = parts.textures.root.hidden = !table.answer;
    draw(now());
    document.title = `${now().line || "first decision"} · ${study.name} · Regretless`;
  }

  /** While a study is running, look for new spots; seldom enough that looking costs little. */
  function watch(wait) {
    clearTimeout(timer);
    if (study.spots && study.done >= study.spots && !isRunning(study)) return;
    timer = setTimeout(look, wait);
  }

  async function look() {
    if (!study) return;
    const began = performance.now();
    const watched = study.study;
    try {
      if (!document.hidden) {
        const found = await get("/study", { study: watched });
        if (now().study !== watched || !study) return;
        const changed = found.revision !== study.revision;
        study = found;
        if (changed) await show(now());
        else parts.run.show(study);
      }
    } catch {
      // the next look, or the reader's next step, tells
    }
    if (study?.study === watched) watch(Math.max(WAIT, SHARE * (performance.now() - began)));
  }

  let others = null;

  /** The studies that this one can be compared with; asked for once. */
  async function otherStudies() {
    others ??= (await get("/studies")).studies.filter((each) => !each.note && each.done);
    return others.filter((each) => each.study !== study?.study);
  }

  function problem({ study: asked }, { code, message }) {
    if (!root.isConnected || now().study !== asked) return;
    clearTimeout(timer);
    study = table = parts = shown = compared = null;
    setKeys([]);
    fill(
      root,
      make(
        ".empty",
        { role: "alert" },
        make("h2", {}, asked ? `${asked} cannot be shown` : "The studies cannot be listed"),
        make("p", {}, message),
        make(
          ".row",
          {},
          code === "unreachable" && make("button.button", { onclick: () => show(now()) }, "Try again"),
          asked && make("a.button", { href: "/studies" }, "Choose another study"),
        ),
      ),
    );
  }

  async function show(state) {
    try {
      clearTimeout(state.study === study?.study ? undefined : timer);
      if (state.study === NEW) showStarter();
      else await (state.study ? showStudy(state) : showList());
    } catch (error) {
      problem(state, error);
    }
  }

  return {
    show,
    leave() {
      clearTimeout(timer);
      study = null;
      showFile(null);
      document.title = "Regretless";
    },
  };
}
