// The visible window of a map, moved by mouse, touch and keys.

/** @typedef {import("./renderer.js").View} View */

const STEP = 1.25; // zoom of one notch of a wheel
const FLIGHT = 450; // milliseconds
const CLICK = 5; // pixels that a click may move

/** Window of a map, and the gestures that move it. */
export class Camera {
  /**
   * @param {HTMLElement} element
   * @param {{changed: () => void, clicked: (x: number, y: number, event: PointerEvent) => void,
   *   isDrawing: (event: PointerEvent) => boolean, drawn: (corners: [number, number][], event:
   *   PointerEvent) => void, drawing: (corners: [number, number][]) => void}} on
   */
  constructor(element, on) {
    this.element = element;
    this.on = on;
    /** @type {View} */
    this.view = { x: 0.5, y: 0.5, scale: 500 };
    this.width = this.height = 1;
    this.isMoving = false;
    /** @type {Map<number, {x: number, y: number}>} */
    this._fingers = new Map();
    this._flight = 0;
    /** @type {View | null} */
    this._landing = null; // the window at the end of a flight
    this._rest = 0;
    this._moved = 0;
    /** @type {[number, number][] | null} */
    this._outline = null;
    element.addEventListener("pointerdown", (event) => this._down(event));
    element.addEventListener("pointermove", (event) => this._move(event));
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      element.addEventListener(name, (event) => this._up(event));
    }
    element.addEventListener("wheel", (event) => this._wheel(event), { passive: false });
    element.addEventListener("dblclick", (event) => {
      const [x, y] = this.pixelOf(event);
      this.zoom(event.shiftKey ? 0.5 : 2, x, y);
    });
    element.addEventListener("keydown", (event) => this._key(event));
  }

  /** The scale that shows the whole map. */
  get whole() {
    return 0.98 * Math.min(this.width, this.height);
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const relative = this.view.scale / this.whole;
    const isFirst = this.width === 1;
    this.width = width;
    this.height = height;
    this.view.scale = isFirst ? this.whole : relative * this.whole;
    this.view = this._bounded(this.view);
    this.on.changed();
  }

  /** The window that is shown when the map rests. */
  get destination() {
    return this._landing ?? this.view;
  }

  /**
   * Show a window; a flight to another one ends.
   * @param {Partial<View>} to
   */
  look(to) {
    this._stop();
    this._put(to);
  }

  /** @param {Partial<View>} to */
  _put(to) {
    this.view = this._bounded({ ...this.view, ...to });
    this._stir();
  }

  _stop() {
    cancelAnimationFrame(this._flight);
    this._landing = null;
  }

  /**
   * Move smoothly to a window.
   * @param {View} to
   */
  fly(to) {
    this._stop();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.look(to);
      return;
    }
    const from = { ...this.view };
    const start = performance.now();
    this._landing = this._bounded(to);
    const step = () => {
      const time = Math.min(1, (performance.now() - start) / FLIGHT);
      const share = time * time * (3 - 2 * time);
      this._put({
        x: from.x + (to.x - from.x) * share,
        y: from.y + (to.y - from.y) * share,
        scale: from.scale * (to.scale / from.scale) ** share,
      });
      if (time < 1) this._flight = requestAnimationFrame(step);
      else this._landing = null;
    };
    step();
  }

  /** Show the whole map. */
  home() {
    this.fly({ x: 0.5, y: 0.5, scale: this.whole });
  }

  /**
   * Zoom in around a pixel, or around the middle.
   * @param {number} factor
   * @param {number} x
   * @param {number} y
   */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const [mapX, mapY] = this.toMap(x, y);
    const scale = this._scaleWithin(this.view.scale * factor);
    this.look({
      scale,
      x: mapX - (x - this.width / 2) / scale,
      y: mapY + (y - this.height / 2) / scale,
    });
  }

  /**
   * Position on the map of a pixel.
   * @param {number} x
   * @param {number} y
   * @returns {[number, number]}
   */
  toMap(x, y) {
    const { x: cx, y: cy, scale } = this.view;
    return [cx + (x - this.width / 2) / scale, cy - (y - this.height / 2) / scale];
  }

  /**
   * Pixel of a position on the map.
   * @param {number} x
   * @param {number} y
   * @returns {[number, number]}
   */
  toPixel(x, y) {
    const { x: cx, y: cy, scale } = this.view;
    return [this.width / 2 + (x - cx) * scale, this.height / 2 - (y - cy) * scale];
  }

  /**
   * Window that shows some positions.
   * @param {[number, number][]} positions
   * @returns {View}
   */
  around(positions) {
    const xs = positions.map(([x]) => x);
    const ys = positions.map(([, y]) => y);
    const [x0, x1] = [least(xs), -least(xs.map((x) => -x))];
    const [y0, y1] = [least(ys), -least(ys.map((y) => -y))];
    const scale = Math.min(this.width / (x1 - x0 || 1e-9), this.height / (y1 - y0 || 1e-9)) / 1.25;
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, scale: Math.min(Math.max(scale, this.whole), 40 * this.whole) };
  }

  /**
   * @param {MouseEvent} event
   * @returns {[number, number]}
   */
  pixelOf(event) {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  /** @param {number} scale */
  _scaleWithin(scale) {
    return Math.min(200 * this.whole, Math.max(0.5 * this.whole, scale));
  }

  /**
   * The nearest window within the limits.
   * @param {View} view
   * @returns {View}
   */
  _bounded({ x, y, scale }) {
    const within = (/** @type {number} */ place) => Math.min(1.1, Math.max(-0.1, place));
    return { x: within(x), y: within(y), scale: this._scaleWithin(scale) };
  }

  /** Report a movement, and its end after some time without another one. */
  _stir() {
    this.isMoving = true;
    clearTimeout(this._rest);
    this._rest = setTimeout(() => {
      this.isMoving = false;
      this.on.changed();
    }, 140);
    this.on.changed();
  }

  /** @param {PointerEvent} event */
  _down(event) {
    if (event.button > 0) return;
    this._stop();
    const [x, y] = this.pixelOf(event);
    this._fingers.set(event.pointerId, { x, y });
    this._moved = this._fingers.size > 1 ? CLICK + 1 : 0;
    this._outline = this._fingers.size === 1 && this.on.isDrawing(event) ? [this.toMap(x, y)] : null;
  }

  /** @param {PointerEvent} event */
  _move(event) {
    const finger = this._fingers.get(event.pointerId);
    if (!finger) return;
    const [x, y] = this.pixelOf(event);
    this._moved += Math.hypot(x - finger.x, y - finger.y);
    // Capture later than at the beginning, so that a click reaches the name below.
    if (this._moved > CLICK) this.element.setPointerCapture(event.pointerId);
    if (this._outline) {
      this._outline.push(this.toMap(x, y));
      this.on.drawing(this._outline);
    } else if (this._fingers.size === 2) {
      const [other] = [...this._fingers].filter(([id]) => id !== event.pointerId).map(([, f]) => f);
      const before = Math.hypot(finger.x - other.x, finger.y - other.y);
      const now = Math.hypot(x - other.x, y - other.y);
      if (before > 0) this.zoom(now / before, (x + other.x) / 2, (y + other.y) / 2);
      this._shift((x - finger.x) / 2, (y - finger.y) / 2);
    } else if (this._moved > CLICK) {
      this._shift(x - finger.x, y - finger.y);
    }
    finger.x = x;
    finger.y = y;
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  _shift(dx, dy) {
    const { x, y, scale } = this.view;
    this.look({ x: x - dx / scale, y: y + dy / scale });
  }

  /** @param {PointerEvent} event */
  _up(event) {
    const finger = this._fingers.get(event.pointerId);
    if (!finger) return;
    this._fingers.delete(event.pointerId);
    const outline = this._outline;
    this._outline = null;
    if (event.type === "pointercancel") {
      if (outline) this.on.drawing([]);
    } else if (outline && this._moved > CLICK) {
      this.on.drawn(outline, event);
    } else if (this._moved <= CLICK) {
      if (outline) this.on.drawing([]);
      this.on.clicked(finger.x, finger.y, event);
    }
  }

  /** @param {WheelEvent} event */
  _wheel(event) {
    event.preventDefault();
    const notches = event.deltaY / (event.deltaMode === 1 ? 3 : event.deltaMode === 2 ? 1 : 100);
    const [x, y] = this.pixelOf(event);
    this.zoom(STEP ** -Math.min(4, Math.max(-4, notches)), x, y);
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 0.15 * Math.min(this.width, this.height);
    /** @type {{[key: string]: () => void}} */
    const moves = {
      ArrowLeft: () => this._shift(step, 0),
      ArrowRight: () => this._shift(-step, 0),
      ArrowUp: () => this._shift(0, step),
      ArrowDown: () => this._shift(0, -step),
      "+": () => this.zoom(1.6),
      "=": () => this.zoom(1.6),
      "-": () => this.zoom(1 / 1.6),
      0: () => this.home(),
    };
    if (event.key in moves && event.target === this.element) {
      event.preventDefault();
      moves[event.key]();
    }
  }
}

/** @param {number[]} values */
function least(values) {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}
