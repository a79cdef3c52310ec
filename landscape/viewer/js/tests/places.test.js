import assert from "node:assert/strict";
import { test } from "node:test";

import { toBibtex, toCsv } from "../src/export.js";
import { isInside, Places } from "../src/places.js";
import { hash, Source } from "../src/source.js";

function sourceOf(places) {
  const manifest = { papers: places.length, regions: [], parts: [places.length], sets: {}, defaults: {} };
  const source = new Source(async () => new Uint8Array(), manifest);
  places.forEach(([x, y], point) => source.place.set([x * 0xffff, y * 0xffff], 2 * point));
  source.n = places.length;
  return source;
}

test("the nearest paper is found, unless filters remove it", () => {
  const places = new Places(sourceOf([[0.1, 0.1], [0.5, 0.5], [0.505, 0.5]]));
  const kinds = new Uint8Array(3).fill(1);
  assert.equal(places.nearest(0.506, 0.5, 0.02, kinds), 2);
  kinds[2] = 0;
  assert.equal(places.nearest(0.506, 0.5, 0.02, kinds), 1);
  assert.equal(places.nearest(0.9, 0.9, 0.02, kinds), -1);
});

test("papers inside an outline", () => {
  const corners = [[0.2, 0.2], [0.8, 0.2], [0.8, 0.8], [0.5, 0.4], [0.2, 0.8]];
  assert.equal(isInside(0.3, 0.3, corners), true);
  assert.equal(isInside(0.5, 0.7, corners), false);
  const places = new Places(sourceOf([[0.3, 0.3], [0.5, 0.7], [0.75, 0.5], [0, 1]]));
  assert.deepEqual([...places.inside(corners, new Uint8Array(4).fill(1))], [0, 2]);
});

test("hashes are those of the files", () => {
  assert.equal(hash(""), 0);
  assert.equal(hash("a"), 97 * 31);
  assert.equal(hash("arXiv:2401.00001"), 3256954326);
});

const ROW = {
  id: "1", title: '=HYPERLINK("x"), a "title"', authors: ["Rubin, V.", "Ford, W."], nAuthors: 2, year: 1970,
  journal: "ApJ", bibcode: "1970ApJ...159..379R", arxiv: "", doi: "10.1086/150317", citations: 12,
  region: "Galaxies",
};

test("cells cannot run as formulas", () => {
  const line = toCsv([ROW]).split("\r\n")[1];
  assert.match(line, /^1,"'=HYPERLINK\(""x""\), a ""title""",/);
});

test("many authors are not silently cut, and a collaboration is one name", () => {
  const text = toBibtex([{ ...ROW, authors: ["Vera Rubin", "Gaia Collaboration"], nAuthors: 90, title: "a_b" }]);
  assert.match(text, /@article\{1970ApJ...159..379R,/);
  assert.match(text, /author = \{\{Rubin\}, Vera and \{Gaia Collaboration\} and others\}/);
  assert.match(text, /title = \{\{a\\_b\}\}/);
  assert.match(toCsv([{ ...ROW, nAuthors: 3 }]), /et al\./);
});

test("identifiers cannot begin another entry", () => {
  const text = toBibtex([{ ...ROW, doi: "10.1/x}}@article{evil,title={pwn}", arxiv: "1}2" }]);
  assert.equal((text.match(/\{/g) ?? []).length, (text.match(/\}/g) ?? []).length);
  assert.match(text, /doi = \{10.1\/x@articleevil,title=pwn\}/);
});

test("keys of BibTeX differ, and braces cannot end an entry", () => {
  const text = toBibtex([ROW, { ...ROW, title: "a } b" }]);
  assert.match(text, /@article\{1970ApJ...159..379R,/);
  assert.match(text, /@article\{1970ApJ...159..379R-2,/);
  assert.match(text, /title = \{\{a \\textbraceright\{\} b\}\}/);
  assert.equal((text.match(/\{/g) ?? []).length, (text.match(/\}/g) ?? []).length);
});

test("BibTeX runs no command", () => {
  const title = String.raw`Stars \input{/etc/passwd} \write18{id} cost $5, $z \sim 2$ and ^^5cinput x`;
  const text = toBibtex([{ ...ROW, title, authors: [String.raw`\openout3=x, B`] }]);
  assert.ok(text.includes(String.raw`\textbackslash{}input\{/etc/passwd\} \textbackslash{}write18\{id\} cost \$5`), text);
  assert.ok(text.includes(String.raw`\textbackslash{}openout3=x`));
  assert.ok(!text.includes("^^"));
});

test("a formula of a spreadsheet after a line break gets an apostrophe", () => {
  assert.ok(toCsv([{ ...ROW, title: "\n=cmd|1" }]).includes("'\n=cmd"));
  assert.ok(toCsv([{ ...ROW, title: "Dust;=cmd|1" }]).includes("Dust;'=cmd"));
});
