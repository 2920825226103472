/** The tree of parts of the browse view: strip, action bar, grid, summary, pinned class and tabs. */

import { fill, make, set } from "../shared/dom.js";
import { DEFAULTS } from "../shared/state.js";
import { actionBar } from "./action-bar.js";
import { cardsTab, reportsAt } from "./cards-tab.js";
import { compareTab } from "./compare-tab.js";
import { findHand } from "./find.js";
import { graphTab } from "./graph.js";
import { handGrid } from "./grid.js";
import { handTable } from "./hand-table.js";
import { locksOf } from "./lock-draft.js";
import { lockTab } from "./lock-tab.js";
import { madeHands } from "./made-hands.js";
import { pinnedClass } from "./pinned.js";
import { rangesTab } from "./ranges-tab.js";
import { COLOURS, NUMBERS, readScene, sound } from "./scene.js";
import { lineStrip } from "./strip.js";
import { summary } from "./summary.js";
import { takeAway } from "./take-away.js";
import { UNITS } from "../shared/units.js";

/** The tab that opens at a node: at a chance node, the cards to choose from unless another tab was chosen. */
export const openTab = ({ node, state }) => (node.kind === "chance" && state.tab === "hands" ? "cards" : state.tab);

export function spotParts({ go, change }) {
  let scene = null;
  let previewed = null;

  const find = () => findHand((name) => pin(name));
  const pin = (name, second = false) => {
    previewed = null; // the mouse may rest on another cell while arrows move the pin
    if (second && scene.state.pin) change({ versus: name === scene.state.versus ? "" : name });
    else change({ pin: name, versus: "" });
  };
  const preview = (name) => {
    if (name === previewed) return;
    previewed = name;
    if (scene) pinned.show(scene, shownClasses());
  };
  const shownClasses = () =>
    previewed && previewed !== scene.state.pin && !scene.state.versus
      ? [previewed]
      : [scene.state.pin, scene.state.versus];

  const strip = lineStrip(go, () => change({ tab: "cards" }));
  const bar = actionBar(go, () => change({ filter: "" }));
  const grid = handGrid("Strategy by class", { preview, pin });
  set(grid.root, { "aria-description": "Arrows move the pin, Tab shows the other player's range, Escape leaves the grid" });
  const controls = gridControls(change, () => takeAway(scene, root));
  const players = summary((player) => change({ player }));
  const pinned = pinnedClass(find);
  const hands = handTable({ change, pin: (name) => pin(name) });
  const tabs = {
    hands: { label: "Hands", part: hands },
    made: { label: "Made hands", part: madeHands((label) => change({ tab: "hands", filter: label })) },
    ranges: { label: "Ranges", part: rangesTab() },
    graph: { label: "Graph", part: graphTab() },
    cards: { label: "Cards", part: cardsTab(go, change) },
    lock: { label: "Lock", part: lockTab({ changed: () => showStrip(), grid }) },
    compare: { label: "Compare", part: compareTab({ change, go }) },
  };
  const tabList = tabBar(tabs, (tab) => change({ tab }));
  const content = make(".tab-content", { role: "tabpanel", id: "tab-content" });

  const root = make(
    ".browse",
    {},
    strip.root,
    make(
      ".browse-body",
      {},
      make(".browse-left", {}, bar.root, grid.root, controls.root),
      make(".browse-right", {}, players.root, pinned.root, tabList.root, content),
    ),
  );

  function showStrip() {
    const { file, node, state } = scene;
    strip.show({ strip: node.strip, locks: locksOf(file), unit: state.unit, spot: file.spot });
  }

  return {
    root,
    grid,
    find,
    takeAway: () => takeAway(scene, root),
    fillOther: () => change({ fill: scene.state.fill === "whole" ? "weight" : "whole" }),
    show(given) {
      const before = scene;
      scene = readScene({ ...given, state: sound(given.state) });
      const { node, state } = scene;
      if (before?.node !== node || before.state.unit !== state.unit) showStrip();
      bar.show(scene);
      grid.show({
        classes: scene.classes,
        actions: scene.actions,
        colours: scene.colours,
        amounts: scene.amounts,
        number: state.number,
        colour: state.colour,
        whole: state.fill === "whole",
        pinned: state.pin,
        versus: state.versus,
      });
      controls.show(scene);
      players.show(scene);
      pinned.show(scene, shownClasses());
      const tab = tabs[openTab(scene)] ? openTab(scene) : DEFAULTS.tab;
      const { part } = tabs[tab];
      if (content.firstElementChild !== part.root) fill(content, part.root);
      set(content, { "aria-labelledby": `tab-${tab}` });
      if (tab !== "lock") tabs.lock.part.leave();
      tabList.show(tab, scene, part.beside);
      part.show(scene);
      if (tab === "hands" && before && state.pin !== before.state.pin) hands.reveal(state.pin);
      return scene;
    },
  };
}

/** How the grid and its numbers are shown; each choice is in the address. */
function gridControls(change, share) {
  const menu = (field, label, values, sign = "") => {
    const options = Object.entries(values).map(([key, each]) => make("option", { value: key }, sign + each.label));
    const root = make("select.field", { "aria-label": label, title: label, onchange: () => change({ [field]: root.value }) }, ...options);
    return { root, show: (value) => (root.value = value) };
  };
  const colour = menu("colour", "Colours of the grid", COLOURS, "◩ ");
  const number = menu("number", "Number in each cell", NUMBERS, "# ");
  const unit = menu("unit", "Unit of all amounts", UNITS);
  const whole = make(
    "button.choice",
    { title: "Fill every cell, however little of it is in the range", onclick: () => change({ fill: pressed() ? "weight" : "whole" }) },
    "whole cells",
  );
  const away = make("button.icon.spring", { "aria-label": "Take away", title: "Ranges, tables, pictures, a link", onclick: share }, "⤓");
  const pressed = () => whole.getAttribute("aria-pressed") === "true";
  return {
    root: make(".grid-controls", {}, colour.root, number.root, whole, unit.root, away),
    show({ state, file, amounts }) {
      colour.show(state.colour);
      number.show(state.number);
      const known = Boolean(file.spot?.big_blind);
      const bb = unit.root.querySelector("[value=bb]");
      set(bb, { disabled: !known });
      bb.textContent = known ? UNITS.bb.label : "big blinds: not known";
      unit.show(amounts.unit);
      set(whole, { "aria-pressed": String(state.fill === "whole") });
    },
  };
}

function tabBar(tabs, choose) {
  const keys = Object.keys(tabs);
  const buttons = keys.map((key) =>
    make(
      "button",
      { role: "tab", id: `tab-${key}`, "aria-controls": "tab-content", onclick: () => choose(key) },
      tabs[key].label,
    ),
  );
  const beside = make(".beside");
  let shown = "";
  const list = make(".tab-list", { role: "tablist", "aria-label": "What to show" }, ...buttons);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const place = (buttons.indexOf(event.target) + step + keys.length) % keys.length;
    buttons[place].focus();
    choose(keys[place]);
  });
  return {
    root: make(".tabs", {}, list, beside),
    show(tab, { node }, besideTab) {
      keys.forEach((key, place) =>
        set(buttons[place], { "aria-selected": String(key === tab), tabindex: key === tab ? 0 : -1 }),
      );
      if (tab !== shown) {
        const chosen = buttons[keys.indexOf(tab)];
        requestAnimationFrame(() => (list.scrollLeft = chosen.offsetLeft - list.offsetLeft - 48)); // on a phone
        shown = tab;
      }
      buttons[keys.indexOf("cards")].textContent = cardsLabel(node);
      if (besideTab !== beside.firstElementChild) fill(beside, besideTab);
    },
  };
}

/** "River cards": the cards that the tab opens with. */
function cardsLabel(node) {
  const street = reportsAt(node)[0]?.street;
  return street ? `${street[0].toUpperCase()}${street.slice(1)} cards` : "Cards";
}
