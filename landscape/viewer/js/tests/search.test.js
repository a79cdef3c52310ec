import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { test } from "node:test";

import { papersOf, readFilter } from "../src/conditions.js";
import { bareId, formsOf, readCited, readQuery, WordIndex, wordsOf } from "../src/search.js";
import { Source } from "../src/source.js";

/**
 * A source with an index of some words, each with its papers (four times the number plus a class),
 * and the content of `places/0.bin`, if it has phrases.
 */
function sourceOf(words, papers = 6, places = null) {
  const names = Object.keys(words).sort();
  let end = 0;
  const entries = [];
  const bytes = [];
  for (const name of names) {
    let before = 0;
    for (const [point, kind] of words[name]) {
      bytes.push((point - before) * 4 + kind);
      before = point;
    }
    end = bytes.length;
    entries.push([name, end]);
  }
  const head = Buffer.from(`${JSON.stringify(entries)}\n`);
  const file = new Uint8Array(gzipSync(Buffer.concat([head, Buffer.from(bytes)])));
  const manifest = {
    papers, regions: [], parts: [papers], stop_words: ["the", "and"], sets: {}, phrases: places !== null,
  };
  const files = { "words.json": new Uint8Array(gzipSync(JSON.stringify([names[0]]))), "places/0.bin": places };
  return new Source(async (name) => files[name] ?? file, manifest);
}

const WORDS = {
  dust: [[0, 2], [1, 0], [4, 1]],
  galaxy: [[0, 0], [2, 2], [4, 0]],
  ngc1275: [[3, 0]],
  ngc: [[3, 0], [5, 0]],
  1275: [[3, 0]],
  "@rubin": [[1, 0], [2, 0]],
  "@degrijs": [[2, 0]],
};

test("words are plain and in lower case", () => {
  assert.deepEqual(wordsOf("Hα lines of Müller's NGC 1275, z = 2.5 and 10^4 K"), [
    "halpha", "lines", "of", "muller", "s", "ngc", "1275", "z2p5", "and", "10e4", "k",
  ]);
  assert.deepEqual(wordsOf("ΛCDM, Lyα, Lyman alpha"), ["lambdacdm", "lyalpha", "lyalpha"]);
});

test("plurals and British spellings have the forms of the index", () => {
  assert.ok(formsOf("galaxies").includes("galaxy"));
  assert.ok(formsOf("masses").includes("mass"));
  assert.ok(formsOf("novae").includes("nova"));
  assert.ok(formsOf("colour").includes("color"));
  assert.ok(formsOf("ionisation").includes("ionization"));
  assert.ok(formsOf("analyses").includes("analysis"));
  assert.deepEqual(formsOf("mass"), ["mass"]);
  assert.ok(formsOf("m87*").includes("m87"));
});

test("the best papers have all words, in the title first", async () => {
  const index = new WordIndex(sourceOf(WORDS));
  assert.deepEqual((await index.search("dust galaxies")).points, [0, 4]);
  assert.deepEqual((await index.search("dust")).points, [0, 4, 1]);
});

test("a question finds papers with at least half of its words", async () => {
  const words = { gas: [[0, 0], [1, 0]], dwarf: [[0, 0], [2, 0]], galaxy: [[0, 0], [2, 0]], lose: [[3, 0]] };
  const index = new WordIndex(sourceOf(words));
  assert.deepEqual((await index.search("dwarf galaxies lose gas")).points, [0, 2]);
  assert.deepEqual((await index.search("gas dwarf")).points, [0]);
});

test("two words can be one name", async () => {
  const index = new WordIndex(sourceOf(WORDS));
  assert.deepEqual((await index.search("NGC 1275")).points, [3]);
});

test("two words that somebody wrote as one are still two words", async () => {
  const words = { dust: [[0, 0], [1, 0]], ring: [[1, 0], [2, 0]], dustring: [[5, 0]] };
  const index = new WordIndex(sourceOf(words));
  assert.deepEqual((await index.search("dust ring")).points.sort(), [1, 5]);
  assert.deepEqual((await index.search("dust AND ring")).points.sort(), [1]);
});

test("quoted words follow each other", async () => {
  const words = { dark: [[0, 0], [1, 1]], matter: [[0, 0], [1, 0], [2, 0]], ngc: [[2, 0]], ngc1275: [[2, 0]] };
  // Places of each word: paper 0 has "dark" at 3 and "matter" at 4; paper 1 has "dark" at 0 and 6,
  // and "matter" at 2; paper 2 has "ngc1275" at 0, "ngc" at 1, and "matter" at 2.
  const lists = { dark: [6, 1, 12], matter: [8, 4, 4], ngc: [2], ngc1275: [0] };
  let end = 0;
  const entries = Object.entries(lists).map(([word, list]) => [word, (end += list.length)]);
  const content = Buffer.concat([
    Buffer.from(`${JSON.stringify(entries)}\n`), Buffer.from(Object.values(lists).flat()),
  ]);
  const index = new WordIndex(sourceOf(words, 6, new Uint8Array(gzipSync(content))));
  assert.deepEqual((await index.search('"dark matter"')).points, [0]);
  assert.deepEqual((await index.search("dark matter")).points.toSorted(), [0, 1]);
  assert.deepEqual((await index.search('matter -"dark matter"')).points.toSorted(), [1, 2]);
  assert.deepEqual((await index.search('"NGC 1275 matter"')).points, [2]);
  const nothing = await index.search('"matter dark"');
  assert.deepEqual([nothing.points, nothing.missing], [[], ["matter dark"]]);
});

test("words that no paper has are named", async () => {
  const index = new WordIndex(sourceOf(WORDS));
  assert.deepEqual(await index.search("unicorns"), { points: [], missing: ["unicorns"] });
});

test("operators, parentheses and quotes", async () => {
  const index = new WordIndex(sourceOf(WORDS));
  const find = async (text) => (await index.search(text)).points.sort();
  assert.deepEqual(await find("dust AND galaxy"), [0, 4]);
  assert.deepEqual(await find("dust OR galaxy"), [0, 1, 2, 4]);
  assert.deepEqual(await find("dust NOT galaxy"), [1]);
  assert.deepEqual(await find("dust -galaxy"), [1]);
  assert.deepEqual(await find('dust -"galaxy"'), [1]);
  assert.deepEqual(await find("dust -(galaxy OR ngc)"), [1]);
  assert.deepEqual(await find('(dust OR ngc) AND NOT "galaxy"'), [1, 3, 5]);
});

test("authors are found by their family names", async () => {
  const index = new WordIndex(sourceOf(WORDS));
  const find = async (text) => (await index.search(text)).points.sort();
  assert.deepEqual(await find("author:Rubin"), [1, 2]);
  assert.deepEqual(await find("Rubin"), [1, 2]);
  assert.deepEqual(await find('author:"de Grijs" galaxy'), [2]);
  assert.deepEqual(await find('author:"Vera Rubin"'), [1, 2]);
  assert.deepEqual(await find("author:Nobody; galaxy"), []);
  assert.deepEqual(await find("galaxy NOT author:Rubin"), [0, 4]);
  assert.deepEqual((await index.search("author:Nobody")).missing, ["nobody"]);
});

test("signs of a filter that a title can have are words, if they are no filter", () => {
  for (const text of ["(", ")", "((dust", "5\" dishes", "-", "", "Dust - a review (part 1", "x (z: 2)"]) {
    assert.equal(readQuery(text).query, null, text);
  }
});

test("a filter that is nested too deeply is refused", () => {
  for (const query of [`${"(".repeat(5000)}x`, `${"-".repeat(5000)}x`, "NOT ".repeat(5000) + "x"]) {
    assert.throws(() => readFilter(query), /more than 100/);
  }
  assert.ok(readFilter("self-interacting-dark-matter ".repeat(60)));
});

test("identifiers are found in every usual form", () => {
  for (const id of ["arXiv:2401.00001v2", "https://arxiv.org/abs/2401.00001", "2401.00001", "arxiv.org/pdf/2401.00001v1"]) {
    assert.equal(bareId(id), "2401.00001");
  }
  assert.equal(bareId("https://doi.org/10.3847/1538-ABC"), "10.3847/1538-abc");
  assert.equal(bareId("https://ui.adsabs.harvard.edu/abs/2021A%26A...645L..11A/abstract"), "2021A&A...645L..11A");
  assert.equal(bareId("astro-ph/9901001v1"), "astro-ph/9901001");
});

test("a name and a year are a paper", async () => {
  const source = sourceOf({ "@rubin": [[0, 2], [3, 2], [4, 2]], "@ford": [[3, 2], [4, 2]] });
  source.year = Uint16Array.from([1970, 0, 0, 1970, 1980, 0]);
  const index = new WordIndex(source);
  assert.deepEqual((await index.search("Rubin 1970")).points, [0, 3]);
  assert.deepEqual((await index.search("Rubin & Ford (1970a)")).points, [3]);
  assert.deepEqual((await index.search("Rubin et al. 1980")).points, [4]);
  assert.equal(readCited("galaxies in 1970"), null);
  assert.equal(readCited("Dust in 1970"), null);
});

test("conditions are those of the filters of Python", async () => {
  const source = sourceOf(WORDS);
  source.year.set([1990, 2000, 2010, 2015, 2020, 2025]);
  source.citations.set([1, 6, 101, 8, 0, 251]); // plus one; 0 is unknown
  const find = async (text) => (await new WordIndex(source).search(text)).points.sort();
  assert.deepEqual(await find("2000..2015"), [1, 2, 3]);
  assert.deepEqual(await find("..2000; citations>=5"), [1]);
  assert.deepEqual(await find("year:2010.. -citations>50"), [3, 4]);
  assert.deepEqual(await find("citations<6"), [0, 1]);
  assert.deepEqual(await find("dust 2000.."), [1, 4]);
  assert.deepEqual(await find("dust | galaxy; 2010..2020"), [2, 4]);
  assert.deepEqual(await find("year=1990 OR year:2025"), [0, 5]);
  await assert.rejects(find("region:Nowhere"), /no region Nowhere; write its number/);
  await assert.rejects(find("kind:thesis"), /kind:review/);
  await assert.rejects(find("facility:JWST"), /no facility JWST; choose/);
  await assert.rejects(find("dust; facilty:JWST"), /no field facilty: in the search; the fields are author:, year:/);
  assert.deepEqual(readQuery("arXiv:2301.00001 Galaxies: dust").query, null);
  await assert.rejects(find("year:soon"), /year:2015\.\.2020/);
});

// The file is written by tests/viewer/test_search_words.py.
const CASES = JSON.parse(readFileSync(new URL("search_words.json", import.meta.url), "utf8"));

for (const { query, words, stop } of CASES) {
  test(`the words of "${query}" are those that Python searches`, () => {
    const known = new Set(words);
    const own = wordsOf(query).filter((word) => !stop.includes(word));
    own.forEach((word, at) => {
      // Two neighbours can be one word of the index, such as "NGC 1275".
      const forms = [...formsOf(word), own[at - 1] + word, word + own[at + 1]];
      assert.ok(forms.some((form) => known.has(form)), `${word} is none of ${words}`);
    });
  });
}

test("a star stands for its planets, and a planet for itself", async () => {
  const papers = { "K2-18": [0], "K2-18 b": [2], "K2-18 c": [3], "K2-181": [4] };
  const names = Object.keys(papers);
  const source = {
    manifest: { papers: 6, sets: { objects: names.map((name) => ({ name, also: [] })) } },
    set: async (_, row) => ({ points: papers[names[row]], kinds: [0] }),
  };
  const found = async (text) => [...(await papersOf(source, { kind: "is", field: "object", text }))];
  assert.deepEqual(await found("K2-18"), [1, 0, 1, 1, 0, 0]);
  assert.deepEqual(await found("k2-18 b"), [0, 0, 1, 0, 0, 0]);
});
