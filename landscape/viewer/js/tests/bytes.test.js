import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { test } from "node:test";

import { readColumns, readSet, readVarints, unzip } from "../src/bytes.js";

test("files are decompressed", async () => {
  const packed = new Uint8Array(gzipSync(Buffer.from("dust")));
  assert.equal(new TextDecoder().decode(await unzip(packed)), "dust");
});

test("columns are joined from high and low bytes", () => {
  const bytes = Uint8Array.of(1, 0, 2, 255, 0, 3, 0, 4);
  assert.deepEqual(readColumns(bytes, 2).map((column) => [...column]), [[258, 255], [0, 772]]);
});

test("integers of any length are read, also above 32 bits", () => {
  const bytes = Uint8Array.of(5, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0x7f);
  assert.deepEqual(readVarints(bytes, 0, bytes.length), [5, 128, 2 ** 35 - 1]);
  assert.deepEqual(readVarints(bytes, 1, 3), [128]);
});

test("sets are differences with classes", () => {
  const { points, kinds } = readSet(Uint8Array.of(7, 4, 1), 0, 3, 2);
  assert.deepEqual([...points], [3, 5, 5]);
  assert.deepEqual([...kinds], [1, 0, 1]);
});
