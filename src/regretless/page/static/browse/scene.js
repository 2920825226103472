/**
 * What the browse view shows at a node, derived once from the server's answer and read by every part.
 *
 *   player    whose hands the grid and the table show
 *   acts      whether that player acts here, so that hands have a strategy
 *   hands     one object per hand: name, class, weight, whether it is held, ev, equity, eqr, mix, actionEv, locked,
 *             made, draw
 *   classes   one object per cell of the grid, or null where no hand is held
 *   height    how full a cell is: its weight relative to the most likely hand, so that a range thinned by many
 *             actions can still be read
 */

import { CLASSES, classOf, combosIn, placeOf } from "../shared/cards.js";
import { actionColours } from "../shared/colours.js";
import { ev, fixed, percent } from "../shared/format.js";
import { DEFAULTS } from "../shared/state.js";

/** The numbers a cell of the grid can show. */
export const NUMBERS = {
  ev: { label: "EV", text: (cell, pot) => ev(cell.ev, pot >= 20 ? 1000 : pot) },
  equity: { label: "Equity", text: (cell) => percent(cell.equity, 0) },
  eqr: { label: "EQR", text: (cell) => fixed(cell.eqr, 2) },
  bets: { label: "Bets", text: (cell) => percent(cell.bets, 0) },
  weight: { label: "Weight", text: (cell) => percent(cell.weight, 0) },
  none: { label: "None", text: () => "" },
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
  };
}

const LEAST = 0.0005; // of the most likely hand: what is left of a hand that always acts otherwise is not shown

export const OTHER = { oop: "ip", ip: "oop" };

export function readScene({ meta, file, node, state }) {
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
    colours: actionColours(names),
    classes: readClasses(hands, acts ? names : []),
    pinned: state.pin,
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
    locked: Boolean(acts && node.locked?.[place]),
  }));
}

export function readClasses(hands, actions) {
  const most = hands.reduce((top, hand) => Math.max(top, hand.weight), 0);
  const members = CLASSES.map(() => []);
  for (const hand of hands) if (hand.held) members[hand.class].push(hand);
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
