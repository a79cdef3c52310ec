// Density of papers on a grid: the picture below the points, and the density at each point.

const CELLS = 512;
const RADIUS = 4; // of three running means, which are close to a Gaussian of 4 cells

/**
 * Count points on a grid and smooth the counts.
 * @param {import("./source.js").Source} source
 * @param {Uint8Array} kinds points of kind 0 are not counted
 * @returns {Float32Array}
 */
export function densityGrid(source, kinds) {
  let grid = new Float32Array(CELLS * CELLS);
  const { place, n } = source;
  for (let point = 0; point < n; point++) {
    if (kinds[point]) grid[cellOf(place, point)] += 1;
  }
  for (let pass = 0; pass < 3; pass++) grid = smooth(grid);
  return grid;
}

/**
 * @param {Uint16Array} place
 * @param {number} point
 */
function cellOf(place, point) {
  return (place[2 * point + 1] >> 7) * CELLS + (place[2 * point] >> 7); // 65,536 / 512 = 2 ** 7
}

/** @param {Float32Array} grid */
function smooth(grid) {
  const across = new Float32Array(grid.length);
  const up = new Float32Array(grid.length);
  runningMean(grid, across, CELLS, 1);
  runningMean(across, up, 1, CELLS);
  return up;
}

/**
 * @param {Float32Array} from
 * @param {Float32Array} to
 * @param {number} line distance between the beginnings of lines
 * @param {number} step distance between the cells of a line
 */
function runningMean(from, to, line, step) {
  const width = 2 * RADIUS + 1;
  for (let start = 0; start < CELLS; start++) {
    const first = start * line;
    let sum = 0;
    for (let at = 0; at < RADIUS; at++) sum += from[first + at * step];
    for (let at = 0; at < CELLS; at++) {
      if (at + RADIUS < CELLS) sum += from[first + (at + RADIUS) * step];
      if (at - RADIUS - 1 >= 0) sum -= from[first + (at - RADIUS - 1) * step];
      to[first + at * step] = sum / width;
    }
  }
}

/**
 * The tone of a density, from 0 to 1; half of the papers are where the tone is above 0.5.
 * @param {import("./source.js").Source} source
 * @param {Float32Array} grid
 * @param {Uint8Array} kinds
 * @returns {(density: number) => number}
 */
export function tones(source, grid, kinds) {
  const some = [];
  const step = Math.max(1, Math.floor(source.n / 20_000));
  for (let point = 0; point < source.n; point += step) {
    if (kinds[point]) some.push(grid[cellOf(source.place, point)]);
  }
  some.sort((a, b) => a - b);
  const middle = some[some.length >> 1] || 1;
  const most = some[Math.floor(some.length * 0.995)] || 1;
  const power = most > middle ? Math.log(0.5) / Math.log(middle / most) : 1;
  return (density) => Math.min(1, Math.max(0, density / most) ** Math.min(1, Math.max(0.25, power)));
}

/**
 * Positions of all points on the colour ramp, by density.
 * @param {import("./source.js").Source} source
 * @param {Float32Array} grid
 * @param {(density: number) => number} tone
 * @returns {Uint8Array}
 */
export function densityValues(source, grid, tone) {
  const values = new Uint8Array(source.manifest.papers);
  for (let point = 0; point < source.n; point++) {
    values[point] = 255 * tone(grid[cellOf(source.place, point)]);
  }
  return values;
}

/**
 * A picture of the density, one pixel per cell.
 * @param {Float32Array} grid
 * @param {(density: number) => number} tone
 * @param {Uint8Array} colours 256 colours with alpha
 * @returns {HTMLCanvasElement}
 */
export function densityPicture(grid, tone, colours) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = CELLS;
  const target = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const picture = target.createImageData(CELLS, CELLS);
  for (let cell = 0; cell < grid.length; cell++) {
    const position = Math.round(255 * tone(grid[cell]));
    // The first row of a picture is at the top.
    const at = 4 * ((CELLS - 1 - Math.floor(cell / CELLS)) * CELLS + (cell % CELLS));
    for (let part = 0; part < 4; part++) picture.data[at + part] = colours[4 * position + part];
    picture.data[at + 3] *= Math.min(1, position / 24); // no edge where there are no papers
  }
  target.putImageData(picture, 0, 0);
  return canvas;
}
