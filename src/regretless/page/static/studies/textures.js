/** One bar per kind of flop: the mix there, how often it is aggressive and its EV; two bars if two studies are compared. */

import { mixBackground } from "../shared/colours.js";
import { fill, make } from "../shared/dom.js";
import { ev, percent } from "../shared/format.js";
import { store, stored } from "../shared/settings.js";
import { sumOf, totalOf } from "./flop-rows.js";

const BY = {
  texture: { label: "Texture", word: (name) => (["rainbow", "two-tone"].includes(name) ? `unpaired ${name}` : name) },
  high: { label: "High card", word: (name) => `${name}-high`, order: "AKQJT98765432" },
  connectedness: { label: "Connectedness", word: (name) => name },
};
const AGGRESSIVE = ["bet", "raise", "all-in"];

/** `choose(word)` filters by a kind of flop. */
export function textureChart(choose) {
  let by = stored("study-by", "texture");
  if (!(by in BY)) by = "texture";
  let scene = null;
  const buttons = make(".row", { role: "group", "aria-label": "Kinds of flops" });
  const rows = make("tbody");
  const head = make("tr");
  const root = make(
    "details.texture-chart.panel",
    { open: !matchMedia("(max-width: 760px)").matches },
    make("summary.label", {}, "By kind of flop"),
    buttons,
    make(".scroll", { tabindex: 0, role: "region", "aria-label": "By kind of flop" },
      make("table", {}, make("thead", {}, head), rows)),
  );

  function drawButtons() {
    fill(
      buttons,
      ...Object.entries(BY).map(([key, { label }]) =>
        make(
          "button.choice",
          {
            "aria-pressed": String(key === by),
            onclick: () => {
              store("study-by", (by = key));
              draw();
            },
          },
          label,
        ),
      ),
    );
  }

  function draw() {
    const { rows: shown, player, others, otherAnswer } = scene;
    drawButtons();
    const { label, order, word } = BY[by];
    const groups = [...Map.groupBy(shown, (row) => row[by])].filter(([name]) => name);
    const weight = (members) => members.reduce((sum, row) => sum + row.weight, 0);
    if (order) groups.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
    else groups.sort((a, b) => weight(b[1]) - weight(a[1]));
    fill(
      head,
      ...[label, "Flops", "Strategy", "Bets or raises", `EV of ${scene.seats[player]}`].map((text) =>
        make(`th${text === "Strategy" ? ".mix-column" : ""}`, { scope: "col" }, text),
      ),
    );
    fill(
      rows,
      ...groups.map(([name, members]) => {
        const mine = means(members, scene.answer, scene);
        const theirs = others && means(others.filter((row) => row[by] === name), otherAnswer, scene);
        const both = (draw) => [draw(mine), theirs && draw(theirs)].filter(Boolean);
        const line = (text) => make("span.line", {}, text);
        return make(
          "tr",
          {},
          make("td", {}, make("button.link", { onclick: () => choose(word(name)), title: `Only ${word(name)}` }, by === "texture" ? name : word(name))),
          make("td", {}, String(members.length)),
          make("td.mix-column", {}, ...both(({ total, colours }) => make("span.mix", { style: { background: mixBackground(total.frequencies, colours) } }))),
          make("td", {}, ...both(({ aggression }) => line(percent(aggression) + (aggression === null ? "" : " %")))),
          make("td", {}, ...both(({ total }) => line(ev(total[`${player}_ev`], scene.pot)))),
        );
      }),
    );
  }

  return {
    root,
    show(given) {
      scene = given;
      draw();
    },
  };
}

/** The weighted means of some flops at one decision. */
function means(rows, answer, { pot, coloursOf }) {
  const total = totalOf(rows, answer.actions, pot);
  const places = answer.kinds.flatMap((kind, place) => (AGGRESSIVE.includes(kind) ? [place] : []));
  return { total, aggression: sumOf(total.frequencies, places), colours: coloursOf(answer) };
}
