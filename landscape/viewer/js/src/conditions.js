// Filters of a search: their grammar, which is that of landscape/search/filters.lark, and the papers
// that meet a condition on what the map knows. The file tests/queries.json has cases of both sides.

const MOST_NESTED = 100;
const KNOWN = ["author", "year", "title", "facility", "mentions", "concept", "region", "object", "in", "kind", "arxiv", "doi", "bibcode"];
const UNKNOWN = ["journal", "status", "category", "keyword", "role", "date"];
const FIELDS = `the fields are ${KNOWN.join(":, ")}: and citations>`;
const LETTER = /[^\s;|()"]/.source; // of a word
const DAY = /\d{4}-\d{1,2}(?:-\d{1,2})?/.source;
const MONTH = /(?:19|20)\d\d-(?:0?[1-9]|1[0-2])(?:-\d{1,2})?/.source;
const DATE = `(?:${DAY}|\\d{1,4})`;

/** Tokens of the grammar, the most important first. */
const TOKENS = /** @type {[string, string, string][]} */ ([
  ["AND", `(?:AND|and|And|&&)(?!${LETTER})`, ""],
  ["OR", `(?:OR|or|Or|\\|\\|)(?!${LETTER})`, ""],
  ["NOT", `(?:NOT|not|Not)(?!${LETTER})`, ""],
  ["NOT", "[-\u2212](?=[^\\s;|)])", ""],
  ["FIELD", `(?:${[...KNOWN, ...UNKNOWN].join("|")})\\s*:`, "i"],
  ["COMPARED", `(?:citations|year|date)\\s*(?:>=|<=|==?|>|<)\\s*(?:${DAY}|\\d{1,9})(?!${LETTER})`, "i"],
  ["RANGE", `(?:${DATE}\\.\\.${DATE}?|\\.\\.${DATE}|${MONTH})(?!${LETTER})`, ""],
  ["FLAG", `(?:refereed|review)(?!${LETTER})`, "i"],
  ["DOI", `10\\.\\d{4,9}/(?:${LETTER}|\\(${LETTER}*\\))+`, ""],
  ["PHRASE", /"(?:[^"\\]|\\.)*"/.source, "s"],
  ["WORD", `(?!(?:AND|OR|NOT|&&)(?!${LETTER}))[^\\s;|()":\\-\u2212][^\\s;|()":]*`, ""],
  [";", ";", ""],
  ["|", "\\|", ""],
  ["(", "\\(", ""],
  [")", "\\)", ""],
]).map(([kind, pattern, flags]) => ({ kind, pattern: new RegExp(pattern, `${flags}uy`) }));
const VALUES = ["(", "PHRASE", "RANGE", "WORD", "FLAG", "DOI"]; // what can follow a field

const MISWRITTEN = /\.\.|[<>=]|^\d+[/.]\d+[/.]\d+|^(?:19|20)\d\d[/-](?:\d|Q\d)|^(?:19|20)\d{6}$/;
const SPOKEN =
  /^(?:since|after|before|until|from|in|during|last|past|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\s+(?:\d{1,4}|the\s+.*)(?:\s+(?:years?|months?|days?))?$/i;

/** What is wrong with the text of a search. */
export class QueryError extends Error {}

/**
 * A term without a field is searched in titles and abstracts.
 * @typedef {{kind: "term", field: string, text: string} | {kind: "range", field: string, from: number, to: number}} Condition
 * @typedef {{kind: "and" | "or", parts: Query[]} | {kind: "not", part: Query} | Condition} Query
 * @typedef {{query: Query, isBare?: boolean, endsInValue?: boolean, hasOr?: boolean}} Part
 */

/**
 * Read a filter such as "dust OR gas; -author:Rubin; 2015..2020".
 * @param {string} text
 * @returns {Query}
 */
export function readFilter(text) {
  let at = 0;
  let depth = 0;

  /**
   * The next token; operators such as "and" are words where no operator can be.
   * @param {"first" | "later" | "value"} where
   */
  function next(where) {
    at += text.slice(at).search(/\S|$/);
    for (const { kind, pattern } of TOKENS) {
      if (where === "value" ? !VALUES.includes(kind) : where === "first" && (kind === "AND" || kind === "OR")) continue;
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found) return { kind, text: found[0] };
    }
    return { kind: "", text: "" };
  }

  /** @param {{kind: string, text: string}} token */
  function take(token) {
    at += token.text.length;
    return token;
  }

  /** @returns {Query} */
  function all() {
    const parts = [any()];
    let hasAnd = false;
    for (let token = next("later"); at < text.length && token.kind !== ")"; token = next("later")) {
      const isJoined = token.kind === "AND" || token.kind === ";";
      if (isJoined) take(token);
      hasAnd ||= token.kind === "AND";
      const part = any();
      if (!isJoined && parts[parts.length - 1].endsInValue && part.isBare) {
        throw new QueryError('the end of a field is unclear; quote a value of several words, or write ";" after it');
      }
      parts.push(part);
    }
    if (hasAnd && parts.some((part) => part.hasOr)) throw new QueryError("AND and OR are mixed; use parentheses");
    return joined("and", parts);
  }

  /** @returns {Part} */
  function any() {
    const parts = [one()];
    let hasOr = false;
    for (let token = next("later"); token.kind === "OR" || token.kind === "|"; token = next("later")) {
      take(token);
      hasOr ||= token.kind === "OR";
      parts.push(one());
    }
    const { isBare } = parts[0];
    return { query: joined("or", parts), isBare, endsInValue: parts[parts.length - 1].endsInValue, hasOr };
  }

  /** @returns {Part} */
  function one() {
    const token = next("first");
    if (!["NOT", "FIELD", "COMPARED", ...VALUES].includes(token.kind)) throw problem();
    take(token);
    if (token.kind === "NOT") return { query: { kind: "not", part: nested(() => one().query) } };
    if (token.kind === "(") return { query: group() };
    if (token.kind === "COMPARED") return { query: compared(token.text) };
    if (token.kind === "RANGE") return { query: years(token.text) };
    if (token.kind === "PHRASE") return { query: term("", unquoted(token.text)) };
    if (token.kind === "DOI") return { query: term("doi", token.text) };
    if (token.kind === "FLAG") {
      if (/^refereed$/i.test(token.text)) throw new QueryError("the map does not know which papers are refereed");
      return { query: term("kind", "review") };
    }
    if (token.kind === "WORD") {
      const query = words(token.text);
      return { query, isBare: query.kind === "term" };
    }
    const field = token.text.slice(0, -1).trim().toLowerCase();
    const value = next("value");
    if (!value.kind) throw problem();
    take(value);
    if (value.kind === "(") return { query: inField(group(), field) };
    if (value.kind === "PHRASE") return { query: term(field, unquoted(value.text)) };
    return { query: term(field, value.text), endsInValue: true };
  }

  /**
   * @param {string} first
   * @returns {Query}
   */
  function words(first) {
    const own = [first];
    for (let more = next("later"); more.kind === "WORD"; more = next("later")) own.push(take(more).text);
    const wrong = own.find((word) => MISWRITTEN.test(word)) ?? (SPOKEN.test(own.join(" ")) ? own.join(" ") : "");
    if (wrong) {
      throw new QueryError(`${wrong} is not understood; a period is written 2015.. or 1999..2004, and words need quotes`);
    }
    return own.length === 1 && /^(?:19|20)\d\d$/.test(first) ? years(first) : term("", own.join(" "));
  }

  function group() {
    const query = nested(all);
    const end = next("later");
    if (end.kind !== ")") throw problem();
    take(end);
    return query;
  }

  /**
   * @param {() => Query} read
   * @returns {Query}
   */
  function nested(read) {
    if (++depth > MOST_NESTED) throw new QueryError(`the search is nested more than ${MOST_NESTED} levels deep`);
    const query = read();
    depth--;
    return query;
  }

  function problem() {
    const here = text[at];
    if (here === ":") {
      const [name] = text.slice(0, at).match(/[^\s;|()"]*\s*$/) ?? [""];
      return new QueryError(`there is no field ${name.trim()}: in the search; ${FIELDS}, and text with a colon needs quotes`);
    }
    if (here === '"') return new QueryError("a quotation mark is never closed");
    if (here) return new QueryError(`a word is missing before ${here}`);
    return new QueryError("a word or a parenthesis is missing at the end");
  }

  const query = all();
  if (at < text.length) throw new QueryError("a parenthesis was never opened");
  return query;
}

/**
 * @param {"and" | "or"} kind
 * @param {Part[]} parts
 * @returns {Query}
 */
function joined(kind, parts) {
  return parts.length === 1 ? parts[0].query : { kind, parts: parts.map(({ query }) => query) };
}

/** @param {string} phrase */
function unquoted(phrase) {
  return phrase.slice(1, -1).replace(/\\(.)/gs, "$1");
}

/**
 * A query whose words are searched in a field.
 * @param {Query} query
 * @param {string} field
 * @returns {Query}
 */
function inField(query, field) {
  if (query.kind === "not") return { kind: "not", part: inField(query.part, field) };
  if (query.kind === "and" || query.kind === "or") {
    return { kind: query.kind, parts: query.parts.map((part) => inField(part, field)) };
  }
  if (query.kind === "term" && !query.field) return term(field, query.text);
  const own = field === "date" ? "year" : field;
  if (query.kind === "range" && query.field === own) return query;
  throw new QueryError(`${field}:(…) takes words and phrases only`);
}

/**
 * @param {string} field
 * @param {string} text
 * @returns {Query}
 */
function term(field, text) {
  if (field === "year" || field === "date") return years(text);
  if (UNKNOWN.includes(field)) throw new QueryError(`the map does not know the ${field} of papers; ${FIELDS}`);
  if (!/[\p{L}\p{N}]/u.test(text)) throw new QueryError("a term has no letter or digit");
  if (field === "author" && text.startsWith("^")) {
    throw new QueryError(`the map does not know first authors; write author:"${text.slice(1)}"`);
  }
  return { kind: "term", field, text };
}

/**
 * @param {string} text a year, or a range such as "2015..2020" or "2015.."
 * @returns {Query}
 */
function years(text) {
  const range = text.replace(/^(\d{4})-(\d{4})$/, "$1..$2");
  if (/\d-\d/.test(range)) throw new QueryError("the map knows the years of papers, not their months");
  const [, first, dots, last] = range.match(/^(\d{1,4})?(?:(\.\.)(\d{1,4})?)?$/) ?? [];
  if (!first && !last) throw new QueryError(`${text} is not a year or a range; write year:2015..2020`);
  const [from, to] = [Number(first ?? 0), Number(last ?? (dots ? Infinity : first))];
  if (from > to) throw new QueryError(`the range ends in ${to}, before its start; write ${to}..${from}`);
  return { kind: "range", field: "year", from, to };
}

/**
 * @param {string} text such as "citations>=100"
 * @returns {Query}
 */
function compared(text) {
  const [, name, how, value] = text.match(/^(\w+)\s*([<>=]+)\s*(.*)$/) ?? [];
  if (value.includes("-")) throw new QueryError("the map knows the years of papers, not their months");
  const number = Number(value);
  const from = how === ">" ? number + 1 : how.startsWith("<") ? -Infinity : number;
  const to = how === "<" ? number - 1 : how.startsWith(">") ? Infinity : number;
  return { kind: "range", field: /^citations$/i.test(name) ? "citations" : "year", from, to };
}

/**
 * Which papers meet a condition, as 1 and 0.
 * @param {import("./source.js").Source} source
 * @param {Condition} condition
 * @returns {Promise<Uint8Array>}
 */
export async function papersOf(source, condition) {
  const { citations, region, year } = source;
  const n = source.manifest.papers;
  const mask = new Uint8Array(n);
  if (condition.kind === "range") {
    const { from, to } = condition;
    // Citations are stored plus one; 0 is unknown.
    const [column, more] = condition.field === "year" ? [year, 0] : [citations, 1];
    for (let point = 0; point < n; point++) {
      const value = column[point] - more;
      mask[point] = Number(column[point] > 0 && value >= from && value <= to);
    }
    return mask;
  }
  const { field, text } = condition;
  if (field === "region") {
    const named = source.regions.findIndex((one) => String(one.id) === text || same(one.label, text));
    if (named < 0) throw new QueryError(`the map has no region ${text}; write its number, or its whole name in quotes`);
    const wanted = new Set(source.inside()[named]);
    for (let point = 0; point < n; point++) mask[point] = Number(wanted.has(region[point]));
    return mask;
  }
  if (field === "kind" && !same(text, "review")) throw new QueryError(`kind:${text} is unknown; write kind:review`);
  if (field === "in" && !source.manifest.sets.mine) {
    throw new QueryError(`the map has no library ${text}; show it with --library ${text}`);
  }
  const kind = { kind: "reviews", concept: "concepts", object: "objects", in: "mine" }[field] ?? "facilities";
  const entries = source.manifest.sets[kind] ?? [];
  const rows = entries.flatMap((one, row) => {
    const names = field === "kind" ? [text] : [one.name, ...(one.also ?? [])];
    return names.some((name) => same(name, text) || (field === "object" && isPlanet(name, text))) ? [row] : [];
  });
  if (!rows.length) throw new QueryError(`the map has no ${field} ${text}; choose a name under Filters, and write it in quotes`);
  for (const { points, kinds } of await Promise.all(rows.map((row) => source.set(kind, row)))) {
    points.forEach((point, place) => {
      // "facility" stands for papers that use the data, "mentions" for all that name it.
      if (field !== "facility" || kinds[place]) mask[point] = 1;
    });
  }
  return mask;
}

/**
 * @param {string} one
 * @param {string} other
 */
function same(one, other) {
  return one.toLowerCase() === other.toLowerCase();
}

/**
 * Whether a name is that of a planet of a star, such as "K2-18 b" of "K2-18".
 * @param {string} name
 * @param {string} star
 */
function isPlanet(name, star) {
  return /^ ?[b-k]$/.test(name.slice(star.length)) && same(name.slice(0, star.length), star);
}
