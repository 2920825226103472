/**
 * The keyboard. A view gives a list of bindings; the footer shows the main ones and `?` lists all of them.
 *
 *   {keys: ["ArrowLeft"], shown: "←", label: "back one step", run}
 *   {keys: ["e"], shown: "E", label: "number in each cell", foot: "number", when: () => …, run}
 */

import { make, fill } from "./dom.js";
import { openDialog } from "./dialog.js";

let bindings = [];

export function setKeys(list) {
  bindings = list;
  const foot = document.querySelector(".foot");
  const shown = list.filter((each) => each.foot);
  fill(
    foot,
    ...shown.map(({ shown: keys, foot: label }) => make("span", {}, ...keyCaps(keys), label)),
    make("span", {}, make("kbd", {}, "?"), "all keys"),
  );
}

const keyCaps = (keys) => keys.split(" ").map((key) => (key === "…" ? "… " : make("kbd", {}, key)));

const EVERYWHERE = [
  { shown: "Tab", label: "the next link, button or field" },
  { shown: "Enter", label: "press it" },
  { shown: "?", label: "this list" },
];

export function showKeys() {
  const listed = bindings.filter((each) => each.label);
  const more = EVERYWHERE.filter(({ shown }) => !listed.some((each) => each.shown === shown));
  openDialog("Keys", make("dl.key-list", {}, ...[...listed, ...more].map(keyRow)));
}

function keyRow({ shown, label }) {
  return make("div", {}, make("dt", {}, ...keyCaps(shown)), make("dd", {}, label));
}

/** A key pressed in a field is text; a button keeps Enter and Space. */
function belongsToElement(event) {
  const { target, key } = event;
  if (target.closest("input, select, textarea, [contenteditable], dialog[open]")) return true;
  return (key === "Enter" || key === " ") && target.closest("button, a, summary, [role=tab]");
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (belongsToElement(event)) {
    if (event.key === "Escape" && !event.target.closest("dialog")) {
      event.preventDefault(); // a search field would be emptied
      event.target.blur();
    }
    return;
  }
  if (event.key === "?") {
    event.preventDefault();
    showKeys();
    return;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const binding = bindings.find((each) => each.keys.includes(key) && (!each.when || each.when(event)));
  if (binding && binding.run(event, key) !== false) event.preventDefault();
});
