// Index of positions: the paper at a position, and the papers inside an outline.

const SIDE = 256; // cells

/** Papers sorted into the cells of a grid. */
export class Places {
  /** @param {import("./source.js").Source} source */
  constructor(source) {
    this._place = source.place;
    const { place, n } = source;
    this._starts = new Uint32Array(SIDE * SIDE + 1);
    this._points = new Uint32Array(n);
    for (let point = 0; point < n; point++) this._starts[this._cell(point) + 1]++;
    for (let cell = 0; cell < SIDE * SIDE; cell++) this._starts[cell + 1] += this._starts[cell];
    const next = this._starts.slice();
    for (let point = 0; point < n; point++) this._points[next[this._cell(point)]++] = point;
  }

  /** @param {number} point */
  _cell(point) {
    return (this._place[2 * point + 1] >> 8) * SIDE + (this._place[2 * point] >> 8);
  }

  /**
   * Call a function for all papers in the cells of a window.
   * @param {number} x0 edges in map widths
   * @param {number} y0
   * @param {number} x1
   * @param {number} y1
   * @param {(point: number, x: number, y: number) => void} use
   */
  within(x0, y0, x1, y1, use) {
    const [left, right] = [x0, x1].map((side) => bounded(Math.floor(side * SIDE)));
    const [bottom, top] = [y0, y1].map((side) => bounded(Math.floor(side * SIDE)));
    for (let row = bottom; row <= top; row++) {
      const end = this._starts[row * SIDE + right + 1];
      for (let at = this._starts[row * SIDE + left]; at < end; at++) {
        const point = this._points[at];
        use(point, this._place[2 * point] / 0xffff, this._place[2 * point + 1] / 0xffff);
      }
    }
  }

  /**
   * The nearest paper within a distance, or -1.
   * @param {number} x
   * @param {number} y
   * @param {number} reach
   * @param {Uint8Array} kinds papers of kind 0 are not found
   */
  nearest(x, y, reach, kinds) {
    let best = -1;
    let least = reach * reach;
    this.within(x - reach, y - reach, x + reach, y + reach, (point, px, py) => {
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (kinds[point] && (distance < least || (distance === least && point < best))) {
        least = distance;
        best = point;
      }
    });
    return best;
  }

  /**
   * The papers inside an outline, in ascending order.
   * @param {[number, number][]} corners
   * @param {Uint8Array} kinds papers of kind 0 are not found
   * @returns {Uint32Array}
   */
  inside(corners, kinds) {
    /** @type {number[]} */
    const found = [];
    if (corners.length < 3) return new Uint32Array(0);
    const xs = corners.map(([x]) => x);
    const ys = corners.map(([, y]) => y);
    const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    this.within(box[0], box[1], box[2], box[3], (point, x, y) => {
      if (kinds[point] && isInside(x, y, corners)) found.push(point);
    });
    return Uint32Array.from(found).sort();
  }
}

/** @param {number} cell */
function bounded(cell) {
  return Math.min(SIDE - 1, Math.max(0, cell));
}

/**
 * Whether a position is inside an outline, by the even-odd rule.
 * @param {number} x
 * @param {number} y
 * @param {[number, number][]} corners
 */
export function isInside(x, y, corners) {
  let inside = false;
  let [bx, by] = corners[corners.length - 1];
  for (const [ax, ay] of corners) {
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
    [bx, by] = [ax, ay];
  }
  return inside;
}
