// Search for words, or by a filter, without a server.

import { readSet, readVarints } from "./bytes.js";
import { papersOf, QueryError, readFilter } from "./conditions.js";

/** @typedef {import("./conditions.js").Query} Query */

/**
 * Split a text into words in lower case, without accents.
 * @param {string} text
 * @returns {string[]}
 */
export function wordsOf(text) {
  const folded = text
    .replace(/\bAT (?=\d{4}[a-z])/g, "AT") // a transient, not the word "at"
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[α-ωϵϑϕ]/gu, (letter) => GREEK.get(letter) ?? letter)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "");
  // Redshifts and powers of ten are one word of the index.
  const plain = folded
    .replace(/\b(?:z|redshifts?)\s?(?:[~≈≃∼=><≲≳≤≥]|of)?\s?(\d+(?:\.\d+)?)\b/gu, (_, value) =>
      ` z${String(Number(value)).replace(".", "p")} `,
    )
    .replace(/\blyman[\s-]?(alpha|beta)\b/gu, "ly$1")
    .replace(/\bsolar mass(?:es)?\b/gu, "msun")
    .replace(/\b10\s?\^\s?\{?([-+−]?\d+)\}?/gu, (_, power) => ` 10e${power} `);
  return plain.match(/[\p{L}\p{N}]+(?:[.+*](?=\d)[\p{L}\p{N}]+)*[+*]?/gu) ?? [];
}

const LETTERS =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi chi psi omega";
/** Names of Greek letters. */
const GREEK = new Map([
  ...LETTERS.split(" ").map((name, at) => /** @type {[string, string]} */ ([String.fromCharCode(0x3b1 + at), name])),
  ["ϵ", "epsilon"],
  ["ϑ", "theta"],
  ["ϕ", "phi"],
]);
const LONGEST = 40; // characters of a word in the index

/**
 * The entry of an author in the index.
 * @param {string} name
 */
export function authorWord(name) {
  return "@" + name.split(",")[0].normalize("NFKD").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "").slice(0, LONGEST);
}

/**
 * Possible entries of the index for a word: the word and its singular forms.
 * @param {string} word
 * @returns {string[]}
 */
export function formsOf(word) {
  const forms = [[...word].slice(0, LONGEST).join("")];
  if (/[+*]$/.test(word)) forms.push(word.slice(0, -1));
  if (/[xy]ses$|axes$/.test(word)) forms.push(word.replace(/es$/, "is"));
  if (/ies$/.test(word)) forms.push(word.slice(0, -3) + "y");
  if (/oes$/.test(word)) forms.push(word.slice(0, -2));
  if (/a$/.test(word)) forms.push(word.slice(0, -1) + "um"); // spectra
  if (/ices$/.test(word)) forms.push(word.slice(0, -4) + "ix", word.slice(0, -4) + "ex");
  if (/(?:s|x|z|ch|sh)es$/.test(word)) forms.push(word.slice(0, -2));
  if (/ae$/.test(word)) forms.push(word.slice(0, -1));
  if (/[^s]s$/.test(word)) forms.push(word.slice(0, -1));
  if (/our(?:s|ed|ing)?$/.test(word)) forms.push(word.replace("our", "or"));
  if (/is(?:e|es|ed|ing|ation)$/.test(word)) forms.push(word.replace(/is(?=e|ing|ation)/, "iz"));
  return [...new Set(forms)];
}

/** Signs of a filter, which is refused if it is malformed. */
const FILTER = [
  /(?:^|[\s()"])(?:AND|OR|NOT)(?![^\s()"])|[;|]|(?:^|[\s(-])(?:\d{4}[\d-]*\.\.|\.\.\d{4})/,
  /\b(?:citations|year|date)\s*[<>=]|(?:^|[\s(-])(?!(?:arxiv|doi|bibcode|https?):)(?:in|[a-z]{3,12}):[^\s:]/i,
];
/** Signs that titles and questions have too, which are words if they are no filter. */
const MAYBE = /["()]|&&|(?:^|\s)[-−]\S|\b(?:arxiv|doi|bibcode)\s*:|\b10\.\d{4,9}\//i;

/**
 * Read a filter; without the signs of a filter, a text is words, which need not follow each other.
 * @param {string} text
 * @returns {{query: Query | null, words: string[]}} a filter, and the words of a text that may be none
 */
export function readQuery(text) {
  const isFilter = FILTER.some((signs) => signs.test(text));
  const words = isFilter ? [] : wordsOf(text);
  if (isFilter || MAYBE.test(text)) {
    try {
      return { query: readFilter(text), words };
    } catch (error) {
      if (isFilter) throw error;
    }
  }
  return { query: null, words };
}

const ADDRESS = /^(?:https?:\/\/)?(?:(?:dx\.)?doi\.org|(?:www\.)?arxiv\.org\/(?:abs|pdf)|ui\.adsabs\.harvard\.edu\/abs)\//i;

/**
 * An identifier without its prefix or address, and without the version of a preprint.
 * @param {string} id
 */
export function bareId(id) {
  const bare = id.replace(ADDRESS, "").replace(/^(?:arXiv|doi):/i, "").replace(/\/abstract$/, "").replace(/%26/g, "&");
  return bare.startsWith("10.") ? bare.toLowerCase() : bare.replace(/^(\d{4}\.\d{4,5}|[a-z.-]+\/\d{7})v\d+$/i, "$1");
}

const CITED =
  /^(\p{Lu}[\p{L}\p{N}'’-]+)(?:,? et al\.?|\s+(?:and|&)\s+(\p{Lu}[\p{L}\p{N}'’-]+))?,?\s+\(?((?:19|20)\d\d)[a-z]?\)?$/u;

/**
 * Read a reference such as "Rubin & Ford (1970)".
 * @param {string} text
 * @returns {{query: Query, year: number} | null}
 */
export function readCited(text) {
  const [, first, second, year] = text.trim().match(CITED) ?? [];
  if (!first) return null;
  const names = second ? [first, second] : [first];
  const parts = names.map((text) => /** @type {Query} */ ({ kind: "term", field: "author", text }));
  return { query: { kind: "and", parts }, year: Number(year) };
}

/**
 * Entries of the index for a term.
 * @param {string} field
 * @param {string} text
 */
function entriesOf(field, text) {
  if (field !== "author") return wordsOf(text);
  // "Adam Riess" is found by "Riess", if it is not a family name of two words.
  return [`${authorWord(text)} ${authorWord(text.trim().split(/\s+/).pop() ?? "")}`];
}

/** The index of words of a source. */
export class WordIndex {
  /** @param {import("./source.js").Source} source */
  constructor(source) {
    this._source = source;
    this._stop = new Set(source.manifest.stop_words);
  }

  /**
   * The papers of one word, or null if the index lacks it.
   * @param {string} word
   */
  async look(word) {
    const { bytes, own } = await this._list("words", word);
    return own ? readSet(bytes, own[0], own[1], 4) : null;
  }

  /**
   * The places of one word in each paper that has it.
   * @param {string} word
   * @returns {Promise<Places>}
   */
  async places(word) {
    const papers = await this.look(word);
    const { bytes, own } = papers ? await this._list("places", word) : NOTHING;
    return papers && own ? readPlaces(papers.points, readVarints(bytes, own[0], own[1])) : new Map();
  }

  /**
   * The file of the index with a word, and the part of the file for this word.
   * @param {"words" | "places"} kind
   * @param {string} word
   * @returns {Promise<{bytes: Uint8Array, own: [number, number] | undefined}>}
   */
  async _list(kind, word) {
    const first = await this._source.firstWords();
    let low = 0;
    let high = first.length;
    if (!high) return NOTHING;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (compare(first[middle], word) <= 0) low = middle;
      else high = middle;
    }
    const { words, bytes } = await this._source.file(`${kind}/${low}.bin`, readLists);
    return { bytes, own: words.get(word) };
  }

  /**
   * The papers of a word in any of its forms.
   * @param {string} word
   */
  async find(word) {
    const known = await this._known(word);
    if (known) return this.look(known);
    // A word that no text has can be the family name of an author.
    return word.startsWith("@") ? null : this.look(authorWord(word));
  }

  /**
   * The form of a word that the index has, or undefined.
   * @param {string} word
   */
  async _known(word) {
    for (const form of word.startsWith("@") ? word.split(" ") : formsOf(word)) {
      if ((await this._list("words", form)).own) return form;
    }
    return undefined;
  }

  /**
   * Search, and return the papers with the best first.
   * @param {string} text
   * @returns {Promise<{points: number[], missing: string[]}>} papers, and words that no paper has
   */
  async search(text) {
    /** @type {string[]} */
    const missing = [];
    const cited = readCited(text);
    if (cited) {
      const points = this._ranked(await this._evaluate(cited.query, []));
      const own = points.filter((point) => this._source.year[point] === cited.year);
      if (own.length) return { points: own, missing };
    }
    const n = this._source.manifest.papers;
    const { query, words: given } = readQuery(text);
    if (query) {
      try {
        const points = this._ranked(await this._evaluate(query, missing));
        // A text whose only signs are parentheses is words if no paper has its parts as phrases.
        if (points.length || !given.length || MAYBE.test(text.replace(/[()]/g, " "))) return { points, missing };
        missing.length = 0;
      } catch (error) {
        // A question with quotes or parentheses is words if one of its parts is too common.
        if (!(error instanceof QueryError && given.length)) throw error;
        missing.length = 0;
      }
    }
    const words = await this._withNames(given);
    /** @type {Map<number, number>} */
    const scores = new Map();
    /** @type {Map<number, number>} */
    const counts = new Map();
    let known = 0;
    for (const { word, found } of words) {
      if (!found) {
        missing.push(word.replace(/^@| .*$/g, ""));
        continue;
      }
      known++;
      const weight = rarity(n, found.points.length);
      found.points.forEach((point, place) => {
        scores.set(point, (scores.get(point) ?? 0) + weight * strength(found.kinds[place]));
        counts.set(point, (counts.get(point) ?? 0) + 1);
      });
    }
    // Papers with all words; if there are few, as for a question, papers with at least half of them.
    const least = known > 2 ? Math.ceil(known / 2) : known;
    for (let fewest = known; fewest >= least; fewest--) {
      const enough = new Map([...scores].filter(([point]) => (counts.get(point) ?? 0) >= fewest));
      if (enough.size >= 5 || fewest === least) return { points: this._ranked(enough), missing };
    }
    return { points: [], missing };
  }

  /**
   * The papers of each word. Two neighbours can be one word of the index, such as "NGC 1275" or
   * "H alpha"; its papers count for both.
   * @param {string[]} words
   */
  async _withNames(words) {
    const wanted = words.filter((word) => !this._stop.has(word));
    const sets = await Promise.all(wanted.map((word) => this.find(word)));
    for (let at = 0; at + 1 < wanted.length; at++) {
      const [one, other] = [wanted[at], wanted[at + 1]];
      if (one.startsWith("@") || other.startsWith("@")) continue;
      const both = isOneWord(one, other) ? await this.look(one + other) : null;
      if (!both) continue;
      sets[at] = union(sets[at], both);
      sets[at + 1] = union(sets[at + 1], both);
    }
    return wanted.map((word, at) => ({ word, found: sets[at] }));
  }

  /**
   * The papers in which words follow each other. Two neighbours can be one word of the index.
   * @param {string[]} words
   * @returns {Promise<Places>} with the places of the last word
   */
  async _withPhrase(words) {
    const wanted = words.filter((word) => !this._stop.has(word));
    /** @type {Places[]} */
    const ends = Array.from({ length: wanted.length + 1 }, () => new Map()); // of the first words
    for (let at = 0; at < wanted.length; at++) {
      const known = await this._known(wanted[at]);
      extend(ends[at + 1], known ? await this.places(known) : new Map(), at ? ends[at] : null, [0]);
      if (at + 1 === wanted.length || !isOneWord(wanted[at], wanted[at + 1])) continue;
      // The first part of a name, such as NGC, follows it in the index.
      const both = await this.places(wanted[at] + wanted[at + 1]);
      extend(ends[at + 2], both, at ? ends[at] : null, [0, 1]);
    }
    return ends[wanted.length];
  }

  /**
   * Papers by score; of equal papers, the newest are first.
   * @param {Map<number, number>} scores
   * @returns {number[]}
   */
  _ranked(scores) {
    const { year } = this._source;
    return [...scores]
      .sort((a, b) => b[1] - a[1] || year[b[0]] - year[a[0]] || a[0] - b[0])
      .map(([point]) => point);
  }

  /**
   * @param {Query} query
   * @param {string[]} missing
   * @returns {Promise<Map<number, number>>}
   */
  async _evaluate(query, missing) {
    const n = this._source.manifest.papers;
    if (query.kind === "term" && ["", "author", "title"].includes(query.field)) return this._term(query, missing);
    if (query.kind === "term" && ["arxiv", "doi", "bibcode"].includes(query.field)) {
      const point = await this._source.find(bareId(query.text));
      if (point < 0) missing.push(query.text);
      return new Map(point < 0 ? [] : [[point, 0]]);
    }
    if (query.kind === "term" || query.kind === "range") {
      const found = new Map();
      (await papersOf(this._source, query)).forEach((isIn, point) => {
        if (isIn) found.set(point, 0);
      });
      return found;
    }
    if (query.kind === "not") {
      const out = await this._evaluate(query.part, missing);
      const rest = new Map();
      for (let point = 0; point < n; point++) if (!out.has(point)) rest.set(point, 0);
      return rest;
    }
    const parts = [];
    for (const part of query.parts) parts.push(await this._evaluate(part, missing));
    const [first, ...others] = parts;
    const scores = new Map(first);
    for (const other of others) {
      if (query.kind === "or") {
        for (const [point, score] of other) scores.set(point, (scores.get(point) ?? 0) + score);
      } else {
        for (const [point, score] of scores) {
          const more = other.get(point);
          if (more === undefined) scores.delete(point);
          else scores.set(point, score + more);
        }
      }
    }
    return scores;
  }
  /**
   * Papers with the words of a term, which follow each other.
   * @param {{field: string, text: string}} term
   * @param {string[]} missing
   * @returns {Promise<Map<number, number>>}
   */
  async _term({ field, text }, missing) {
    const words = entriesOf(field, text);
    if (field === "title" && words.length > 1) {
      throw new QueryError(`title: takes one word in this search; write ${words.map((word) => `title:${word}`).join("; ")}`);
    }
    /** @type {Map<number, number> | null} */
    let scores = null;
    for (const { word, found } of await this._withNames(words)) {
      if (!found) missing.push(word.replace(/^@| .*$/g, ""));
      const weight = found ? rarity(this._source.manifest.papers, found.points.length) : 0;
      const own = new Map();
      found?.points.forEach((point, place) => {
        const before = scores ? scores.get(point) : 0;
        if (before === undefined || (field === "title" && !(found.kinds[place] & 2))) return;
        own.set(point, before + weight * strength(found.kinds[place]));
      });
      scores = own;
    }
    const found = scores;
    if (!found) throw new QueryError(`${text} is too common to be searched`);
    if (words.length < 2 || !this._source.manifest.phrases) return found;
    const places = await this._withPhrase(words);
    const exact = new Map([...found].filter(([point]) => places.has(point)));
    if (found.size && !exact.size) missing.push(words.join(" "));
    return exact;
  }
}

/** @typedef {Map<number, Set<number>>} Places places in the text of papers */

const NOTHING = { bytes: new Uint8Array(), own: undefined };

/**
 * Whether two neighbours can be one word of the index.
 * @param {string} one
 * @param {string} other
 */
function isOneWord(one, other) {
  return one.length < 6 || /\d/.test(one + other);
}

/**
 * Add the places of a word that follow given places; without given places, add all.
 * @param {Places} ends
 * @param {Places} places
 * @param {Places | null} before
 * @param {number[]} steps each place counts as an end, and so do the places that many words later
 */
function extend(ends, places, before, steps) {
  for (const [point, own] of places) {
    for (const place of own) {
      if (before && !before.get(point)?.has(place - 1)) continue;
      const known = ends.get(point) ?? new Set();
      for (const step of steps) known.add(place + step);
      ends.set(point, known);
    }
  }
}

/**
 * Read the places of a word: differences times two, plus one if another place of the paper follows.
 * @param {Uint32Array} points
 * @param {number[]} values
 * @returns {Places}
 */
function readPlaces(points, values) {
  /** @type {Places} */
  const found = new Map();
  let at = 0;
  for (const point of points) {
    const own = new Set();
    let place = 0;
    let more = true;
    while (more && at < values.length) {
      place += values[at] >> 1;
      own.add(place);
      more = (values[at++] & 1) === 1;
    }
    found.set(point, own);
  }
  return found;
}

/**
 * Papers of either set.
 * @param {import("./bytes.js").PointSet | null} one
 * @param {import("./bytes.js").PointSet} other
 * @returns {import("./bytes.js").PointSet}
 */
function union(one, other) {
  if (!one) return other;
  const kinds = new Map(Array.from(other.points, (point, place) => [point, other.kinds[place]]));
  one.points.forEach((point, place) => {
    kinds.set(point, (kinds.get(point) ?? 0) | one.kinds[place]);
  });
  const points = Uint32Array.from(kinds.keys()).sort();
  return { points, kinds: Uint8Array.from(points, (point) => kinds.get(point) ?? 0) };
}

/**
 * @param {number} n
 * @param {number} papers
 */
function rarity(n, papers) {
  return Math.log(1 + (n - papers + 0.5) / (papers + 0.5));
}

/**
 * Weight of a word: 2 stands for the title, 1 for more than one occurrence.
 * @param {number} kind
 */
function strength(kind) {
  return 1 + (kind & 2 ? 1.5 : 0) + (kind & 1 ? 0.6 : 0);
}

/**
 * Order of code points, as in the files.
 * @param {string} a
 * @param {string} b
 */
function compare(a, b) {
  const one = [...a];
  const other = [...b];
  for (let at = 0; at < Math.min(one.length, other.length); at++) {
    const gap = (one[at].codePointAt(0) ?? 0) - (other[at].codePointAt(0) ?? 0);
    if (gap) return gap;
  }
  return one.length - other.length;
}

/**
 * @param {Uint8Array} content
 * @returns {{words: Map<string, [number, number]>, bytes: Uint8Array}}
 */
function readLists(content) {
  const end = content.indexOf(10);
  const entries = JSON.parse(new TextDecoder().decode(content.subarray(0, end)));
  const words = new Map();
  let start = 0;
  for (const [word, stop] of /** @type {[string, number][]} */ (entries)) {
    words.set(word, [start, stop]);
    start = stop;
  }
  return { words, bytes: content.subarray(end + 1) };
}
