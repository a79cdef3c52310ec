import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { toBibtex } from "../src/export.js";

// The file is written by tests/viewer/test_bibtex_cases.py.
const CASES = JSON.parse(readFileSync(new URL("bibtex.json", import.meta.url), "utf8"));
const UNKNOWN = /^ {2}(?:month|primaryclass) = .*\n/gm; // what the viewer does not know of papers

/** The lines of a text, without the commas at their ends. */
function linesOf(text) {
  return text.replace(UNKNOWN, "").replace(/,$/gm, "").split("\n");
}

for (const { papers, bibtex } of CASES) {
  test(`the BibTeX of "${papers[0].title}" is that of Python`, () => {
    const own = linesOf(toBibtex(papers, papers[0].generated).trimEnd());
    const wanted = linesOf(bibtex).map((line, at) => {
      // The viewer writes the names of journals, not macros of LaTeX.
      if (/^ {2}journal = \{\\\w+\}$/.test(line) && own[at].startsWith("  journal = {")) return own[at];
      // It knows the first authors only, and says that there are others.
      const isCut = papers[0].nAuthors > papers[0].authors.length && own[at].endsWith(" and others}");
      return isCut && line.startsWith(own[at].slice(0, -"others}".length)) ? own[at] : line;
    });
    assert.deepEqual(own, wanted);
  });
}
