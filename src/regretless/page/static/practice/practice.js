/** The practice view: play hands of a solved spot against the solution, and see what each decision cost. */

import { get, post } from "../shared/api.js";
import { fill, make } from "../shared/dom.js";
import { listFiles, showFile } from "../shared/files.js";
import { setKeys } from "../shared/keys.js";
import { store, stored } from "../shared/settings.js";
import { DEFAULTS, go, now } from "../shared/state.js";
import { actionKeys } from "./felt.js";
import { practiceStart, sessionOf } from "./start.js";
import { practiceTable } from "./table.js";

export function mount(root) {
  let hand = null; // the server's state of the practice
  let busy = false;
  const table = practiceTable({ act, deal, explain, restart });

  async function attempt(work) {
    if (busy) return;
    busy = true;
    try {
      const { practice } = await work();
      if (!root.isConnected) return; // another view was chosen meanwhile
      hand = practice;
      store("practice", { id: hand.id, files: hand.files });
      if (!table.root.isConnected) fill(root, table.root);
      table.show(hand);
      setKeys(keys());
    } catch (error) {
      if (hand) table.showProblem(error.message);
      else showRefusal(error);
    }
    busy = false;
  }

  const start = (body) => attempt(() => post("/practice", body));

  /** Start with many solutions: the address names the session. */
  async function begin(body) {
    await start(body);
    if (hand && root.isConnected) go({ ...DEFAULTS, view: "practice", session: hand.id });
  }

  function act(name) {
    if (hand && !hand.over) attempt(() => post(`/practice/${hand.id}/act`, { action: name }));
  }

  function deal() {
    if (hand) attempt(() => post(`/practice/${hand.id}/deal`));
  }

  async function restart(player) {
    await start(sessionOf(hand.files, { player }));
    if (now().session && root.isConnected) go({ session: hand.id }, { remember: false });
  }

  /** Open the decision that was just judged in the browse view. */
  function explain({ file, line, class: pin }) {
    go({ ...DEFAULTS, view: "browse", file, line, pin });
  }

  function keys() {
    const take = (place) => hand.actions[place] && act(hand.actions[place].name);
    return [
      ...actionKeys(() => hand.actions, take),
      { keys: ["n", " "], shown: "N", label: "next hand", foot: "next hand", run: deal },
    ];
  }

  function showRefusal({ message }) {
    const choose = { ...DEFAULTS, view: "practice" };
    fill(
      root,
      make(
        ".empty",
        { role: "alert" },
        make("h2", {}, "This file cannot be practised"),
        make("p", {}, message),
        make("button.button", { onclick: () => go(choose) }, "Choose a solved spot"),
      ),
    );
  }

  async function chooseSpots() {
    setKeys([]);
    showFile(null);
    hand = null;
    const all = await listFiles();
    const [files, games] = ["spot", "holdem-game"].map((kind) => all.filter((file) => file.kind === kind));
    if (now().view !== "practice" || now().file || now().session) return;
    fill(
      root,
      files.length || games.length
        ? practiceStart(files, games, begin)
        : make(
            ".empty",
            {},
            make("h1", {}, "No solved spot here yet"),
            make("p", {}, "Set up a spot and solve it; then hands can be dealt from it."),
            make("button.button.primary", { onclick: () => go({ ...DEFAULTS, view: "setup" }) }, "Set up a spot"),
          ),
    );
  }

  /** The session of the address, as the server has it. */
  async function resume(id) {
    fill(root, table.root);
    showFile(null);
    await attempt(() => get(`/practice/${id}`));
  }

  return {
    async show({ file, session }) {
      if (session) return hand?.id === session || (await resume(session));
      if (!file) {
        return chooseSpots().catch((error) => fill(root, make("p.empty.problem", { role: "alert" }, error.message)));
      }
      if (hand?.file === file && hand.files.length === 1) return;
      hand = null;
      fill(root, table.root);
      const about = await get("/file", { file }).catch(showRefusal);
      if (!about || !root.isConnected || now().file !== file) return;
      showFile(about);
      const last = stored("practice", {});
      const kept = last.files?.length === 1 && last.files[0] === file;
      const state = kept ? await get(`/practice/${last.id}`).catch(() => null) : null;
      await (state ? attempt(async () => state) : start(sessionOf([file])));
    },
    leave: () => showFile(null),
  };
}
