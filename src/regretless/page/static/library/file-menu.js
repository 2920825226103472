/** What can be done with one file of the library: a dialog with its name, folder, notes, and what to do next. */

import { post } from "../shared/api.js";
import { openDialog } from "../shared/dialog.js";
import { make } from "../shared/dom.js";
import { viewOf } from "../shared/files.js";
import { DEFAULTS, go } from "../shared/state.js";

/** `changed()` is called after a rename or a note, `deleted(answer)` with what brings the file back. */
export function fileMenu(file, { folders, changed, deleted }) {
  const suffix = file.file.slice(file.file.lastIndexOf("."));
  const parts = file.file.slice(0, -suffix.length).split("/");
  const name = make("input.field", { id: "file-name", spellcheck: "false" });
  const folder = make("input.field", { id: "file-folder", list: "file-folders", placeholder: "none", spellcheck: "false" });
  const notes = make("textarea.field", { id: "file-notes", rows: 3, maxlength: 2000 });
  const problem = make("p.problem", { role: "alert" });
  name.value = parts.pop();
  folder.value = parts.join("/");
  notes.value = file.notes;

  const leave = (change) => () => {
    dialog.close();
    go({ ...DEFAULTS, ...change });
  };

  async function attempt(work) {
    problem.textContent = "";
    try {
      await work();
      dialog.close();
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  async function save(event) {
    event.preventDefault();
    await attempt(async () => {
      const to = [folder.value.trim().replace(/^\/+|\/+$/g, ""), name.value.trim()].filter(Boolean).join("/") + suffix;
      if (notes.value.trim() !== file.notes) await post("/files/notes", { file: file.file, notes: notes.value });
      if (to !== file.file) await post("/files/rename", { file: file.file, to });
      changed();
    });
  }

  const resume = () =>
    attempt(async () => {
      const { solve } = await post("/solves", { resume: file.file });
      go({ ...DEFAULTS, view: "solve", solve: solve.id });
    });

  const isSpot = file.kind === "spot";
  const dialog = openDialog(
    file.file,
    make(
      ".row.file-acts",
      {},
      make("button.button.primary", { onclick: leave({ view: viewOf(file), file: file.file }) }, "Open"),
      file.kind === "holdem-game" &&
        make("button.button", { onclick: leave({ view: "play", file: file.file }) }, "Play a hand"),
      isSpot && make("button.button", { onclick: leave({ view: "practice", file: file.file }) }, "Practise"),
      (isSpot || file.kind === "toml") &&
        make("button.button", { onclick: leave({ view: "setup", file: file.file }) }, "Set up again"),
      file.resumable && !file.solve && make("button.button", { onclick: resume }, "Resume"),
      make(
        "button.button.danger",
        { onclick: () => attempt(async () => deleted(await post("/files/delete", { file: file.file }))) },
        "Delete",
      ),
    ),
    make(
      "form.file-form",
      { onsubmit: save },
      make("label.label", { for: "file-name" }, "Name"),
      name,
      make("label.label", { for: "file-folder" }, "Folder"),
      folder,
      make("datalist", { id: "file-folders" }, ...folders.map((each) => make("option", { value: each }))),
      make("label.label", { for: "file-notes" }, "Notes"),
      notes,
      problem,
      make("button.button", {}, "Save"),
    ),
  );
  return dialog;
}
