/** The browse view: loads the file and the node that the address names, and feeds one scene to every part. */

import { aboutServer, get, latest } from "../shared/api.js";
import { fill, make } from "../shared/dom.js";
import { showFile, viewOf } from "../shared/files.js";
import { setKeys } from "../shared/keys.js";
import { followSolve, isOver } from "../shared/solves.js";
import { DEFAULTS, address, go, now } from "../shared/state.js";
import { readFilter } from "./filter.js";
import { gameTable } from "./game-table.js";
import { browseKeys, gameKeys } from "./keys.js";
import { spotParts } from "./spot-parts.js";

const askFile = latest((file, signal) => get("/file", { file }, signal));
const askNode = latest((fields, signal) => get("/node", fields, signal));
const KEPT = 300; // nodes, so that going back is immediate

export function mount(root) {
  const nodes = new Map();
  let file = null;
  let parts = null; // of a spot
  let game = null;
  let scene = null;
  const notice = make("p.notice.panel.problem", { role: "alert" });
  let stopListening = () => {}; // to the solve that writes the file

  /** Whether this view and this file are still what is to be shown. */
  const wanted = ({ file: asked }) => root.isConnected && now().file === asked;

  /** While the file is being solved, show each strategy that is saved. */
  function follow() {
    stopListening();
    stopListening = () => {};
    if (!file.solve) return;
    const refresh = async () => {
      const found = await askFile(file.file).catch(() => null); // the next step of the reader tells
      if (!found || !wanted(found)) return;
      file = found;
      showFile(file);
      show(now());
    };
    stopListening = followSolve(file.solve, { saved: refresh, changed: (solve) => isOver(solve) && refresh() });
  }

  async function nodeAt(line) {
    const key = `${file.file}|${file.revision}|${line}`;
    if (!nodes.has(key)) {
      const node = await askNode({ file: file.file, line });
      if (!node) return null;
      if (nodes.size >= KEPT) nodes.delete(nodes.keys().next().value);
      nodes.set(key, node);
    }
    return nodes.get(key);
  }

  /** What went wrong on the way to another node; the present one stays. */
  function stay(message) {
    notice.textContent = message;
    root.append(notice);
    go({ line: scene.node.line }, { remember: false });
  }

  function problem({ file: asked }, { code, message }) {
    stopListening();
    const firstDecision = { ...DEFAULTS, file: file?.file };
    parts = game = scene = file = null; // read again, once the server answers
    fill(
      root,
      make(
        ".empty",
        { role: "alert" },
        make("h2", {}, `${asked} cannot be shown`),
        make("p", {}, message),
        make(
          ".row",
          {},
          code === "unreachable" && make("button.button", { onclick: () => show(now()) }, "Try again"),
          firstDecision.file && make("a.button", { href: address(firstDecision) }, "Go to the first decision"),
          asked.endsWith(".toml") &&
            make("a.button", { href: address({ ...DEFAULTS, view: "setup", file: asked }) }, "Open it in Set up"),
          make("a.button", { href: "/" }, "Choose another file"),
        ),
      ),
    );
  }

  /** The frame of the view: its sizes are fixed before anything is known about the file. */
  function buildFrame() {
    parts = spotParts({ go: move, change });
    fill(root, parts.root);
    setKeys(browseKeys({ scene: () => scene, parts, move, change }));
  }

  async function showSpot(state) {
    const [meta, node] = await Promise.all([aboutServer(), nodeAt(state.line)]);
    const filter = await readFilter(state.filter, meta);
    if (!node || !file || !wanted(file) || now().line !== state.line || now().filter !== state.filter) return;
    if (node.line !== state.line) go({ line: node.line }, { remember: false }); // the server's spelling
    scene = parts.show({ meta, file, node, state: now(), filter });
    document.title = `${state.line || "first decision"} · ${file.file} · Regretless`;
  }

  /** Go to another line of the same file; the pin and the tab stay. */
  const move = (line) => {
    notice.remove();
    go({ line, player: "" });
  };
  const change = (fields) => go(fields, { remember: false });

  async function show(state) {
    try {
      if (file?.file !== state.file) {
        [file, game, scene] = [null, null, null];
        buildFrame();
        const found = await askFile(state.file);
        if (!found || !wanted(found)) return;
        if (viewOf(found) === "preflop") return go({ ...DEFAULTS, view: "preflop", file: found.file }, { remember: false });
        file = found;
        showFile(file);
        follow();
      }
      if (file.spot) return await showSpot(state);
      if (!game) {
        parts = null;
        game = gameTable(file, change);
        fill(root, game.root);
        setKeys(gameKeys(game));
      }
      await game.show(state);
    } catch (error) {
      if (!wanted(state) || now().line !== state.line) return;
      if (scene && scene.file.file === state.file && scene.node.line !== state.line) stay(error.message);
      else problem(state, error);
    }
  }

  return {
    show,
    leave: () => {
      stopListening();
      showFile(null);
      document.title = "Regretless";
    },
  };
}
