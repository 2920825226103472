/** Tables as CSV: rows of texts and numbers, the heads first. */

const quoted = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const csv = (rows) => rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");

/** The rows of a table on the page, as they are written. */
export const rowsOf = (table) =>
  [...table.rows]
    .filter((row) => !row.matches(".spacer"))
    .map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").replace(/ [↑↓]$/, "").trim()));
