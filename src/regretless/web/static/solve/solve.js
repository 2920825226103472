/** The solve view: the queue on the left, the chosen solve with its live curve on the right. */

import { get, listen, post } from "../shared/api.js";
import { fill, make } from "../shared/dom.js";
import { showFile } from "../shared/files.js";
import { setKeys } from "../shared/keys.js";
import { go, now } from "../shared/state.js";
import { gameStarter } from "./game-starter.js";
import { solveList } from "./solve-list.js";
import { solvePanel } from "./solve-panel.js";

export function mount(root) {
  const choose = (id) => go({ solve: id });
  const list = solveList(choose);
  const panel = solvePanel({ choose, reopen: watch });
  fill(root, make(".solve-view", {}, make("aside", {}, make("h1.label", {}, "Solves"), list.root, gameStarter(choose)), panel.root));
  setKeys([]);
  showFile(null);
  let stop = null; // of the stream of the chosen solve
  let watched = "";

  const stopList = listen("/events", {
    solves({ solves }) {
      list.show(solves, now().solve);
      if (!now().solve && solves.length) go({ solve: solves[0].id }, { remember: false });
      else if (!solves.length) panel.showNone();
    },
  });

  function watch(id) {
    stop?.();
    stop = null;
    watched = id;
    let solve = null;
    const draw = () => solve && panel.show(solve);
    const close = listen(`/solves/${id}/events`, {
      solve(given) {
        solve = given;
        draw();
        if (["stopped", "done", "failed"].includes(solve.state)) close();
      },
      progress(numbers) {
        if (solve) Object.assign(solve, numbers);
        draw();
      },
      point(point) {
        if (solve) solve.curve = [...solve.curve, point];
        draw();
      },
      saved({ file, revision }) {
        if (solve) Object.assign(solve, { file, revision, readable: true });
        draw();
      },
    });
    stop = close;
  }

  return {
    async show({ solve: id }) {
      list.mark(id);
      if (!id || id === watched) return;
      try {
        await get(`/solves/${id}`); // a stream cannot say why it was refused
        watch(id);
      } catch (error) {
        panel.showProblem(error.message);
      }
    },
    leave() {
      stop?.();
      stopList();
    },
  };
}

/** Ask for a stop or a resume; the stream shows what becomes of it. */
export const command = (id, what, body = {}) => post(`/solves/${id}/${what}`, body);
