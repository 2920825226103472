/**
 * The ways to lock a decision: a frequency of the range, one mix for every hand, or an action painted over cells.
 *
 * Each has a root, `show(scene, start)`, `read()` for the locks that it describes, without their node and hands, and
 * `changed` is called while it is edited.
 */

import { CLASSES } from "../shared/cards.js";
import { fill, make, set } from "../shared/dom.js";
import { mixSliders, shareSlider } from "./mix-sliders.js";

const BETS = "bets"; // as in the text of a lock: every bet, raise and all-in
const isBet = ({ kind }) => ["bet", "raise", "all-in"].includes(kind);

const choice = (text, pressed, onclick) => make("button.choice", { "aria-pressed": String(pressed), onclick }, text);

/** How often the range takes an action, or makes any bet; hands that lose least change first. */
export function frequencyLock({ changed, lockNow }) {
  const choices = make(".lock-scope", { role: "group", "aria-label": "What is locked to a frequency" });
  const quick = make(".row");
  const row = make(".lock-action.frequency");
  const hint = make("p.hint", {}, "Of the whole range. Hands that lose least by it change first.");
  const root = make(".lock-kind", {}, make(".row", {}, choices, make("span.spring"), quick), row, hint);
  let [scene, target, share] = [null, "", 0];
  const { slider, number, draw } = shareSlider("Frequency, percent", (to) => ((share = to), draw(to), changed()));
  fill(row, make("span", {}, "how often, %"), slider, number);

  const places = () =>
    scene.node.actions.map((_, place) => place).filter((place) => target === BETS ? isBet(scene.node.actions[place]) : scene.node.actions[place].name === target);

  function choose(to) {
    target = to;
    share = places().reduce((sum, place) => sum + (scene.node.actions[place].frequency ?? 0), 0);
    draw(share);
    drawChoices();
    changed();
  }

  function drawChoices() {
    const { actions } = scene.node;
    const together = actions.some(({ kind }) => kind === "fold" || kind === "call") ? "raises" : "bets";
    const lone = actions.filter(isBet).length === 1; // then "bets" says it all
    const names = [
      ...(actions.some(isBet) ? [[BETS, together]] : []),
      ...actions.filter((each) => !lone || !isBet(each)).map(({ name }) => [name, scene.labels[name]]),
    ];
    fill(choices, ...names.map(([name, label]) => choice(label, name === target, () => choose(name))));
    const verb = names.find(([name]) => name === target)[1];
    const always = (text, to) => make("button.button", { onclick: () => ((share = to), draw(share), changed(), lockNow()) }, text);
    fill(quick, always(`Never ${verb}`, 0), always(`Always ${verb}`, 1));
  }

  return {
    label: "Frequency",
    root,
    show(given) {
      scene = given;
      const { actions } = scene.node;
      const known = target === BETS ? actions.some(isBet) : actions.some(({ name }) => name === target);
      if (!known || scene.moved) choose(actions.some(isBet) ? BETS : actions[0].name);
      else drawChoices();
    },
    read: () => [{ source: scene.file.file, frequencies: { [target]: share } }],
    leave: () => {},
  };
}

export function mixLock({ changed }) {
  const sliders = mixSliders(changed);
  const root = make(".lock-kind", {}, sliders.root, make("p.hint", {}, "Every hand plays this mix."));
  let scene = null;
  return {
    label: "One mix",
    root,
    show(given) {
      scene = given;
      const { node, colours, classes, state } = scene;
      const cell = scene.acts && state.pin ? classes[CLASSES.indexOf(state.pin)] : null;
      const start = cell ? cell.mix : node.actions.map((action) => action.frequency ?? 1 / node.actions.length);
      if (scene.moved) sliders.show(node.actions, scene.labels, colours, start);
    },
    read() {
      const shares = sliders.read();
      return [{ strategy: Object.fromEntries(scene.node.actions.map(({ name }, place) => [name, shares[place]])) }];
    },
    leave: () => {},
  };
}

/** `grid` is the grid of the browse view, whose cells are brushed. */
export function paintedLock({ changed, grid }) {
  const choices = make(".lock-scope", { role: "group", "aria-label": "Action of the brush" });
  const clear = make("button.button", { onclick: () => (cells.clear(), draw()) }, "Clear");
  const hint = make("p.hint", {}, "Choose an action and drag over cells of the grid: all hands of a cell take it.");
  const root = make(".lock-kind", {}, choices, hint, make(".row", {}, clear));
  const cells = new Map(); // class -> place of the action
  let [scene, action] = [null, 0];

  function brush(name) {
    if (!scene.classes[CLASSES.indexOf(name)] || cells.get(name) === action) return;
    cells.set(name, action);
    draw();
  }

  function draw() {
    grid.setPainted(new Map([...cells].map(([name, place]) => [name, scene.colours[place]])));
    set(clear, { disabled: !cells.size });
    changed();
  }

  function drawChoices() {
    fill(
      choices,
      ...scene.node.actions.map(({ name }, place) =>
        choice(scene.labels[name], place === action, () => ((action = place), drawChoices())),
      ),
    );
    choices.querySelectorAll("button").forEach((button, place) =>
      button.prepend(make("span.swatch", { style: { background: scene.colours[place] } })),
    );
  }

  return {
    label: "Paint",
    root,
    paints: true,
    show(given) {
      scene = given;
      if (scene.moved) cells.clear();
      action = Math.min(action, scene.node.actions.length - 1);
      drawChoices();
      grid.setBrush(scene.acts ? brush : null);
      draw();
    },
    /** A lock per action, each with its own hands. */
    read: () =>
      scene.node.actions.flatMap(({ name }, place) => {
        const hands = [...cells].filter(([, each]) => each === place).map(([each]) => each);
        return hands.length ? [{ hands: hands.join(","), strategy: { [name]: 1 } }] : [];
      }),
    leave() {
      grid.setBrush(null);
      grid.setPainted(new Map());
    },
  };
}
