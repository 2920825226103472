/** Locks that were set but not solved yet, kept per file so that a reload does not lose them. */

import { percent } from "../shared/format.js";
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

/** "After check: KK, QQ: 70 % bet 40, 30 % check". */
export function describeLock({ node, player, hands, strategy, source }) {
  const where = node ? `After ${node}` : player ? `Every decision of ${player.toUpperCase()}` : "First decision";
  const played = Object.entries(strategy ?? {}).filter(([, share]) => share >= 0.005);
  const what = source
    ? `as in ${source}`
    : played.map(([action, share]) => `${percent(share, 0)} % ${action}`).join(", ");
  return `${where}: ${hands || "every hand"}: ${what}`;
}
