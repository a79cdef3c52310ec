import assert from "node:assert/strict";
import { test } from "node:test";

import { fromAddress, toAddress } from "../src/given.js";

const NOTHING = {
  query: undefined,
  colour: undefined,
  years: undefined,
  region: undefined,
  facility: undefined,
  uses: false,
  concept: undefined,
  reviews: false,
  layers: undefined,
  view: undefined,
  paper: undefined,
  outline: undefined,
};

test("a state comes back from its address", () => {
  const given = {
    query: "dust & gas",
    colour: "year",
    years: [2001, 2010],
    region: 1003,
    facility: "JWST",
    uses: true,
    reviews: true,
    layers: ["names", "reviews"],
    view: [1.25, -3, 2.5, 4],
    paper: "2024ApJ...1A",
    outline: [0.5, 1, 2.25, 1, -1, 3],
  };
  assert.deepEqual(fromAddress(toAddress(given)), { ...NOTHING, ...given });
});

test("what an address cannot mean is left out", () => {
  assert.deepEqual(fromAddress("years=20-3&view=1,2,x,4&uses=yes"), NOTHING);
  assert.deepEqual(fromAddress("view=4,0,1,2"), NOTHING);
  assert.deepEqual(fromAddress("outline=1,2,3,4&outline=x"), NOTHING);
});
