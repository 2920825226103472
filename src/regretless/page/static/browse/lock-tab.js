/**
 * Locking: fix how a player acts here, with every hand, the pinned class, the filtered hands or hands given as text;
 * then solve the spot again around the locks.
 */

import { post } from "../shared/api.js";
import { CLASSES } from "../shared/cards.js";
import { fill, make, set } from "../shared/dom.js";
import { DEFAULTS, go } from "../shared/state.js";
import { readFilter } from "./filter.js";
import { addLock, describeLock, draftLocks, keepLocks } from "./lock-draft.js";
import { mixSliders } from "./mix-sliders.js";
import { readHands } from "./scene.js";

export function lockTab({ changed }) {
  const title = make("h3.label");
  const sliders = mixSliders();
  const problem = make("p.problem", { role: "status" });
  const text = make("input.field", {
    "aria-label": "Hands to lock, as a range",
    placeholder: "hands as a range: KK, AhKh",
    spellcheck: "false",
  });
  const scopes = make(".lock-scope", { role: "group", "aria-label": "Which hands" });
  const everywhere = make("input", { type: "checkbox" });
  const everywhereRow = make("label.row.hint", {}, everywhere, "on every card that can come");
  const add = make("button.button.primary", { onclick: setLock }, "Lock");
  const keep = make(
    "button.button",
    { onclick: lockAsPlayed, title: "Keep what this solution plays here" },
    "Lock as played",
  );
  const editor = make(
    "section",
    { "aria-label": "New lock" },
    title,
    scopes,
    text,
    sliders.root,
    everywhereRow,
    make(".row", {}, add, keep),
    problem,
  );
  const list = make("section", { "aria-label": "Locks" });
  const root = make(".lock-tab.scroll", {}, editor, list);
  let scene = null;
  let scope = "node";

  /** The hands to lock, as a range. */
  async function hands() {
    if (scope === "class") return scene.state.pin;
    if (scope === "filter") return filteredHands();
    if (scope === "node") return "";
    if (!text.value.trim()) throw new Error("Give the hands to lock, or choose Whole node.");
    return text.value.trim();
  }

  /** A filter may name categories; a lock names the hands that are in them on this board. */
  async function filteredHands() {
    const { meta, node, state } = scene;
    const { test, error } = await readFilter(state.filter, meta);
    if (error) throw new Error(error);
    const weights = new Array(meta.hands.length).fill(0);
    for (const hand of readHands(meta, node, node.player, true)) if (test(hand)) weights[hand.index] = 1;
    return (await post("/ranges/format", { weights, format: "short" })).text;
  }

  /** The line without its cards, if the lock is to hold whatever cards come. */
  const place = () =>
    everywhere.checked
      ? scene.node.line
          .split(", ")
          .filter((step) => !/^[2-9TJQKA][cdhs]$/.test(step))
          .join(", ")
      : scene.node.line;

  /** Add a lock that plays `strategy`, or what another file plays, once the server finds nothing wrong with it. */
  async function lockTo(played) {
    problem.textContent = "";
    const { file } = scene.file;
    try {
      const lock = { node: place(), hands: await hands(), ...played };
      const { valid, errors } = await post("/locks/check", { file, lock });
      if (!valid)
        throw new Error(errors.map(({ field, message }) => [field, message].filter(Boolean).join(": ")).join("; "));
      addLock(file, lock);
      drawList();
      changed();
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  function setLock() {
    const shares = sliders.read();
    const strategy = Object.fromEntries(
      scene.node.actions.map((action, number) => [action.name, Math.round(1e6 * shares[number]) / 1e6]),
    );
    lockTo({ strategy });
  }

  function lockAsPlayed() {
    lockTo({ source: scene.file.file });
  }

  async function solveAgain() {
    problem.textContent = "";
    const { file, target, name } = scene.file;
    try {
      const { solve } = await post("/solves", {
        again: file,
        locks: draftLocks(file),
        keep_locks: true,
        target,
        name: `${name || file.replace(/\.rgl$/, "")} locked`,
      });
      keepLocks(file, []);
      go({ ...DEFAULTS, view: "solve", solve: solve.id });
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  function drawScopes() {
    const { state } = scene;
    const choices = [
      ["node", "Whole node"],
      ["class", state.pin ? `Class ${state.pin}` : "Pinned class", !state.pin],
      ["filter", state.filter ? `Filter ${state.filter}` : "Filtered hands", !state.filter],
      ["text", "Hands as text"],
    ];
    if (choices.find(([key]) => key === scope)[2]) scope = "node";
    fill(
      scopes,
      ...choices.map(([key, label, off]) =>
        make(
          "button.choice",
          {
            "aria-pressed": String(key === scope),
            disabled: Boolean(off),
            onclick: () => ((scope = key), drawScopes()),
          },
          label,
        ),
      ),
    );
    text.hidden = scope !== "text";
  }

  function drawList() {
    const { file } = scene;
    const draft = draftLocks(file.file);
    const row = (lock, drop) =>
      make(
        "li",
        {},
        make("span", {}, describeLock(lock)),
        drop
          ? make("button.button", { onclick: drop, "aria-label": `Remove the lock: ${describeLock(lock)}` }, "Remove")
          : null,
      );
    fill(
      list,
      make("h3.label", {}, draft.length ? "New locks" : "No new locks yet"),
      draft.length > 1 ? make("p.hint", {}, "Where two locks name the same hands, the later one holds.") : null,
      make(
        "ul.lock-list",
        {},
        ...draft.map((lock) =>
          row(
            lock,
            () => (
              keepLocks(
                file.file,
                draft.filter((each) => each !== lock),
              ),
              drawList(),
              changed()
            ),
          ),
        ),
      ),
      make("button.button.primary", { onclick: solveAgain, disabled: !draft.length }, "Solve again with these locks"),
      file.locks?.length ? make("h3.label", {}, "Locked in this solution") : null,
      make("ul.lock-list", {}, ...(file.locks || []).map((lock) => row(lock))),
    );
  }

  return {
    root,
    show(given) {
      const samePlace = scene && scene.node === given.node && scene.state.pin === given.state.pin;
      scene = given;
      const { node, colours, classes, state } = scene;
      const decision = node.kind === "decision";
      for (const part of [scopes, sliders.root, add, keep]) part.hidden = !decision;
      set(everywhereRow, { hidden: !decision || !/[2-9TJQKA][cdhs]/.test(node.line) });
      text.hidden = !decision || scope !== "text";
      title.textContent = decision
        ? `${node.player.toUpperCase()} ${node.line ? `after ${node.line}` : "at the first decision"}`
        : "Only decisions can be locked: choose one in the line above.";
      drawScopes();
      if (!decision) text.hidden = true;
      if (decision && !samePlace) {
        const cell = scene.acts && state.pin ? classes[CLASSES.indexOf(state.pin)] : null;
        sliders.show(
          node.actions,
          colours,
          cell ? cell.mix : node.actions.map((action) => action.frequency ?? 1 / node.actions.length),
        );
      }
      drawList();
    },
  };
}
