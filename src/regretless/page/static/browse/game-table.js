/** A small game: its information sets with a bar of their actions, found by text, a page at a time. */

import { get, latest } from "../shared/api.js";
import { fittedChart } from "../shared/chart.js";
import { mixBackground } from "../shared/colours.js";
import { debounced, fill, make } from "../shared/dom.js";
import { count, fixed, percent, short } from "../shared/format.js";
import { describeCurve } from "../solve/curve.js";

const PAGE = 200;
const ask = latest((fields, signal) => get("/game", fields, signal));

/** Poker's letters have the colours of their actions; actions of other games have colours in order of appearance. */
const LETTERS = {
  f: "var(--fold)",
  p: "var(--call)",
  c: "var(--call)",
  k: "var(--call)",
  b: "var(--bet-3)",
  r: "var(--bet-3)",
};
const COLOURS = [
  "var(--call)",
  "var(--bet-3)",
  "var(--bet-5)",
  "var(--bet-1)",
  "var(--fold)",
  "var(--bet-4)",
  "var(--bet-2)",
];

const gameColours = (actions) =>
  actions.every((action) => action in LETTERS)
    ? actions.map((action) => LETTERS[action])
    : actions.map((_, place) => COLOURS[place % COLOURS.length]);

export function gameTable(file, change) {
  const search = make("input.field", {
    type: "search",
    "aria-label": "Find information sets",
    placeholder: "find, for example K",
    spellcheck: "false",
    oninput: debounced(() => root.isConnected && change({ find: search.value.trim() })),
  });
  const found = make("span.hint", { role: "status" });
  const about = make("section.game-about.panel", { "aria-label": "About the solution" });
  const body = make("tbody");
  const head = make("tr");
  const more = make("button.button", { hidden: true, onclick: () => load(shown.find, shown.sets.length) }, "Show more");
  const root = make(
    ".game",
    {},
    about,
    make(
      "section.game-sets",
      {},
      make(".row", {}, search, found),
      make(
        ".scroll.panel",
        { tabindex: 0, role: "region", "aria-label": "Information sets" },
        make("table", {}, make("thead", {}, head), body),
        more,
      ),
    ),
  );
  let shown = { find: null, sets: [] };
  let wanted = null; // what is to be found, from when it is asked

  async function load(find, offset) {
    wanted = find;
    const answer = await ask({ file: file.file, find, offset, most: PAGE });
    if (!answer) return;
    const sets = offset ? [...shown.sets, ...answer.sets] : answer.sets;
    shown = { find, sets };
    const colours = gameColours(answer.actions);
    if (!offset) fill(about, ...facts(answer));
    fill(head, ...["Information set", "Strategy", ...answer.actions].map((text) => make("th", { scope: "col" }, text)));
    fill(body, ...sets.map((set) => row(set, answer.actions, colours)));
    found.textContent = `${count(answer.found)} of ${count(answer.information_sets)} information sets`;
    more.hidden = sets.length >= answer.found;
  }

  return {
    root,
    focusSearch: () => search.focus(),
    async show(state) {
      if (document.activeElement !== search) search.value = state.find;
      if (state.find !== wanted) await load(state.find, 0);
    },
  };
}

function row(set, actions, colours) {
  const share = (action) => set.probabilities[set.actions.indexOf(action)];
  const shares = actions.map((action) => share(action) ?? 0);
  return make(
    "tr",
    {},
    make("td.key", {}, set.key || "(start)"),
    make("td", {}, make("span.mix", { style: { background: mixBackground(shares, colours) } })),
    ...actions.map((action) => make("td", {}, share(action) === undefined ? "" : percent(share(action)))),
  );
}

/** What the names of information sets mean, by the name of the game without its options. */
const LEGENDS = {
  kuhn: "0:pb is the lowest card after a pass and a bet. p: check or fold, b: bet or call.",
  leduc:
    "Ks:cr is the king of spades after a check and a bet. f: fold, c: check or call, r: bet or raise; " +
    "the public card follows a slash.",
};

function facts(answer) {
  const entry = (label, value) => make("div", {}, make("dt.label", {}, label), make("dd", {}, value));
  const measured = answer.curve?.filter((point) => point[2] > 0).length > 1;
  const chart = fittedChart();
  chart.show(measured ? describeCurve(answer.curve) : null);
  const legend = LEGENDS[answer.game.split("(")[0]];
  return [
    make("h1", {}, answer.game),
    legend && make("p.hint", {}, legend),
    make(
      "dl",
      {},
      ...answer.values.map((value, player) => entry(`Value to player ${player}`, fixed(value, 4))),
      entry("Exploitability", short(answer.exploitability)),
      entry("Iterations", count(answer.iterations)),
      entry("Variant", answer.variant ?? "–"),
    ),
    measured ? make("figure", {}, make("figcaption.label", {}, "Exploitability per game"), chart.root) : null,
  ];
}
