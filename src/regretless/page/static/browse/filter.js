/**
 * The filter of the table of hands: range text, and names of categories, in any mix.
 *
 *   77+, suited        pairs from sevens up, and every suited hand
 *   flush draw, sets   every hand with a flush draw, and every set
 *
 * Range text is read by the server, as everywhere.
 */

import { post } from "../shared/api.js";
import { CLASSES } from "../shared/cards.js";
import { debounced, make, set } from "../shared/dom.js";

const KINDS = {
  suited: (hand) => CLASSES[hand.class].endsWith("s"),
  offsuit: (hand) => CLASSES[hand.class].endsWith("o"),
  pairs: (hand) => CLASSES[hand.class].length === 2,
  locked: (hand) => hand.locked,
};

const everyHand = { test: () => true, error: null };

export function handFilter(change) {
  const problem = make("span.problem.for-readers", { role: "status" });
  const input = make("input.field", {
    type: "search",
    "aria-label": "Filter hands",
    placeholder: "77+, suited",
    spellcheck: "false",
    oninput: debounced(take, 150),
    onchange: take, // the field is left before the pause is over
  });
  const root = make("label.filter", {}, make("span", {}, "Filter"), input, problem);
  let known = { text: "", answer: everyHand };
  let wanted = "";

  function take() {
    if (root.isConnected) change(input.value.trim());
  }

  return {
    root,
    async read({ state, meta }) {
      if (document.activeElement !== input && input.value !== state.filter) input.value = state.filter;
      wanted = state.filter;
      if (known.text !== state.filter) {
        const read = { text: state.filter, answer: await readFilter(state.filter, meta) };
        if (wanted !== read.text) return read.answer; // another filter was typed meanwhile
        known = read;
      }
      const { error } = known.answer;
      set(input, { "aria-invalid": error ? "true" : null, title: error });
      problem.textContent = error ?? "";
      return known.answer;
    },
  };
}

/** Whether a hand passes, or what is wrong with the text. */
export async function readFilter(text, meta) {
  if (!text) return everyHand;
  const tests = [];
  const rest = [];
  for (const term of text.split(/ *, */).filter(Boolean)) {
    const test = KINDS[term.toLowerCase()] ?? categoryTest(term, meta);
    if (test) tests.push(test);
    else rest.push(term);
  }
  if (rest.length) {
    const answer = await post("/ranges/parse", { text: rest.join(",") });
    if (!answer.valid) return { test: () => true, error: answer.error.message };
    tests.push((hand) => answer.weights[hand.index] > 0);
  }
  return { test: (hand) => tests.some((test) => test(hand)), error: null };
}

/** "Top pair", "top-pair" and "top pairs" all name the category. */
function categoryTest(term, meta) {
  const plain = (name) => name.toLowerCase().replaceAll("-", " ").replace(/s$/, "");
  const find = (list) => list.findIndex((each) => plain(each.label) === plain(term) || plain(each.key) === plain(term));
  const made = find(meta.made);
  if (made >= 0) return (hand) => hand.made === made;
  const draw = find(meta.draws);
  return draw >= 0 ? (hand) => hand.draw === draw : null;
}
