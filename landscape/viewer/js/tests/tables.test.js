import assert from "node:assert/strict";
import { test } from "node:test";

import { sortedPlaces } from "../src/tables.js";

test("cells that begin with numbers are sorted as numbers, empty cells last", () => {
  const cells = ["12 (10 to 14)", "", "1,234", "9", "-0.5"];
  assert.deepEqual(sortedPlaces(cells, false), [4, 3, 0, 2, 1]);
  assert.deepEqual(sortedPlaces(cells, true), [2, 0, 3, 4, 1]);
});

test("small probabilities are numbers, and dates are words", () => {
  assert.deepEqual(sortedPlaces(["0.5", "<0.001", "0.12", "0.03"], false), [1, 3, 2, 0]);
  assert.deepEqual(sortedPlaces(["0.5", "1e-05", "0.12"], false), [1, 2, 0]);
  assert.deepEqual(sortedPlaces(["2026-11-01", "2026-03-05", "2026-01-09"], false), [2, 1, 0]);
});

test("other cells are sorted as words, and equal ones keep their order", () => {
  assert.deepEqual(sortedPlaces(["VLT", "alma", "ALMA", "M 9", "M 31"], false), [1, 2, 3, 4, 0]);
});
