/**
 * The spot being set up, nested like its TOML file, kept in this browser until it is solved or replaced.
 *
 * Fields hold what was typed, valid or not; the server judges them. A field that is left empty is not sent, so its
 * default applies; "none" stands for the empty text, which means no bets of that kind.
 */

import { store, stored } from "../shared/settings.js";

export const EMPTY = {
  name: "",
  board: "",
  pot: "",
  stack: "",
  oop: { range: "" },
  ip: { range: "" },
  bets: { bet: "33%, 75%", raise: "2.5x" },
  rules: {},
};

export const NO_SIZES = "none";

let spot = stored("spot", structuredClone(EMPTY));

export function replaceDraft(given) {
  spot = { ...structuredClone(EMPTY), bets: {}, ...structuredClone(given) };
  store("spot", spot);
}

export const draftLocks = () => spot.locks ?? [];

export function removeLock(place) {
  spot.locks = draftLocks().toSpliced(place, 1);
  if (!spot.locks.length) delete spot.locks;
  store("spot", spot);
}

/** A field by its path: read("bets.river.oop.bet"). */
export function readField(path) {
  const value = path.split(".").reduce((table, key) => table?.[key], spot);
  if (value === undefined || value === null) return "";
  if (value === "" && path.startsWith("bets.")) return NO_SIZES;
  return Array.isArray(value) ? value.join(path.endsWith("reraise") ? " | " : "\n") : String(value);
}

export function writeField(path, text) {
  const keys = path.split(".");
  const last = keys.pop();
  let table = spot;
  for (const key of keys) table = table[key] ??= {};
  const sizes = path.startsWith("bets.");
  if (text.trim() === "" && (sizes || path.startsWith("rules."))) delete table[last];
  else table[last] = value(path, text, sizes);
  store("spot", spot);
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
