/** Beside the table: which line and which varied values, and the means of both players. */

import { fill, make, say, set } from "../shared/dom.js";
import { ev, fixed, percent } from "../shared/format.js";

/** `change(fields)` changes the state. */
export function studyChoices(change) {
  const line = make("select.field", { onchange: () => change({ line: line.value, player: "" }) });
  const root = make("section.panel.study-choices", { "aria-label": "Line and parameters" });
  let drawn = "";

  return {
    root,
    show({ study, lines, line: chosen, variation, other, studies }) {
      const key = JSON.stringify([study.study, study.variations, [...lines.keys()], variation, chosen, other, studies]);
      if (key === drawn) return;
      drawn = key;
      const known = [...lines.values()];
      if (!lines.has(chosen)) known.unshift({ line: chosen, player: "" });
      fill(
        line,
        ...known.map(({ line: text, player }) =>
          make(
            "option",
            { value: text, selected: text === chosen },
            [text || "first decision", study.seats[player]].filter(Boolean).join(" · "),
          ),
        ),
      );
      fill(
        root,
        labelled("Line", line),
        ...study.varied.map((field, place) => labelled(field, valueMenu(study, variation, place, change))),
        studies.length > 0 && labelled("Compare", compareMenu(studies, other, change)),
      );
    },
  };
}

const labelled = (label, field) => make("label", {}, make("span.label", {}, label), field);

/** Another study, whose numbers are shown beside these. */
function compareMenu(studies, other, change) {
  const menu = make("select.field", { onchange: () => change({ other: menu.value }) });
  const options = [["", "with no other study"], ...studies.map(({ study, name }) => [study, name])];
  fill(menu, ...options.map(([value, name]) => make("option", { value, selected: value === other }, name)));
  return menu;
}

/** The values of one varied field; choosing one keeps the others. */
function valueMenu({ variations }, variation, place, change) {
  const now = variations[variation - 1];
  const values = [...new Set(variations.map((each) => each[place]))];
  const menu = make("select.field", {
    onchange: () => {
      const wanted = now.with(place, values[menu.selectedIndex]);
      const found = variations.findIndex((each) => each.every((value, other) => value === wanted[other]));
      change({ variation: String(found + 1) });
    },
  });
  fill(menu, ...values.map((value) => make("option", { selected: value === now[place] }, String(value))));
  return menu;
}

/** The weighted means of both players; clicking one shows its EV, equity and EQR in the table. */
export function playerMeans(choose) {
  const parts = ["oop", "ip"].map((player) => playerPart(player, choose));
  return {
    root: make(".study-players", {}, ...parts.map((part) => part.root)),
    show: (scene) => parts.forEach((part) => part.show(scene)),
  };
}

function playerPart(player, choose) {
  const names = ["EV", "Equity", "EQR"];
  const values = names.map(() => make("dd", {}, "–"));
  const [name, status] = [make("strong", {}, player.toUpperCase()), make("span.label.status")];
  const root = make(
    "button.player",
    { onclick: () => choose(player) },
    name,
    status,
    make("dl", {}, ...names.map((name, place) => make("div", {}, make("dt.label", {}, name), values[place]))),
  );
  return {
    root,
    show({ total, answer, player: shown, pot, seats }) {
      say(name, seats[player]);
      say(values[0], ev(total[`${player}_ev`], pot >= 20 && pot < 1000 ? 1 : pot));
      say(values[1], `${percent(total[`${player}_equity`])} %`);
      say(values[2], fixed(total[`${player}_eqr`], 2));
      say(status, answer.player === player ? "to act" : "");
      root.classList.toggle("to-act", answer.player === player);
      set(root, { "aria-pressed": String(shown === player), title: `Show EV, equity and EQR of ${seats[player]}` });
    },
  };
}
