// Conditions of a search on what the map knows of each paper, in the syntax of the filters of Python.

const RANGE = /^(\d{4})?\.\.(\d{4})?$/;
const COMPARED = /^(year|citations)(>=|<=|=|>|<)(\d{1,9})$/i;
const FIELDS = ["author", "year", "citations", "facility", "mentions", "concept", "region", "kind"];
const NOT_CONDITIONS = ["author", "arxiv", "doi", "bibcode", "http", "https"];
const FIELD = /^(year|citations|facility|mentions|concept|region|kind):"?([^"]+)"?$/i;

/** What is wrong with the text of a search. */
export class QueryError extends Error {}

/** @typedef {{kind: "condition", field: string, from: number, to: number, text: string}} Condition */

/**
 * Read a condition such as "2015..2020", "citations>=100", "facility:JWST" or 'region:"Blazar jets"'.
 * @param {string} token
 * @returns {Condition | null}
 */
export function readCondition(token) {
  const [, sign, last] = token.match(RANGE) ?? [];
  if (sign || last) return between("year", Number(sign ?? 0), Number(last ?? Infinity));
  const [, column, how, value] = token.match(COMPARED) ?? [];
  if (column) {
    const number = Number(value);
    const from = how === ">" ? number + 1 : how.startsWith("<") ? -Infinity : number;
    return between(column.toLowerCase(), from, how === "<" ? number - 1 : how.startsWith(">") ? Infinity : number);
  }
  const [, name, text] = token.match(FIELD) ?? [];
  if (!name) {
    const [, other] = token.match(/^-?([a-z]{3,12}):[^\s:]/i) ?? [];
    if (!other || NOT_CONDITIONS.includes(other.toLowerCase())) return null;
    throw new QueryError(`there is no field ${other}: in the search; the fields are ${FIELDS.join(":, ")}:`);
  }
  const field = name.toLowerCase();
  if (field !== "year" && field !== "citations") return { kind: "condition", field, from: 0, to: 0, text };
  const inner = readCondition(text) ?? readCondition(`${field}=${text}`);
  if (!inner) throw new QueryError(`${token} is not a number or a range; write ${field}:2015..2020`);
  return { ...inner, field };
}

/**
 * Which papers meet a condition, as 1 and 0.
 * @param {import("./source.js").Source} source
 * @param {Condition} condition
 * @returns {Promise<Uint8Array>}
 */
export async function papersOf(source, { field, from, to, text }) {
  const { citations, region, year } = source;
  const n = source.manifest.papers;
  const mask = new Uint8Array(n);
  if (field === "year" || field === "citations") {
    // Citations are stored plus one; 0 is unknown.
    const [column, more] = field === "year" ? [year, 0] : [citations, 1];
    for (let point = 0; point < n; point++) {
      const value = column[point] - more;
      mask[point] = Number(column[point] > 0 && value >= from && value <= to);
    }
    return mask;
  }
  if (field === "region") {
    const named = source.regions.findIndex((one) => String(one.id) === text || same(one.label, text));
    if (named < 0) throw new QueryError(`the map has no region ${text}; write its number, or its whole name in quotes`);
    const wanted = new Set(source.inside()[named]);
    for (let point = 0; point < n; point++) mask[point] = Number(wanted.has(region[point]));
    return mask;
  }
  if (field === "kind" && !same(text, "review")) throw new QueryError(`kind:${text} is unknown; write kind:review`);
  const kind = { kind: "reviews", concept: "concepts" }[field] ?? "facilities";
  const entries = source.manifest.sets[kind] ?? [];
  const row = field === "kind" ? 0 : entries.findIndex((one) => same(one.name, text));
  if (!entries[row]) throw new QueryError(`the map has no ${field} ${text}; choose a name under Filters, and write it in quotes`);
  const { points, kinds } = await source.set(kind, row);
  points.forEach((point, place) => {
    // "facility" stands for papers that use the data, "mentions" for all that name it.
    if (field !== "facility" || kinds[place]) mask[point] = 1;
  });
  return mask;
}

/**
 * @param {string} field
 * @param {number} from
 * @param {number} to
 * @returns {Condition}
 */
function between(field, from, to) {
  return { kind: "condition", field, from, to, text: "" };
}

/**
 * @param {string} one
 * @param {string} other
 */
function same(one, other) {
  return one.toLowerCase() === other.toLowerCase();
}
