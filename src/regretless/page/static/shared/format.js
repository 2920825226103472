/**
 * Numbers as text; nothing else on the page turns a number into digits. A missing number (no opposing hand is possible)
 * is a dash.
 */

const MISSING = "–";

const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

/** Rounded to some digits; never "-0". */
export const fixed = (value, digits = 1) =>
  known(value) ? value.toFixed(digits).replace(/^-(?=[0.]+$)/, "") : MISSING;

/** A share of 1 in percent: 0.453 is 45.3. */
export const percent = (share, digits = 1) => (known(share) ? fixed(100 * share, digits) : MISSING);

/** Without needless zeros, to two decimals: 60, 22.5, 0.3. */
export const chips = (value) => (known(value) ? String(Math.round(value * 100) / 100 || 0) : MISSING);

/** To three significant digits, without needless zeros: 0.3, 0.0421, 12.5. */
export const short = (value, digits = 3) => (known(value) ? String(Number(value.toPrecision(digits))) : MISSING);

/** How many decimals suit EVs where the pot is this large. */
export const evDigits = (pot) => (pot >= 1000 ? 0 : pot >= 20 ? 1 : 2);

/** EV with digits to match the size of the pot. */
export const ev = (value, pot) => fixed(value, evDigits(pot));

const SHORTER = [
  [1e3, "k"],
  [1e6, "M"],
  [1e9, "G"],
];

/**
 * A number in as much detail as there is room for: decimals go first, then thousands become k, and millions M.
 * `fits(text)` says whether a text is narrow enough; a number that fits in no form is left out rather than cut.
 */
export function fitted(value, digits, fits) {
  if (!known(value)) return MISSING;
  for (let decimals = digits; decimals >= 0; decimals--) {
    const text = fixed(value, decimals);
    if (fits(text)) return text;
  }
  for (const [size, unit] of SHORTER) {
    for (const decimals of [1, 0]) {
      const text = fixed(value / size, decimals) + unit;
      if (Math.abs(value) >= size && fits(text)) return text;
    }
  }
  return "";
}

export const count = (value) => (known(value) ? Math.round(value).toLocaleString("en-US") : MISSING);

/** A size as the command prints it (`bytes_text`): 3.2 GB, 134 MB, 2.0 KB, 17 bytes. */
export function bytes(value) {
  if (!known(value)) return MISSING;
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let place = 0;
  while (value >= 999.5 && place < units.length - 1) [value, place] = [value / 1000, place + 1];
  return `${value >= 99.95 || place === 0 ? value.toFixed(0) : value.toFixed(1)} ${units[place]}`;
}

export function duration(seconds) {
  if (!known(seconds)) return MISSING;
  if (seconds < 1) return "< 1 s";
  const whole = Math.round(seconds);
  if (whole < 90) return `${whole} s`;
  if (whole < 5400) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** Memory, in one unit wherever it is compared: 2.6 GB, 0.94 GB. */
export function memory(value) {
  if (!known(value)) return MISSING;
  const size = value / 1e9;
  return size < 0.01 ? "< 0.01 GB" : `${size < 100 ? size.toFixed(size < 1 ? 2 : 1) : count(size)} GB`;
}

/** A time that is only estimated: 28 s, 2.6 min. */
export function roughTime(seconds) {
  if (!known(seconds) || seconds < 90 || seconds >= 5400) return duration(seconds);
  const minutes = seconds / 60;
  return `${minutes.toFixed(minutes < 10 ? 1 : 0)} min`;
}

/** Exploitability with enough digits to see it fall; `unit` as the server names it. */
export function exploitability(value, unit = "% of the pot") {
  if (!known(value)) return MISSING;
  if (unit === "mbb/g" && value < 0.001) return "< 0.001 mbb/g";
  if (unit !== "% of the pot") return `${short(value)} ${unit}`;
  const digits = value >= 99.5 ? value.toFixed(0) : value < 1e-6 ? "0.0" : value.toPrecision(2);
  return `${digits} % of pot`;
}
