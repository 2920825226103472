/** The set-up view: both ranges, the board between them, sizes and rules below, cost and start at the bottom. */

import { aboutServer, latest, post } from "../shared/api.js";
import { openDialog } from "../shared/dialog.js";
import { debounced, fill, make } from "../shared/dom.js";
import { setKeys } from "../shared/keys.js";
import { go } from "../shared/state.js";
import { boardPicker } from "./board-picker.js";
import { EMPTY, replaceDraft, spotToSend, writeField } from "./draft.js";
import { estimateBar } from "./estimate.js";
import { fieldSet } from "./fields.js";
import { formationMenu } from "./presets.js";
import { lockList } from "./locks.js";
import { rangeEditor } from "./range-editor.js";
import { ruleFields } from "./rules.js";
import { sizeFields } from "./sizes.js";
import { fileButtons } from "./spot-files.js";
import { treePreview } from "./tree.js";

const askCheck = latest((body, signal) => post("/spots/check", body, signal));

export function mount(root) {
  let parts = null;

  async function build() {
    const meta = await aboutServer();
    const changed = () => (parts?.sizes.show(), check());
    const fields = fieldSet(changed);
    const problem = make("p.problem", { role: "status" });
    const estimate = estimateBar({ meta, changed });
    const editors = ["oop", "ip"].map((player) => rangeEditor(player, { names: meta.hands, fields, changed }));
    const board = boardPicker({ fields, changed });
    const sizes = sizeFields({ fields, help: meta.sizes_help });
    const locks = lockList({ fields, changed });
    const tree = treePreview();
    const files = fileButtons({ taken: take, problem: (text) => (problem.textContent = text) });
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
          files.root,
          make("button.button", { onclick: startOver }, "Start over"),
        ),
        problem,
        board.root,
        make(
          ".pot-row",
          {},
          fields.text("pot", "Pot", { placeholder: "60" }),
          fields.text("stack", "Stack behind", { placeholder: "240" }),
          fields.text("name", "Name", { placeholder: "optional" }),
        ),
        locks.root,
      ),
      sizes.root,
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
          sizes.finer,
          ruleFields({ fields, changed }),
          tree.root,
        ),
        estimate.root,
      ),
    );
    setKeys([]);
    parts = { fields, estimate, editors, board, sizes, locks, tree, files };
    sizes.show();
    check();
  }

  const check = debounced(async () => {
    try {
      const answer = await askCheck({ spot: spotToSend(), ...parts.estimate.typed() });
      if (!answer) return;
      const others = parts.estimate.showErrors(answer.errors);
      parts.estimate.show(answer, [...others.sentences, ...parts.fields.showErrors(others.left)]);
      if (answer.valid) parts.tree.refresh();
    } catch (error) {
      parts.estimate.show({ valid: false, estimate: null, errors: [] }, [error.message]);
    }
  }, 250);

  function refresh() {
    parts.fields.refresh();
    parts.editors.forEach((editor) => editor.refresh());
    parts.board.show();
    parts.sizes.show();
    parts.locks.show();
    check();
  }

  function take(spot) {
    replaceDraft(spot);
    refresh();
  }

  function startOver() {
    const dialog = openDialog(
      "Start over?",
      make("p", {}, "Ranges, board, sizes and rules are cleared."),
      make(
        ".dialog-end",
        {},
        make("button.button.primary", { onclick: () => (dialog.close(), take(EMPTY)) }, "Clear everything"),
      ),
    );
  }

  function takeFormation({ oop, ip, pot, stack, chip, label }) {
    for (const [path, value] of Object.entries({
      "oop.range": oop.range,
      "ip.range": ip.range,
      pot,
      stack,
      "rules.chip": chip,
      name: label,
    })) {
      if (value !== undefined && value !== null) writeField(path, String(value));
    }
    refresh();
  }

  return {
    async show(state) {
      try {
        if (!parts) await build();
        if (state.file) {
          await parts.files.load(state.file);
          go({ file: "" }, { remember: false }); // the fields hold it now, and may be changed
        }
      } catch (error) {
        fill(
          root,
          make(".empty", { role: "alert" }, make("h2", {}, "The page cannot be set up"), make("p", {}, error.message)),
        );
      }
    },
  };
}
