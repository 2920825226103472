/** The files of the folder that is served, to choose one from; and the file's name in the header. */

import { get } from "./api.js";
import { openDialog } from "./dialog.js";
import { make, say } from "./dom.js";
import { bytes, chips, exploitability } from "./format.js";
import { DEFAULTS, address, go } from "./state.js";

const OPENED_BY = { toml: "setup", "push-fold": "preflop", "holdem-game": "preflop" };

/** The view that opens a file. */
export const viewOf = ({ kind }) => OPENED_BY[kind] ?? "browse";

/** What one line says about a file. */
function summary(file) {
  if (file.note) return file.note;
  const spot = file.board && `${file.board} · pot ${chips(file.pot)}, stack ${chips(file.stack)}`;
  const quality = file.exploitability !== null && exploitability(file.exploitability, file.unit);
  const kind = { game: "game", toml: "spot, not solved", checkpoint: "interrupted solve" }[file.kind];
  return [kind, spot, quality, file.locks ? `${file.locks} locked` : null].filter(Boolean).join(" · ");
}

/** Links that open files, each in its own view unless `view` is given; `chosen()` is called before one opens. */
export function fileLinks(files, { view = null, chosen = () => {} } = {}) {
  return make(
    "ul.file-list",
    {},
    ...files.map((file) => {
      const change = { ...DEFAULTS, view: view ?? viewOf(file), file: file.file };
      const open = (event) => {
        event.preventDefault();
        chosen();
        go(change);
      };
      return make(
        "li",
        {},
        make(
          "a",
          { href: address(change), onclick: open },
          make("span", {}, file.file),
          make("span.hint", {}, bytes(file.bytes)),
          make("small", {}, summary(file)),
        ),
      );
    }),
  );
}

export async function listFiles() {
  return (await get("/files")).files;
}

export async function chooseFile() {
  const place = make("div", {}, make("p.hint", {}, "Reading the folder…"));
  const dialog = openDialog("Open a file", place);
  try {
    const files = await listFiles();
    const openable = files.filter((file) => file.kind !== "unreadable" || file.note);
    place.replaceChildren(
      openable.length
        ? fileLinks(openable, { chosen: () => dialog.close() })
        : make("p.hint", {}, "There is no .rgl or .toml file in this folder yet. Set up a spot and solve it."),
    );
  } catch (error) {
    place.replaceChildren(make("p.problem", {}, error.message));
  }
}

/** Show the open file and how exact it is in the header. */
export function showFile(file) {
  const badge = document.querySelector(".badge");
  document.querySelector(".change-spot").hidden = !file?.spot;
  say(document.querySelector(".file-name"), file ? describe(file) : "Open…");
  badge.hidden = !file || file.exploitability === null || file.exploitability === undefined;
  if (badge.hidden) return;
  say(badge, exploitability(file.exploitability, file.unit));
  badge.classList.toggle("coarse", file.unit === "% of the pot" && file.exploitability > 1);
}

function describe(file) {
  const named = file.name && !file.file.includes(file.name);
  return named ? `${file.file} · ${file.name}` : file.file;
}
