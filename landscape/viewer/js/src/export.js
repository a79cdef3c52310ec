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
  if (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/**
 * Write papers as BibTeX.
 * @param {Row[]} rows
 */
export function toBibtex(rows) {
  const used = new Set();
  return rows
    .map((row) => {
      const authors = row.authors.filter(Boolean);
      const family = familyOf(authors[0] ?? "anonymous").normalize("NFKD");
      const stem = `${family.replace(/[^A-Za-z]/g, "") || "anonymous"}${row.year ?? ""}`;
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
        ["adsurl", row.bibcode ? `https://ui.adsabs.harvard.edu/abs/${encodeURIComponent(row.bibcode)}` : ""],
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

/**
 * A text that cannot end its field: formulas stay, braces stay if they are balanced.
 * @param {string} text
 */
function escaped(text) {
  let depth = 0;
  for (const letter of text) {
    depth += letter === "{" ? 1 : letter === "}" ? -1 : 0;
    if (depth < 0) break;
  }
  const plain = depth === 0 ? text : text.replace(/[{}]/g, "");
  // An underscore outside a formula would stop LaTeX.
  const marks = plain.includes("$") ? /(?<!\\)([&%#])/g : /(?<!\\)([&%#_])/g;
  return plain.replace(marks, "\\$1").replace(/\\$/, "");
}
