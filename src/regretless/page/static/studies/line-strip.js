/** The line of play through a study: a tile for the study, then one per decision that it keeps on the way. */

import { decisionTile, heading } from "../browse/strip.js";
import { fill, make, say } from "../shared/dom.js";
import { chips, count, percent } from "../shared/format.js";
import { sizedActions } from "../shared/labels.js";

const ANY = "any"; // in a line: every card

const joined = (...parts) => parts.filter(Boolean).join(", ");

/** The line after an action, if the study has it: perhaps with a card in between. */
export function nextLine(lines, line, action) {
  const after = joined(line, action);
  return [after, joined(after, ANY)].find((each) => lines.has(each)) ?? null;
}

/** The line that leads here, if the study has one. */
export function lineBefore(lines, line) {
  const steps = line.split(", ");
  while (steps.length) {
    steps.pop();
    if (lines.has(steps.join(", "))) return steps.join(", ");
  }
  return null;
}

export function studyStrip(go) {
  const root = make("section.strip", { "aria-label": "Line of play", tabindex: 0 });

  function tileOf({ line, player, pot, actions }, lines, taken, present, seats) {
    const sized = sizedActions(actions.map(({ name }) => name), pot);
    const shown = actions.map((action, place) => ({ ...action, ...sized[place], next: nextLine(lines, line, action.name) }));
    const place = shown.findIndex((action) => action.name === taken);
    return decisionTile({ line, player, pot, taken: place < 0 ? null : place, actions: shown }, present, go, { seats });
  }

  return {
    root,
    /** `lines` maps each line of the study to what is known about it. */
    show({ study, lines, line }) {
      const steps = line ? line.split(", ") : [];
      const tiles = [studyTile(study, lines.get(""))];
      for (let taken = 0; taken <= steps.length; taken++) {
        const here = steps.slice(0, taken).join(", ");
        if (steps[taken - 1] === ANY) tiles.push(cardTile(lines.get(here)?.street ?? "card"));
        if (lines.has(here)) tiles.push(tileOf(lines.get(here), lines, steps[taken], taken === steps.length, study.seats));
      }
      fill(root, ...tiles);
      requestAnimationFrame(() => (root.scrollLeft = root.scrollWidth)); // the present tile stays in view
    },
    /** Frequencies of the present decision over the flops that pass the filter. */
    showMix(frequencies) {
      const shares = root.querySelectorAll(".present .share");
      shares.forEach((share, place) => say(share, percent(frequencies[place])));
    },
  };
}

function studyTile({ name, done, spots }, first) {
  return make(
    ".tile.street.study-tile",
    {},
    heading("study", first ? `pot ${chips(first.pot)}` : ""),
    make("p.study-name", { title: name }, name),
    make(
      "p.hint",
      {},
      done < spots ? `${count(done)} of ${count(spots)} spots` : `${count(spots)} spots`,
    ),
  );
}

const cardTile = (street) =>
  make(".tile.street", {}, heading(street, ""), make("p.hint", {}, `every ${street} card`));
