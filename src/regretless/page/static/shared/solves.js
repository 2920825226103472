/** Following a solve through its stream of events. */

import { listen } from "./api.js";

const OVER = ["stopped", "done", "failed"];

export const isOver = ({ state }) => OVER.includes(state);

/**
 * Call `changed(solve)` with the whole solve whenever something about it changes, and `saved()` when its file was
 * written, until it is over. Returns what ends it earlier.
 */
export function followSolve(id, { changed = () => {}, saved = () => {} }) {
  let solve = null;
  const update = (fields) => {
    if (!solve) return;
    Object.assign(solve, fields);
    changed(solve);
  };
  const close = listen(`/solves/${id}/events`, {
    solve(given) {
      solve = given;
      changed(solve);
      if (isOver(solve)) close();
    },
    progress: update,
    point: (point) => update({ curve: [...solve.curve, point] }),
    saved({ file, revision }) {
      update({ file, revision, readable: true });
      saved();
    },
  });
  return close;
}
