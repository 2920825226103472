/**
 * What the browse view shows at a node, derived once from the server's answer and read by every part.
 *
 *   player    whose hands the grid and the table show
 *   acts      whether that player acts here, so that hands have a strategy
 *   hands     one object per hand: name, class, weight, whether it is held, ev, equity, eqr, mix, actionEv, lost (against
 *             its best action), locked, made, draw
 *   labels    what an action is called, by its name in a line
 *   seats     what the players are called
 *   amounts   how chips are written, in the unit of the page
 *   filter    {test(hand), error} of the hands to show
 *   totals    combos, EV, equity, EQR and frequencies of the hands that pass the filter, or null if there is none
 *   classes   one object per cell of the grid, of the hands that pass the filter, or null where none is held
 *   height    how full a cell is: its weight relative to the most likely hand, so that a range thinned by many
 *             actions can still be read
 */

import { CLASSES, classOf, combosIn, placeOf } from "../shared/cards.js";
import { actionColours, mixBackground, scaleColour } from "../shared/colours.js";
import { fitted, percent } from "../shared/format.js";
import { actionLabels, seatNames } from "../shared/labels.js";
import { DEFAULTS } from "../shared/state.js";
import { amounts } from "../shared/units.js";

/** The numbers a cell of the grid can show, each in as much detail as `fits` allows. */
export const NUMBERS = {
  ev: { label: "EV", text: (cell, amounts, fits) => amounts.evFitted(cell.ev, fits) },
  lost: { label: "EV lost", text: (cell, amounts, fits) => (cell.lost === null ? "" : amounts.lossFitted(cell.lost, fits)) },
  equity: { label: "Equity %", text: (cell) => percent(cell.equity, 0) },
  eqr: { label: "EQR", text: (cell, _, fits) => fitted(cell.eqr, 2, fits) },
  bets: { label: "Bets %", text: (cell) => (cell.bets === null ? "" : percent(cell.bets, 0)) },
  weight: { label: "Weight %", text: (cell) => percent(cell.weight, 0) },
  none: { label: "no number", text: () => "" },
};

const byNumber = (read, kind) => ({
  read,
  background: (_, { share }) => (share === null ? "var(--range)" : scaleColour(share, kind)),
});

/** What the colours of the grid can mean: `read` is the number behind a colour, from the least to the greatest. */
export const COLOURS = {
  action: {
    label: "actions",
    background: (cell, { acts, colours }) => (acts ? mixBackground(cell.mix, colours) : "var(--range)"),
  },
  ev: { label: "EV", ...byNumber((cell) => cell.ev, "value") },
  equity: { label: "equity", ...byNumber((cell) => cell.equity, "value") },
  lost: { label: "EV lost", ...byNumber((cell) => cell.lost, "loss") },
};

/** The state with what an address cannot mean left out: anyone can write a link. */
export function sound(state) {
  const known = (name) => (placeOf(name) >= 0 ? name : "");
  return {
    ...state,
    pin: known(state.pin),
    versus: known(state.versus),
    player: state.player in OTHER ? state.player : "",
    number: state.number in NUMBERS ? state.number : DEFAULTS.number,
    colour: state.colour in COLOURS ? state.colour : DEFAULTS.colour,
  };
}

const LEAST = 0.0005; // of the most likely hand: what is left of a hand that always acts otherwise is not shown

export const OTHER = { oop: "ip", ip: "oop" };

export function readScene({ meta, file, node, state, filter }) {
  const acting = node.kind === "decision" ? node.player : null;
  const player = state.player || acting || "oop";
  const acts = player === acting;
  const names = node.actions.map((action) => action.name);
  const hands = readHands(meta, node, player, acts);
  return {
    meta,
    file,
    node,
    state,
    player,
    acts,
    hands,
    actions: acts ? node.actions : [],
    labels: Object.fromEntries(actionLabels(node.actions).map((label, place) => [names[place], label])),
    seats: seatNames(file.spot),
    colours: actionColours(names),
    filter,
    totals: state.filter && !filter.error ? readTotals(hands.filter(filter.test), node, acts) : null,
    classes: readClasses(hands, acts ? names : [], filter.test),
    pinned: state.pin,
    amounts: amounts({ unit: state.unit, bigBlind: file.spot?.big_blind, pot: node.pot }),
  };
}

export function readHands(meta, node, player, acts) {
  const table = node.players[player].hands;
  const actions = acts ? node.strategy.length : 0;
  const most = table.weight.reduce((top, weight) => Math.max(top, weight), 0);
  return table.hand.map((index, place) => ({
    index,
    name: meta.hands[index],
    class: placeOf(classOf(meta.hands[index])),
    weight: table.weight[place],
    held: table.weight[place] > LEAST * most,
    matchups: table.matchups[place],
    ev: table.ev[place],
    equity: table.equity[place],
    eqr: table.eqr[place],
    made: table.made[place],
    draw: table.draw[place],
    mix: Array.from({ length: actions }, (_, action) => node.strategy[action][place]),
    actionEv: Array.from({ length: actions }, (_, action) => node.action_ev[action][place]),
    lost: actions ? evLost(node, place) : null,
    locked: Boolean(acts && node.locked?.[place]),
  }));
}

/** What a hand loses by its mix against its best action; null where no opposing hand is possible. */
function evLost({ strategy, action_ev }, place) {
  let best = -Infinity;
  let mean = 0;
  for (let action = 0; action < strategy.length; action++) {
    const chips = action_ev[action][place];
    if (chips === null) return null;
    best = Math.max(best, chips);
    mean += strategy[action][place] * chips;
  }
  return Math.max(0, best - mean);
}

/** What some hands win, and how often they take each action. */
function readTotals(hands, { pot, actions }, acts) {
  const mean = weightedMean(hands);
  const [ev, equity] = [mean((hand) => hand.ev), mean((hand) => hand.equity)];
  return {
    combos: hands.reduce((sum, hand) => sum + hand.weight, 0),
    ev,
    equity,
    eqr: equity ? ev / (equity * pot) : null,
    frequencies: acts ? actions.map((_, action) => mean((hand) => hand.mix[action])) : null,
  };
}

export function readClasses(hands, actions, passes = () => true) {
  const most = hands.reduce((top, hand) => Math.max(top, hand.weight), 0);
  const members = CLASSES.map(() => []);
  for (const hand of hands) if (hand.held && passes(hand)) members[hand.class].push(hand);
  const bets = actions.map((name) => /^(bet|raise|all-in)/.test(name));
  return members.map((held, place) => {
    if (!held.length) return null;
    const mean = weightedMean(held);
    const mix = actions.map((_, action) => mean((hand) => hand.mix[action]));
    const weight = held.reduce((sum, hand) => sum + hand.weight, 0);
    return {
      name: CLASSES[place],
      hands: held,
      mix,
      weight: weight / combosIn(CLASSES[place]),
      combos: weight,
      height: weight / held.length / most, // combos that the board makes impossible do not lower a cell
      ev: mean((hand) => hand.ev),
      lost: mean((hand) => hand.lost),
      equity: mean((hand) => hand.equity),
      eqr: mean((hand) => hand.eqr),
      bets: actions.length ? mix.reduce((sum, share, action) => sum + (bets[action] ? share : 0), 0) : null,
      locked: held.some((hand) => hand.locked),
    };
  });
}

function weightedMean(hands) {
  return (read) => {
    let total = 0;
    let sum = 0;
    for (const hand of hands) {
      const weight = hand.weight * hand.matchups;
      const value = read(hand);
      if (weight > 0 && value !== null) {
        total += weight;
        sum += weight * value;
      }
    }
    return total > 0 ? sum / total : null;
  };
}
