// Papers as CSV and BibTeX.

/**
 * @typedef {{id: string, title: string, authors: string[], nAuthors: number, year: number | null, journal: string,
 *   bibcode: string, arxiv: string, doi: string, citations: number | null, region: string}} Row
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

/**
 * Write papers as BibTeX.
 * @param {Row[]} rows
 * @param {boolean} [generated] whether the identifiers are invented
 */
export function toBibtex(rows, generated = false) {
  const used = new Set();
  return rows
    .map((row) => {
      const authors = row.authors.filter(Boolean);
      const bibcode = row.bibcode.replace(/[^A-Za-z0-9.&:]/g, "");
      const family = familyOf(authors[0] ?? "anonymous").normalize("NFKD");
      const stem = bibcode || `${family.replace(/[^A-Za-z]/g, "") || "anonymous"}${row.year ?? ""}`;
      let key = stem;
      for (let copy = 2; used.has(key.toLowerCase()); copy++) key = `${stem}-${copy}`;
      used.add(key.toLowerCase());
      /** @type {[string, string][]} */
      const fields = [
        ["title", `{${escaped(row.title)}}`],
        ["author", [...authors.map(nameOf), ...(row.nAuthors > authors.length ? ["others"] : [])].join(" and ")],
        ["year", row.year ? String(row.year) : ""],
        ["journal", escaped(row.journal)],
        ["eprint", bare(row.arxiv)],
        ["archiveprefix", row.arxiv ? "arXiv" : ""],
        ["doi", bare(row.doi)],
        ["adsurl", bibcode && !generated ? `https://ui.adsabs.harvard.edu/abs/${bibcode}` : ""],
      ];
      const lines = fields.filter(([, value]) => value).map(([name, value]) => `  ${name} = {${value}}`);
      return `@article{${key},\n${lines.join(",\n")}\n}\n`;
    })
    .join("\n");
}

/** @param {string} name */
function familyOf(name) {
  return name.includes(",") ? name.split(",")[0] : (name.split(" ").pop() ?? name);
}

/**
 * A name of BibTeX; a collaboration is one name.
 * @param {string} name
 */
function nameOf(name) {
  return /collaboration|consortium|team/i.test(name) ? `{${escaped(name)}}` : escaped(name);
}

/**
 * An identifier without characters that would end its field.
 * @param {string} identifier
 */
function bare(identifier) {
  return identifier.replace(/[\s{}\\"%#]/g, "");
}

const FORMULA = /(\$[^$\\{}]*(?:(?:\\[A-Za-z]+|[{}])[^$\\{}]*)*\$)/;
const COMMANDS = new Set(
  (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi " +
    "varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega sim simeq approx equiv propto pm mp times " +
    "cdot leq geq le ge lesssim gtrsim ll gg odot oplus star circ prime ell dot bar hat vec sqrt frac infty to " +
    "rightarrow leftrightarrow rm it bf mathrm mathit mathbf mathcal text textrm textit"
  ).split(" "),
);

/**
 * A text that neither ends its field nor runs a command: formulas of known commands stay.
 * @param {string} text
 */
function escaped(text) {
  return text
    .split(FORMULA)
    .map((part, place) => (place % 2 && isHarmless(part) ? part : plain(part)))
    .join("");
}

/** @param {string} formula */
function isHarmless(formula) {
  let depth = 0;
  for (const letter of formula) {
    depth += letter === "{" ? 1 : letter === "}" ? -1 : 0;
    if (depth < 0) return false;
  }
  // TeX reads "^^5c" as a backslash.
  return depth === 0 && !formula.includes("^^") && [...formula.matchAll(/\\([A-Za-z]+)/g)].every(([, name]) => COMMANDS.has(name));
}

/**
 * A text outside formulas; braces, which BibTeX counts, are left out.
 * @param {string} text
 */
function plain(text) {
  return text.replace(/[{}]/g, "").replace(/\\(?![&%$#_])/g, "\\textbackslash{}").replace(/(?<!\\)[&%$#_]/g, "\\$&").replace(/\^/g, "\\textasciicircum{}");
}
