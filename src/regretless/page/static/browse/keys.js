/** The keys of the browse view. */

import { DECK } from "../shared/cards.js";
import { reportsAt } from "./cards-tab.js";
import { COLOURS, NUMBERS, OTHER } from "./scene.js";
import { UNITS } from "../shared/units.js";
import { openTab } from "./spot-parts.js";

const TABS = { h: "hands", m: "made", g: "graph", t: "cards", l: "lock", o: "ranges", v: "compare" };
const KINDS = { f: ["fold"], c: ["check", "call"], b: ["bet"], r: ["raise"], a: ["all-in"] };

export function browseKeys({ scene, parts, move, change }) {
  const decision = () => scene()?.node.kind === "decision";
  const chance = () => scene()?.node.kind === "chance";
  const visited = new Map(); // line -> the step taken from it last, for →
  let rank = ""; // the first half of a card typed at a chance node; any other key drops it

  const parent = () => scene().node.parent;

  function back() {
    if (!scene() || parent() === null) return false;
    visited.set(parent(), scene().node.line);
    move(parent());
  }

  function forward() {
    if (!scene()) return false;
    const { node } = scene();
    const known = visited.get(node.line);
    if (known !== undefined) return move(known);
    if (chance()) return move([node.line, DECK.find((card) => !node.board.includes(card))].filter(Boolean).join(", "));
    const likely = node.actions.toSorted((a, b) => b.frequency - a.frequency)[0];
    return likely ? move(likely.next) : false;
  }

  /** The neighbouring action of the previous decision, or the next card of the deck. */
  function sideways(step) {
    if (!scene() || parent() === null) return false;
    const { node } = scene();
    const before = node.strip.findLast((tile) => tile.kind === "decision" && tile.taken !== null);
    const last = node.line.split(", ").at(-1);
    if (DECK.includes(last)) {
      const cards = DECK.filter((card) => card === last || !node.board.includes(card));
      return move(
        [reportsAt(node)[0].line, cards.at((cards.indexOf(last) + step) % cards.length)].filter(Boolean).join(", "),
      );
    }
    return move(before.actions.at((before.taken + step) % before.actions.length).next);
  }

  function takeNumber(key) {
    const action = scene().node.actions[Number(key) - 1];
    return action ? move(action.next) : false;
  }

  function takeKind(key) {
    const action = scene().node.actions.find((each) => KINDS[key].includes(each.kind));
    return action ? move(action.next) : false;
  }

  /** At a chance node two letters name the card: T, then H. */
  function typeCard(key) {
    if ("akqjt98765432".includes(key)) {
      rank = key.toUpperCase();
      return true;
    }
    const card = rank + key;
    rank = "";
    const { node } = scene();
    return DECK.includes(card) && !node.board.includes(card)
      ? move([node.line, card].filter(Boolean).join(", "))
      : false;
  }

  function otherPlayer() {
    change({ player: OTHER[scene().player] });
  }

  /** The next of the values that a field of the state can have. */
  function next(field, values) {
    const keys = Object.keys(values);
    const { state, amounts } = scene();
    change({ [field]: keys[(keys.indexOf(state[field] || amounts[field]) + 1) % keys.length] });
  }

  function openTabOf(key) {
    change({ tab: openTab(scene()) === TABS[key] ? "hands" : TABS[key] });
  }

  const inGrid = (event) => event.target.closest?.(".grid");

  const card = {
    keys: [..."akqjt98765432cdhs"],
    shown: "T H",
    label: "at a card to come: its rank and suit",
    when: (event) => chance() && (rank || !"cdhs".includes(event.key.toLowerCase())),
    run: (_, key) => typeCard(key),
  };
  const others = [
    { keys: ["ArrowLeft", "Backspace"], shown: "←", label: "back one step", run: back },
    { keys: ["ArrowRight"], shown: "→", label: "forward: where you just were, or else the most likely action", run: forward },
    { keys: [], shown: "← →", foot: "line" },
    { keys: ["ArrowUp"], shown: "↑", label: "the neighbouring action or card, upwards", run: () => sideways(-1) },
    { keys: ["ArrowDown"], shown: "↓", label: "the neighbouring action or card, downwards", run: () => sideways(1) },
    { keys: ["Home"], shown: "Home", label: "first decision", run: () => move("") },
    {
      keys: [..."123456789"],
      shown: "1 … 9",
      label: "take the first, second, … action",
      foot: "action",
      when: decision,
      run: (_, key) => takeNumber(key),
    },
    { keys: ["f"], shown: "F", label: "fold", when: decision, run: (_, key) => takeKind(key) },
    { keys: ["c"], shown: "C", label: "check or call", when: decision, run: (_, key) => takeKind(key) },
    { keys: ["b"], shown: "B", label: "smallest bet", when: decision, run: (_, key) => takeKind(key) },
    { keys: ["r"], shown: "R", label: "smallest raise", when: decision, run: (_, key) => takeKind(key) },
    { keys: ["a"], shown: "A", label: "all-in", when: decision, run: (_, key) => takeKind(key) },
    {
      keys: ["Tab"],
      shown: "Tab",
      label: "other player, when the grid has focus (Esc leaves the grid)",
      when: (event) => inGrid(event) && !event.shiftKey,
      run: otherPlayer,
    },
    { keys: ["p"], shown: "P", label: "other player", foot: "other player", when: scene, run: otherPlayer },
    {
      keys: ["Escape"],
      shown: "Esc",
      label: "unpin, and leave the grid",
      foot: "unpin, leave the grid",
      run: () => (document.activeElement?.blur(), change({ pin: "", versus: "" })),
    },
    {
      keys: ["e"],
      shown: "E",
      label: "number in each cell: EV, equity, EQR, …",
      foot: "number",
      when: scene,
      run: () => next("number", NUMBERS),
    },
    { keys: ["d"], shown: "D", label: "colours: actions, EV, equity, EV lost", when: scene, run: () => next("colour", COLOURS) },
    { keys: ["w"], shown: "W", label: "cells filled by weight, or whole", when: scene, run: () => parts.fillOther() },
    { keys: ["u"], shown: "U", label: "amounts in chips, big blinds, % of the pot", when: scene, run: () => next("unit", UNITS) },
    { keys: ["x"], shown: "X", label: "take away: ranges, tables, pictures, a link", foot: "take away", when: scene, run: () => parts.takeAway() },
    { keys: ["i"], shown: "I", label: "into the grid: arrows then move the pin", run: () => parts.grid.focus() },
    { keys: ["/"], shown: "/", label: "find a hand", foot: "find hand", when: scene, run: parts.find },
    {
      keys: ["t"],
      shown: "T",
      label: "cards that can come (at a card to come: the ten)",
      foot: "cards",
      when: scene,
      run: (_, key) => openTabOf(key),
    },
    { keys: ["l"], shown: "L", label: "lock", foot: "lock", when: scene, run: (_, key) => openTabOf(key) },
    { keys: ["h"], shown: "H", label: "table of hands", when: scene, run: (_, key) => openTabOf(key) },
    { keys: ["m"], shown: "M", label: "made hands", when: scene, run: (_, key) => openTabOf(key) },
    { keys: ["g"], shown: "G", label: "graph", when: scene, run: (_, key) => openTabOf(key) },
    { keys: ["o"], shown: "O", label: "both ranges", when: scene, run: (_, key) => openTabOf(key) },
    { keys: ["v"], shown: "V", label: "compare two solutions", when: scene, run: (_, key) => openTabOf(key) },
  ];
  return [
    card,
    ...others.map((each) => ({ ...each, run: (event, key) => ((rank = ""), each.run(event, key)) })),
  ];
}

export function gameKeys(game) {
  return [{ keys: ["/"], shown: "/", label: "find an information set", foot: "find", run: game.focusSearch }];
}
