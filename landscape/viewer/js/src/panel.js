// The viewer: map, contents, charts, list of papers and record, which show one model.

import { barChart, sparkline, yearChart } from "./charts.js";
import { count, download, h, number } from "./dom.js";
import { toBibtex, toCsv } from "./export.js";
import { MapView } from "./map.js";
import { ALL, countRegions, countYears, Model } from "./model.js";

/** @typedef {import("./source.js").Details} Details */

const LISTED = 50; // papers that are added to the list at a time
const BARS = 8;
const MOST_EXPORTED = 2_000;
const COLOURS = { region: "Region", density: "Density", year: "Year", citations: "Citations" };
const TOOLS = {
  move: ["Move", "Drag moves the map"],
  select: ["Select", "Draw around papers to select them (or hold Shift)"],
  add: ["Add", "Draw around papers to add them to the selection"],
  remove: ["Remove", "Draw around papers to remove them from the selection"],
};

/** The whole viewer in an element. */
export class Viewer {
  /**
   * @param {HTMLElement} root
   * @param {import("./source.js").Source} source
   * @param {{dark?: boolean, address?: boolean}} options
   */
  constructor(root, source, options = {}) {
    this.root = root;
    this.source = source;
    this.themes = source.manifest.themes;
    this.model = new Model(source);
    this.tool = "move";
    this._listedAll = LISTED;
    this._sort = { column: "", isDown: false };
    const theme = options.dark ? this.themes.dark : this.themes.light;
    this.map = new MapView(this.model, theme, {
      hovered: (point, x, y) => this._hover(point, x, y),
      tool: () => this.tool,
    });
    const { manifest } = source;
    this.search = h("input", {
      type: "search",
      placeholder: "Words, or author:Name",
      "aria-label": "Search titles, abstracts and authors (words, author:Name, AND, OR, NOT)",
      title: 'Words, author:Name, AND, OR, NOT, -word and parentheses. Press / to come here.',
      spellcheck: "false",
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter") this._search();
      },
      onsearch: () => this._search(),
    });
    this.colour = h(
      "select",
      {
        "aria-label": "Colour of the papers",
        onchange: () => this.model.set({ colour: this.colour.value }),
      },
      ...Object.entries(COLOURS)
        .filter(([name]) => name !== "citations" || this.source.citations.some((value) => value > 1))
        .map(([name, label]) => h("option", { value: name }, `Colour: ${label.toLowerCase()}`)),
    );
    this.tools = Object.entries(TOOLS).map(([name, [label, title]]) =>
      h("button", { title, "data-tool": name, class: `tool-${name}`, onclick: () => this._setTool(name) }, label),
    );
    const button = (
      /** @type {string} */ label,
      /** @type {string} */ title,
      /** @type {() => void} */ onclick,
    ) => h("button", { title, "aria-label": /^\w/.test(label) ? null : title, onclick }, label);
    this.undo = button("↶", "Undo", () => this.model.undo());
    this.redo = button("↷", "Redo", () => this.model.redo());
    const bar = h(
      "div",
      { class: "bar-top", role: "toolbar", "aria-label": "Map tools" },
      h("h1", { class: "title" }, manifest.title),
      this.search,
      this.colour,
      h("span", { class: "group" }, ...this.tools),
      h("span", { class: "group" }, this.undo, this.redo),
      h(
        "span",
        { class: "group" },
        button("+", "Zoom in", () => this.map.camera.zoom(1.6)),
        button("−", "Zoom out", () => this.map.camera.zoom(1 / 1.6)),
        button("⌂", "Show the whole map", () => this.map.camera.home()),
        button("Full", "Full screen", () => this._fullScreen()),
      ),
      button("Clear", "Remove the search, the selection and all filters (Esc)", () => this._clear()),
    );
    this.contents = h("nav", { class: "contents", "aria-label": "Regions" });
    this.tooltip = h("div", { class: "tooltip", role: "status", hidden: true });
    this.legend = h("div", { class: "legend" });
    this.status = h("div", { class: "status", role: "status", "aria-live": "polite" });
    this.notice = h("div", { class: "notice", role: "alert", hidden: true });
    this.list = h("section", { class: "list", "aria-label": "Papers" });
    this.record = h("section", { class: "record", "aria-label": "Record" });
    this.charts = h("section", { class: "charts", "aria-label": "Filters" });
    this.pages = { filters: this.charts, papers: this.list, record: this.record };
    this.tabs = Object.keys(this.pages).map((name) =>
      h("button", { role: "tab", type: "button", "data-page": name, onclick: () => this._turnTo(name) }, name[0].toUpperCase() + name.slice(1)),
    );
    /** @type {HTMLElement[]} */
    this._counts = [];
    /** @type {HTMLElement[]} */
    this._entries = [];
    /** @type {HTMLElement[]} */
    this._swatches = [];
    this._listTurn = 0;
    this._openedId = "";
    /** @type {string | null} */
    this._focused = "";
    this._unknown = "";
    this._writtenId = "";
    this._goLater = -1; // paper whose place is not loaded yet
    this._shownQuery = "";
    /** @type {Uint32Array} */
    this._shownSelection = this.model.state.selected;
    this._build(bar);
    this.setDark(Boolean(options.dark));
    this.model.on("state", () => this._follow());
    this.model.on("open", () => this._showRecord());
    this.model.on("loaded", () => {
      this._buildContents();
      this._follow();
      if (this.model.opened >= 0) this._showRecord();
      if (this._goLater >= 0 && this._goLater < this.source.n) this._go(this._goLater);
    });
    // On a page of its own, the keys work wherever the focus is.
    const listener = options.address ? document : this.root;
    listener.addEventListener("keydown", (event) => this._key(/** @type {KeyboardEvent} */ (event)));
    this._follow();
    if (options.address) this._followAddress();
    this._loadRest();
  }

  async _loadRest() {
    try {
      while (this.source.missing) {
        await this.source.loadPart(this.source.manifest.parts.length - this.source.missing);
        this.model.refresh();
        this.model.tell("loaded");
      }
    } catch (error) {
      this._say(`Some papers could not be loaded: ${message(error)}. Load the page again.`);
    }
  }

  // -- layout

  /** @param {HTMLElement} bar */
  _build(bar) {
    this.root.classList.add("landscape-viewer");
    this.root.replaceChildren(
      bar,
      h(
        "div",
        { class: "body" },
        this.contents,
        h("div", { class: "middle" }, this.map.element, this.tooltip, this.legend, this.notice),
        h("div", { class: "side" }, h("div", { class: "tabs", role: "tablist" }, ...this.tabs), this.charts, this.list, this.record),
      ),
      this.status,
    );
    this._setTool("move");
    this._turnTo("filters");
    this._buildContents();
  }

  /**
   * Show one page beside the map.
   * @param {string} page
   */
  _turnTo(page) {
    for (const tab of this.tabs) {
      tab.setAttribute("aria-selected", String(tab.dataset.page === page));
    }
    for (const [name, element] of Object.entries(this.pages)) element.hidden = name !== page;
  }

  _buildContents() {
    const { regions, manifest } = this.source;
    const years = manifest.years;
    /** @type {Uint32Array[]} */
    const counts = regions.map(() => new Uint32Array(years ? years[1] - years[0] + 1 : 0));
    if (years) {
      for (let point = 0; point < this.source.n; point++) {
        const year = this.source.year[point] - years[0];
        if (year < 0) continue;
        for (let up = this.source.region[point]; up >= 0 && up < regions.length; up = regions[up].parent) {
          counts[up][year]++;
        }
      }
    }
    const children = (/** @type {number} */ parent) =>
      regions.flatMap((one, row) => (one.parent === parent ? [row] : []));
    /** @type {(row: number) => HTMLElement} */
    const entry = (row) => {
      const inside = children(row);
      const papers = h("span", { class: "count" }, number(regions[row].papers));
      this._counts[row] = papers;
      const go = h(
        "button",
        {
          class: "region",
          title: regions[row].keywords.join(", "),
          onclick: () => this._toRegion(row),
        },
        regions[row].label,
      );
      this._entries[row] = go;
      const swatch = h("span", { class: "swatch", hidden: true });
      this._swatches[row] = swatch;
      const line = [swatch, go, years ? sparkline(counts[row]) : null, papers];
      if (!inside.length) return h("li", {}, h("div", { class: "entry leaf" }, ...line));
      const below = h("ul", { hidden: true }, ...inside.map(entry));
      const toggle = h("button", {
        class: "toggle",
        "aria-label": `Subregions of ${regions[row].label}`,
        "aria-expanded": "false",
        onclick: () => {
          below.hidden = !below.hidden;
          toggle.setAttribute("aria-expanded", String(!below.hidden));
        },
      });
      return h("li", {}, h("div", { class: "entry" }, toggle, ...line), below);
    };
    const top = children(-1);
    this.contents.replaceChildren(
      h("h2", {}, "Regions"),
      top.length ? h("ul", {}, ...top.map(entry)) : h("p", { class: "quiet" }, "This map has no regions."),
    );
  }

  /** @param {number} row */
  _toRegion(row) {
    this.map.goTo(row);
    const isChosen = this.model.state.filters.region === row;
    this.model.filter({ region: isChosen ? -1 : row });
  }

  /** @param {string} name */
  _setTool(name) {
    this.tool = name;
    for (const button of this.tools) {
      button.setAttribute("aria-pressed", String(button.dataset.tool === name));
    }
    this.map.element.classList.toggle("selecting", name !== "move");
  }

  /** @param {boolean} isDark */
  setDark(isDark) {
    const theme = isDark ? this.themes.dark : this.themes.light;
    for (const [name, value] of Object.entries(theme)) {
      if (typeof value === "string") this.root.style.setProperty(`--${name}`, value);
    }
    this.map.setTheme(theme);
    this._showLegend();
  }

  _fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.root.requestFullscreen?.();
  }

  // -- what follows from the state

  _follow() {
    const { model } = this;
    // The controls are made again, so the focus moves to the new control of the same name.
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    this._focused = focused && this.root.contains(focused) ? focused.title || focused.textContent : "";
    if (this.search.value !== model.state.query) this.search.value = model.state.query;
    this.colour.value = model.state.colour;
    this.undo.disabled = !model.canUndo;
    this.redo.disabled = !model.canRedo;
    this._listedAll = LISTED;
    this._showLegend();
    this._showCharts();
    this._showCounts();
    this._showStatus();
    this._showList();
    this._writeAddress();
    const { query, selected } = model.state;
    if (query !== this._shownQuery || selected !== this._shownSelection) {
      if (model.opened < 0) this._turnTo(model.marked.length ? "papers" : "filters");
      else if (model.marked.length) this._turnTo("papers");
      [this._shownQuery, this._shownSelection] = [query, selected];
    }
  }

  _showStatus() {
    const { model, source } = this;
    const parts = [
      model.nPassing === source.manifest.papers
        ? count(model.nPassing, "paper")
        : `${number(model.nPassing)} of ${count(source.manifest.papers, "paper")} pass the filters`,
    ];
    if (model.state.query) parts.push(`${number(model.found.length)} found`);
    if (model.state.selected.length) parts.push(`${number(model.state.selected.length)} selected`);
    if (source.missing) parts.push(`${number(source.n)} loaded so far`);
    if (source.manifest.generated) parts.push("the papers are generated");
    if (this.map._hasWebGL === false) parts.push("without WebGL, single papers appear when few are in view");
    this.status.textContent = parts.join(" · ");
    const missing = model.missing.map((word) => `“${word}”`).join(", ");
    if (this._unknown) {
      this._say(this._unknown);
      this._unknown = "";
    } else if (model.problem) {
      this._say(`This failed: ${model.problem}. Press Enter in the search to try again.`);
    } else if (model.state.query && (missing || !model.found.length)) {
      this._say(
        missing ? `No paper has ${missing}.` : "No paper has all of these words. Use fewer or other words.",
      );
    } else {
      this._say("");
    }
  }

  /** @param {string} text */
  _say(text) {
    this.notice.textContent = text;
    this.notice.hidden = !text;
  }

  _showCounts() {
    const counts = countRegions(this.source, this.model.passes);
    this._counts.forEach((element, row) => {
      const all = this.source.regions[row].papers;
      element.textContent = number(counts[row]);
      element.title = `${number(counts[row])} of ${count(all, "paper")}`;
    });
    this._entries.forEach((element, row) => {
      element.setAttribute("aria-pressed", String(this.model.state.filters.region === row));
    });
  }

  _showLegend() {
    const { colouring } = this.map;
    if (!colouring) return;
    for (const swatch of this._swatches) swatch.hidden = true;
    for (const { region, colour } of colouring.entries ?? []) {
      if (region === undefined || !this._swatches[region]) continue;
      this._swatches[region].hidden = false;
      this._swatches[region].style.background = colour;
    }
    this.legend.classList.toggle("classes", Boolean(colouring.entries));
    /** @type {HTMLElement[]} */
    const items = (colouring.entries ?? []).map((entry) =>
      h(
        "button",
        {
          class: "key",
          "aria-pressed": String(this.model.state.filters.region === entry.region),
          title: `Only ${entry.label}`,
          onclick: () => {
            const isChosen = this.model.state.filters.region === entry.region;
            this.model.filter({ region: isChosen ? -1 : (entry.region ?? -1) });
          },
        },
        h("span", { class: "swatch", style: { background: entry.colour } }),
        entry.label,
      ),
    );
    if (colouring.ends) {
      const [low, high] = colouring.ends;
      items.push(
        h("span", { class: "scale" }, h("span", {}, `${colouring.title}: ${low}`), h("span", { class: "ramp", style: { background: colouring.css } }), h("span", {}, high), colouring.unknown ? h("span", { class: "swatch", style: { background: this.map.theme.missing } }) : null, colouring.unknown ? h("span", {}, `not known (${number(colouring.unknown)})`) : null),
      );
    }
    this.legend.replaceChildren(...items);
  }

  _showCharts() {
    const { model, source } = this;
    const { filters } = model.state;
    const charts = [];
    const years = source.manifest.years;
    if (years) {
      const first = Math.max(years[0], years[1] - 59); // older papers are rare, and bars need space
      const last = years[1];
      const all = countYears(source, new Uint8Array(source.manifest.papers).fill(1), first, last);
      const passing = countYears(source, model.passing({ ...filters, years: null }), first, last);
      charts.push(
        this._chartHead("Years", filters.years ? `${filters.years[0]}–${filters.years[1]}` : "", () =>
          model.filter({ years: null }),
        ),
        yearChart({ first, all, passing, chosen: filters.years, choose: (chosen) => model.filter({ years: chosen }) }),
      );
    }
    this.charts.replaceChildren(...charts);
    this._showSets();
  }

  async _showSets() {
    const { model, source } = this;
    const passes = model.passes;
    const shown = [];
    for (const [kind, title, name] of /** @type {const} */ ([
      ["facilities", "Facilities", "facility"],
      ["concepts", "Concepts", "concept"],
    ])) {
      const entries = source.manifest.sets[kind] ?? [];
      if (!entries.length) continue;
      const chosen = model.state.filters[name];
      const bars = [];
      try {
        for (let row = 0; row < entries.length; row++) {
          const { points } = await source.set(kind, row);
          let papers = 0;
          for (const point of points) papers += passes[point];
          bars.push({ row, papers });
        }
      } catch (error) {
        this._say(`The ${title.toLowerCase()} could not be loaded: ${message(error)}.`);
        return;
      }
      if (passes !== model.passes) return; // the filters have changed meanwhile
      bars.sort((a, b) => Number(b.row === chosen) - Number(a.row === chosen) || b.papers - a.papers);
      shown.push(
        this._chartHead(title, chosen >= 0 ? entries[chosen].name : "", () => model.filter({ [name]: -1 })),
        barChart(
          bars
            .slice(0, BARS)
            .filter((bar) => bar.papers)
            .map((bar) => ({
              name: entries[bar.row].name,
              papers: bar.papers,
              of: entries[bar.row].papers,
              isChosen: bar.row === chosen,
              choose: () => model.filter({ [name]: bar.row === chosen ? -1 : bar.row }),
            })),
        ),
        name === "facility" && chosen >= 0 ? this._usesBox(entries[chosen]) : "",
        this._moreOf(title, entries, (row) => model.filter({ [name]: row })),
      );
    }
    for (const old of this.charts.querySelectorAll(".of-set")) old.remove();
    this.charts.append(h("div", { class: "of-set" }, ...shown));
    if (this._focused && document.activeElement === document.body) {
      const again = [...this.root.querySelectorAll("button")].find(
        (one) => (one.title || one.textContent) === this._focused,
      );
      again?.focus();
    }
  }

  /**
   * A choice between papers that mention a facility and papers that use its data.
   * @param {import("./source.js").SetEntry} entry
   */
  _usesBox(entry) {
    const box = h("input", {
      type: "checkbox",
      onchange: () => this.model.filter({ uses: box.checked }),
    });
    box.checked = this.model.state.filters.uses;
    const text = `only the ${count(entry.uses, "paper")} that use its data`;
    return h("label", { class: "uses" }, box, text);
  }

  /**
   * @param {string} title
   * @param {import("./source.js").SetEntry[]} entries
   * @param {(row: number) => void} choose
   */
  _moreOf(title, entries, choose) {
    const others = h(
      "select",
      {
        "aria-label": `All ${title.toLowerCase()}`,
        onchange: () => {
          if (others.value) choose(Number(others.value));
        },
      },
      h("option", { value: "" }, `All ${number(entries.length)} …`),
      ...entries
        .map((entry, row) => ({ entry, row }))
        .sort((a, b) => a.entry.name.localeCompare(b.entry.name))
        .map(({ entry, row }) => h("option", { value: String(row) }, `${entry.name} (${number(entry.papers)})`)),
    );
    return others;
  }

  /**
   * @param {string} title
   * @param {string} chosen
   * @param {() => void} clear
   */
  _chartHead(title, chosen, clear) {
    return h(
      "h2",
      {},
      title,
      chosen ? h("button", { class: "chip", title: `Remove the filter ${chosen}`, onclick: clear }, `${chosen} ✕`) : null,
    );
  }

  // -- papers

  /** @param {number} point */
  _hover(point, x = 0, y = 0) {
    this._hovered = point;
    if (point < 0) {
      this.tooltip.hidden = true;
      return;
    }
    const place = () => {
      const wide = this.map.camera.width;
      this.tooltip.style.left = `${Math.min(x + 14, Math.max(0, wide - 310))}px`;
      this.tooltip.style.top = `${y + 14}px`;
    };
    this.source.title(point).then((paper) => {
      if (this._hovered !== point) return;
      this.tooltip.replaceChildren(
        h("strong", {}, plainTitle(paper.title)),
        h("span", {}, [authorLine(paper), this._yearOf(point)].filter(Boolean).join(", ")),
        h("span", { class: "quiet" }, this._factsOf(point)),
      );
      this.tooltip.hidden = false;
      place();
    }, () => undefined);
  }

  /** @param {number} point */
  _yearOf(point) {
    return this.source.year[point] ? String(this.source.year[point]) : "";
  }

  /** @param {number} point */
  _factsOf(point) {
    const region = this.source.region[point];
    const cites = this.source.citations[point];
    return [
      region < this.source.regions.length ? this.source.regions[region].label : "",
      cites ? `${atLeast(cites - 1)} citation${cites === 2 ? "" : "s"}` : "",
    ]
      .filter(Boolean)
      .join(" · ");
  }

  async _showList() {
    const { model } = this;
    const marked = model.listed;
    const turn = ++this._listTurn;
    if (!marked.length) {
      this.list.replaceChildren(
        h("p", { class: "quiet" }, "Search, or draw around papers, to list them here. Click a paper on the map to read about it."),
      );
      return;
    }
    const { column, isDown } = this._sort;
    const values = column === "year" ? this.source.year : column === "citations" ? this.source.citations : null;
    if (values) marked.sort((a, b) => (isDown ? values[b] - values[a] : values[a] - values[b]));
    const shown = marked.slice(0, this._listedAll);
    let papers;
    try {
      papers = await Promise.all(shown.map((point) => this.source.title(point)));
    } catch (error) {
      this._say(`The titles could not be loaded: ${message(error)}.`);
      return;
    }
    if (turn !== this._listTurn) return;
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
        h("td", {}, h("button", { class: "paper", dir: "auto", onclick: () => this._go(point) }, plainTitle(papers[place].title)), h("span", { class: "quiet" }, authorLine(papers[place]))),
        h("td", {}, this._yearOf(point)),
        h("td", { class: "right" }, this.source.citations[point] ? atLeast(this.source.citations[point] - 1) : ""),
      ),
    );
    const of = [
      model.state.query ? `${number(model.found.length)} found` : "",
      model.state.selected.length ? `${number(model.state.selected.length)} selected` : "",
    ]
      .filter(Boolean)
      .join(" and ");
    const title =
      of && !of.includes(" and ") && of.startsWith(`${number(marked.length)} `)
        ? of
        : `${count(marked.length, "paper")}${of ? ` of ${of}` : ""}`;
    this.list.replaceChildren(
      h(
        "div",
        { class: "list-head" },
        h("h2", {}, title),
        h("button", { onclick: () => this.map.goToPapers(marked.slice(0, 500)) }, "Zoom to them"),
        h("button", { onclick: () => this._export("csv") }, "CSV"),
        h("button", { onclick: () => this._export("bib") }, "BibTeX"),
      ),
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, head("", "Paper"), head("year", "Year"), head("citations", "Cited"))),
        h("tbody", {}, ...rows),
      ),
      marked.length > shown.length
        ? h("button", { class: "more", onclick: () => { this._listedAll += LISTED; this._showList(); } }, `More (${number(marked.length - shown.length)} left)`)
        : "",
    );
  }

  /** @param {string} column */
  _sortBy(column) {
    const isDown = this._sort.column === column ? !this._sort.isDown : true;
    this._sort = { column, isDown };
    this._showList();
  }

  /** @param {number} point */
  _go(point) {
    this.model.open(point);
    const { camera } = this.map;
    this._goLater = point >= this.source.n ? point : -1;
    if (this._goLater >= 0) return; // its place is not loaded yet
    const [x, y] = camera.toPixel(...this.map.placeOf(point));
    if (x < 0 || y < 0 || x > camera.width || y > camera.height) {
      const [mapX, mapY] = this.map.placeOf(point);
      camera.fly({ x: mapX, y: mapY, scale: Math.max(camera.view.scale, 2 * camera.whole) });
    }
  }

  async _showRecord() {
    const { model, source } = this;
    const point = model.opened;
    this._openedId = "";
    this._writeAddress();
    this.map.link([]);
    if (point < 0) {
      this.record.replaceChildren(h("p", { class: "quiet" }, "Click a paper to read about it here."));
      this._turnTo(model.marked.length ? "papers" : "filters");
      return;
    }
    let title;
    /** @type {Details} */
    let details;
    try {
      [title, details] = await Promise.all([source.title(point), source.details(point)]);
    } catch (error) {
      this._say(`The record could not be loaded: ${message(error)}. Click the paper again.`);
      return;
    }
    if (point !== model.opened) return;
    const links = linksOf(details);
    const authors = details.authors ?? (title.author ? [title.author] : []);
    const shownAuthors = authors.length > 6 ? [...authors.slice(0, 5), `and ${title.authors - 5} others`] : authors;
    const lists = await Promise.all(
      /** @type {const} */ ([
        ["references", "References in the atlas"],
        ["cited_by", "Cited by"],
        ["similar", "Similar papers"],
      ]).map(([name, label]) => this._linkList(details[name] ?? [], label)),
    );
    if (point !== model.opened) return;
    this.record.replaceChildren(
      h(
        "div",
        { class: "record-head" },
        h("h2", { dir: "auto" }, plainTitle(title.title)),
        h("button", { class: "close", title: "Close the record", "aria-label": "Close the record", onclick: () => model.open(-1) }, "✕"),
      ),
      h("p", {}, shownAuthors.join("; ")),
      h("p", { class: "quiet" }, [details.date ?? this._yearOf(point), details.journal ?? "", this._factsOf(point)].filter(Boolean).join(" · ")),
      h("p", { class: "links" }, ...links.map(([label, address]) => h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, label))),
      h("p", { class: "abstract", dir: "auto" }, details.abstract ?? "No abstract."),
      details.keywords ? h("p", { class: "quiet" }, details.keywords.join(", ")) : "",
      ...lists,
    );
    this._openedId = title.id;
    this._writeAddress();
    this._turnTo("record");
    this.record.parentElement?.scrollTo(0, 0);
    this.map.link([
      [details.references ?? [], ""],
      [details.cited_by ?? [], "4 3"],
    ]);
  }

  /**
   * @param {number[]} points
   * @param {string} label
   */
  async _linkList(points, label) {
    if (!points.length) return "";
    const papers = await Promise.all(points.slice(0, 12).map((point) => this.source.title(point)));
    return h(
      "div",
      { class: "linked" },
      h("h3", {}, `${label} (${points.length})`),
      ...papers.map((paper, at) => h("button", { class: "paper", onclick: () => this._go(points[at]) }, plainTitle(paper.title))),
    );
  }

  /** @param {"csv" | "bib"} kind */
  async _export(kind) {
    const points = this.model.listed.slice(0, MOST_EXPORTED);
    if (this.source.missing) {
      this._say("Some papers are not loaded yet. Try again in a moment.");
      return;
    }
    try {
      const rows = await Promise.all(
        points.map(async (point) => {
          const [title, details] = await Promise.all([this.source.title(point), this.source.details(point)]);
          const region = this.source.region[point];
          return {
            id: title.id,
            title: title.title,
            authors: details.authors ?? [],
            nAuthors: title.authors,
            year: this.source.year[point] || null,
            journal: details.journal ?? "",
            bibcode: details.bibcode ?? "",
            arxiv: details.arxiv ?? "",
            doi: details.doi ?? "",
            citations: this.source.citations[point] ? this.source.citations[point] - 1 : null,
            region: region < this.source.regions.length ? this.source.regions[region].label : "",
          };
        }),
      );
      if (kind === "csv") download("papers.csv", "text/csv", toCsv(rows));
      else download("papers.bib", "application/x-bibtex", toBibtex(rows));
      if (this.model.listed.length > points.length) {
        this._say(`The file has the first ${number(points.length)} papers.`);
      }
    } catch (error) {
      this._say(`The file could not be made: ${message(error)}.`);
    }
  }

  // -- commands

  _search() {
    const query = this.search.value.trim();
    if (query === this.model.state.query) {
      if (this.model.problem) this.model.retry();
      return;
    }
    this._sort = { column: "", isDown: false };
    if (/^\S*\d{4}\S*$/.test(query)) this._openKnown(query);
    this.model.set({ query });
  }

  _clear() {
    const { filters } = this.model.state;
    this.search.value = "";
    this.model.open(-1);
    this.model.clear();
    if (filters.region >= 0) this.map.camera.home();
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    const isTyping = /^(?:INPUT|SELECT|TEXTAREA)$/.test(/** @type {HTMLElement} */ (event.target).tagName);
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      this.search.focus();
    } else if (event.key === "Escape") {
      if (this.model.opened >= 0) this.model.open(-1);
      else this._clear();
      this.map.element.focus();
    } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !isTyping) {
      event.preventDefault();
      if (event.shiftKey) this.model.redo();
      else this.model.undo();
    }
  }

  // -- the address of the page

  _followAddress() {
    this._hasAddress = true;
    const read = () => {
      const given = new URLSearchParams(location.hash.slice(1));
      if (given.toString() === this._written) return;
      const names = (/** @type {string} */ kind, /** @type {string} */ name) =>
        this.source.manifest.sets[kind]?.findIndex(
          (one) => one.name.toLowerCase() === given.get(name)?.toLowerCase(),
        ) ?? -1;
      const years = (given.get("years") ?? "").match(/^(\d{4})-(\d{4})$/)?.slice(1).map(Number);
      const colour = given.get("colour") ?? "";
      const region = this.source.regions.findIndex((one) => String(one.id) === given.get("region"));
      for (const [name, kind] of /** @type {const} */ ([
        ["facility", "facilities"],
        ["concept", "concepts"],
      ])) {
        if (given.get(name) && names(kind, name) < 0) {
          this._unknown = `This map has no list of the papers of ${given.get(name)}.`;
        }
      }
      this.model.set({
        query: given.get("q") ?? "",
        colour: colour in COLOURS ? colour : "region",
        filters: {
          ...ALL,
          years: years ? [Math.min(...years), Math.max(...years)] : null,
          region,
          uses: given.get("uses") === "1",
          facility: names("facilities", "facility"),
          concept: names("concepts", "concept"),
        },
      });
      if (region >= 0) this.map.goTo(region);
      if (given.get("paper")) this._openNamed(given.get("paper"));
      else if (this.model.opened >= 0) this.model.open(-1);
    };
    addEventListener("hashchange", read);
    if (location.hash.length > 1) read();
  }

  /**
   * Open the paper whose identifier was searched, if there is one.
   * @param {string} id
   */
  async _openKnown(id) {
    const point = await this.source.find(id.replace(/^arXiv:/i, "")).catch(() => -1);
    if (point >= 0) this._go(point);
  }

  /** @param {string | null} id */
  async _openNamed(id) {
    if (!id) return;
    try {
      let point = await this.source.find(id);
      if (point < 0) point = await this.source.find(id.replace(/^(?:arXiv:|(?:https?:\/\/)?(?:dx\.)?doi\.org\/)/i, ""));
      if (point >= 0) this._go(point);
      else this._say(`There is no paper ${id} on this map.`);
    } catch (error) {
      this._say(`The paper could not be found: ${message(error)}.`);
    }
  }

  _writeAddress() {
    if (!this._hasAddress) return;
    const { filters, query, colour } = this.model.state;
    const given = new URLSearchParams();
    if (query) given.set("q", query);
    if (colour !== "region") given.set("colour", colour);
    if (filters.years) given.set("years", filters.years.join("-"));
    if (filters.region >= 0) given.set("region", String(this.source.regions[filters.region].id));
    if (filters.facility >= 0) given.set("facility", this.source.manifest.sets.facilities[filters.facility].name);
    if (filters.facility >= 0 && filters.uses) given.set("uses", "1");
    if (filters.concept >= 0) given.set("concept", this.source.manifest.sets.concepts[filters.concept].name);
    if (this._openedId) given.set("paper", this._openedId);
    this._written = given.toString();
    // Back returns to the paper before.
    const isNewPaper = this._openedId && this._openedId !== this._writtenId;
    this._writtenId = this._openedId;
    const write = isNewPaper ? "pushState" : "replaceState";
    history[write](null, "", `${location.pathname}${location.search}${this._written ? `#${this._written}` : ""}`);
  }
}

const MOST_CITATIONS = 0xfffe; // larger numbers are not stored

/** @param {number} citations */
function atLeast(citations) {
  return citations >= MOST_CITATIONS ? `${number(citations)} or more` : number(citations);
}

/** @param {unknown} error */
function message(error) {
  return error instanceof Error ? error.message : String(error);
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
 * @returns {[string, string][]}
 */
function linksOf(details) {
  /** @type {[string, string][]} */
  const links = [];
  if (details.bibcode) links.push(["ADS", `https://ui.adsabs.harvard.edu/abs/${encodeURIComponent(details.bibcode)}/abstract`]);
  else if (details.arxiv) links.push(["ADS", `https://ui.adsabs.harvard.edu/abs/arXiv:${encodeURIComponent(details.arxiv)}/abstract`]);
  if (details.arxiv) links.push(["arXiv", `https://arxiv.org/abs/${details.arxiv.split("/").map(encodeURIComponent).join("/")}`]);
  if (details.doi) links.push(["DOI", `https://doi.org/${details.doi.split("/").map(encodeURIComponent).join("/")}`]);
  return links;
}
