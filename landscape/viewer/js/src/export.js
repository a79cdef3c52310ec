// Papers as CSV and BibTeX.

/**
 * @typedef {{id: string, title: string, authors: string[], year: number | null, journal: string,
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
    columns.map((name) => cell(name === "authors" ? row.authors.join("; ") : row[name])).join(","),
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
      const family = (authors[0] ?? "anonymous").split(",")[0].normalize("NFKD");
      const stem = `${family.replace(/[^A-Za-z]/g, "") || "anonymous"}${row.year ?? ""}`;
      let key = stem;
      for (let copy = 2; used.has(key.toLowerCase()); copy++) key = `${stem}-${copy}`;
      used.add(key.toLowerCase());
      /** @type {[string, string][]} */
      const fields = [
        ["title", `{${escaped(row.title)}}`],
        ["author", authors.map((name) => escaped(name)).join(" and ")],
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
  return plain.replace(/(?<!\\)([&%#])/g, "\\$1").replace(/\\$/, "");
}
