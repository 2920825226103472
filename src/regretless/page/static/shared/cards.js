/** Cards, hands and the 13 × 13 classes, as the page writes them. Ranges are read and written by the server. */

import { make } from "./dom.js";

export const RANKS = "AKQJT98765432";
export const SUITS = "shdc";
export const SYMBOLS = { s: "♠", h: "♥", d: "♦", c: "♣" };
export const SUIT_NAMES = { s: "spades", h: "hearts", d: "diamonds", c: "clubs" };

/** The deck, aces first, suit by suit. */
export const DECK = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));

/** The 169 classes, row by row: pairs on the diagonal, suited above it. */
export const CLASSES = [...RANKS].flatMap((high, row) =>
  [...RANKS].map((low, column) => (row === column ? high + low : row < column ? high + low + "s" : low + high + "o")),
);

const PLACE = new Map(CLASSES.map((name, place) => [name, place]));

export const placeOf = (className) => PLACE.get(className) ?? -1;

/** The class of a hand: "AhKh" is AKs. */
export function classOf(hand) {
  const [first, second] = RANKS.indexOf(hand[0]) <= RANKS.indexOf(hand[2]) ? [hand[0], hand[2]] : [hand[2], hand[0]];
  if (first === second) return first + second;
  return first + second + (hand[1] === hand[3] ? "s" : "o");
}

/** How many combos a class has before any card is known. */
export const combosIn = (className) => (className.length === 2 ? 6 : className[2] === "s" ? 4 : 12);

/** "Kh Qs Js" or "KhQsJs" as cards; characters that are not cards are dropped. */
export const cardsIn = (text) => text.match(/[2-9TJQKA][cdhs]/g) ?? [];

/** A card as coloured text. */
export function cardText(card) {
  return make(`span.suit-${card[1]}`, {}, card[0] + SYMBOLS[card[1]]);
}

/** A card as a tile. */
export function cardTile(card) {
  return make(`span.card.suit-${card[1]}`, {}, card[0] + SYMBOLS[card[1]]);
}

/** A hand as two coloured cards, higher first. */
export function handText(hand) {
  const cards = cardsIn(hand).sort((a, b) => RANKS.indexOf(a[0]) - RANKS.indexOf(b[0]));
  return make("span.hand", {}, ...cards.map(cardText));
}
