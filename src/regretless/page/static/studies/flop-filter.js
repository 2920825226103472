/**
 * The filter of the table of flops, as one line of text that buttons and typing share.
 *
 *   paired two-tone or monotone       what `regretless study report --where` takes: `or` joins two words
 *   A-high connected, trips           a comma adds more flops, as it adds hands to a range
 *   AK Qs                             ranks or cards that the flop has
 *
 * The beginning of a word is enough.
 */

import { RANKS } from "../shared/cards.js";
import { make, set } from "../shared/dom.js";

const GROUPS = [
  { column: "high", label: "High card", words: [...RANKS].map((rank) => `${rank}-high`), short: (word) => word[0] },
  { column: "pairing", label: "Pairing", words: ["unpaired", "paired", "trips"] },
  { column: "suits", label: "Suits", words: ["rainbow", "two-tone", "monotone"] },
  { column: "connectedness", label: "Connectedness", words: ["connected", "gapped", "disconnected"] },
];
const WORDS = GROUPS.flatMap(({ column, words }) => words.map((word) => ({ column, word })));

/** The alternatives of a text (between commas), each a list of terms, each a list of words joined by `or`. */
const alternativesOf = (text) =>
  text
    .split(",")
    .map(termsOf)
    .filter((terms) => terms.length);

const termsOf = (text) =>
  text
    .trim()
    .replace(/\s+or\s+/gi, "|")
    .split(/\s+/)
    .map((term) => term.split("|").filter(Boolean))
    .filter((term) => term.length);

/** Whether a row passes: {test(row), error}. */
export function readFlopFilter(text) {
  const words = alternativesOf(text).flat(2);
  const wrong = words.find((word) => wordTest(word) === null);
  if (wrong !== undefined)
    return {
      test: () => true,
      error: `'${wrong}' is not a property of flops; try paired, two-tone, gapped, A-high, AK or Qs`,
    };
  const tests = alternativesOf(text).map((terms) => terms.map((term) => term.map(wordTest)));
  const passes = (row) => (terms) => terms.every((term) => term.some((test) => test(row)));
  return { test: (row) => !tests.length || tests.some(passes(row)), error: null };
}

function wordTest(given) {
  const word = given.toLowerCase();
  const has = ({ column, word: known }) =>
    column === "high" ? (row) => row.high === known[0] : (row) => row[column] === known;
  const exact = WORDS.find((each) => each.word.toLowerCase() === word);
  if (exact) return has(exact);
  if (/^[2-9tjqka]{1,3}$/.test(word)) return ranksTest(word.toUpperCase());
  if (/^([2-9tjqka][cdhs]){1,3}$/.test(word)) {
    const cards = word.match(/../g).map((card) => card[0].toUpperCase() + card[1]);
    return (row) => cards.every((card) => row.flop.includes(card));
  }
  const begun = WORDS.filter((each) => each.word.toLowerCase().startsWith(word)).map(has);
  return begun.length ? (row) => begun.some((test) => test(row)) : null;
}

/** Flops with these ranks, a rank given twice being a pair. */
function ranksTest(ranks) {
  const needed = [...new Set(ranks)].map((rank) => [rank, ranks.split(rank).length]);
  return (row) => needed.every(([rank, count]) => row.ranks.split(rank).length >= count);
}

/** The text with a word of a group added or taken out, in every alternative. */
function toggled(text, group, word) {
  const parts = text.split(",").map((part) => toggledIn(termsOf(part), group, word));
  return parts.filter(Boolean).join(", ");
}

function toggledIn(given, { words }, word) {
  const known = new Map(words.map((each) => [each.toLowerCase(), each]));
  const terms = given.map((term) => term.map((each) => known.get(each.toLowerCase()) ?? each));
  const place = terms.findIndex((term) => term.every((each) => words.includes(each)));
  const chosen = place < 0 ? [] : terms[place];
  const after = words.filter((each) => (each === word) !== chosen.includes(each));
  const kept = terms.filter((_, other) => other !== place);
  return [...kept, after]
    .filter((term) => term.length)
    .map((term) => term.join(" or "))
    .join(" ");
}

/** Field and buttons; `changed(text)` is called at once, while typing. */
export function flopFilter(changed) {
  const problem = make("p.problem", { role: "status" });
  const input = make("input.field", {
    type: "search",
    "aria-label": "Filter flops",
    placeholder: "paired two-tone, AK, Qs",
    spellcheck: "false",
    oninput: () => take(input.value),
  });
  const buttons = GROUPS.flatMap((group) => group.words.map((word) => ({ group, word, root: button(group, word) })));
  const groups = GROUPS.map((group) =>
    make(
      `.flop-words.by-${group.column}`,
      { role: "group", "aria-label": group.label },
      group.column === "high" && make("span.label", {}, group.label),
      ...buttons.filter((each) => each.group === group).map((each) => each.root),
    ),
  );
  const more = make("details", {}, make("summary.hint", {}, "High card, pairing, suits …"), ...groups);
  more.open = !matchMedia("(max-width: 760px)").matches;
  const root = make("section.panel.flop-filter", { "aria-label": "Filter" }, input, problem, more);

  function button(group, word) {
    return make(
      "button.choice",
      { title: word, "aria-label": word, onclick: () => take((input.value = toggled(input.value, group, word))) },
      group.short?.(word) ?? word,
    );
  }

  function take(text) {
    show(text);
    changed(text);
  }

  function show(text) {
    const chosen = new Set(
      alternativesOf(text)
        .flat(2)
        .map((word) => word.toLowerCase()),
    );
    for (const { word, root: each } of buttons)
      set(each, { "aria-pressed": String(chosen.has(word.toLowerCase())) });
    const { error } = readFlopFilter(text);
    set(input, { "aria-invalid": error ? "true" : null });
    problem.textContent = error ?? "";
  }

  show("");
  return {
    root,
    focus: () => input.focus(),
    text: () => input.value,
    /** Show the text of the address, unless it is being typed. */
    show(text) {
      if (document.activeElement !== input) input.value = text;
      show(input.value);
    },
  };
}
