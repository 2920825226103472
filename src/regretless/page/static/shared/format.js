/** Numbers as text. A missing number (no opposing hand is possible) is a dash. */

const MISSING = "–";

const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

/** Rounded to some digits; never "-0". */
export const fixed = (value, digits = 1) =>
  known(value) ? value.toFixed(digits).replace(/^-(?=[0.]+$)/, "") : MISSING;

/** A share of 1 in percent: 0.453 is 45.3. */
export const percent = (share, digits = 1) => (known(share) ? (100 * share).toFixed(digits) : MISSING);

/** Chips without needless zeros: 60, 22.5. */
export const chips = (value) => (known(value) ? String(Math.round(value * 100) / 100) : MISSING);

/** EV with digits to match the size of the pot. */
export const ev = (value, pot) => fixed(value, pot >= 1000 ? 0 : pot >= 20 ? 1 : 2);

export const count = (value) => (known(value) ? Math.round(value).toLocaleString("en-US") : MISSING);

export function bytes(value) {
  if (!known(value)) return MISSING;
  const units = ["B", "KB", "MB", "GB", "TB"];
  let place = 0;
  while (value >= 1000 && place < units.length - 1) [value, place] = [value / 1000, place + 1];
  return `${value >= 100 || place === 0 ? value.toFixed(0) : value.toFixed(1)} ${units[place]}`;
}

export function duration(seconds) {
  if (!known(seconds)) return MISSING;
  if (seconds < 1) return "< 1 s";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.floor(seconds / 60)} min ${String(Math.round(seconds % 60)).padStart(2, "0")} s`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** Memory, in one unit wherever it is compared: 2.6 GB, 0.94 GB. */
export function memory(value) {
  if (!known(value)) return MISSING;
  const size = value / 1e9;
  return size < 0.01 ? "< 0.01 GB" : `${size.toFixed(size < 1 ? 2 : 1)} GB`;
}

/** A time that is only estimated: 28 s, 2.6 min. */
export function roughTime(seconds) {
  if (!known(seconds) || seconds < 90 || seconds >= 5400) return duration(seconds);
  const minutes = seconds / 60;
  return `${minutes.toFixed(minutes < 10 ? 1 : 0)} min`;
}

/** Exploitability in percent of the pot, with enough digits to see it fall. */
export const exploitability = (value) => (known(value) ? `${value.toPrecision(2)} % of pot` : MISSING);
