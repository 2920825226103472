/** Locks that came with the spot: they cannot be edited here, but they are shown and can be removed. */

import { describeLock } from "../browse/lock-draft.js";
import { fill, make, set } from "../shared/dom.js";
import { draftLocks, removeLock } from "./draft.js";

export function lockList({ fields, changed }) {
  const list = make("ul.lock-list", { "aria-label": "Locks of this spot", tabindex: -1 });
  const root = make(".spot-locks", { hidden: true }, make("h3.label", {}, "Locks"), list, fields.register("locks", list));

  function show() {
    const locks = draftLocks();
    set(root, { hidden: !locks.length });
    fill(
      list,
      ...locks.map((lock, place) =>
        make(
          "li",
          {},
          make("span", {}, describeLock(lock)),
          make(
            "button.button",
            {
              onclick: () => (removeLock(place), show(), changed()),
              "aria-label": `Remove the lock: ${describeLock(lock)}`,
            },
            "Remove",
          ),
        ),
      ),
    );
  }

  return { root, show };
}
