/** The library, the first view: every solution and spot of the folder, to find, open, and put in order. */

import { get, latest } from "../shared/api.js";
import { cardsIn, cardText } from "../shared/cards.js";
import { debounced, fill, make, set } from "../shared/dom.js";
import { showFile, viewOf } from "../shared/files.js";
import { bytes, chips, count, exploitability } from "../shared/format.js";
import { setKeys } from "../shared/keys.js";
import { readSort, sortableHead, sortedBy } from "../shared/sorting.js";
import { address, DEFAULTS, go, now } from "../shared/state.js";
import { fileMenu } from "./file-menu.js";
import { undoBar } from "./undo-bar.js";

const askFiles = latest((signal) => get("/files", {}, signal));
const NEWEST = "-modified";
const KINDS = { toml: "not solved", checkpoint: "interrupted", game: "game", "push-fold": "push or fold", "holdem-game": "whole game", unreadable: "cannot be read" };
const COLUMNS = {
  name: (file) => nameOf(file).toLowerCase(),
  formation: (file) => (file.formation ?? rangesOf(file) ?? "￿").toLowerCase(),
  stack: (file) => file.stack,
  exploitability: (file) => file.exploitability,
  bytes: (file) => file.bytes,
  modified: (file) => file.modified,
};

export const folderOf = ({ file }) => file.split("/").slice(0, -1).join("/");

/** What a file is called: its name without folder and suffix. */
export const nameOf = ({ file }) => file.split("/").at(-1).replace(/\.(rgl|toml)$/, "");

/** The same without the board at its end, which the row shows as cards. */
const titleOf = (file) => nameOf(file).replace(` ${file.board?.replaceAll(" ", "")}`, "");

const rangesOf = ({ ranges }) => ranges && `${ranges.ip} against ${ranges.oop}`;

/** Whether a file has all the words that are searched for, anywhere in what the library says about it. */
function matches(file, words) {
  const text = [file.file, file.title, file.formation, rangesOf(file), file.board, file.board?.replaceAll(" ", "")]
    .concat(file.notes, KINDS[file.kind])
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

export function mount(root) {
  const search = make("input.field", {
    type: "search",
    "aria-label": "Search the library",
    placeholder: "Search: BTN, Ks7d2c, 3-bet, notes",
    spellcheck: "false",
    oninput: debounced(find, 100),
    onkeydown: ({ key }) => key === "Enter" && (find(), body.querySelector(".of-name a")?.click()),
  });
  const folders = make(".row.folders", { role: "group", "aria-label": "Folders" });
  const found = make("span.hint", { role: "status" });
  const head = make("tr");
  const body = make("tbody");
  const table = make("table.library-table", {}, make("thead", {}, head), body);
  const problem = make("p.problem", { role: "alert" });
  const undo = undoBar(load);
  const view = make(
    ".library",
    {},
    make("h1.for-readers", {}, "Library"),
    make(
      "header",
      {},
      search,
      found,
      make("span.gap"),
      make("button.button.primary", { onclick: () => go({ ...DEFAULTS, view: "setup" }) }, "Set up a spot"),
      make("button.button", { onclick: () => go({ ...DEFAULTS, view: "studies", study: "+" }) }, "Start a study"),
    ),
    folders,
    problem,
    make(".scroll.panel", { tabindex: 0, role: "region", "aria-label": "Solutions" }, table),
    undo.root,
  );
  let files = null;
  let truncated = false;

  const change = (fields) => go(fields, { remember: false });

  /** Search for what is typed, unless the library was left in the meantime. */
  function find() {
    if (view.isConnected) change({ find: search.value.trim() });
  }

  async function load() {
    try {
      const answer = await askFiles();
      if (!answer) return; // asked again since
      ({ files, truncated } = answer);
      problem.textContent = "";
    } catch (error) {
      problem.textContent = error.message;
      if (!files) fill(root, make(".empty", { role: "alert" }, make("h2", {}, "The files cannot be listed"), problem));
      return;
    }
    draw();
  }

  function draw() {
    const { find, folder, sort, view: shown } = now();
    if (!files || shown !== "library") return;
    if (!files.length && !undo.isOpen()) return fill(root, emptyLibrary());
    if (!view.isConnected) fill(root, view);
    if (document.activeElement !== search) search.value = find;
    const words = find.toLowerCase().split(/\s+/).filter(Boolean);
    const inFolder = files.filter((file) => !folder || folderOf(file) === folder || file.file.startsWith(`${folder}/`));
    const passing = inFolder.filter((file) => matches(file, words));
    const { column, descending } = readSort(readSort(sort).column in COLUMNS ? sort : NEWEST);
    const rows = sortBy(passing, column, descending);
    drawFolders(folder);
    drawHead(descending ? `-${column}` : column);
    fill(body, ...rows.map(row));
    const more = truncated ? ", and more in the folder than are listed" : "";
    found.textContent = `${count(rows.length)}${rows.length < files.length ? ` of ${count(files.length)}` : ""} ${rows.length === 1 ? "file" : "files"}${more}`;
    if (!rows.length) fill(body, make("tr", {}, make("td.hint", { colspan: 7 }, "Nothing here has these words.")));
  }

  function sortBy(rows, column, descending) {
    const newest = (a, b) => b.modified - a.modified;
    const key = COLUMNS[column];
    if (column === "name" || column === "formation") {
      const sign = descending ? -1 : 1;
      return rows.toSorted((a, b) => sign * key(a).localeCompare(key(b)) || newest(a, b));
    }
    return sortedBy(rows, key, descending, newest);
  }

  function drawHead(sort) {
    const sortable = (key, label) => set(sortableHead(key, label, sort, change), { class: `of-${key}` });
    fill(
      head,
      sortable("name", "Name"),
      sortable("formation", "Formation"),
      sortable("stack", "Pot and stack"),
      sortable("exploitability", "Exploitability"),
      sortable("bytes", "Size"),
      sortable("modified", "Date"),
      make("th.of-menu", { scope: "col" }, make("span.for-readers", {}, "More")),
    );
  }

  function drawFolders(chosen) {
    const known = [...new Set(files.map(folderOf))].filter(Boolean).sort();
    const chip = (folder, label) =>
      make(
        "button.choice",
        { "aria-pressed": String(folder === chosen), onclick: () => change({ folder }) },
        label,
      );
    folders.hidden = !known.length;
    fill(folders, chip("", "All"), ...known.map((folder) => chip(folder, folder)));
  }

  function row(file) {
    const to = { ...DEFAULTS, view: viewOf(file), file: file.file };
    const open = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(to);
    };
    const menu = () =>
      fileMenu(file, {
        folders: [...new Set(files.map(folderOf))].filter(Boolean),
        changed: load,
        deleted(answer) {
          undo.offer(answer, nameOf(file));
          load();
        },
      });
    const named = file.title && !nameOf(file).includes(file.title) ? file.title : null;
    return make(
      "tr",
      { onclick: (event) => event.target.closest("a, button") || go(to) },
      make(
        "td.of-name",
        {},
        make(
          ".library-name",
          {},
          make("span.board", {}, ...cardsIn(file.board ?? "").map(cardText)),
          make("a", { href: address(to), onclick: open, title: file.file }, titleOf(file)),
          file.solve && make("span.tag.live", {}, "being solved"),
          KINDS[file.kind] && make("span.tag", {}, KINDS[file.kind]),
          file.locks ? make("span.tag", {}, `${file.locks} locked`) : null,
        ),
        make("small", {}, [folderOf(file), named, file.note, file.notes].filter(Boolean).join(" · ")),
      ),
      make("td.of-formation", {}, file.formation && !nameOf(file).includes(file.formation) ? file.formation : rangesOf(file) ?? ""),
      make("td.of-stack", {}, file.pot === null ? "" : `${chips(file.pot)} · ${chips(file.stack)}`),
      make("td.of-exploitability", {}, file.exploitability === null ? "" : exploitability(file.exploitability, file.unit)),
      make("td.of-bytes", {}, bytes(file.bytes)),
      make("td.of-modified", {}, make("time", { datetime: new Date(1000 * file.modified).toISOString() }, date(file))),
      make(
        "td.of-menu",
        {},
        make("button.icon", { onclick: menu, "aria-label": `More about ${nameOf(file)}`, title: "Rename, notes, delete …" }, "⋯"),
      ),
    );
  }

  setKeys([
    { keys: ["/"], shown: "/", label: "search", foot: "search", run: () => search.focus() },
    { keys: ["n"], shown: "N", label: "set up a new spot", foot: "new spot", run: () => go({ ...DEFAULTS, view: "setup" }) },
    { keys: ["ArrowDown"], shown: "↓", label: "next solution", run: () => step(1) },
    { keys: ["ArrowUp"], shown: "↑", label: "previous solution", run: () => step(-1) },
    { keys: [], shown: "↑ ↓", foot: "solutions" },
    { keys: [], shown: "Enter", label: "open the solution", foot: "open" },
  ]);

  function step(by) {
    const links = [...body.querySelectorAll(".of-name a")];
    if (!links.length) return false;
    const place = links.indexOf(document.activeElement);
    links[Math.min(Math.max(place + by, 0), links.length - 1)].focus();
  }

  showFile(null);
  return {
    show: () => (files ? draw() : load()),
    leave: () => undo.close(),
  };
}

function date({ modified }) {
  const day = new Date(1000 * modified);
  const today = new Date().toDateString() === day.toDateString();
  return today
    ? day.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
    : day.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

const emptyLibrary = () =>
  make(
    ".empty",
    {},
    make("h1", {}, "No solution here yet"),
    make("p", {}, "Set up a spot and solve it, or solve one formation over many flops; both are listed here."),
    make(
      ".row",
      {},
      make("button.button.primary", { onclick: () => go({ ...DEFAULTS, view: "setup" }) }, "Set up a spot"),
      make("button.button", { onclick: () => go({ ...DEFAULTS, view: "studies", study: "+" }) }, "Start a study"),
    ),
  );
