/** The solve view: the queue on the left, the chosen solve with its live curve on the right. */

import { get, listen } from "../shared/api.js";
import { fill, make } from "../shared/dom.js";
import { showFile } from "../shared/files.js";
import { setKeys } from "../shared/keys.js";
import { followSolve, isOver } from "../shared/solves.js";
import { go, now } from "../shared/state.js";
import { gameStarter } from "./game-starter.js";
import { solveList } from "./solve-list.js";
import { solvePanel } from "./solve-panel.js";

export function mount(root) {
  const choose = (id) => go({ solve: id });
  const list = solveList(choose);
  const panel = solvePanel(choose);
  fill(
    root,
    make(
      ".solve-view",
      {},
      make("aside", {}, make("h1.label", {}, "Solves"), list.root, gameStarter(choose)),
      panel.root,
    ),
  );
  setKeys([]);
  showFile(null);
  let stop = () => {}; // following the chosen solve
  let watched = { id: "", over: false };

  const stopList = listen("/events", {
    solves({ solves }) {
      list.show(solves, now().solve);
      if (!now().solve && solves.length) go({ solve: solves[0].id }, { remember: false });
      else if (!solves.length) panel.showNone();
      const resumed = solves.find((solve) => solve.id === watched.id && watched.over && !isOver(solve));
      if (resumed) watch(resumed.id);
    },
  });

  const isWanted = (id) => root.isConnected && now().solve === id;

  function watch(id) {
    stop();
    watched = { id, over: false };
    stop = followSolve(id, {
      changed(solve) {
        watched.over = isOver(solve);
        panel.show(solve);
      },
    });
  }

  return {
    async show({ solve: id }) {
      list.mark(id);
      if (!id || id === watched.id) return;
      try {
        await get(`/solves/${id}`); // a stream cannot say why it was refused
        if (isWanted(id)) watch(id);
      } catch (error) {
        if (isWanted(id)) panel.showProblem(error.message);
      }
    },
    leave() {
      stop();
      stopList();
    },
  };
}
