/** Starts the page: the header, and the view that the address names. */

import * as browse from "./browse/browse.js";
import { aboutServer } from "./shared/api.js";
import { openDialog } from "./shared/dialog.js";
import { make, fill, set } from "./shared/dom.js";
import { showGlossary } from "./shared/glossary.js";
import { showKeys } from "./shared/keys.js";
import { applyTheme, currentTheme, setTheme, THEMES } from "./shared/settings.js";
import { address, go, now, onChange, DEFAULTS } from "./shared/state.js";
import { chooseFile } from "./shared/files.js";

const VIEWS = [
  { view: "library", label: "Library", load: () => import("./library/library.js") },
  { view: "setup", label: "Set up", load: () => import("./setup/setup.js") },
  { view: "solve", label: "Solve", load: () => import("./solve/solve.js") },
  { view: "browse", label: "Browse", load: async () => browse },
  { view: "studies", label: "Studies", load: () => import("./studies/studies.js") },
  { view: "preflop", label: "Preflop", load: () => import("./preflop/preflop.js") },
  { view: "practice", label: "Practice", load: () => import("./practice/practice.js") },
  { view: "play", below: "practice", load: () => import("./play/play.js") }, // reached from there and from a game
];

const KEPT = { browse: "file", preflop: "file", practice: "file", studies: "study" }; // what a view shows again when it is chosen

let mounted = null; // {view, part}

/** A link that changes the state without loading the page again. */
function stateLink(change, label, properties = {}) {
  return make(
    "a",
    {
      href: address(change),
      onclick: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go(change);
      },
      ...properties,
    },
    label,
  );
}

function showHeader(state) {
  const shown = VIEWS.find((each) => each.view === state.view);
  const links = VIEWS.filter(({ label }) => label).map(({ view, label }) => {
    const ofGame = (name) => name === "preflop" || name === "play"; // what these open, the others cannot
    const alike = ofGame(view) === ofGame(state.view);
    const kept = KEPT[view] && alike ? { [KEPT[view]]: state[KEPT[view]] } : {};
    return stateLink({ ...DEFAULTS, ...kept, view }, label, { "aria-current": [shown.view, shown.below].includes(view) ? "page" : null });
  });
  fill(document.querySelector(".views"), ...links);
}

/** The themes, each applied at once when it is clicked. */
function chooseTheme() {
  const buttons = THEMES.map((theme) => {
    const choose = () => {
      setTheme(theme);
      mark();
    };
    return { theme, root: make("button.button", { onclick: choose }, theme.label) };
  });
  const mark = () => {
    for (const { theme, root } of buttons) set(root, { "aria-pressed": String(theme === currentTheme()) });
  };
  mark();
  openDialog("Look", make(".looks", {}, ...buttons.map((button) => button.root)));
}

function buildHeader() {
  fill(
    document.querySelector(".about-file"),
    make("button.file-name", { title: "Open another file", onclick: chooseFile }, "Open…"),
    make("span.badge", { hidden: true }),
    make(
      "button.icon.change-spot",
      {
        "aria-label": "Set up this spot again",
        title: "Set up this spot again",
        hidden: true,
        onclick: () => go({ ...DEFAULTS, view: "setup", file: now().file }),
      },
      "✎",
    ),
    make("button.icon", { "aria-label": "Glossary", title: "What the words mean", onclick: showGlossary }, "Aa"),
    make("button.icon", { "aria-label": "Change the look", title: "Look", onclick: chooseTheme }, "◐"),
    make("button.icon.list-keys", { "aria-label": "List the keys", title: "Keys", onclick: showKeys }, "?"),
  );
}

/** An element of its own for every view: what an answer that comes too late draws is then seen by nobody. */
function freshMain() {
  const old = document.querySelector("main");
  const main = old.cloneNode(false);
  old.replaceWith(main);
  return main;
}

async function show(state) {
  showHeader(state);
  const { view, load } = VIEWS.find((each) => each.view === state.view);
  if (mounted?.view !== view) {
    mounted?.part?.leave?.();
    const chosen = { view, part: null };
    mounted = chosen;
    const module = await load();
    if (mounted !== chosen) return; // another view was chosen meanwhile
    mounted.part = module.mount(freshMain());
  }
  mounted.part?.show(now());
}

applyTheme();
buildHeader();
onChange(show);
aboutServer().catch(() => {}); // the view that needs it shows the error
show(now());
