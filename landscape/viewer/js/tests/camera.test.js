import assert from "node:assert/strict";
import { test } from "node:test";

import { Camera } from "../src/camera.js";

/** @type {(() => void)[]} */
let frames = [];
let now = 0;

/** A camera on an element without a page, whose frames the tests draw. */
function camera() {
  frames = [];
  now = 0;
  /** @type {Map<string, (event: object) => void>} */
  const listeners = new Map();
  const element = {
    addEventListener: (/** @type {string} */ name, /** @type {(event: object) => void} */ use) => listeners.set(name, use),
    getBoundingClientRect: () => ({ left: 0, top: 0 }),
  };
  Object.assign(globalThis, {
    matchMedia: () => ({ matches: false }),
    requestAnimationFrame: (/** @type {() => void} */ step) => frames.push(step),
    cancelAnimationFrame: (/** @type {number} */ number) => delete frames[number - 1],
  });
  performance.now = () => now;
  const nothing = () => {};
  const made = new Camera(/** @type {any} */ (element), /** @type {any} */ ({ changed: nothing }));
  made.resize(1000, 800);
  const turn = (/** @type {number} */ deltaY) =>
    listeners.get("wheel")?.({ preventDefault: nothing, deltaY, deltaMode: 0, clientX: 500, clientY: 400 });
  return { made, turn };
}

/** @param {number} time */
function draw(time) {
  now = time;
  const due = frames;
  frames = [];
  for (const step of due) step?.();
}

test("a flight is at its destination before it has landed", () => {
  const { made } = camera();
  made.fly({ x: 0.3, y: 0.4, scale: 4000 });
  draw(200);
  assert.notEqual(made.view.scale, 4000);
  assert.deepEqual(made.destination, { x: 0.3, y: 0.4, scale: 4000 });
  draw(500);
  assert.deepEqual(made.view, { x: 0.3, y: 0.4, scale: 4000 });
  assert.equal(made.destination, made.view);
});

test("the wheel ends a flight", () => {
  const { made, turn } = camera();
  made.look({ scale: 4000 });
  made.home();
  turn(-100);
  assert.equal(made.view.scale, 5000);
  draw(500);
  assert.equal(made.view.scale, 5000);
  assert.equal(made.destination, made.view);
});
