/** Take away what the browse view shows: ranges as text, tables as CSV, the view as a picture, a link. */

import { get } from "../shared/api.js";
import { csv, rowsOf } from "../shared/csv.js";
import { openDialog } from "../shared/dialog.js";
import { fill, make, say } from "../shared/dom.js";
import { chips } from "../shared/format.js";
import { pngOf, svgOf } from "../shared/picture.js";
import { copyText, saveFile } from "../shared/save.js";
import { store, stored } from "../shared/settings.js";

const FORMATS = { short: "Text: 22+, A5s-A2s", "gto+": "GTO+", weights: "PioSOLVER: 1,326 weights" };
const MISSED = "Nothing was taken away: ";

/** `root` is what a picture shows. */
export function takeAway(scene, root) {
  if (!scene) return;
  const { file, node, seats, labels } = scene;
  const status = make("p.hint", { role: "status" });
  const name = [file.file.replace(/\.rgl$/, "").replaceAll("/", " "), node.line.replaceAll(", ", " ")]
    .filter(Boolean)
    .join(" ");
  const done = async (what, work) => {
    try {
      await work();
      say(status, what);
    } catch (error) {
      say(status, MISSED + error.message);
    }
  };
  const button = (text, label, what, work) =>
    make("button.button", { "aria-label": label, onclick: () => done(what, work) }, text);

  const format = make(
    "select.field",
    { "aria-label": "Format of ranges", onchange: () => (store("rangeFormat", format.value), showRanges()) },
    ...Object.entries(FORMATS).map(([key, text]) => make("option", { value: key }, text)),
  );
  format.value = stored("rangeFormat", "short");
  const ranges = make("ul.range-list", { "aria-label": "Ranges" });
  const title = ({ player, action }) => (action ? `${seats[player]}: ${labels[action]}` : `${seats[player]}: whole range`);

  async function showRanges() {
    for (const each of ranges.querySelectorAll("button")) each.disabled = true; // their text is in another format
    const asked = format.value;
    try {
      const answer = await get("/node/ranges", { file: file.file, line: node.line, format: asked });
      if (format.value !== asked) return;
      fill(
        ranges,
        ...answer.ranges.map((each) => {
          const label = title(each);
          return make(
            "li",
            {},
            make("span", {}, label, make("small.hint", {}, ` ${chips(each.combos)} combos`)),
            button("Copy", `Copy ${label}`, `Copied ${label}.`, () => copyText(each.text)),
            button("Save", `Save ${label}`, `Saved ${label}.`, () =>
              saveFile(`${name} ${label.replace(/[:%]/g, "")}.txt`, `${each.text}\n`),
            ),
          );
        }),
      );
    } catch (error) {
      say(status, MISSED + error.message);
    }
  }

  const table = root.querySelector(".tab-content table:not(.hands)");
  const rows = (kind, work) => button(kind, `Save ${kind}`, `Saved ${kind}.`, work);
  const dialog = openDialog(
    "Take away",
    make("h3.label", {}, "Ranges at this node"),
    format,
    ranges,
    make("h3.label", {}, "Tables as CSV"),
    make(
      ".row",
      {},
      rows("all hands of both players", () => saveFile(`${name} hands.csv`, csv(handRows(scene)), "text/csv")),
      table && rows("the table of this tab", () => saveFile(`${name} table.csv`, csv(rowsOf(table)), "text/csv")),
    ),
    make("h3.label", {}, "This view as a picture"),
    make(
      ".row",
      {},
      rows("SVG", () => saveFile(`${name}.svg`, svgOf(root), "image/svg+xml")),
      rows("PNG", async () => saveFile(`${name}.png`, await pngOf(root))),
    ),
    make("h3.label", {}, "Link to exactly this"),
    make(".row", {}, button("Copy link", "Copy link", "Copied the link.", () => copyText(location.href))),
    status,
  );
  dialog.classList.add("take-away");
  return showRanges();
}

/** A row per hand of each player, in chips and shares of 1; actions only where the player acts. */
function handRows({ meta, node }) {
  const actions = node.actions.map((action) => action.name);
  const heads = ["player", "hand", "weight", "matchups", "ev", "equity", "eqr"];
  const rows = ["oop", "ip"].flatMap((player) => {
    const { hand, ...columns } = node.players[player].hands;
    const acts = node.kind === "decision" && node.player === player;
    return hand.map((index, place) => [
      player,
      meta.hands[index],
      ...["weight", "matchups", "ev", "equity", "eqr"].map((column) => columns[column][place]),
      ...actions.flatMap((_, action) =>
        acts ? [node.strategy[action][place], node.action_ev[action][place]] : [null, null],
      ),
    ]);
  });
  return [[...heads, ...actions.flatMap((action) => [action, `ev of ${action}`])], ...rows];
}
