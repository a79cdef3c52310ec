// Colours of the map: ramps, classes, and the position of each paper on them.

/**
 * @typedef {{page: string, ink: string, quiet: string, accent: string, missing: string,
 *   mine: string, reviews: string,   ramp: string[], numbers: string[], classes: string[], [name: string]: string | string[]}} Theme
 * @typedef {{label: string, colour: string, filter?: Partial<import("./model.js").Filters>}} Entry
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
  // The atlas chooses the colours, so that neighbours differ for all readers.
  const entries = rows.map((row) => ({
    label: source.regions[row].label,
    colour: theme.classes[source.regions[row].colour % theme.classes.length],
    filter: { region: row },
  }));
  return byClass(theme, top ? "Region" : "Continent", values, entries);
}

const NOTHING = 255; // value of papers without a class
const CLASSES = 7; // of facilities and concepts

/**
 * Colour papers by classes: the class of each paper, or 255.
 * @param {Theme} theme
 * @param {string} title
 * @param {Uint8Array} values
 * @param {Entry[]} entries
 * @returns {Colouring}
 */
function byClass(theme, title, values, entries) {
  const colours = new Uint8Array(4 * 256);
  for (let at = 0; at < 256; at++) {
    colours.set([...rgb(entries[at]?.colour ?? theme.missing), 255], 4 * at);
  }
  return { title, values, colours, entries };
}

/**
 * Colour papers by the most frequent facilities or concepts, of which a paper has the rarest; or by
 * the one that the filter chooses, where papers that use the data of a facility are told from those
 * that mention it.
 * @param {import("./source.js").Source} source
 * @param {Theme} theme
 * @param {"facilities" | "concepts"} kind
 * @param {number} chosen
 * @returns {Promise<Colouring>}
 */
export async function bySet(source, theme, kind, chosen) {
  const [title, name] = kind === "facilities" ? ["Facility", "facility"] : ["Concept", "concept"];
  const known = source.manifest.sets[kind] ?? [];
  const values = new Uint8Array(source.manifest.papers).fill(NOTHING);
  /** @type {Entry[]} */
  const entries = [];
  const add = (/** @type {string} */ label, /** @type {Entry["filter"]} */ filter) =>
    entries.push({ label, colour: theme.classes[entries.length % theme.classes.length], filter });
  if (chosen >= 0 && kind === "facilities") {
    add(`uses data of ${known[chosen].name}`, { facility: chosen, uses: true });
    add(`mentions ${known[chosen].name}`, { facility: chosen, uses: false });
    const { points, kinds } = await source.set(kind, chosen);
    points.forEach((point, at) => (values[point] = kinds[at] ? 0 : 1));
  } else {
    const rows = chosen >= 0 ? [chosen] : known.slice(0, CLASSES).map((_, row) => row);
    for (const row of rows) {
      // The most frequent come first, so that a rarer one replaces them.
      const { points } = await source.set(kind, row);
      for (const point of points) values[point] = entries.length;
      add(known[row].name, { [name]: row });
    }
  }
  return byClass(theme, title, values, entries);
}

/**
 * @typedef {{title: string, labels: string[] | null, ends: [string, string] | null,
 *   unknown: number}} ColumnHead
 */

/**
 * Colour papers by a column of the atlas: classes (255 is none), or places on a ramp (0 is unknown).
 * @param {Theme} theme
 * @param {{head: ColumnHead, values: Uint8Array}} column
 * @returns {Colouring}
 */
export function byColumn(theme, { head, values }) {
  if (head.labels) {
    const entries = head.labels.map((label, at) => ({
      label,
      colour: theme.classes[at % theme.classes.length],
    }));
    return byClass(theme, head.title, values, entries);
  }
  const colours = ramp(theme.numbers);
  colours.set([...rgb(theme.missing), 255], 0);
  return {
    title: head.title,
    values,
    colours,
    unknown: head.unknown,
    ends: head.ends ?? ["", ""],
    css: `linear-gradient(to right, ${theme.numbers.join(",")})`,
  };
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
