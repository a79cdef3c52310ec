// State of the viewer: filters, selection, colours and search, with undo; what each paper counts as.

import { QueryError } from "./conditions.js";
import { MARKED, MINE, REMOVED, REVIEW, SELECTED, SHOWN } from "./renderer.js";
import { WordIndex } from "./search.js";

/**
 * @typedef {{years: [number, number] | null, region: number, facility: number, uses: boolean,
 *   concept: number, reviews: boolean}} Filters
 * @typedef {{filters: Filters, query: string, method: string, k: number, selected: Uint32Array,
 *   outline: [number, number][] | null, colour: string, layers: string[]}} State
 * @typedef {"state" | "open" | "loaded"} Topic
 * @typedef {(query: string, state: State) => Promise<Answer>} Search
 * @typedef {{points: Iterable<number>, missing: string[], note?: string, problem?: string}} Answer
 */

/** @type {Filters} */
export const ALL = { years: null, region: -1, facility: -1, uses: false, concept: -1, reviews: false };
const NOTHING = new Uint32Array(0);
const SETS = /** @type {const} */ (["facilities", "concepts", "reviews", "mine"]);
const NO_SET = { points: NOTHING, kinds: new Uint8Array(0) };
const KEPT = 100; // states that can be undone

/** What the user has chosen, and what follows from it. */
export class Model {
  /** @param {import("./source.js").Source} source */
  constructor(source) {
    this.source = source;
    this.index = new WordIndex(source);
    const { query, method, k, colour, layers } = source.manifest.defaults;
    /** @type {State} */
    this.state = { filters: ALL, query, method, k, selected: NOTHING, outline: null, colour, layers };
    /** @type {Search | null} */
    this.searchElsewhere = null; // by meaning, which needs a model
    this.note = "";
    this.isWaiting = false; // for the search elsewhere
    /** @type {Uint32Array} */
    this.found = NOTHING; // best first
    this.missing = /** @type {string[]} */ ([]);
    this.opened = -1; // paper whose record is shown
    this.passes = new Uint8Array(source.manifest.papers).fill(1);
    this.counted = this.passes; // papers that the regions, facilities and concepts count
    this.nPassing = source.manifest.papers;
    this.kinds = new Uint8Array(source.manifest.papers).fill(SHOWN);
    this.inside = source.inside();
    /** @type {State[]} */
    this._past = [];
    /** @type {State[]} */
    this._future = [];
    /** @type {Map<Topic, (() => void)[]>} */
    this._listeners = new Map();
    /** @type {{[kind: string]: {points: Uint32Array, kinds: Uint8Array} | null}} */
    this.sets = {};
    this._turn = 0;
    /** @type {string | null} */
    this._foundFor = ""; // query to which `found` belongs
    this.problem = "";
    this._refused = ""; // what the search elsewhere says of a query that it cannot use
  }

  /**
   * Call a function after each change of a kind.
   * @param {Topic} topic
   * @param {() => void} use
   */
  on(topic, use) {
    this._listeners.set(topic, [...(this._listeners.get(topic) ?? []), use]);
  }

  /** @param {Topic} topic */
  tell(topic) {
    for (const use of this._listeners.get(topic) ?? []) use();
  }

  /**
   * Change the state; the change can be undone.
   * @param {Partial<State>} changes
   */
  async set(changes) {
    this._past.push(this.state);
    if (this._past.length > KEPT) this._past.shift();
    this._future = [];
    await this._apply({ ...this.state, ...changes });
  }

  /**
   * Change some filters.
   * @param {Partial<Filters>} changes
   */
  filter(changes) {
    return this.set({ filters: { ...this.state.filters, ...changes } });
  }

  get canUndo() {
    return this._past.length > 0;
  }

  get canRedo() {
    return this._future.length > 0;
  }

  async undo() {
    const before = this._past.pop();
    if (!before) return;
    this._future.push(this.state);
    await this._apply(before);
  }

  async redo() {
    const after = this._future.pop();
    if (!after) return;
    this._past.push(this.state);
    await this._apply(after);
  }

  /** @param {State} state */
  async _apply(state) {
    this.state = state;
    const turn = ++this._turn;
    const { filters, query } = state;
    const asked = this.searchElsewhere ? JSON.stringify([query, state.method, state.k, filters.years]) : query;
    try {
      // What is known may be of another state, because a change can come while a search runs.
      if (asked !== this._foundFor) {
        const here = this._searchHere(query);
        if (this.searchElsewhere && query.trim()) this._askElsewhere(asked, turn, here);
        else this._take(await here, asked, turn);
        if (turn !== this._turn) return;
      }
      const { layers, colour } = state;
      const wanted = {
        facilities: filters.facility,
        concepts: filters.concept,
        reviews: this._has("reviews") && (filters.reviews || layers.includes("reviews") || colour === "reviews") ? 0 : -1,
        mine: this._has("mine") ? 0 : -1,
      };
      for (const kind of SETS) {
        const chosen = wanted[kind] < 0 ? null : await this.source.set(kind, wanted[kind]);
        if (turn !== this._turn) return;
        this.sets[kind] = chosen;
      }
      this.problem = this._refused;
    } catch (error) {
      if (turn !== this._turn) return;
      const said = error instanceof Error ? error.message : String(error);
      this.problem = error instanceof QueryError
        ? `The search cannot be read: ${said}.`
        : `This failed: ${said}. Press Enter in the search to try again.`;
      // Nothing is shown that belongs to another state.
      if (asked !== this._foundFor) {
        this.found = NOTHING;
        this.missing = [];
        this._foundFor = null;
      }
      if (filters.facility >= 0) this.sets.facilities = NO_SET;
      if (filters.concept >= 0) this.sets.concepts = NO_SET;
    }
    this.refresh();
  }

  /** @param {string} kind */
  _has(kind) {
    return Boolean(this.source.manifest.sets[kind]?.length);
  }

  /**
   * @param {string} query
   * @returns {Promise<Answer>}
   */
  async _searchHere(query) {
    return query.trim() ? this.index.search(query) : { points: [], missing: [] };
  }

  /**
   * @param {Answer} answer
   * @param {string} asked
   * @param {number} turn
   */
  _take({ points, missing, note, problem }, asked, turn) {
    if (turn !== this._turn) return;
    this.found = Uint32Array.from(points);
    this.missing = missing;
    this.note = note ?? "";
    this._refused = this.problem = problem ?? "";
    this.isWaiting = false;
    this._foundFor = asked;
  }

  /**
   * Search with the kernel; until it answers, the papers with the words in their titles are shown.
   * @param {string} asked
   * @param {number} turn
   * @param {Promise<Answer>} here
   */
  _askElsewhere(asked, turn, here) {
    const state = this.state;
    this.isWaiting = true;
    this._foundFor = asked;
    this._refused = "";
    let isAnswered = false;
    here.then((answer) => {
      if (isAnswered || turn !== this._turn) return;
      this.found = Uint32Array.from(answer.points);
      this.missing = [];
      this.note = "these titles have the words";
      this.refresh();
    }, () => undefined);
    /** @type {Search} */ (this.searchElsewhere)(state.query, state).then((answer) => {
      isAnswered = true;
      if (asked !== this._foundFor || this.state.query !== state.query) return;
      this._take(answer, asked, this._turn);
      this.refresh();
    });
  }

  /** Try again what has failed. */
  retry() {
    return this._apply(this.state);
  }

  /** Compute again what each paper counts as. */
  refresh() {
    const passes = this.passing(this.state.filters);
    // The same array stands for the same papers.
    if (passes.some((one, point) => one !== this.passes[point])) this.passes = passes;
    this.counted = this._foundOf(this.passes);
    const { kinds } = this;
    this.nPassing = passes.reduce((sum, one) => sum + one, 0);
    for (let point = 0; point < kinds.length; point++) kinds[point] = passes[point] ? SHOWN : REMOVED;
    const reviews = this.state.layers.includes("reviews") ? this.sets.reviews?.points : null;
    for (const [points, kind] of /** @type {const} */ ([
      [this.state.selected, SELECTED],
      [reviews, REVIEW],
      [this.sets.mine?.points, MINE],
      [this.found, MARKED],
    ])) {
      for (const point of points ?? []) if (passes[point]) kinds[point] = kind;
    }
    this.tell("state");
  }

  /**
   * Which of some papers were found by the search; all of them without a search.
   * @param {Uint8Array<ArrayBuffer>} passes
   */
  _foundOf(passes) {
    if (!this.state.query || !this.found.length) return passes;
    const both = new Uint8Array(passes.length);
    for (const point of this.found) both[point] = passes[point];
    return both;
  }

  /**
   * Which papers pass some filters, as 1 and 0.
   * @param {Filters} filters
   * @returns {Uint8Array<ArrayBuffer>}
   */
  passing(filters) {
    const { source } = this;
    const n = source.manifest.papers;
    const passes = new Uint8Array(n).fill(1);
    if (filters.years) {
      const [first, last] = filters.years;
      for (let point = 0; point < n; point++) {
        const year = source.year[point];
        if (year < first || year > last) passes[point] = 0;
      }
    }
    if (filters.region >= 0) {
      const wanted = new Uint8Array(0x10000);
      for (const region of this.inside[filters.region]) wanted[region] = 1;
      for (let point = 0; point < n; point++) if (!wanted[source.region[point]]) passes[point] = 0;
    }
    for (const [kind, isWanted] of /** @type {const} */ ([
      ["facilities", filters.facility >= 0],
      ["concepts", filters.concept >= 0],
      ["reviews", filters.reviews],
    ])) {
      const set = this.sets[kind];
      if (!isWanted || !set) continue;
      const own = new Uint8Array(n);
      set.points.forEach((point, place) => {
        if (kind !== "facilities" || !filters.uses || set.kinds[place]) own[point] = 1;
      });
      for (let point = 0; point < n; point++) passes[point] &= own[point];
    }
    return passes;
  }

  /** Papers that are found or selected and pass the filters; found papers are the best first. */
  get marked() {
    const seen = new Set();
    for (const points of [this.found, this.state.selected]) {
      for (const point of points) if (this.passes[point]) seen.add(point);
    }
    return [...seen];
  }

  /** Papers to list: those that are marked, or those that pass filters, the newest first. */
  get listed() {
    const { query, selected, filters } = this.state;
    if (query || selected.length) return this.marked;
    const { years, region, facility, concept, reviews } = filters;
    const passing = [];
    if (!years && region < 0 && facility < 0 && concept < 0 && !reviews) {
      return [...(this.sets.mine?.points ?? [])];
    }
    for (let point = 0; point < this.source.n; point++) if (this.passes[point]) passing.push(point);
    return passing.sort((a, b) => this.source.year[b] - this.source.year[a] || a - b);
  }

  /**
   * Select papers.
   * @param {Uint32Array} points
   * @param {"new" | "add" | "remove"} how
   * @param {[number, number][] | null} outline corners around exactly these papers
   */
  select(points, how, outline = null) {
    const before = this.state.selected;
    const selected =
      how === "new"
        ? points
        : how === "add"
          ? Uint32Array.from(new Set([...before, ...points])).sort()
          : before.filter(((out) => (point) => !out.has(point))(new Set(points)));
    return this.set({ selected, outline: how === "new" ? outline : null });
  }

  /**
   * Show the record of a paper; -1 closes it.
   * @param {number} point
   */
  open(point) {
    this.opened = point;
    this.tell("open");
  }

  /** Remove the search, the selection and all filters. */
  clear() {
    return this.set({ filters: ALL, query: "", selected: NOTHING, outline: null });
  }
}

/**
 * Number of papers of each year.
 * @param {import("./source.js").Source} source
 * @param {Uint8Array} passes
 * @param {number} first
 * @param {number} last
 */
export function countYears(source, passes, first, last) {
  const counts = new Uint32Array(last - first + 1);
  for (let point = 0; point < source.n; point++) {
    const year = source.year[point] - first;
    if (passes[point] && year >= 0 && year < counts.length) counts[year]++;
  }
  return counts;
}

/**
 * Number of papers of each region, including the regions inside.
 * @param {import("./source.js").Source} source
 * @param {Uint8Array} passes
 */
export function countRegions(source, passes) {
  const counts = new Uint32Array(source.regions.length);
  const own = new Uint32Array(0x10000);
  for (let point = 0; point < source.n; point++) if (passes[point]) own[source.region[point]]++;
  for (let region = 0; region < counts.length; region++) {
    for (let up = region; up >= 0; up = source.regions[up].parent) counts[up] += own[region];
  }
  return counts;
}
