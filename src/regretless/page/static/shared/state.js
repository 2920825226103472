/**
 * What the page shows, as one object that mirrors the address bar: /browse?file=turn.rgl&line=check.
 *
 * Everything a link must reopen is here; what belongs to the reader (theme, own presets, drafts) is in settings.js.
 */

export const DEFAULTS = Object.freeze({
  view: "browse",
  file: "", // of the folder that is served
  line: "", // "check, bet 40, call, Th"
  player: "", // whose range the grid shows; "": the player who acts
  tab: "hands",
  number: "ev", // what each cell of the grid shows
  colour: "action", // what its colours mean
  fill: "weight", // how much of a cell is coloured: its weight in the range, or the whole cell
  pin: "", // pinned class; of a study, the flop opened last
  versus: "", // a second class beside it
  filter: "", // of the table of hands, or of flops
  sort: "-ev", // its column, "-" for largest first
  cards: "", // how the cards that can come are shown: "" as a deck, "-bets" as a table sorted by bets
  other: "", // file to compare with
  solve: "", // in the solve view
  find: "", // in the table of a small game, or in the library
  folder: "", // of the library
  session: "", // of practice with many solutions, or of whole hands
  study: "", // folder of a study
  variation: "1", // which of its combinations of varied values
});

/** What stays as it is from one view to the next, unless it is changed itself. */
const KEPT = Object.freeze({
  unit: "", // of amounts: chips, bb, pot; "": what the spot is written in
});

const VIEWS = ["library", "setup", "solve", "browse", "studies", "preflop", "practice", "play"];
const listeners = [];
let current = read();

/** Without a file there is nothing to browse: the library has the files. */
function settled(state) {
  return state.view === "browse" && !state.file ? { ...state, view: "library" } : state;
}

function read() {
  const query = new URLSearchParams(location.search);
  const view = location.pathname.split("/")[1];
  const state = { ...DEFAULTS, ...KEPT, view: VIEWS.includes(view) ? view : "library" };
  for (const name of Object.keys(state)) if (name !== "view" && query.has(name)) state[name] = query.get(name);
  return settled(state);
}

/** The address of a state; fields with their default value are left out. */
export function address(change = {}) {
  const state = { ...current, ...change };
  const query = Object.entries(state)
    .filter(([name, value]) => name !== "view" && value !== { ...DEFAULTS, ...KEPT }[name])
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%20", "+").replaceAll("%2C", ",")}`);
  return `/${state.view}${query.length ? `?${query.join("&")}` : ""}`;
}

export const now = () => current;

/** Change some fields: `remember` adds a step to the browser's history, as a new place to go back to. */
export function go(change, { remember = true } = {}) {
  const before = address();
  current = settled({ ...current, ...change });
  const after = address();
  if (after !== before) history[remember ? "pushState" : "replaceState"](null, "", after);
  for (const listener of listeners) listener(current);
}

export function onChange(listener) {
  listeners.push(listener);
}

addEventListener("popstate", () => {
  current = read();
  for (const listener of listeners) listener(current);
});
