/**
 * The filter of hands: range text, and names of categories, in any mix. It is on the grid, the action bar, the totals and
 * the table.
 *
 *   77+, suited        pairs from sevens up, and every suited hand
 *   flush draw, sets   every hand with a flush draw, and every set
 *
 * Range text is read by the server, as everywhere.
 */

import { post } from "../shared/api.js";
import { CLASSES } from "../shared/cards.js";
import { debounced, make, set } from "../shared/dom.js";
import { now } from "../shared/state.js";

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
    oninput: () => ((waiting = true), takeLater()),
  });
  const root = make("label.filter", {}, make("span", {}, "Filter"), input, problem);

  let waiting = false; // for a pause in typing: the field may be left before it is over
  const takeLater = debounced(() => {
    waiting = false;
    if (now().view === "browse") change(input.value.trim());
  }, 150);

  return {
    root,
    show({ state, filter: { error } }) {
      if (!waiting && document.activeElement !== input && input.value !== state.filter) input.value = state.filter;
      set(input, { "aria-invalid": error ? "true" : null, title: error });
      problem.textContent = error ?? "";
    },
  };
}

let known = { text: "", answer: everyHand }; // the filter that was read last

/** {test(hand), error}: whether a hand passes, or what is wrong with the text, and then every hand does. */
export async function readFilter(text, meta) {
  if (known.text === text) return known.answer;
  const answer = await read(text, meta);
  if (!answer.error) known = { text, answer };
  return answer;
}

async function read(text, meta) {
  const tests = [];
  const rest = [];
  for (const term of text.split(/ *, */).filter(Boolean)) {
    const test = KINDS[term.toLowerCase()] ?? categoryTest(term, meta);
    if (test) tests.push(test);
    else rest.push(term);
  }
  if (rest.length) {
    const answer = await post("/ranges/parse", { text: rest.join(",") }).catch((error) => ({ error }));
    if (!answer.valid) return { ...everyHand, error: answer.error.message };
    tests.push((hand) => answer.weights[hand.index] > 0);
  }
  return { test: (hand) => !tests.length || tests.some((test) => test(hand)), error: null };
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
