/**
 * Locking: fix how a player acts here, with every hand, the pinned class, the filtered hands or hands given as text;
 * then solve the spot again around the locks.
 */

import { post } from "../shared/api.js";
import { debounced, fill, make, set } from "../shared/dom.js";
import { percent } from "../shared/format.js";
import { DEFAULTS, go } from "../shared/state.js";
import { readFilter } from "./filter.js";
import { addLock, describeLock, draftLocks, keepLocks, keepUnlocked, lockBody, unlocked } from "./lock-draft.js";
import { frequencyLock, mixLock, paintedLock } from "./lock-kinds.js";
import { readHands } from "./scene.js";

/** `changed()` is called when the locks change; `grid` is painted on. */
export function lockTab({ changed, grid }) {
  const title = make("h3.label");
  const problem = make("p.problem", { role: "status" });
  const text = make("input.field", {
    "aria-label": "Hands to lock, as a range",
    placeholder: "hands as a range: KK, AhKh",
    spellcheck: "false",
  });
  const scopes = make(".lock-scope", { role: "group", "aria-label": "Which hands" });
  const measure = debounced(showEffect, 120);
  const kinds = {
    frequency: frequencyLock({ changed: measure, lockNow: setLock }),
    mix: mixLock({ changed: measure }),
    paint: paintedLock({ changed: measure, grid }),
  };
  const kindChoices = make(".lock-scope", { role: "group", "aria-label": "How to lock" });
  const kindContent = make("div");
  const effect = make("p.lock-effect", { role: "status" });
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
    kindChoices,
    kindContent,
    everywhereRow,
    make(".row", {}, add, keep),
    effect,
    problem,
  );
  const list = make("section", { "aria-label": "Locks" });
  const root = make(".lock-tab.scroll", {}, editor, list);
  let scene = null;
  let scope = "node";
  let kind = "frequency";
  let measured = { wanted: "", found: null }; // the effect of the locks described last, once it is known

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

  /** The locks that are described now; a lock that is painted has hands of its own. */
  async function described() {
    const parts = kinds[kind].read();
    const shared = kinds[kind].paints ? "" : await hands();
    return parts.map((part) => ({ node: place(), hands: shared, ...part }));
  }

  /** What a lock changes here, or an error if the server refuses it. */
  async function check(lock) {
    const { valid, errors, effect: found } = await post("/locks/check", {
      file: scene.file.file,
      lock: lockBody(lock),
      line: scene.node.line,
    });
    if (!valid) throw new Error(errors.map(({ field, message }) => [field, message].filter(Boolean).join(": ")).join("; "));
    return found;
  }

  /** Add locks, once the server finds nothing wrong with them. */
  async function lockTo(locks) {
    const { file } = scene.file;
    problem.textContent = "";
    try {
      const effects = await Promise.all(locks.map(check));
      locks.forEach((lock, each) => addLock(file, { ...lock, after: locks.length === 1 ? effects[each].after : null, lost: effects[each].ev_lost }));
      drawList();
      changed();
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  async function setLock() {
    try {
      const locks = await described();
      if (!locks.length) throw new Error("Paint some cells first.");
      await lockTo(locks);
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  async function lockAsPlayed() {
    await lockTo([{ node: place(), hands: scope === "text" && !text.value.trim() ? "" : await hands(), source: scene.file.file }]);
  }

  /** What the described lock would change, while it is edited; what is wrong with it is said when it is set. */
  async function showEffect() {
    if (scene?.node.kind !== "decision" || !root.isConnected) return;
    try {
      const locks = await described();
      const wanted = JSON.stringify([locks, scene.node.revision, scene.node.line]);
      if (measured.wanted !== wanted) {
        const mine = { wanted, found: null };
        measured = mine;
        mine.found = await Promise.all(locks.map(check));
        if (measured !== mine) return; // other locks are described by now
      }
      if (measured.found) fill(effect, ...effectText(measured.found));
    } catch {
      measured = { wanted: "", found: null };
      fill(effect);
    }
  }

  function effectText(found) {
    if (!found.length) return [];
    const { amounts, labels, node } = scene;
    const lost = found.reduce((sum, each) => sum + each.ev_lost, 0);
    const mix = found.length === 1 ? found[0] : null;
    const moved = mix?.actions.map((action, each) =>
      make("span", {}, `${labels[action]} ${percent(mix.before[each])} → ${percent(mix.after[each])} %`),
    );
    const share = amounts.unit === "pot" ? "" : ` (${percent(lost / node.pot, 2)} % of the pot)`;
    return [
      ...(moved ?? []),
      make("strong", {}, `${scene.seats[node.player]} loses ${amounts.loss(lost)}${share}`),
      make("span.hint", {}, "at this decision, before anybody adapts"),
    ];
  }

  async function solveAgain() {
    problem.textContent = "";
    const { file, target, name } = scene.file;
    try {
      const { solve } = await post("/solves", {
        again: file,
        locks: draftLocks(file).map(lockBody),
        keep_locks: true,
        drop_locks: unlocked(file),
        target,
        name: `${name || file.replace(/\.rgl$/, "")} locked`,
      });
      keepLocks(file, []);
      keepUnlocked(file, []);
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
            onclick: () => ((scope = key), drawScopes(), measure()),
          },
          label,
        ),
      ),
    );
    text.hidden = scope !== "text";
    scopes.hidden = Boolean(kinds[kind].paints);
  }

  function drawKind(moved) {
    fill(
      kindChoices,
      ...Object.entries(kinds).map(([key, { label }]) =>
        make(
          "button.choice",
          { "aria-pressed": String(key === kind), onclick: () => (kinds[kind].leave(), (kind = key), drawKind(true), drawScopes()) },
          label,
        ),
      ),
    );
    fill(kindContent, kinds[kind].root);
    kinds[kind].show({ ...scene, moved });
  }

  function drawList() {
    const { file } = scene;
    const draft = draftLocks(file.file);
    const left = unlocked(file.file);
    const row = (lock, act, label, off = false) =>
      make(
        `li${off ? ".unlocked" : ""}`,
        {},
        make("span", {}, describeLock(lock), lock.lost > 0 && make("small.hint", {}, ` loses ${scene.amounts.loss(lock.lost)}`)),
        make("button.button", { onclick: act, "aria-label": `${label} the lock: ${describeLock(lock)}` }, label),
      );
    const update = () => (drawList(), changed());
    const remove = (lock) => () => (keepLocks(file.file, draft.filter((each) => each !== lock)), update());
    const toggle = (position, off) => () =>
      (keepUnlocked(file.file, off ? left.filter((each) => each !== position) : [...left, position]), update());
    fill(
      list,
      make("h3.label", {}, draft.length ? "New locks" : "No new locks yet"),
      draft.length > 1 ? make("p.hint", {}, "Where two locks name the same hands, the later one holds.") : null,
      make("ul.lock-list", {}, ...draft.map((lock) => row(lock, remove(lock), "Remove"))),
      make(
        "button.button.primary",
        { onclick: solveAgain, disabled: !draft.length && !left.length },
        left.length && !draft.length ? "Solve again without these locks" : "Solve again with these locks",
      ),
      file.locks?.length ? make("h3.label", {}, "Locked in this solution") : null,
      make(
        "ul.lock-list",
        {},
        ...(file.locks || []).map((lock, position) => {
          const off = left.includes(position);
          return row(lock, toggle(position, off), off ? "Keep" : "Unlock", off);
        }),
      ),
    );
  }

  return {
    root,
    show(given) {
      const samePlace = scene && scene.node === given.node && scene.state.pin === given.state.pin;
      scene = given;
      const { node, seats } = scene;
      const decision = node.kind === "decision";
      for (const part of [scopes, kindChoices, kindContent, add, keep]) part.hidden = !decision;
      set(everywhereRow, { hidden: !decision || !/[2-9TJQKA][cdhs]/.test(node.line) });
      title.textContent = decision
        ? `${seats[node.player]} ${node.line ? `after ${node.line}` : "at the first decision"}`
        : "Only decisions can be locked: choose one in the line above.";
      if (decision) {
        drawScopes();
        drawKind(!samePlace);
      } else {
        kinds[kind].leave();
        fill(effect);
        text.hidden = true;
      }
      drawList();
    },
    /** Another tab is shown. */
    leave: () => kinds[kind].leave(),
  };
}
