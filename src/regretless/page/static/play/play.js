/** Whole hands against a game from the deal: every flop is solved when it is dealt, while its progress is shown. */

import { get, listen, post } from "../shared/api.js";
import { fill, make } from "../shared/dom.js";
import { fileLinks, listFiles, showFile } from "../shared/files.js";
import { setKeys } from "../shared/keys.js";
import { store, stored } from "../shared/settings.js";
import { isOver } from "../shared/solves.js";
import { DEFAULTS, go, now } from "../shared/state.js";
import { actionKeys } from "../practice/felt.js";
import { playStart } from "./start.js";
import { playTable } from "./table.js";

const AGAIN_AFTER = 150; // ms until a hand is asked for again whose flop has just been solved

export function mount(root) {
  let hand = null; // the server's state of the session
  let busy = false;
  let followed = null; // {id, close} of the solve that is followed
  const table = playTable({ act, deal, stop, again, leave: anew });

  /** Show an answer, unless it is older than what is shown, or of a session that was left. */
  function take(next) {
    if (!root.isConnected || now().view !== "play") return;
    if (hand && (hand.id !== next.id || next.version < hand.version)) return;
    hand = next;
    store("play", { id: hand.id, file: hand.file });
    if (!table.root.isConnected) fill(root, table.root);
    table.show(hand);
    setKeys(keys());
    follow();
  }

  /** One move at a time. */
  async function attempt(work) {
    if (busy) return;
    busy = true;
    await answer(work);
    busy = false;
  }

  async function answer(work) {
    const { id } = hand ?? {};
    try {
      take((await work()).play);
    } catch (error) {
      if (hand && hand.id === id) table.showProblem(error.message);
    }
  }

  /** Follow the flop that the hand waits for; when it is solved, the hand goes on. */
  function follow() {
    const { solve, id } = hand;
    if (followed && followed.id !== solve?.id) forget();
    if (!solve || solve.state === "stopped" || solve.state === "failed") return;
    if (solve.state === "done") {
      setTimeout(() => hand?.id === id && refresh(), AGAIN_AFTER);
      return;
    }
    if (followed) return;
    const close = listen(`/play/${id}/events`, {
      solve(given) {
        if (hand?.id !== id || hand.solve?.id !== given.id) return;
        hand.solve = given;
        table.showSolve(hand);
        if (!isOver(given)) return;
        forget();
        refresh();
      },
    });
    followed = { id: solve.id, close };
  }

  function forget() {
    followed?.close();
    followed = null;
  }

  function refresh() {
    const { id } = hand;
    answer(() => get(`/play/${id}`));
  }

  const waits = () => Boolean(hand?.solve);
  const isStopped = () => ["stopped", "failed"].includes(hand?.solve?.state);

  function act(name) {
    if (hand && !hand.over && !waits()) attempt(() => post(`/play/${hand.id}/act`, { action: name }));
  }

  function deal() {
    if (hand?.over || isStopped()) attempt(() => post(`/play/${hand.id}/deal`));
  }

  function stop() {
    if (!waits() || isOver(hand.solve) || hand.solve.state === "stopping") return;
    hand.solve = { ...hand.solve, state: "stopping" };
    table.showSolve(hand);
    answer(() => post(`/play/${hand.id}/stop`)); // the solve may end, and be asked for again, before this is answered
  }

  function again() {
    if (isStopped()) attempt(() => post(`/play/${hand.id}/solve`));
  }

  /** Leave the table, and set up another session with the same game. */
  function anew() {
    const { file, id, solve } = hand;
    if (solve && !isOver(solve)) post(`/play/${id}/stop`).catch(() => {}); // it may have ended meanwhile
    forget();
    store("play", null);
    hand = null;
    go({ ...DEFAULTS, view: "play", file });
  }

  async function begin(body) {
    const { play } = await post("/play", body);
    if (!root.isConnected || now().view !== "play" || now().file !== body.file) return;
    hand = null;
    take(play);
    go({ session: play.id });
  }

  function keys() {
    const choose = (place) => hand.actions[place] && act(hand.actions[place].name);
    return [
      ...actionKeys(() => hand.actions, choose),
      { keys: ["n", " "], shown: "N", label: "next hand", foot: "next hand", run: deal },
      { keys: ["Escape"], shown: "Esc", label: "stop solving the flop", foot: waits() ? "stop solving" : "", run: stop },
      { keys: ["s"], shown: "S", label: "solve the flop again", foot: isStopped() ? "solve again" : "", run: again },
    ];
  }

  // --- before the first hand ---------------------------------------------------------------------------------------

  function refuse(title, message) {
    fill(
      root,
      make(
        ".empty",
        { role: "alert" },
        make("h2", {}, title),
        make("p", {}, message),
        make("button.button", { onclick: () => go({ ...DEFAULTS, view: "practice" }) }, "Choose what to play"),
      ),
    );
  }

  async function choose() {
    showFile(null);
    const games = (await listFiles()).filter(({ kind }) => kind === "holdem-game");
    if (now().view !== "play" || now().file) return;
    const title = games.length ? "Play whole hands of a game" : "No game from the deal here yet";
    fill(
      root,
      make(
        ".empty.chooser",
        {},
        make("h1", {}, title),
        games.length ? fileLinks(games, { view: "play" }) : make("p.hint", {}, "Whole games are solved from the command line: regretless solve game.toml"),
      ),
    );
  }

  async function setUp(file) {
    setKeys([]);
    const about = await get("/file", { file });
    if (!root.isConnected || now().file !== file || now().session) return;
    showFile(about);
    fill(root, playStart(file, begin));
  }

  /** The session of the address, or the last one with the file, if the server still has it. */
  async function resume(id, file) {
    const answer = await get(`/play/${id}`).catch(() => null);
    if (!root.isConnected || now().view !== "play" || (now().session || id) !== id) return true;
    if (!answer || answer.play.file !== file) return false;
    hand = null;
    take(answer.play);
    if (now().session !== id) go({ session: id }, { remember: false });
    const about = await get("/file", { file }).catch(() => null);
    if (about && root.isConnected && now().file === file) showFile(about);
    return true;
  }

  async function show({ file, session }) {
    try {
      if (!file) return await choose();
      if (session && hand?.id === session) return;
      forget();
      hand = null;
      const last = stored("play", null);
      const id = session || (last?.file === file ? last.id : "");
      if (id && (await resume(id, file))) return;
      if (session) go({ session: "" }, { remember: false });
      else await setUp(file);
    } catch (error) {
      if (root.isConnected) refuse(`${file || "The folder"} cannot be played`, error.message);
    }
  }

  return {
    show,
    leave() {
      forget();
      showFile(null);
    },
  };
}
