/** Opening and saving spots as TOML, the same file that the command reads. */

import { get, post, put } from "../shared/api.js";
import { openDialog } from "../shared/dialog.js";
import { make } from "../shared/dom.js";
import { fileLinks, listFiles } from "../shared/files.js";
import { spotToSend } from "./draft.js";

const fileName = (typed) => (typed.trim().endsWith(".toml") ? typed.trim() : `${typed.trim()}.toml`);

/** `taken(spot, solution)` puts a spot into the fields, and how it was solved if it was. */
export function fileButtons({ taken, problem }) {
  const upload = make("input", {
    type: "file",
    accept: ".toml",
    hidden: true,
    onchange: async () => {
      const [file] = upload.files;
      upload.value = "";
      if (file) await attempt(async () => taken((await post("/spots/read", { toml: await file.text() })).spot));
    },
  });

  async function attempt(work) {
    problem("");
    try {
      await work();
    } catch (error) {
      problem(error.message);
    }
  }

  async function open() {
    const files = (await listFiles()).filter((file) => file.kind === "toml");
    const dialog = openDialog(
      "Open a spot",
      files.length
        ? fileLinks(files, { chosen: () => dialog.close() })
        : make("p.hint", {}, "There is no .toml file in this folder."),
      make("button.button", { onclick: () => (dialog.close(), upload.click()) }, "From this computer…"),
    );
  }

  function save() {
    const name = make("input.field", { "aria-label": "File name", autofocus: true });
    name.value = `${(spotToSend().name || "spot").toLowerCase().replace(/[^a-z0-9]+/g, "-")}.toml`;
    const note = make("p.problem", { role: "status" });
    const replace = make("input", { type: "checkbox" });
    const dialog = openDialog(
      "Save the spot",
      make(
        "form",
        {
          onsubmit: async (event) => {
            event.preventDefault();
            try {
              await put("/spots/file", { file: fileName(name.value), spot: spotToSend(), replace: replace.checked });
              dialog.close();
            } catch (error) {
              note.textContent =
                error.code === "conflict"
                  ? `${fileName(name.value)} exists already: tick the box to replace it`
                  : error.message;
            }
          },
        },
        name,
        make("label.row", {}, replace, "replace a file of that name"),
        note,
        make(
          ".row",
          {},
          make("button.button.primary", {}, "Save in the folder"),
          make("button.button", { type: "button", onclick: () => download(fileName(name.value), note) }, "Download"),
        ),
      ),
    );
  }

  async function download(name, note) {
    try {
      const { toml } = await post("/spots/write", { spot: spotToSend() });
      const link = make("a", {
        href: URL.createObjectURL(new Blob([toml], { type: "application/toml" })),
        download: name,
      });
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      note.textContent = error.message;
    }
  }

  return {
    root: make(
      ".row",
      {},
      make("button.button", { "aria-label": "Open TOML…", title: "Open TOML", onclick: () => attempt(open) }, "Open"),
      make("button.button", { "aria-label": "Save TOML…", title: "Save TOML", onclick: save }, "Save"),
      upload,
    ),
    /** Read a file of the folder, and take it if that is still wanted. */
    load: (file, isWanted) =>
      attempt(async () => {
        const answer = await get(file.endsWith(".rgl") ? "/file" : "/spots/file", { file });
        if (!isWanted()) return;
        taken(answer.spot, file.endsWith(".rgl") ? answer : null);
      }),
  };
}
