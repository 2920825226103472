/** The practice view: play hands of a solved spot against the solution, and see what each decision cost. */

import { get, post } from "../shared/api.js";
import { fill, make } from "../shared/dom.js";
import { fileLinks, listFiles, showFile } from "../shared/files.js";
import { setKeys } from "../shared/keys.js";
import { store, stored } from "../shared/settings.js";
import { DEFAULTS, go, now } from "../shared/state.js";
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
      hand = practice;
      store("practice", { id: hand.id, file: hand.file });
      if (!table.root.isConnected) fill(root, table.root);
      table.show(hand);
      setKeys(keys());
    } catch (error) {
      if (error.code === "not-found" && hand) start(hand.file, "");
      else if (hand) table.showProblem(error.message);
      else showRefusal(error);
    }
    busy = false;
  }

  const start = (file, player) =>
    attempt(() => post("/practice", { file, player: player || null, line: "", seed: null }));

  function act(name) {
    if (hand && !hand.over) attempt(() => post(`/practice/${hand.id}/act`, { action: name }));
  }

  function deal() {
    if (hand) attempt(() => post(`/practice/${hand.id}/deal`));
  }

  function restart(player) {
    start(hand.file, player);
  }

  /** Open the decision that was just judged in the browse view. */
  function explain({ line, class: pin }) {
    go({ ...DEFAULTS, view: "browse", file: hand.file, line, pin });
  }

  function keys() {
    const take = (place) => hand.actions[place] && act(hand.actions[place].name);
    return [
      {
        keys: [..."123456789"],
        shown: "1 … 9",
        label: "take the first, second, … action",
        foot: "action",
        run: (_, key) => take(Number(key) - 1),
      },
      ...[
        ["f", "fold"],
        ["c", "check or call"],
        ["b", "bet"],
        ["r", "raise"],
        ["a", "all-in"],
      ].map(([key, label]) => ({
        keys: [key],
        shown: key.toUpperCase(),
        label,
        run: () => take(hand.actions.findIndex((action) => label.split(" or ").includes(action.kind))),
      })),
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

  async function chooseSpot() {
    setKeys([]);
    showFile(null);
    const files = (await listFiles()).filter((file) => file.kind === "spot");
    fill(
      root,
      make(
        ".empty.chooser",
        {},
        make("h1", {}, files.length ? "Practise a solved spot" : "No solved spot here yet"),
        files.length
          ? fileLinks(files, { view: "practice" })
          : make("p", {}, "Set up a spot and solve it; then hands can be dealt from it."),
      ),
    );
  }

  return {
    async show({ file }) {
      if (!file) {
        hand = null;
        return chooseSpot().catch((error) => fill(root, make("p.empty.problem", { role: "alert" }, error.message)));
      }
      if (hand?.file === file) return;
      hand = null;
      fill(root, table.root);
      const about = await get("/file", { file }).catch(showRefusal);
      if (!about || now().file !== file) return;
      showFile(about);
      const last = stored("practice", {});
      const kept = last.file === file ? await get(`/practice/${last.id}`).catch(() => null) : null;
      await (kept ? attempt(async () => kept) : start(file, ""));
    },
    leave: () => showFile(null),
  };
}
