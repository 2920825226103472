/** The rows of a long table, of which only those in sight exist. */

import { fill, make } from "./dom.js";

const SPARE = 3; // rows above and below the visible ones

/** `scroll` scrolls the table with this `body`, whose rows are `row` px high; `draw(item, place)` makes one. */
export function tallRows({ scroll, body, row, draw }) {
  let items = [];
  let drawn = "";
  let [top, height] = [0, 0]; // of what is in sight, kept: asking an element that just changed lays the page out twice

  function drawRows() {
    const first = Math.max(0, Math.floor(top / row) - SPARE);
    const last = Math.min(items.length, Math.ceil((top + height) / row) + SPARE);
    if (drawn === `${first}-${last}`) return;
    drawn = `${first}-${last}`;
    const focused = body.contains(document.activeElement) ? placeOf(document.activeElement) : -1;
    const spacer = (count) => make("tr.spacer", { "aria-hidden": "true", style: { height: `${count * row}px` } });
    fill(
      body,
      spacer(first),
      ...items.slice(first, last).map((item, place) => draw(item, first + place)),
      spacer(items.length - last),
    );
    if (focused >= 0) focusIn(focused);
  }

  function scrollTo(to) {
    if (top === to) return;
    scroll.scrollTop = top = Math.max(0, to);
  }

  const placeOf = (element) => Number(element.closest("tr")?.dataset.place ?? -1);
  const focusIn = (place) =>
    body.querySelector(`tr[data-place="${place}"] :is(a, button)`)?.focus({ preventScroll: true });

  scroll.addEventListener(
    "scroll",
    () =>
      requestAnimationFrame(() => {
        top = scroll.scrollTop;
        drawRows();
      }),
    { passive: true },
  );
  new ResizeObserver(([{ contentRect }]) => {
    height = contentRect.height;
    drawRows();
  }).observe(scroll);

  return {
    /** Other rows, or the same ones with other contents. */
    show(given) {
      items = given;
      drawn = "";
      drawRows();
    },
    toTop: () => scrollTo(0),
    /** Bring a row into sight; `covered` px at the top are under the head. */
    reveal(place, covered = 0) {
      const wanted = place * row;
      if (wanted < top || wanted > top + height - covered - 2 * row) scrollTo(wanted);
      drawRows();
    },
    /** The place of the row that has the focus, or −1. */
    focused: () => (body.contains(document.activeElement) ? placeOf(document.activeElement) : -1),
    focus: focusIn,
  };
}
