// Papers as CSV and BibTeX.

/**
 * @typedef {{id: string, title: string, authors: string[], nAuthors: number, year: number | null, journal: string,
 *   bibcode: string, arxiv: string, doi: string, citations: number | null, region: string, kind: string}} Row
 */

/**
 * Write papers as CSV, with a header. A cell that a spreadsheet would run as a formula gets an apostrophe.
 * @param {Row[]} rows
 */
export function toCsv(rows) {
  const columns = /** @type {const} */ ([
    "id",
    "title",
    "authors",
    "year",
    "journal",
    "bibcode",
    "arxiv",
    "doi",
    "citations",
    "region",
  ]);
  const lines = rows.map((row) =>
    columns.map((name) => cell(name === "authors" ? [...row.authors, ...(row.nAuthors > row.authors.length ? ["et al."] : [])].join("; ") : row[name])).join(","),
  );
  return [columns.join(","), ...lines].join("\r\n") + "\r\n";
}

/** @param {unknown} value */
function cell(value) {
  let text = value === null || value === undefined ? "" : String(value);
  if (/^\s*[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  text = text.replace(/[;\t]\s*(?=[=+\-@])/g, "$&'"); // a spreadsheet may split cells there
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

const BIBCODE = /^\d{4}[A-Za-z0-9.&]{14}[A-Za-z.:]$/;
/** Types of BibTeX for the kinds of papers that are no articles. */
const TYPES = new Map(
  Object.entries({
    proceedings: "inproceedings",
    thesis: "phdthesis",
    book: "book",
    software: "software",
    data: "dataset",
    catalogue: "dataset",
  }),
);

/**
 * Write papers as BibTeX, as landscape/_bibliography.py does; the file tests/bibtex.json has cases of
 * both sides.
 * @param {Row[]} rows
 * @param {boolean} [generated] whether the identifiers are invented
 */
export function toBibtex(rows, generated = false) {
  const used = new Set();
  return rows
    .map((row, place) => {
      const label = row.bibcode || (row.arxiv ? `arXiv:${row.arxiv}` : row.id);
      const stem = label.normalize("NFKD").replace(/[^A-Za-z0-9:.+/&-]+/g, "-").replace(/^-+|-+$/g, "") || `paper${place}`;
      let key = stem;
      for (let copy = 2; used.has(key.toLowerCase()); copy++) key = `${stem}-${copy}`; // BibTeX ignores case
      used.add(key.toLowerCase());
      const isKnown = row.journal || row.arxiv || row.bibcode;
      const type = TYPES.get(row.kind) ?? (isKnown ? "article" : "misc");
      const authors = row.authors.map(nameOf);
      const [volume, page] = placeOf(row);
      const fields = [
        ["author", [...authors, ...(row.nAuthors > authors.length ? ["others"] : [])].join(" and ")],
        ["title", row.title ? `{${escaped(row.title)}}` : ""],
        [type === "inproceedings" ? "booktitle" : "journal", row.journal ? escaped(row.journal) : row.arxiv && type === "article" ? "arXiv e-prints" : ""],
        ["year", volume ? row.bibcode.slice(0, 4) : String(row.year || "")], // the date can be that of the preprint
        ["doi", bare(row.doi)],
        ["archiveprefix", row.arxiv ? "arXiv" : ""],
        ["eprint", bare(row.arxiv)],
        ["adsurl", row.bibcode && !generated ? bare(`https://ui.adsabs.harvard.edu/abs/${row.bibcode}/abstract`) : ""],
        ["volume", volume],
        ["pages", page],
      ];
      const lines = fields.filter(([, value]) => value).map(([name, value]) => `  ${name} = {${value}}`);
      return `@${type}{${key},\n${lines.join(",\n")}\n}\n`;
    })
    .join("\n");
}

/**
 * The volume and the page in the bibcode of an article.
 * @param {Row} row
 */
function placeOf({ bibcode, journal }) {
  if (!BIBCODE.test(bibcode) || !journal || bibcode.includes("arXiv")) return [];
  const [volume, page] = [bibcode.slice(9, 13), bibcode.slice(14, 18)].map((text) => text.replace(/^\.+|\.+$/g, ""));
  const section = bibcode[13];
  if (!/^\d+$/.test(volume) || !/^[A-Za-z0-9]+$/.test(page)) return [];
  if (/\d/.test(section)) return [volume, section + bibcode.slice(14, 18)]; // of five digits
  if (/[a-z&]/.test(section)) return [volume]; // the meaning of a lower-case letter depends on the journal
  return [volume, section === "." ? page : section + page];
}

const SUFFIX = /(?<=\S)(?:\s*,\s*|\s+)((?:Jr|Sr|II|III|IV)\.?)\s*(?=,|$)/i;
const PARTICLES = "van von der den ter ten de del della di da dos du des la le el bin zu".split(" ");
/** Initials after a name, as in "Pranjal R. S.". */
const INITIALS = /(?<=[\p{L}\p{N}_]{2})\.?((?: \p{L}\.?){2,}|(?: ?(?<![\p{L}\p{N}_])\p{L}\.)+)$/u;

/**
 * A name of BibTeX, with its family name in braces; a collaboration is one name.
 * @param {string} name
 */
function nameOf(name) {
  name = name.split(/\s+/).filter(Boolean).join(" ");
  const [matched, suffix] = name.match(SUFFIX) ?? ["", ""];
  const [before, ...after] = name.replace(matched, "").split(",");
  const [family, given] = after.length ? [before.trim(), after.join(",").trim()] : spoken(before);
  const parts = given ? [family, suffix, given] : [name];
  return parts.filter(Boolean).map((part, place) => (place ? escaped(part) : `{${escaped(part)}}`)).join(", ");
}

/**
 * Family and given names of "Given Family"; particles such as "de" are part of the family name.
 * @param {string} name
 * @returns {[string, string]}
 */
function spoken(name) {
  const match = name.match(INITIALS);
  if (match?.index) {
    const [family, given] = spoken(name.slice(0, match.index).trim());
    if (!given && family.includes(" ")) return [name, ""]; // a collaboration
    if (given.split(" ").every((word) => !word || PARTICLES.includes(word.toLowerCase()))) {
      return [`${given} ${family}`.trim(), match[1].trim()];
    }
    return [`${family} ${match[1].trim()}`, given];
  }
  const words = name.split(" ");
  let start = words.length - 1;
  if (!start || /^(?:collaboration|team|consortium|group)$/i.test(words[start])) return [name, ""];
  while (start > 1 && PARTICLES.includes(words[start - 1].toLowerCase())) start--;
  return [words.slice(start).join(" "), words.slice(0, start).join(" ")];
}

/**
 * An identifier without characters that are unsafe in its field.
 * @param {string} identifier
 */
function bare(identifier) {
  return identifier.replace(/[^\w./:;()<>+&?=,'#@!*|[\]-]/g, "");
}

const MARKS = new Map(
  [..."&#%_$"].map((mark) => /** @type {[string, string]} */ ([mark, `\\${mark}`])).concat([
    ["\\", "\\textbackslash{}"],
    ["^", "\\textasciicircum{}"],
    ["~", "\\textasciitilde{}"],
    ...[..."<>|"].map((mark) => /** @type {[string, string]} */ ([mark, `\\ensuremath{${mark}}`])),
  ]),
);
const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u2065\ufe00-\ufe0f\ufff0-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]/gu;

/**
 * A text that neither ends its field nor runs a command.
 * @param {string} text
 */
function escaped(text) {
  const plain = text.replace(CONTROLS, " ").split(/\s+/).filter(Boolean).join(" ");
  let depth = 0;
  let isBalanced = true; // BibTeX counts braces even after a backslash
  for (const letter of plain) {
    depth += Number(letter === "{") - Number(letter === "}");
    isBalanced &&= depth >= 0;
  }
  const braces = isBalanced && !depth ? ["\\{", "\\}"] : ["\\textbraceleft{}", "\\textbraceright{}"];
  return plain.replace(/[\\{}$&#%_^~<>|]/g, (mark) => MARKS.get(mark) ?? braces[Number(mark === "}")]);
}
