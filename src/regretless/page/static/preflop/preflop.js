/** The preflop view: charts of a solved game from the deal along a line of play, and the way to a flop. */

import { decisionTile, heading } from "../browse/strip.js";
import { replaceDraft } from "../setup/draft.js";
import { aboutServer, get, latest, post } from "../shared/api.js";
import { cardsIn, placeOf } from "../shared/cards.js";
import { fill, make } from "../shared/dom.js";
import { fileLinks, listFiles, showFile } from "../shared/files.js";
import { chips, exploitability, fixed } from "../shared/format.js";
import { setKeys } from "../shared/keys.js";
import { DEFAULTS, go, now } from "../shared/state.js";
import { bigChart, classDetails, classOrder, labelOf, smallChart, summaryOf } from "./chart.js";

const ENDS = { fold: "The hand is over.", showdown: "All the chips are in: the hands are shown." };
const ask = latest((file, signal) => get("/preflop", { file }, signal));

export function mount(root) {
  let game = null; // answer of /preflop, with `byLine`
  let order = null;
  let parts = null;

  const move = (line) => go({ line });
  const pinned = () => placeOf(now().pin);

  function build() {
    const strip = make("section.strip", { "aria-label": "Line of play", tabindex: 0 });
    const chart = bigChart((place) => {
      go({ pin: document.querySelectorAll(".preflop-chart .cell")[place].dataset.class }, { remember: false });
    });
    const [title, details, side] = [make("h2"), make("div"), make(".preflop-side")];
    parts = { strip, chart, title, details, side };
    fill(
      root,
      make(
        ".preflop",
        {},
        make("h1.for-readers", {}, "Preflop"),
        strip,
        make(".preflop-body", {}, make(".preflop-main", {}, title, chart.root), make(".preflop-right", {}, side, details)),
      ),
    );
    setKeys(keys());
  }

  /** The decision at a line, or the last one before it. */
  function chartAt(line) {
    const steps = line ? line.split(", ") : [];
    while (steps.length && !game.byLine.has(steps.join(", "))) steps.pop();
    return game.byLine.get(steps.join(", "));
  }

  function drawStrip(line) {
    const taken = line ? line.split(", ") : [];
    const tiles = [];
    let end = null;
    for (let count = 0; count <= taken.length; count++) {
      const chart = game.byLine.get(taken.slice(0, count).join(", "));
      if (!chart) continue;
      const place = chart.actions.findIndex((action) => action.name === taken[count]);
      const actions = chart.actions.map((action) => ({ ...action, name: labelOf(action), amount: null }));
      const tile = { line: chart.line, player: chart.seat, pot: chart.pot, taken: place < 0 ? null : place, actions };
      tiles.push(decisionTile(tile, count === taken.length, move));
      end = place < 0 ? null : chart.actions[place];
    }
    if (end?.ends) tiles.push(make(".tile.present", {}, heading(end.ends, `pot ${chips(end.pot)}`), endHint(end)));
    fill(parts.strip, ...tiles);
    requestAnimationFrame(() => (parts.strip.scrollLeft = parts.strip.scrollWidth));
    return end;
  }

  const endHint = ({ ends }) => make("p.hint", {}, ENDS[ends] ?? "Choose a flop to set this spot up.");

  function drawSide(chart, end) {
    const replies = chart.actions.filter((action) => game.byLine.has(action.next));
    const values = game.values && game.values.map((value, player) => `${player ? "BB" : "SB"} ${fixed(value, 3)} bb`);
    fill(
      parts.side,
      make(
        "dl.panel.preflop-facts",
        {},
        fact("Stacks", `${chips(game.stack)} bb`),
        fact("Value per hand", values ? values.join(" · ") : "not measured"),
        fact("Exploitability", game.exploitability === null ? "not measured" : exploitability(game.exploitability, "mbb/g")),
        game.omitted ? fact("Not shown", `${game.omitted} later decisions: regretless show --line reads them`) : null,
      ),
      game.has_whole_hands &&
        make(".row", {}, make("button.button", { onclick: () => go({ ...DEFAULTS, view: "play", file: game.file }) }, "Play a hand against it")),
      end?.ends === "flop" ? flopPart(end) : null,
      replies.length && !end
        ? make(
            "section.replies",
            { "aria-label": "Replies" },
            make("h2.label", {}, "Replies"),
            make(
              "div",
              {},
              ...replies.map((action) => {
                const reply = game.byLine.get(action.next);
                return make(
                  "button.reply.panel",
                  { onclick: () => move(action.next), title: summaryOf(reply) },
                  make("span", {}, `${reply.seat} after ${labelOf(action)}`),
                  smallChart(reply, order),
                );
              }),
            ),
          )
        : null,
    );
  }

  const fact = (label, value) => make("div", {}, make("dt.label", {}, label), make("dd", {}, value));

  /** From a line to a spot on a flop: its ranges, pot and stack go to Set up. */
  function flopPart({ next, pot }) {
    const flop = make("input.field", { id: "preflop-flop", placeholder: "Ks 7d 2c", spellcheck: "false", autocomplete: "off" });
    const problem = make("p.problem", { role: "alert" });
    async function setUp(event) {
      event.preventDefault();
      problem.textContent = "";
      const cards = cardsIn(flop.value);
      if (flop.value.trim() && (cards.length !== 3 || new Set(cards).size !== 3)) {
        problem.textContent = `'${flop.value}' is not a flop: give three cards such as Ks 7d 2c`;
        return;
      }
      try {
        const { spot } = await get("/preflop/spot", { file: game.file, line: next });
        if (!root.isConnected) return;
        replaceDraft({ ...spot, board: cards.join(" ") });
        go({ ...DEFAULTS, view: "setup" });
      } catch (error) {
        problem.textContent = error.message;
      }
    }
    const random = async () => {
      const typed = flop.value;
      const { board } = await get("/boards/random", { cards: 3 });
      if (flop.value === typed) flop.value = board;
    };
    return make(
      "form.panel.to-flop",
      { onsubmit: setUp },
      make("h2", {}, `To the flop, pot ${chips(pot)} bb`),
      make("p.hint", {}, "The ranges that arrive here, the pot and the stacks go to Set up."),
      make("label.label", { for: "preflop-flop" }, "Flop"),
      make(".row", {}, flop, make("button.button", { type: "button", onclick: random }, "Random"), make("button.button.primary", {}, "Set up this flop")),
      problem,
    );
  }

  function draw(state) {
    const chart = chartAt(state.line);
    const end = drawStrip(state.line);
    parts.title.textContent = summaryOf(chart);
    parts.chart.show(chart, order, pinned());
    drawSide(chart, end);
    fill(parts.details, pinned() >= 0 ? classDetails(chart, order, pinned()) : make("p.hint", {}, "Choose a class to see its mix."));
    document.title = `${state.line || "first decision"} · ${game.file} · Regretless`;
  }

  function keys() {
    const back = () => (now().line ? move(chartBefore(now().line)) : false);
    const take = (key) => {
      const chart = game?.byLine.get(now().line);
      const action = chart?.actions[Number(key) - 1];
      return action ? move(action.next) : false;
    };
    return [
      { keys: ["ArrowLeft", "Backspace"], shown: "←", label: "back one step", foot: "back", run: back },
      { keys: [..."123456789"], shown: "1 … 9", label: "the line after the first, second, … action", foot: "action", run: (_, key) => take(key) },
      { keys: ["Home"], shown: "Home", label: "first decision", foot: "first decision", run: () => move("") },
    ];
  }

  const chartBefore = (line) => line.split(", ").slice(0, -1).join(", ");

  // --- without a file ---------------------------------------------------------------------------------------------

  async function choose() {
    showFile(null);
    setKeys([]);
    game = parts = null;
    const files = (await listFiles()).filter(({ kind }) => kind === "push-fold" || kind === "holdem-game");
    if (now().view !== "preflop" || now().file) return;
    const stack = make("input.field", { id: "push-fold-stack", inputmode: "decimal" });
    const problem = make("p.problem", { role: "alert" });
    stack.value = 10;
    async function solve(event) {
      event.preventDefault();
      try {
        const given = Number(stack.value);
        if (!(given > 0)) throw new Error(`'${stack.value}' is not a number of big blinds`);
        const { solve: started } = await post("/solves", { game: `push-fold(stack=${given})`, name: `push-fold ${given} bb` });
        go({ ...DEFAULTS, view: "solve", solve: started.id });
      } catch (error) {
        problem.textContent = error.message;
      }
    }
    fill(
      root,
      make(
        ".empty.chooser",
        {},
        make("h1", {}, files.length ? "Open a game from the deal" : "No game from the deal here yet"),
        files.length ? fileLinks(files) : null,
        make(
          "form.row",
          { onsubmit: solve },
          make("label", { for: "push-fold-stack" }, "Push or fold with"),
          stack,
          make("span", {}, "big blinds"),
          make("button.button.primary", {}, "Solve"),
        ),
        problem,
        make("p.hint", {}, "Whole games are solved from the command line and then shown here: regretless solve game.toml"),
      ),
    );
  }

  async function show(state) {
    try {
      if (!state.file) return await choose();
      if (game?.file !== state.file) {
        game = null;
        build();
        const [meta, found] = await Promise.all([aboutServer(), ask(state.file)]);
        if (!found || !root.isConnected || now().file !== found.file) return;
        game = { ...found, byLine: new Map(found.charts.map((chart) => [chart.line, chart])) };
        order = classOrder(meta.classes);
        showFile({ file: found.file, name: found.game });
      }
      draw(now());
    } catch (error) {
      if (!root.isConnected) return;
      game = parts = null;
      fill(
        root,
        make(
          ".empty",
          { role: "alert" },
          make("h2", {}, `${state.file || "The folder"} cannot be shown`),
          make("p", {}, error.message),
          make("a.button", { href: "/preflop" }, "Choose a game"),
        ),
      );
    }
  }

  return {
    show,
    leave() {
      showFile(null);
      document.title = "Regretless";
    },
  };
}
