import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { test } from "node:test";

import { QueryError } from "../src/conditions.js";
import { readQuery, WordIndex } from "../src/search.js";
import { Source } from "../src/source.js";

// The file is written by tests/viewer/test_search_queries.py.
const { cases, citations, files, region, regions, sets, stop_words, year } = JSON.parse(
  readFileSync(new URL("queries.json", import.meta.url), "utf8"),
);
const papers = year.length;
const source = new Source(
  async (name) => new Uint8Array(gzipSync(Buffer.from(files[name], "base64"))),
  { papers, regions, sets, stop_words, parts: [papers], phrases: true, ids: 1 },
);
source.year.set(year);
source.region.set(region);
source.citations.set(citations.map((n) => (n === null ? 0 : n + 1)));

const find = async (text) => (await new WordIndex(source).search(text)).points.sort((a, b) => a - b);

for (const { query, papers: wanted, browser } of cases) {
  const expected = browser ?? (wanted ? "the papers of Python" : "error");
  test(`the filter ${query} gives ${expected}`, async () => {
    if (expected === "error") await assert.rejects(find(query), QueryError);
    else if (expected === "words") assert.equal(readQuery(query).query, null);
    else if (expected === "nothing") assert.deepEqual(await find(query), []);
    else assert.deepEqual(await find(query), browser ? await find(browser) : wanted);
  });
}
