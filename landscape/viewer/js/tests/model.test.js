import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { test } from "node:test";

import { Model } from "../src/model.js";
import { Source } from "../src/source.js";

const LISTS = Buffer.concat([
  Buffer.from(`${JSON.stringify([["dust", 2]])}\n`),
  Buffer.from([4 * 1, 4 * 2]), // papers 1 and 3
]);
const FACILITIES = Buffer.from([2 * 0 + 1, 2 * 3]); // papers 0 (uses) and 3 (mentions)

/** A model of four papers, whose files can be slow or fail. */
function modelOf(read = async () => undefined, sets = {}) {
  const files = {
    "words.json": Buffer.from('["dust"]'),
    "words/0.bin": LISTS,
    "facilities.bin": FACILITIES,
    "reviews.bin": Buffer.from([2 * 1, 2 * 1]), // papers 1 and 2
    "mine.bin": Buffer.from([2 * 2]), // paper 2
  };
  const manifest = {
    papers: 4,
    regions: [],
    parts: [4],
    stop_words: [],
    defaults: { query: "", method: "hybrid", k: 30, colour: "region", layers: ["names", "papers"] },
    sets: { facilities: [{ name: "ALMA", papers: 2, uses: 1, at: [0, 2] }], concepts: [], ...sets },
  };
  const source = new Source(async (name) => {
    await read(name);
    return new Uint8Array(gzipSync(files[name]));
  }, manifest);
  source.n = 4;
  source.year.set([2000, 2001, 2002, 2003]);
  return new Model(source);
}

const passing = (model) => [...model.passes].flatMap((one, point) => (one ? [point] : []));

test("a search that runs is not lost when a filter changes", async () => {
  const model = modelOf(() => new Promise((done) => setTimeout(done, 20)));
  const first = model.set({ query: "dust" });
  await model.filter({ years: [2001, 2002] });
  await first;
  assert.deepEqual([...model.found], [3, 1]);
  assert.deepEqual(model.marked, [1]);
});

test("what fails is told, shows nothing of another state, and can be tried again", async () => {
  let isLost = false;
  const model = modelOf(async () => {
    if (isLost) throw new Error("the line is down");
  });
  await model.set({ query: "dust" });
  isLost = true;
  await model.filter({ facility: 0 });
  assert.equal(model.problem, "This failed: the line is down. Press Enter in the search to try again.");
  assert.deepEqual(passing(model), [], "a filter that is not known passes nothing");
  isLost = false;
  await model.retry();
  assert.equal(model.problem, "");
  assert.deepEqual(passing(model), [0, 3]);
});

test("papers that use a facility, undo and redo", async () => {
  const model = modelOf();
  await model.filter({ facility: 0 });
  assert.deepEqual(model.listed, [3, 0], "papers that pass filters are listed, the newest first");
  await model.filter({ uses: true });
  assert.deepEqual(passing(model), [0]);
  await model.undo();
  assert.deepEqual(passing(model), [0, 3]);
  await model.undo();
  assert.deepEqual(passing(model), [0, 1, 2, 3]);
  await model.redo();
  assert.deepEqual(passing(model), [0, 3]);
  assert.equal(model.canUndo && model.canRedo, true);
});

test("a selection is added to, removed from and replaced", async () => {
  const model = modelOf();
  await model.select(Uint32Array.of(2, 3), "new");
  await model.select(Uint32Array.of(0), "add");
  assert.deepEqual([...model.state.selected], [0, 2, 3]);
  await model.select(Uint32Array.of(2), "remove");
  assert.deepEqual([...model.state.selected], [0, 3]);
  assert.deepEqual([...model.kinds], [5, 1, 1, 5]);
});

test("reviews are a layer and a filter, and own papers are always marked", async () => {
  const sets = {
    reviews: [{ name: "Reviews", papers: 2, uses: 0, at: [0, 2] }],
    mine: [{ name: "My papers", papers: 1, uses: 0, at: [0, 1] }],
  };
  const model = modelOf(undefined, sets);
  await model.set({ layers: ["names", "papers", "reviews"] });
  assert.deepEqual([...model.kinds], [1, 4, 3, 1], "one's own paper stands above a review");
  assert.deepEqual(model.listed, [2], "own papers are listed when nothing else is chosen");
  await model.filter({ reviews: true });
  assert.deepEqual(passing(model), [1, 2]);
  await model.set({ layers: ["names"] });
  assert.deepEqual(passing(model), [1, 2], "the filter does not need the layer");
});

test("the kernel's papers replace those whose titles have the words", async () => {
  const model = modelOf();
  let answer = () => undefined;
  model.searchElsewhere = () => new Promise((use) => (answer = use));
  const waiting = model.set({ query: "dust" });
  await waiting;
  for (let turn = 0; turn < 200 && !model.found.length; turn++) {
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.deepEqual([...model.found], [3, 1], "before the kernel answers, from the titles");
  assert.equal(model.isWaiting, true);
  answer({ points: [2, 0], missing: [], note: "Best first." });
  await new Promise((done) => setTimeout(done, 5));
  assert.deepEqual([...model.found], [2, 0]);
  assert.deepEqual([model.note, model.isWaiting], ["Best first.", false]);
  await model.set({ query: "" });
  assert.deepEqual([...model.found], []);
});

test("an answer of the kernel to an earlier search is not shown", async () => {
  const model = modelOf();
  const answers = [];
  model.searchElsewhere = () => new Promise((use) => answers.push(use));
  await model.set({ query: "dust" });
  await model.set({ query: "stars" });
  answers[0]({ points: [2], missing: [] });
  await new Promise((done) => setTimeout(done, 20));
  assert.deepEqual([...model.found], []);
  answers[1]({ points: [], missing: [], problem: "The filter has no end." });
  await new Promise((done) => setTimeout(done, 5));
  assert.equal(model.problem, "The filter has no end.");
});
