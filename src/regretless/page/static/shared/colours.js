/**
 * Colour means action: fold blue, check and call green, bets amber → orange → red → violet by size.
 *
 * The bets of one decision are spread over the scale, smallest first; a lone bet is red and an all-in beside other
 * bets always violet, so a size keeps its colour in the strip, the bar, the grid, the table and the graph.
 */

import { fixed } from "./format.js";

const SCALE = ["var(--bet-1)", "var(--bet-2)", "var(--bet-3)", "var(--bet-4)", "var(--bet-5)"];

const isBet = (action) => /^(bet|raise|all-in)/.test(action);

/** One colour per action of a decision, in the order of its actions. */
export function actionColours(actions) {
  const bets = actions.filter(isBet);
  const places = positions(bets.length, bets.at(-1)?.startsWith("all-in"));
  return actions.map((action) => {
    if (action.startsWith("fold")) return "var(--fold)";
    return isBet(action) ? betColour(places[bets.indexOf(action)]) : "var(--call)";
  });
}

/** Where some bets stand on the scale from 0 to 4. */
function positions(count, endsAllIn) {
  if (endsAllIn) return [...positions(count - 1, false).map((place) => Math.min(place, 3)), 4];
  if (count < 2) return count ? [2] : [];
  return Array.from({ length: count }, (_, bet) => (bet / (count - 1)) * (count === 2 ? 2 : 4));
}

function betColour(position) {
  const below = Math.floor(position);
  const share = Math.round(100 * (position - below));
  return share === 0 ? SCALE[below] : `color-mix(in srgb, ${SCALE[below + 1]} ${share}%, ${SCALE[below]})`;
}

/** A strategy as the background of one element: the last action (the largest bet) on the left. */
export function mixBackground(shares, colours) {
  const stops = [];
  let from = 0;
  for (let action = shares.length - 1; action >= 0; action--) {
    if (!(shares[action] > 0)) continue;
    const to = from + 100 * shares[action];
    stops.push(`${colours[action]} ${fixed(from, 2)}% ${fixed(to, 2)}%`);
    from = to;
  }
  return stops.length ? `linear-gradient(to right, ${stops.join(", ")})` : "none";
}

const SCALES = {
  value: ["var(--value-1)", "var(--value-2)", "var(--value-3)"],
  loss: ["var(--loss-1)", "var(--loss-2)", "var(--loss-3)"],
};

/** A number from 0 to 1 as a colour: `kind` is "value", or "loss" where 0 is best. */
export function scaleColour(share, kind) {
  const stops = SCALES[kind];
  const place = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const below = Math.min(Math.floor(place), stops.length - 2);
  return `color-mix(in srgb, ${stops[below + 1]} ${Math.round(100 * (place - below))}%, ${stops[below]})`;
}
