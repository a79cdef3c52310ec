// The state of the viewer as a plain object, which the address of a page and a notebook store.

import { ALL } from "./model.js";

/**
 * @typedef {{query?: string, method?: string, k?: number, colour?: string, years?: number[] | null,
 *   region?: number | null, facility?: string | null, uses?: boolean, concept?: string | null,
 *   reviews?: boolean, layers?: string[], view?: number[] | null, paper?: string | null,
 *   selected?: number[], outline?: number[]}} Given
 */

/** What Back undoes; the rest of a state is the look of the map. */
const SUBJECT = /** @type {const} */ (["query", "years", "region", "facility", "uses", "concept", "reviews", "outline"]);

/**
 * What the user has chosen; the defaults are left out.
 * @param {import("./panel.js").Viewer} viewer
 * @returns {Given}
 */
export function describe(viewer) {
  const { source, model, map, record } = viewer;
  const { filters, query, method, k, colour, layers } = model.state;
  /** @type {Given} */
  const given = {};
  const { defaults } = source.manifest;
  if (query) given.query = query;
  if (method !== defaults.method) given.method = method;
  if (k !== defaults.k) given.k = k;
  if (colour !== defaults.colour) given.colour = colour;
  if (filters.years) given.years = filters.years;
  if (filters.region >= 0) given.region = source.regions[filters.region].id;
  if (filters.facility >= 0) given.facility = source.manifest.sets.facilities[filters.facility].name;
  if (filters.facility >= 0 && filters.uses) given.uses = true;
  if (filters.concept >= 0) given.concept = source.manifest.sets.concepts[filters.concept].name;
  if (filters.reviews) given.reviews = true;
  if (layers.join() !== defaults.layers.join()) given.layers = layers;
  if (model.state.outline) given.outline = model.state.outline.flat();
  const { window } = map;
  if (window) given.view = window.map((side) => Number(side.toPrecision(6)));
  if (record.id) given.paper = record.id;
  return given;
}

/**
 * Apply a state; what it lacks is the default.
 * @param {import("./panel.js").Viewer} viewer
 * @param {Given} given
 * @returns {Promise<boolean>} whether its paper is found
 */
export function apply(viewer, given) {
  const { source, model, map } = viewer;
  const { defaults } = source.manifest;
  const number = (/** @type {string} */ kind, /** @type {string | null | undefined} */ name) => {
    if (!name) return -1;
    const found = (source.manifest.sets[kind] ?? []).findIndex((one) => one.name.toLowerCase() === name.toLowerCase());
    if (found < 0) viewer.warn(`This map has no list of the papers of ${name}.`);
    return found;
  };
  const region = source.regions.findIndex((one) => one.id === given.region);
  const years = given.years?.length === 2 ? given.years : null;
  const isNewRegion = region >= 0 && region !== model.state.filters.region;
  const settled = model.set({
    query: given.query ?? defaults.query,
    method: given.method ?? defaults.method,
    k: given.k ?? defaults.k,
    colour: viewer.hasColour(given.colour) ? String(given.colour) : defaults.colour,
    layers: given.layers ?? defaults.layers,
    ...(given.selected ? { selected: Uint32Array.from(given.selected), outline: null } : {}),
    filters: {
      ...ALL,
      years: years ? [Math.min(...years), Math.max(...years)] : null,
      region,
      uses: Boolean(given.uses),
      facility: number("facilities", given.facility),
      concept: number("concepts", given.concept),
      reviews: Boolean(given.reviews),
    },
  });
  if (!given.outline && !given.selected && model.state.outline) model.select(new Uint32Array(0), "new");
  if (given.view) map.show(given.view);
  else if (isNewRegion) map.goTo(region);
  else if (region < 0 && map.window) map.show(null);
  const { paper } = given;
  /** @type {[number, number][] | undefined} */
  const outline = given.outline && Array.from({ length: given.outline.length / 2 }, (_, at) =>
    [Number(given.outline?.[2 * at]), Number(given.outline?.[2 * at + 1])]);
  const open = () => {
    if (paper) return viewer.openNamed(paper);
    if (model.opened >= 0) model.open(-1);
    return Promise.resolve(false);
  };
  if (!outline) return open();
  if (source.missing) model.on("loaded", () => source.missing || map.selectInside(outline));
  // The filters decide which papers are selected.
  return settled.then(() => {
    map.selectInside(outline);
    return open();
  });
}

/**
 * Write a state as the part of an address after "#".
 * @param {Given} given
 */
export function toAddress(given) {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    const text = Array.isArray(value) ? value.join(name === "years" ? "-" : ",") : value === true ? "1" : String(value);
    written.set(name === "query" ? "q" : name, text);
  }
  return written.toString();
}

/**
 * Read a state from the part of an address after "#".
 * @param {string} text
 * @returns {Given}
 */
export function fromAddress(text) {
  const written = new URLSearchParams(text);
  const get = (/** @type {string} */ name) => written.get(name) ?? undefined;
  const years = get("years")?.match(/^(\d{4})-(\d{4})$/)?.slice(1).map(Number);
  const numbers = (/** @type {string} */ name) => get(name)?.split(",").map(Number);
  const view = numbers("view");
  const outline = numbers("outline");
  return {
    query: get("q"),
    colour: get("colour"),
    years,
    region: get("region") === undefined ? undefined : Number(get("region")),
    facility: get("facility"),
    uses: get("uses") === "1",
    concept: get("concept"),
    reviews: get("reviews") === "1",
    layers: get("layers")?.split(","),
    view: view?.length === 4 && view.every(Number.isFinite) && view[2] > view[0] && view[3] > view[1] ? view : undefined,
    paper: get("paper"),
    outline: outline && outline.length >= 6 && outline.length % 2 === 0 && outline.every(Number.isFinite) ? outline : undefined,
  };
}

/**
 * Keep the address of the page equal to the state, and the state equal to the address.
 * @param {import("./panel.js").Viewer} viewer
 * @returns {() => void} function that writes the address
 */
export function followAddress(viewer) {
  let written = "";
  let paper = "";
  let awaited = ""; // the paper of an address, until its record is shown
  let stale = ""; // the record that is shown when the address changes
  let isApplying = false;
  const subject = () => {
    const given = describe(viewer);
    return JSON.stringify(SUBJECT.map((name) => given[name]));
  };
  let before = subject();
  const write = () => {
    if (isApplying) return;
    const { id } = viewer.record;
    const given = describe(viewer);
    const isArriving = awaited !== "";
    if (isArriving && id && (id !== stale || id === awaited)) awaited = "";
    if (awaited) given.paper = awaited;
    written = toAddress(given);
    // Back returns to the paper, the search, the filters and the selection before.
    const now = subject();
    const isNew = !isArriving && ((given.paper && given.paper !== paper) || now !== before);
    before = now;
    paper = given.paper ?? "";
    const address = `${location.pathname}${location.search}${written ? `#${written}` : ""}`;
    history[isNew ? "pushState" : "replaceState"](null, "", address);
  };
  const read = async () => {
    const text = location.hash.slice(1);
    if (text === written) return;
    const given = fromAddress(text);
    written = text;
    stale = viewer.record.id;
    awaited = paper = given.paper ?? "";
    isApplying = true;
    const opened = apply(viewer, given);
    isApplying = Boolean(given.outline);
    if (isApplying) await opened;
    before = subject();
    isApplying = false;
    if (!(await opened) && awaited === given.paper) {
      awaited = "";
      write();
    }
  };
  addEventListener("hashchange", read);
  if (location.hash.length > 1) read();
  return write;
}
