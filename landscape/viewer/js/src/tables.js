// Tables of the pages of a site: headings sort the rows, and long tables have a filter.

import { count, h, number } from "./dom.js";

const LONG = 12; // rows of a table that gets a filter

/**
 * The places of rows in ascending order. Cells that begin with numbers are compared as numbers,
 * and empty cells are last in both directions.
 * @param {string[]} cells
 * @param {boolean} descending
 * @returns {number[]}
 */
export function sortedPlaces(cells, descending) {
  const texts = cells.map((cell) => cell.trim());
  const filled = texts.filter(Boolean);
  const numeric = filled.every((text) => !Number.isNaN(leadingNumber(text)));
  const sign = descending ? -1 : 1;
  return texts
    .map((_, place) => place)
    .sort((a, b) => {
      if (!texts[a] || !texts[b]) return Number(!texts[a]) - Number(!texts[b]);
      if (numeric) return sign * (leadingNumber(texts[a]) - leadingNumber(texts[b]));
      return sign * texts[a].localeCompare(texts[b], "en", { sensitivity: "base", numeric: true });
    });
}

/**
 * The number at the beginning of a cell such as "1,234", "-0.5", "<0.001", "1e-05" or
 * "12 (10 to 14)"; a date is none.
 * @param {string} text
 */
function leadingNumber(text) {
  const found = /^<?([+\-−]?[\d,]*\.?\d+(?:e[+-]?\d+)?)/i.exec(text);
  return found && !/^\d{4}-\d/.test(text) ? Number(found[1].replaceAll(",", "").replace("−", "-")) : NaN;
}

/**
 * Make a table sortable, with a filter above it if it is long.
 * @param {HTMLTableElement} table
 */
export function enhance(table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const headings = [...(table.tHead?.rows[0].cells ?? [])];
  headings.forEach((heading, column) => {
    const sort = () => {
      const descending = heading.getAttribute("aria-sort") === "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const cells = rows.map((row) => row.cells[column]?.textContent ?? "");
      body.append(...sortedPlaces(cells, descending).map((place) => rows[place]));
    };
    heading.replaceChildren(h("button", { type: "button", onclick: sort }, ...heading.childNodes));
  });
  if (rows.length < LONG) return;
  const said = h("span", { class: "quiet", role: "status" });
  const texts = rows.map((row) => (row.textContent ?? "").toLowerCase());
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, place) => {
      row.hidden = !words.every((word) => texts[place].includes(word));
      if (!row.hidden) shown++;
    });
    said.textContent = words.length ? ` ${number(shown)} of ${count(rows.length, "row")}` : "";
  };
  const input = h("input", { type: "search", placeholder: "Filter the rows", "aria-label": "Filter the rows", oninput: filter });
  const place = table.closest(".wide") ?? table;
  place.before(h("p", { class: "filter" }, input, said));
}
