/** The set-up view: both ranges, between them the board and the tree, rules below, cost and start at the bottom. */

import { aboutServer, latest, post } from "../shared/api.js";
import { debounced, fill, make, set } from "../shared/dom.js";
import { setKeys } from "../shared/keys.js";
import { go, now } from "../shared/state.js";
import { boardPicker } from "./board-picker.js";
import {
  canRedo,
  canUndo,
  clearDraft,
  isFirst,
  readField,
  redo,
  replaceDraft,
  spotToSend,
  swapSeats,
  undo,
} from "./draft.js";
import { estimateBar } from "./estimate.js";
import { fieldSet } from "./fields.js";
import { formationMenu, presets } from "./presets.js";
import { lockList } from "./locks.js";
import { rangeEditor } from "./range-editor.js";
import { ruleFields } from "./rules.js";
import { sizeFields } from "./sizes.js";
import { fileButtons } from "./spot-files.js";
import { treePreview } from "./tree.js";
import { treeCards } from "./tree-cards.js";

const askCheck = latest((body, signal) => post("/spots/check", body, signal));

export function mount(root) {
  let parts = null;
  let edits = 0; // so that an opinion about an earlier draft is not taken for one about this

  async function build() {
    const meta = await aboutServer();
    if (isFirst()) await takeFirstFormation();
    if (!root.isConnected) return; // another view was chosen meanwhile
    const fields = fieldSet(changed);
    const touched = () => (edits++, parts?.estimate.stale());
    const problem = make("p.problem", { role: "status" });
    const estimate = estimateBar({ meta, changed, treeTaken: refresh });
    const editors = ["oop", "ip"].map((player) => rangeEditor(player, { names: meta.hands, fields, changed, touched }));
    const board = boardPicker({ fields, changed });
    const trees = treeCards({ bits: estimate.bits, changed: refresh });
    const sizes = sizeFields({ fields, help: meta.sizes_help, changed });
    const locks = lockList({ fields, changed });
    const tree = treePreview();
    const files = fileButtons({ taken: take, problem: (text) => (problem.textContent = text) });
    const icon = (label, sign, act) =>
      make("button.button.icon-button", { "aria-label": label, title: label, onclick: () => (act(), refresh()) }, sign);
    const steps = { undo: icon("Undo", "↶", undo), redo: icon("Redo", "↷", redo) };
    const middle = make(
      ".setup-middle",
      {},
      make(
        ".panel.setup-game",
        {},
        make(
          ".setup-start",
          {},
          formationMenu(takeFormation),
          steps.undo,
          steps.redo,
          icon("Swap seats", "⇄", swapSeats),
          make(
            "button.button",
            { "aria-label": "Clear everything", title: "Clear everything", onclick: () => (clearDraft(), refresh()) },
            "Clear",
          ),
          files.root,
        ),
        problem,
        board.root,
        make(
          ".pot-row",
          {},
          fields.text("pot", "Pot", { placeholder: "60" }),
          fields.text("stack", "Stack behind", { placeholder: "240" }),
          fields.text("big_blind", "Big blind", { placeholder: "optional" }),
          fields.text("name", "Name", { placeholder: "optional" }),
        ),
        locks.root,
      ),
      make(".panel.setup-tree", {}, trees.root, sizes.root),
    );
    fill(
      root,
      make(
        ".setup",
        {},
        make("h1.for-readers", {}, "Set up a spot"),
        make(
          ".setup-scroll",
          {},
          make(".setup-ranges", {}, editors[0].root, middle, editors[1].root),
          ruleFields({ fields, changed }),
          tree.root,
        ),
        estimate.root,
      ),
    );
    setKeys([
      { keys: [], shown: "Ctrl Z", label: "undo", foot: "undo" },
      { keys: [], shown: "Ctrl Y", label: "redo", foot: "redo" },
    ]);
    parts = { fields, estimate, editors, board, trees, sizes, locks, tree, files, steps };
    refresh();
  }

  /** After every edit: what follows from the draft, and the server's opinion. */
  function changed() {
    if (!parts) return;
    edits++;
    showDraft();
    parts.estimate.stale();
    check();
  }

  function showDraft() {
    parts.sizes.show();
    parts.trees.refresh();
    for (const editor of parts.editors) editor.showTitle();
    set(parts.steps.undo, { disabled: !canUndo() });
    set(parts.steps.redo, { disabled: !canRedo() });
  }

  const check = debounced(async () => {
    const before = edits;
    try {
      const answer = await askCheck({ spot: spotToSend(), ...parts.estimate.typed() });
      if (!answer || before !== edits) return;
      const others = parts.estimate.showErrors(answer.errors);
      parts.estimate.show(answer, [...others.sentences, ...parts.fields.showErrors(others.left)]);
      parts.trees.show(answer.trees);
      parts.sizes.showErrors();
      if (answer.valid) parts.tree.refresh();
    } catch (error) {
      if (before !== edits) return;
      parts.estimate.show({ valid: false, estimate: null, errors: [] }, [error.message]);
    }
  }, 250);

  function refresh() {
    parts.fields.refresh();
    for (const editor of parts.editors) editor.refresh();
    parts.board.show();
    parts.locks.show();
    changed();
  }

  /** A spot from a file; if it was solved, how is taken too. */
  function take(spot, solution = null) {
    replaceDraft(spot);
    if (solution) {
      const { storage, target } = solution;
      parts.estimate.takeOptions({ storage: String(storage), ...(target ? { target: String(target) } : {}) });
    }
    refresh();
  }

  /** The board stays. */
  function takeFormation({ fields }) {
    replaceDraft({ ...fields, board: readField("board") });
    refresh();
  }

  async function takeFirstFormation() {
    const [first] = await presets().then(
      (answer) => answer.presets,
      () => [],
    );
    if (first) replaceDraft(first.fields);
  }

  function onKey(event) {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || !["z", "y"].includes(key)) return;
    event.preventDefault(); // of a field's own undo, which knows only the field
    (key === "y" || event.shiftKey ? redo : undo)();
    document.activeElement.blur(); // so that a field shows what it holds now
    refresh();
  }

  addEventListener("keydown", onKey);
  return {
    async show(state) {
      try {
        if (!parts) await build();
        if (parts && state.file) {
          const isWanted = () => root.isConnected && now().file === state.file;
          await parts.files.load(state.file, isWanted);
          if (isWanted()) go({ file: "" }, { remember: false }); // the fields hold it now, and may be changed
        }
      } catch (error) {
        fill(
          root,
          make(".empty", { role: "alert" }, make("h2", {}, "The page cannot be set up"), make("p", {}, error.message)),
        );
      }
    },
    leave: () => removeEventListener("keydown", onKey),
  };
}
