// Papers: the sortable list, the record of one paper, the text below the pointer, and the exports.

import { count, download, h, number } from "./dom.js";
import { toBibtex, toCsv } from "./export.js";

/** @typedef {import("./source.js").Details} Details */

const LISTED = 50; // papers that are added to the list at a time
const MOST_EXPORTED = 2_000;
const NARROW = 700; // pixels, as in the style
const LINKED = 12; // references, citations and similar papers that are listed
const MOST_CITATIONS = 0xfffe; // larger numbers are not stored

/** List of the papers that are found, selected or filtered. */
export class PaperList {
  /** @param {import("./panel.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.element = h("section", { class: "list", "aria-label": "Papers" });
    this._listed = LISTED;
    this._turn = 0;
    this._sort = { column: "", isDown: false };
  }

  /** Show the papers of the state, from the beginning. */
  follow() {
    this._listed = LISTED;
    return this._show();
  }

  /** Return to the order of a search. */
  unsort() {
    this._sort = { column: "", isDown: false };
  }

  async _show() {
    const { model, source } = this.viewer;
    const marked = model.listed;
    const turn = ++this._turn;
    if (!marked.length) {
      this.element.replaceChildren(
        this._named(),
        h("p", { class: "quiet" }, "Search, or draw around papers, to list them here. Click a paper on the map to read about it."),
      );
      return;
    }
    const { column, isDown } = this._sort;
    const values = column === "year" ? source.year : column === "citations" ? source.citations : null;
    if (values) marked.sort((a, b) => (isDown ? values[b] - values[a] : values[a] - values[b]));
    const shown = marked.slice(0, this._listed);
    let papers;
    try {
      papers = await Promise.all(shown.map((point) => source.title(point)));
    } catch (error) {
      this.viewer.fail("The titles could not be loaded", error);
      return;
    }
    if (turn !== this._turn) return;
    const head = (/** @type {string} */ name, /** @type {string} */ label) =>
      h(
        "th",
        { scope: "col", "aria-sort": column && column === name ? (isDown ? "descending" : "ascending") : "none" },
        h("button", { onclick: () => this._sortBy(name) }, label),
      );
    const rows = shown.map((point, place) =>
      h(
        "tr",
        { class: point === model.opened ? "open" : "" },
        h(
          "td",
          {},
          h("button", { class: "paper", dir: "auto", onclick: () => this.viewer.go(point) }, plainTitle(papers[place].title)),
          h("span", { class: "quiet" }, authorLine(papers[place])),
        ),
        h("td", {}, yearOf(source, point)),
        h("td", { class: "right" }, source.citations[point] ? atLeast(source.citations[point] - 1) : ""),
      ),
    );
    const left = marked.length - shown.length;
    this.element.replaceChildren(
      this._named(),
      h(
        "div",
        { class: "list-head" },
        h("h2", {}, this._title(marked.length)),
        h("button", { onclick: () => this.viewer.map.goToPapers(marked.slice(0, 500)) }, "Zoom to them"),
        h("button", { onclick: () => this._export("csv") }, "CSV"),
        h("button", { onclick: () => this._export("bib") }, "BibTeX"),
      ),
      model.note ? h("p", { class: "quiet" }, model.note) : "",
      model.state.query && !model.note && !column && marked.length > 1 ? h("p", { class: "quiet" }, "The best match is first; of equal ones, the newest.") : "",
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, head("", "Paper"), head("year", "Year"), head("citations", "Cited"))),
        h("tbody", {}, ...rows),
      ),
      left > 0 ? h("button", { class: "more", onclick: () => this._more() }, `More (${number(left)} left)`) : "",
    );
  }

  /** @param {number} n */
  _title(n) {
    const { model } = this.viewer;
    const of = [
      model.state.query ? `${number(model.found.length)} found` : "",
      model.state.selected.length ? `${number(model.state.selected.length)} selected` : "",
    ].filter(Boolean);
    if (of.length === 1 && of[0].startsWith(`${number(n)} `)) return of[0];
    return `${count(n, "paper")}${of.length ? ` of ${of.join(" and ")}` : ""}`;
  }

  /** Buttons of the regions, facilities and concepts whose names contain what was searched. */
  _named() {
    const { model, source } = this.viewer;
    const query = model.state.query.trim().toLowerCase();
    if (query.length < 3) return "";
    /**
     * @param {{label: string}[]} all
     * @param {(row: number) => void} choose
     */
    const chips = (all, choose) =>
      all
        .flatMap(({ label }, row) => (label.toLowerCase().includes(query) ? [row] : []))
        .sort((a, b) => all[a].label.length - all[b].label.length || a - b)
        .slice(0, 4)
        .map((row) => h("button", { class: "chip", onclick: () => choose(row) }, all[row].label));
    const { facilities = [], concepts = [] } = source.manifest.sets;
    /** @param {{name: string, papers: number}[]} sets */
    const labels = (sets) => sets.map((one) => ({ label: `${one.name} (${number(one.papers)})` }));
    const found = /** @type {const} */ ([
      ["Regions: ", chips(source.regions, (row) => this.viewer.toRegion(row))],
      ["Facilities: ", chips(labels(facilities), (facility) => this._filterBy({ facility }))],
      ["Concepts: ", chips(labels(concepts), (concept) => this._filterBy({ concept }))],
    ]);
    return h("div", { class: "quiet" }, ...found.flatMap(([kind, some]) => (some.length ? [h("p", {}, kind, ...some)] : [])));
  }

  /**
   * Filter by a facility or a concept in place of the search for its name.
   * @param {Partial<import("./model.js").Filters>} filter
   */
  _filterBy(filter) {
    const { model } = this.viewer;
    model.set({ query: "", filters: { ...model.state.filters, ...filter } });
  }

  _more() {
    this._listed += LISTED;
    this._show();
  }

  /** @param {string} column */
  _sortBy(column) {
    const isDown = this._sort.column === column ? !this._sort.isDown : true;
    this._sort = { column, isDown };
    this._show();
  }

  /** @param {"csv" | "bib"} kind */
  async _export(kind) {
    const { viewer } = this;
    const { model, source } = viewer;
    const points = model.listed.slice(0, MOST_EXPORTED);
    if (source.missing) {
      viewer.say("Some papers are not loaded yet. Try again in a moment.");
      return;
    }
    if (viewer.kernel) {
      viewer.kernel.askOfListed({ do: "table", name: `papers.${kind}` });
      return;
    }
    try {
      const rows = await Promise.all(
        points.map(async (point) => {
          const [title, details] = await Promise.all([source.title(point), source.details(point)]);
          return {
            id: title.id,
            title: title.title,
            authors: details.authors ?? [],
            nAuthors: title.authors,
            year: source.year[point] || null,
            journal: details.journal ?? "",
            kind: details.kind ?? "",
            bibcode: details.bibcode ?? "",
            arxiv: details.arxiv ?? "",
            doi: details.doi ?? "",
            citations: source.citations[point] ? source.citations[point] - 1 : null,
            region: source.regions[source.region[point]]?.label ?? "",
          };
        }),
      );
      if (kind === "csv") download("papers.csv", "text/csv;charset=utf-8", toCsv(rows));
      else download("papers.bib", "application/x-bibtex;charset=utf-8", toBibtex(rows, source.manifest.generated));
      if (model.listed.length > points.length) {
        viewer.say(`The file has the first ${number(points.length)} papers.`);
      }
    } catch (error) {
      viewer.fail("The file could not be made", error);
    }
  }
}

/** Record of the paper that is open. */
export class PaperRecord {
  /** @param {import("./panel.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.element = h("section", { class: "record", "aria-label": "Record" });
    this.id = ""; // identifier of the paper that is shown
  }

  /** Show the record of the paper that is open: its title at once, the rest when it is loaded. */
  async show() {
    const { model, source, map } = this.viewer;
    const point = model.opened;
    this.id = "";
    map.link([]);
    if (point < 0) {
      this.element.replaceChildren(h("p", { class: "quiet" }, "Click a paper to read about it here."));
      this.viewer.changed();
      this.viewer.turnTo(model.marked.length ? "papers" : "filters");
      return;
    }
    const isOpen = () => point === model.opened;
    try {
      const title = await source.title(point);
      if (!isOpen()) return;
      this.id = title.id;
      this._write(title, null, []);
      this.viewer.changed();
      this.viewer.turnTo("record");
      // On a phone, the record is below the map.
      const isNarrow = this.viewer.root.clientWidth <= NARROW;
      if (isNarrow) this.element.scrollIntoView();
      const details = await source.details(point);
      if (!isOpen()) return;
      const lists = await Promise.all(
        /** @type {const} */ ([
          ["references", "References in the atlas"],
          ["cited_by", "Cited by"],
          ["similar", "Similar papers"],
        ]).map(([name, label]) => this._links(details[name] ?? [], label)),
      );
      if (!isOpen()) return;
      this._write(title, details, lists);
      if (isNarrow) this.element.scrollIntoView(); // the page was shorter without details
      map.link([
        [details.references ?? [], ""],
        [details.cited_by ?? [], "4 3"],
      ]);
    } catch (error) {
      if (isOpen()) this.viewer.fail("The record could not be loaded", error, "Click the paper again.");
    }
  }

  /**
   * @param {import("./source.js").Title} title
   * @param {Details | null} details null while they are loaded
   * @param {(Node | string)[]} lists
   */
  _write(title, details, lists) {
    const { model, source } = this.viewer;
    const authors = details?.authors ?? (title.author ? [title.author] : []);
    const shown = authors.length > 6 ? [...authors.slice(0, 5), `and ${title.authors - 5} others`] : authors;
    const facts = [details?.date ?? yearOf(source, model.opened), details?.journal ?? "", details?.kind ?? "", factsOf(source, model.opened)];
    const close = h(
      "button",
      { class: "close", title: "Close the record", "aria-label": "Close the record", onclick: () => model.open(-1) },
      "✕",
    );
    this.element.replaceChildren(
      h("div", { class: "record-head" }, h("h2", { dir: "auto" }, plainTitle(title.title)), close),
      ...(details?.status
        ? [h("p", { class: "warning", role: "note" }, `${details.status.toUpperCase()}: ${details.status_reason ?? ""}`)]
        : []),
      h("p", {}, shown.join("; ")),
      h("p", { class: "quiet" }, facts.filter(Boolean).join(" · ")),
      details
        ? h(
            "p",
            { class: "links" },
            ...linksOf(details, source.manifest.generated).map(([label, address]) =>
              h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, label),
            ),
          )
        : "",
      h("p", { class: "abstract", dir: "auto" }, details ? (details.abstract ?? "No abstract.") : "The abstract is loading …"),
      details?.objects ? h("p", { class: "quiet" }, `Objects: ${details.objects.join(", ")}`) : "",
      details?.keywords ? h("p", { class: "quiet" }, details.keywords.join(", ")) : "",
      ...lists,
    );
  }

  /**
   * @param {number[]} points
   * @param {string} label
   */
  async _links(points, label) {
    if (!points.length) return "";
    const papers = await Promise.all(points.slice(0, LINKED).map((point) => this.viewer.source.title(point)));
    return h(
      "div",
      { class: "linked" },
      h("h3", {}, `${label} (${points.length})`),
      ...papers.map((paper, at) =>
        h("button", { class: "paper", onclick: () => this.viewer.go(points[at]) }, plainTitle(paper.title)),
      ),
    );
  }
}

/** Text beside the pointer. */
export class Tooltip {
  /** @param {import("./panel.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.element = h("div", { class: "tooltip", role: "status", hidden: true });
    this._point = -1;
  }

  /**
   * @param {number} point -1 hides it
   * @param {number} x
   * @param {number} y
   */
  async show(point, x, y) {
    this._point = point;
    if (point < 0) {
      this.element.hidden = true;
      return;
    }
    const { source, map } = this.viewer;
    const paper = await source.title(point).catch(() => null);
    if (this._point !== point || !paper) return;
    this.element.replaceChildren(
      h("strong", {}, plainTitle(paper.title)),
      h("span", {}, [authorLine(paper), yearOf(source, point)].filter(Boolean).join(", ")),
      h("span", { class: "quiet" }, factsOf(source, point)),
    );
    this.element.hidden = false;
    this.element.style.left = `${Math.min(x + 14, Math.max(0, map.camera.width - 310))}px`;
    this.element.style.top = `${y + 14}px`;
  }
}

/**
 * @param {import("./source.js").Source} source
 * @param {number} point
 */
function yearOf(source, point) {
  return source.year[point] ? String(source.year[point]) : "";
}

/**
 * @param {import("./source.js").Source} source
 * @param {number} point
 */
function factsOf(source, point) {
  const cites = source.citations[point];
  return [
    source.regions[source.region[point]]?.label ?? "",
    cites ? `${atLeast(cites - 1)} citation${cites === 2 ? "" : "s"}` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** @param {number} citations */
function atLeast(citations) {
  return citations >= MOST_CITATIONS ? `${number(citations)} or more` : number(citations);
}

/** @param {import("./source.js").Title} paper */
function authorLine(paper) {
  if (!paper.author) return "";
  const family = paper.author.split(",")[0];
  return paper.authors > 2 ? `${family} et al.` : paper.authors === 2 ? `${family} and one other` : family;
}

/**
 * A title without the signs of formulas.
 * @param {string} title
 */
function plainTitle(title) {
  return title.replace(/\$([^$]*)\$/g, "$1").replace(/\\(?:rm|mathrm|text|it|bf)\b\s*/g, "").replace(/[{}]/g, "") || "Without a title";
}

/**
 * Addresses of a paper, from identifiers that have the form of an identifier.
 * @param {Details} details
 * @param {boolean} generated whether the identifiers are invented
 * @returns {[string, string][]}
 */
function linksOf(details, generated) {
  /** @type {[string, string][]} */
  const links = [];
  if (generated) return links;
  if (details.bibcode) links.push(["ADS", `https://ui.adsabs.harvard.edu/abs/${encodeURIComponent(details.bibcode)}/abstract`]);
  else if (details.arxiv) links.push(["ADS", `https://ui.adsabs.harvard.edu/abs/arXiv:${encodeURIComponent(details.arxiv)}/abstract`]);
  if (details.arxiv) links.push(["arXiv", `https://arxiv.org/abs/${details.arxiv.split("/").map(encodeURIComponent).join("/")}`]);
  if (details.doi) links.push(["DOI", `https://doi.org/${details.doi.split("/").map(encodeURIComponent).join("/")}`]);
  return links;
}
