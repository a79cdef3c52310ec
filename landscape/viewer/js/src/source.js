// The files of an atlas: where they come from, and what is in them.

import { readColumns, readSet, unzip } from "./bytes.js";

/**
 * @typedef {{id: number, level: number, parent: number, label: string, papers: number, x: number,
 *   y: number, colour: number, keywords: string[]}} Region
 * @typedef {{region: number, lines: string[], dx: number, dy: number, scales: [number, number]}} Name
 * @typedef {{name: string, papers: number, uses: number, at: [number, number], also?: string[]}} SetEntry
 * @typedef {{format: number, title: string, papers: number, generated: boolean, box: number[],
 *   parts: number[], columns: string[], years: [number, number] | null, records: number,
 *   details: number, ids: number, regions: Region[], names: Name[], sets: {[kind: string]: SetEntry[]},
 *   fonts: {sizes: number[], line: number}, stop_words: string[], phrases: boolean,
 *   defaults: {query: string, method: string, k: number, colour: string, layers: string[]},
 *   more_colours?: [string, string][], atlas?: string,
 *   themes: {light: import("./colours.js").Theme, dark: import("./colours.js").Theme}}} Manifest
 * @typedef {{id: string, title: string, author: string, authors: number}} Title
 * @typedef {{authors?: string[], abstract?: string, date?: string, journal?: string, kind?: string, status?: string, status_reason?: string,
 *   bibcode?: string,
 *   arxiv?: string, doi?: string, keywords?: string[], objects?: string[], references?: number[], cited_by?: number[],
 *   similar?: number[]}} Details
 * @typedef {(name: string) => Promise<Uint8Array<ArrayBuffer>>} Read
 */

export const FORMAT = 3;
const NO_REGION = 0xffff;

/**
 * Read files from a web server.
 * @param {string} folder address of the folder, with a slash at its end
 * @returns {Read}
 */
export function fromWeb(folder) {
  return async (name) => {
    const answer = await fetch(new URL(name, new URL(folder, document.baseURI)));
    if (!answer.ok) throw new Error(`${name} cannot be read (HTTP ${answer.status})`);
    return new Uint8Array(await answer.arrayBuffer());
  };
}

/**
 * Read files that are part of the page, as text in base64.
 * @param {{[name: string]: string}} files
 * @returns {Read}
 */
export function fromPage(files) {
  return async (name) => {
    if (!(name in files)) throw new Error(`this page has no file ${name}`);
    return Uint8Array.from(atob(files[name]), (letter) => letter.charCodeAt(0));
  };
}

/** The papers, regions and texts of an atlas. */
export class Source {
  /**
   * @param {Read} read
   * @param {Manifest} manifest
   */
  constructor(read, manifest) {
    this.manifest = manifest;
    this.regions = manifest.regions;
    this.n = 0; // number of papers that are loaded
    const n = manifest.papers;
    this.place = new Uint16Array(2 * n);
    this.region = new Uint16Array(n).fill(NO_REGION);
    this.year = new Uint16Array(n);
    this.citations = new Uint16Array(n);
    /** @type {Map<string, Promise<any>>} */
    this._files = new Map();
    this._read = read;
  }

  /**
   * Open a source, and load its first papers.
   * @param {Read} read
   * @returns {Promise<Source>}
   */
  static async open(read) {
    const manifest = readJson(await unzip(await read("source.json")));
    if (manifest.format !== FORMAT) {
      throw new Error(
        `the files have format ${manifest.format}, and this viewer reads format ${FORMAT}; ` +
          "write them again",
      );
    }
    const source = new Source(read, manifest);
    await source.loadPart(0);
    return source;
  }

  /**
   * Load one part of the papers; the parts must be loaded in their order.
   * @param {number} number
   */
  async loadPart(number) {
    const rows = this.manifest.parts[number];
    const bytes = await unzip(await this._read(`points-${number}.bin`));
    const [x, y, region, year, citations] = readColumns(bytes, rows);
    const start = this.n;
    for (let row = 0; row < rows; row++) {
      this.place[2 * (start + row)] = x[row];
      this.place[2 * (start + row) + 1] = y[row];
    }
    this.region.set(region, start);
    this.year.set(year, start);
    this.citations.set(citations, start);
    this.n = start + rows;
  }

  /** Number of parts that are not loaded yet. */
  get missing() {
    let start = 0;
    return this.manifest.parts.filter((rows) => (start += rows) > this.n).length;
  }

  /**
   * Read and decode a file once.
   * @template T
   * @param {string} name
   * @param {(bytes: Uint8Array<ArrayBuffer>) => T} decode
   * @returns {Promise<T>}
   */
  file(name, decode) {
    let known = this._files.get(name);
    if (!known) {
      known = this._read(name).then(unzip).then(decode);
      known.catch(() => this._files.delete(name)); // a lost connection may come back
      this._files.set(name, known);
    }
    return known;
  }

  /**
   * Title, first author and identifier of a paper.
   * @param {number} point
   * @returns {Promise<Title>}
   */
  async title(point) {
    const size = this.manifest.records;
    const number = Math.floor(point / size);
    const table = await this.file(`records/${number}.json`, readJson);
    const row = point - number * size;
    return {
      id: table.id[row],
      title: table.title[row],
      author: table.author[row],
      authors: table.authors[row],
    };
  }

  /**
   * Abstract, authors, links, references and similar papers of a paper.
   * @param {number} point
   * @returns {Promise<Details>}
   */
  async details(point) {
    const size = this.manifest.details;
    if (!size) return detailsOf((await this.title(point)).id);
    const number = Math.floor(point / size);
    const table = await this.file(`details/${number}.json`, readJson);
    return table[point - number * size];
  }

  /**
   * The paper with an identifier, or -1.
   * @param {string} id
   * @returns {Promise<number>}
   */
  async find(id) {
    const known = await this.file(`ids/${hash(id) % this.manifest.ids}.json`, readJson);
    return Object.hasOwn(known, id) ? known[id] : -1;
  }

  /**
   * Papers of a facility or concept.
   * @param {string} kind
   * @param {number} number
   */
  async set(kind, number) {
    const sets = await this.file(`${kind}.bin`, (bytes) =>
      this.manifest.sets[kind].map(({ at: [start, end] }) => readSet(bytes, start, end, 2)),
    );
    return sets[number];
  }

  /**
   * The first word of each file of the index of words.
   * @returns {Promise<string[]>}
   */
  firstWords() {
    return this.file("words.json", readJson);
  }

  /**
   * Colours by a column of the atlas: a line of JSON, and a byte for each paper.
   * @param {string} name
   * @returns {Promise<{head: import("./colours.js").ColumnHead, values: Uint8Array}>}
   */
  column(name) {
    return this.file(`columns/${name}`, (bytes) => {
      const end = bytes.indexOf(10);
      return { head: readJson(bytes.subarray(0, end)), values: bytes.subarray(end + 1) };
    });
  }

  /**
   * The region of a paper on a level, or -1.
   * @param {number} point
   * @param {number} level
   */
  regionOf(point, level) {
    return this.regionAbove(this.region[point], level);
  }

  /**
   * The region on a level that contains a region, or -1.
   * @param {number} region
   * @param {number} level
   */
  regionAbove(region, level) {
    let here = region === NO_REGION ? -1 : region;
    while (here >= 0 && this.regions[here].level > level) here = this.regions[here].parent;
    return here >= 0 && this.regions[here].level === level ? here : -1;
  }

  /** For each region, the numbers of the regions inside, including itself. */
  inside() {
    const found = this.regions.map((_, row) => [row]);
    this.regions.forEach((one, row) => {
      for (let up = one.parent; up >= 0; up = this.regions[up].parent) found[up].push(row);
    });
    return found;
  }
}

/**
 * What the identifier of a paper says, for files without details.
 * @param {string} id
 * @returns {Details}
 */
function detailsOf(id) {
  const abstract = "This page is too large for abstracts and references.";
  if (/^(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?\/\d{7})$/.test(id)) return { abstract, arxiv: id };
  return /^\d{4}\S{15}$/.test(id) ? { abstract, bibcode: id } : { abstract };
}

/**
 * A hash of the UTF-16 code units of a text, as in the files.
 * @param {string} text
 */
export function hash(text) {
  let found = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    for (const byte of [code & 255, code >> 8]) found = (Math.imul(found, 31) + byte) >>> 0;
  }
  return found;
}

/**
 * @param {Uint8Array} bytes
 * @returns {any}
 */
function readJson(bytes) {
  return JSON.parse(new TextDecoder().decode(bytes));
}
