/**
 * Locks that were set but not solved yet, and locks of the file that are to be left out, kept per file so that a reload
 * does not lose them.
 */

import { percent } from "../shared/format.js";
import { store, stored } from "../shared/settings.js";

function keep(name, file, list) {
  const kept = stored(name, {});
  if (list.length) kept[file] = list;
  else delete kept[file];
  store(name, kept);
}

/** Locks as the server takes them, with `after` beside them: the frequencies that they will have. */
export const draftLocks = (file) => stored("locks", {})[file] ?? [];

export const keepLocks = (file, locks) => keep("locks", file, locks);

/** Positions, among the locks of a file, of those that are not solved again. */
export const unlocked = (file) => stored("unlocked", {})[file] ?? [];

export const keepUnlocked = (file, positions) => keep("unlocked", file, positions);

/** Add a lock; one for the same node and hands is replaced. */
export function addLock(file, lock) {
  const others = draftLocks(file).filter((each) => each.node !== lock.node || each.hands !== lock.hands);
  keepLocks(file, [...others, lock]);
}

/** What a request says about a lock: not what is only shown. */
export const lockBody = ({ node, hands, strategy, source, frequencies }) => ({
  node,
  hands,
  ...(source ? { source, frequencies } : { strategy }),
});

/** The locks of a file that still apply, and those that will. */
export const locksOf = ({ file, locks = [] }) => [
  ...(locks ?? []).filter((_, position) => !unlocked(file).includes(position)),
  ...draftLocks(file),
];

/** "After check: KK, QQ: 70 % bet 40, 30 % check", "First decision: every hand: bets 60 % in total". */
export function describeLock({ node, player, hands, strategy, source, frequencies }, labels = {}) {
  const where = node ? `After ${node}` : player ? `Every decision of ${player.toUpperCase()}` : "First decision";
  const played = (mix) => Object.entries(mix ?? {}).filter(([, share]) => share >= 0.005);
  const name = (action) => labels[action] ?? action;
  const totals = Object.entries(frequencies ?? {}).map(([action, share]) => `${name(action)} ${percent(share, 1)} %`);
  const what = totals.length
    ? `${totals.join(", ")} in total`
    : source
      ? `as in ${source}`
      : played(strategy)
          .map(([action, share]) => `${percent(share, 0)} % ${name(action)}`)
          .join(", ");
  return `${where}: ${hands || "every hand"}: ${what}`;
}
