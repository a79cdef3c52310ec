// Colours of the map: ramps, classes, and the position of each paper on them.

/**
 * @typedef {{page: string, ink: string, quiet: string, accent: string, missing: string,
 *   ramp: string[], numbers: string[], classes: string[], [name: string]: string | string[]}} Theme
 * @typedef {{label: string, colour: string, region?: number}} Entry
 * @typedef {{title: string, values: Uint8Array, colours: Uint8Array<ArrayBuffer>,
 *   unknown?: number, entries?: Entry[], ends?: [string, string], css?: string}} Colouring
 */

/**
 * Red, green and blue of a colour such as "#10161f".
 * @param {string} colour
 * @returns {number[]}
 */
export function rgb(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/**
 * 256 colours between some colours, as red, green, blue and alpha.
 * @param {string[]} knots
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function ramp(knots) {
  const colours = new Uint8Array(4 * 256);
  const known = knots.map(rgb);
  for (let step = 0; step < 256; step++) {
    const place = (step / 255) * (known.length - 1);
    const low = Math.min(known.length - 2, Math.floor(place));
    for (let part = 0; part < 3; part++) {
      const [a, b] = known.length > 1 ? [known[low][part], known[low + 1][part]] : [known[0][part], known[0][part]];
      colours[4 * step + part] = Math.round(a + (b - a) * (place - low));
    }
    colours[4 * step + 3] = 255;
  }
  return colours;
}

/**
 * One colour for all positions.
 * @param {string} colour
 */
export function plain(colour) {
  return ramp([colour, colour]);
}

/**
 * Colour papers by the largest regions, in fixed colours; 255 stands for papers outside.
 * @param {import("./source.js").Source} source
 * @param {Theme} theme
 * @returns {Colouring}
 */
export function byRegion(source, theme) {
  const top = source.regions.some((one) => one.level === 0) ? 0 : 1;
  const rows = source.regions.flatMap((one, row) => (one.level === top ? [row] : []));
  const place = new Map(rows.map((row, at) => [row, Math.min(at, 254)]));
  const above = source.regions.map((_, row) => place.get(source.regionAbove(row, top)) ?? 255);
  const values = new Uint8Array(source.manifest.papers);
  for (let point = 0; point < source.n; point++) values[point] = above[source.region[point]] ?? 255;
  const colours = new Uint8Array(4 * 256);
  for (let at = 0; at < 256; at++) {
    const colour = at < rows.length ? theme.classes[at % theme.classes.length] : theme.missing;
    colours.set([...rgb(colour), 255], 4 * at);
  }
  const entries = rows.map((row, at) => ({
    label: source.regions[row].label,
    colour: theme.classes[at % theme.classes.length],
    region: row,
  }));
  return { title: top ? "Region" : "Continent", values, colours, entries };
}

/**
 * Colour papers by a number; the ramp spends as much of itself on each range as it has papers.
 * @param {import("./source.js").Source} source
 * @param {Theme} theme
 * @param {string} title
 * @param {Uint16Array} numbers 0 if the number is not known
 * @param {(value: number) => string} write
 * @returns {Colouring}
 */
export function byNumber(source, theme, title, numbers, write) {
  const known = [];
  const step = Math.max(1, Math.floor(source.n / 50_000));
  for (let point = 0; point < source.n; point += step) if (numbers[point]) known.push(numbers[point]);
  known.sort((a, b) => a - b);
  const n = known.length;
  const values = new Uint8Array(source.manifest.papers).fill(0);
  /** @type {Map<number, number>} */
  const ranks = new Map();
  for (let place = 0; place < n; place++) {
    const first = ranks.get(known[place]);
    if (first === undefined) ranks.set(known[place], place);
  }
  const distinct = [...ranks.keys()];
  // Half by the value and half by the rank, so that neither old years nor crowded years fill the ramp.
  const [low, high] = [distinct[0] ?? 0, distinct[distinct.length - 1] ?? 1];
  const position = (/** @type {number} */ value) => {
    const share = high > low ? (value - low) / (high - low) : 0;
    const rank = (ranks.get(nearest(distinct, value)) ?? 0) / Math.max(1, n);
    return 1 + Math.round(254 * (0.5 * share + 0.5 * rank));
  };
  /** @type {Map<number, number>} */
  const cache = new Map();
  for (let point = 0; point < source.n; point++) {
    const value = numbers[point];
    if (!value) continue;
    let at = cache.get(value);
    if (at === undefined) {
      at = position(value);
      cache.set(value, at);
    }
    values[point] = at;
  }
  const colours = ramp(theme.numbers);
  colours.set([...rgb(theme.missing), 255], 0);
  return {
    title,
    values,
    colours,
    unknown: source.n - countKnown(numbers, source.n),
    ends: n ? [write(low), write(high)] : ["", ""],
    css: `linear-gradient(to right, ${theme.numbers.join(",")})`,
  };
}

/**
 * @param {Uint16Array} numbers
 * @param {number} n
 */
function countKnown(numbers, n) {
  let known = 0;
  for (let point = 0; point < n; point++) if (numbers[point]) known++;
  return known;
}

/**
 * @param {number[]} sorted
 * @param {number} value
 */
function nearest(sorted, value) {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return sorted[low];
}
