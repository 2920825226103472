/** Before and after: this solution beside another of the same board, as a whole, where they differ most, and here. */

import { get, latest } from "../shared/api.js";
import { cardsIn, handText } from "../shared/cards.js";
import { fill, make, set } from "../shared/dom.js";
import { listFiles } from "../shared/files.js";
import { fixed, percent } from "../shared/format.js";

const askAll = latest((fields, signal) => get("/compare", fields, signal));
const askHere = latest((fields, signal) => get("/compare/node", fields, signal));
const SHOWN_HANDS = 60;
const ALONE = "Lock a decision and solve again: both solutions are then compared here.";

export function compareTab({ change, go }) {
  const chooser = make("select.field", {
    "aria-label": "Compare with",
    onchange: () => change({ other: chooser.value }),
  });
  const numbers = make("dl.compare-numbers");
  const whole = make("section", { "aria-label": "Where they differ most", hidden: true });
  const here = make("section", { "aria-label": "This node" });
  const problem = make("p.problem", { role: "status" });
  const shownParts = [
    ["This node", here],
    ["Where they differ most", whole],
  ];
  const choices = shownParts.map(([label, part]) =>
    make("button.choice", { "aria-pressed": String(part === here), onclick: () => choose(part) }, label),
  );
  const root = make(
    ".compare-tab.scroll",
    {},
    make(".compare-head", {}, make("label.row", {}, make("span.hint", {}, "Before"), chooser), ...choices),
    problem,
    numbers,
    here,
    whole,
  );
  let compared = "";
  let shown = null; // the scene that is to be shown

  function choose(part) {
    shownParts.forEach(([, each], place) => {
      each.hidden = each !== part;
      set(choices[place], { "aria-pressed": String(each === part) });
    });
  }

  async function drawChooser({ file, state }) {
    const files = (await listFiles()).filter(
      (each) => each.kind === "spot" && each.file !== file.file && sameBoard(each, file),
    );
    if (shown.state.other !== state.other || shown.file.file !== file.file) return;
    fill(
      chooser,
      make(
        "option",
        { value: "" },
        files.length ? "choose a solution of this board" : "no other solution of this board",
      ),
      ...files.map((each) => make("option", { value: each.file }, each.file)),
    );
    chooser.value = state.other;
  }

  async function drawWhole(scene) {
    const { file, state } = scene;
    const key = `${state.other}|${file.file}|${file.revision}`;
    if (key === compared) return;
    compared = key;
    fill(whole, make("p.hint", {}, "Comparing every node…"));
    const answer = await askAll({ first: state.other, second: file.file, most: 20 });
    if (!answer || compared !== key) return;
    fill(numbers, ...totals(answer, scene));
    fill(
      whole,
      answer.complete ? null : make("p.hint", {}, "The search was cut short: other nodes may differ more."),
      differences(answer, scene, go),
    );
  }

  async function drawHere(scene) {
    const { file, state, node } = scene;
    if (node.kind !== "decision")
      return fill(here, make("p.hint", {}, "Nobody acts here: choose a decision in the line above."));
    const answer = await askHere({ first: state.other, second: file.file, line: node.line, player: node.player });
    if (answer && scene === shown) fill(here, nodeTable(answer, scene));
  }

  return {
    root,
    async show(scene) {
      shown = scene;
      problem.textContent = "";
      try {
        await drawChooser(scene);
        if (scene !== shown) return;
        if (!scene.state.other) {
          compared = "";
          fill(numbers);
          fill(whole);
          fill(
            here,
            make("p.hint", {}, chooser.length > 1 ? "Choose the solution to compare this one with." : ALONE),
          );
          return;
        }
        await Promise.all([drawWhole(scene), drawHere(scene)]);
      } catch (error) {
        if (scene === shown) problem.textContent = error.message;
      }
    },
  };
}

const sameBoard = (first, second) =>
  cardsIn(first.board ?? "")
    .toSorted()
    .join() ===
  cardsIn(second.board ?? second.spot.board)
    .toSorted()
    .join();

function moved(before, after, text, unit = "") {
  const same = before === null || after === null || text(before) === text(after);
  const kind = same ? "" : after > before ? ".rose" : ".fell";
  return make("span", {}, make("span.before", {}, `${text(before)} → `), make(`span${kind}`, {}, text(after) + unit));
}

function totals(answer, { amounts, seats }) {
  const entry = (label, ...value) => make("div", {}, make("dt.label", {}, label), make("dd", {}, ...value));
  return [
    ...["oop", "ip"].map((player) =>
      entry(
        `EV ${seats[player]}`,
        moved(...answer.ev[player], amounts.precise),
      ),
    ),
    entry(
      "Exploitability",
      moved(...answer.exploitability_pct_pot, (value) => fixed(value, 2), " % of pot"),
    ),
    entry("What differs", answer.changed.join(", ") || "nothing in the spot"),
  ];
}

function differences(answer, { amounts, seats }, go) {
  const nodes = answer.nodes.filter((node) => node.moved > 0);
  if (!nodes.length) return make("p.hint", {}, "Both play the same everywhere.");
  const heads = ["Where they differ most", "Acts", "Reached", "Moved", `EV ${seats.oop}`, `EV ${seats.ip}`];
  return make(
    "table.panel",
    {},
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make(
      "tbody",
      {},
      ...nodes.map((node) =>
        make(
          "tr",
          {},
          make("td", {}, make("button.link", { onclick: () => go(node.line) }, node.line || "first decision")),
          make("td", {}, seats[node.player]),
          make(
            "td",
            {},
            moved(...node.reached, (share) => percent(share, 0), " %"),
          ),
          make("td.main-number", {}, `${percent(node.moved, 0)} %`),
          ...["oop", "ip"].map((player) =>
            make(
              "td",
              {},
              moved(...node.ev[player], amounts.ev),
            ),
          ),
        ),
      ),
    ),
  );
}

function nodeTable(answer, { node, amounts, labels }) {
  const cells = (share) =>
    answer.actions.map((action) =>
      make(
        "td",
        {},
        moved(...share(action), (value) => percent(value)),
      ),
    );
  const range = make(
    "tr",
    {},
    make("td", {}, make("strong", {}, "whole range")),
    ...cells((action) => answer.frequencies[action] ?? [null, null]),
    make(
      "td.main-number",
      {},
      moved(...answer.ev[node.player], amounts.ev),
    ),
  );
  const hands = answer.hands.slice(0, SHOWN_HANDS).map((hand) =>
    make(
      "tr",
      {},
      make("td", {}, handText(hand.hand)),
      ...cells((action) => hand.strategy[action] ?? [null, null]),
      make(
        "td",
        {},
        moved(...hand.ev, amounts.ev),
      ),
    ),
  );
  const heads = ["Hands that changed most", ...answer.actions.map((action) => labels[action] ?? action), "EV"];
  return make(
    "table.panel",
    {},
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, range, ...hands),
  );
}
