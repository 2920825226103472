/**
 * The spot being set up, nested like its TOML file, kept in this browser until it is solved or replaced; and its past,
 * so that every change can be undone.
 *
 * Fields hold what was typed, valid or not; the server judges them. A field that is left empty is not sent, so its
 * default applies; "none" stands for the empty text, which means no bets of that kind. Sizes are in the table of their
 * street and player.
 */

import { store, stored } from "../shared/settings.js";

const EMPTY = {
  name: "",
  board: "",
  pot: "",
  stack: "",
  oop: { range: "" },
  ip: { range: "" },
  bets: {},
  rules: {},
};
const MOST_STEPS = 200; // that can be undone
const PAUSE = 1000; // ms between changes of a field that are undone one by one

export const NO_SIZES = "none";
export const STREETS = { 3: ["flop", "turn", "river"], 4: ["turn", "river"], 5: ["river"] };

let spot = stored("draft", null) ?? structuredClone(EMPTY);
let past = []; // as JSON, the latest last
let future = [];
let latest = { path: null, time: 0 };
let grouped = false;

/** Whether nothing has been set up in this browser yet. */
export const isFirst = () => stored("draft", null) === null;

/** A change is about to be made: of a field that is typed in, or of anything. */
function remember(path = null) {
  if (grouped) return;
  const time = Date.now();
  const goesOn = path !== null && path === latest.path && time - latest.time < PAUSE;
  latest = { path, time };
  if (goesOn) return;
  past = [...past, JSON.stringify(spot)].slice(-MOST_STEPS);
  future = [];
}

/** Several changes that are undone at once. */
export function together(work) {
  remember();
  grouped = true;
  try {
    work();
  } finally {
    grouped = false;
  }
}

export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;
export const undo = () => step(past, future);
export const redo = () => step(future, past);

function step(from, to) {
  if (!from.length) return;
  to.push(JSON.stringify(spot));
  spot = JSON.parse(from.pop());
  latest = { path: null, time: 0 };
  store("draft", spot);
}

export function replaceDraft(given) {
  remember();
  spot = { ...structuredClone(EMPTY), ...structuredClone(given) };
  store("draft", spot);
}

/** Ranges, board and amounts go; sizes and rules stay. */
export function clearDraft() {
  replaceDraft({ bets: spot.bets, rules: spot.rules });
}

/** Each player gets the other's range, position and sizes. */
export function swapSeats() {
  together(() => {
    [spot.oop, spot.ip] = [spot.ip, spot.oop];
    if (spot.raiser) spot.raiser = spot.raiser === "ip" ? "oop" : "ip";
    for (const table of Object.values(spot.bets)) {
      const { donk, ...oop } = table.oop ?? {};
      table.oop = { ...table.ip, ...(donk === undefined ? {} : { donk }) };
      table.ip = oop;
    }
  });
  store("draft", spot);
}

export const draftLocks = () => spot.locks ?? [];

export function removeLock(place) {
  remember();
  spot.locks = draftLocks().toSpliced(place, 1);
  if (!spot.locks.length) delete spot.locks;
  store("draft", spot);
}

/** What a player is called: BB if that is known, otherwise OOP. */
export const positionOf = (player) => readField(`${player}.name`) || player.toUpperCase();

/** A field by its path: read("bets.river.oop.bet"). */
export function readField(path) {
  const value = path.split(".").reduce((table, key) => table?.[key], spot);
  if (value === undefined || value === null) return "";
  if (value === "" && path.startsWith("bets.")) return NO_SIZES;
  return Array.isArray(value) ? value.join(path.endsWith("reraise") ? " | " : "\n") : String(value);
}

/** `step`: the change is undone alone, even if it follows another of the same field at once. */
export function writeField(path, text, { step: single = false } = {}) {
  if (text === readField(path)) return;
  remember(single ? null : path);
  const keys = path.split(".");
  const last = keys.pop();
  let table = spot;
  for (const key of keys) table = table[key] ??= {};
  const sizes = path.startsWith("bets.");
  if (text.trim() === "" && path !== "board" && !path.endsWith(".range")) delete table[last];
  else table[last] = value(path, text, sizes);
  store("draft", spot);
}

function value(path, text, sizes) {
  if (sizes && text.trim() === NO_SIZES) return "";
  if (path.startsWith("lines."))
    return text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  if (path.endsWith("reraise") && text.includes("|")) return text.split("|").map((part) => part.trim());
  return text;
}

/** Take the bets of a preset or of a proposal, and the rules that belong to them. */
export function takeTree({ bets, rules = {} }) {
  remember();
  spot.bets = structuredClone(bets);
  spot.rules = { ...spot.rules, ...rules };
  store("draft", spot);
}

/** What is sent: fields and tables that are empty are left out, so that the server calls them missing. */
export function spotToSend() {
  const prune = (table, isBets) =>
    Object.fromEntries(
      Object.entries(table)
        .map(([key, each]) => [key, isTable(each) ? prune(each, isBets || key === "bets") : each])
        .filter(([, each]) => (isTable(each) ? Object.keys(each).length : each !== "" || isBets)),
    );
  return { bets: {}, ...prune(spot, false) };
}

const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
