/** Locks that were set but not solved yet, kept per file so that a reload does not lose them. */

import { store, stored } from "../shared/settings.js";

const all = () => stored("locks", {});

export const draftLocks = (file) => all()[file] ?? [];

export function keepLocks(file, locks) {
  const kept = all();
  if (locks.length) kept[file] = locks;
  else delete kept[file];
  store("locks", kept);
}

/** Add a lock; one for the same node and hands is replaced. */
export function addLock(file, lock) {
  const others = draftLocks(file).filter((each) => each.node !== lock.node || each.hands !== lock.hands);
  keepLocks(file, [...others, lock]);
}
