// The viewer: map, contents, filters, papers and record, which show one model.

import { Contents } from "./contents.js";
import { count, h, number } from "./dom.js";
import { FilterPage } from "./filters.js";
import { followAddress } from "./given.js";
import { MapView } from "./map.js";
import { ALL, Model } from "./model.js";
import { PaperList, PaperRecord, Tooltip } from "./papers.js";
import { bareId, readCited } from "./search.js";

/** @typedef {{dark?: boolean, address?: boolean, kernel?: import("./notebook.js").Kernel}} Options */

const COLOURS = {
  region: "region",
  density: "density",
  year: "year",
  citations: "citations",
  facility: "facility",
  concept: "concept",
};
const METHODS = {
  hybrid: "Meaning and words",
  semantic: "Meaning",
  words: "Words",
  filter: "Filter",
};
const FOUND = [10, 30, 100, 300];
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
   * @param {Options} options
   */
  constructor(root, source, options = {}) {
    this.root = root;
    this.source = source;
    this.kernel = options.kernel ?? null;
    this.model = new Model(source);
    if (this.kernel) this.model.searchElsewhere = this.kernel.search;
    this.tool = "move";
    this.isDark = Boolean(options.dark);
    this._onChange = () => {};
    this._warning = "";
    this._goLater = -1; // paper whose place is not loaded yet
    this._shown = { query: "", selected: this.model.state.selected, found: this.model.found };
    const themes = source.manifest.themes;
    this.map = new MapView(this.model, this.isDark ? themes.dark : themes.light, {
      hovered: (point, x, y) => this.tooltip?.show(point, x, y),
      tool: () => this.tool,
      coloured: () => this._showLegend(),
      failed: (name, error) => this.fail(`The colours of ${name} could not be loaded`, error),
      moved: () => this.changed(),
    });
    this.tooltip = new Tooltip(this);
    this.contents = new Contents(this);
    this.filters = new FilterPage(this);
    this.list = new PaperList(this);
    this.record = new PaperRecord(this);
    /** @type {{[name: string]: HTMLElement}} */
    this.pages = {
      filters: this.filters.element,
      papers: this.list.element,
      record: this.record.element,
      ...(this.kernel ? { tools: this.kernel.page(this) } : {}),
    };
    this.legend = h("div", { class: "legend" });
    this.chips = h("div", { class: "chips", role: "group", "aria-label": "Search, filters and selection" });
    this.status = h("div", { class: "status", role: "status", "aria-live": "polite" });
    this.notice = h("div", { class: "notice", role: "alert", hidden: true });
    this._build();
    this.setDark(this.isDark);
    this.model.on("state", () => this._follow());
    this.model.on("open", () => this.record.show());
    this.model.on("loaded", () => {
      this.contents.build();
      this._follow();
      if (this.model.opened >= 0) this.record.show();
      if (this._goLater >= 0 && this._goLater < source.n) this.go(this._goLater);
    });
    // On a page of its own, the keys work wherever the focus is.
    this._keys = options.address ? document : root;
    this._onKey = (/** @type {Event} */ event) => this._key(/** @type {KeyboardEvent} */ (event));
    this._keys.addEventListener("keydown", this._onKey);
    // JupyterLab leaves the keys to elements with this attribute.
    root.setAttribute("data-lm-suppress-shortcuts", "true");
    this._follow();
    this.record.show();
    if (options.address) this.onChange(followAddress(this));
    this._loadRest();
  }

  /**
   * Call a function after each change of what the user has chosen.
   * @param {() => void} use
   */
  onChange(use) {
    this._onChange = use;
  }

  /** Report a change of what the user has chosen. */
  changed() {
    this._onChange();
  }

  async _loadRest() {
    const { source, model } = this;
    try {
      while (source.missing) {
        await source.loadPart(source.manifest.parts.length - source.missing);
        model.refresh();
        model.tell("loaded");
      }
    } catch (error) {
      this.fail("Some papers could not be loaded", error, "Load the page again.");
    }
  }

  /** Remove what lives outside of the element. */
  remove() {
    this._keys.removeEventListener("keydown", this._onKey);
    this.map.remove();
  }

  // -- layout

  _build() {
    const { manifest, citations } = this.source;
    this.search = h("input", {
      type: "search",
      placeholder: this.kernel ? "A question, words, or a filter such as 2015..; author:Rubin" : "Words, 2015.., facility:JWST, Rubin 1970, or an identifier",
      "aria-label": this.kernel
        ? "Search by meaning and words"
        : "Search titles, abstracts and authors (words, \"a phrase\", author:Name, 2015..2020, citations>20, AND, OR, NOT)",
      title: 'Words, "a phrase", author:Name, 2015..2020, citations>20, facility:JWST, region:"Comets", kind:review, AND, OR, NOT, -word and parentheses. Press / to come here.',
      spellcheck: "false",
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter") this._search();
      },
      onsearch: () => this._search(),
    });
    const sets = manifest.sets;
    const lacks = {
      citations: !citations.some((value) => value > 1),
      facility: !sets.facilities?.length,
      concept: !sets.concepts?.length,
      region: !this.source.regions.length,
      year: !manifest.years,
    };
    this._colours = [
      ...Object.entries(COLOURS).filter(([name]) => !lacks[/** @type {keyof typeof lacks} */ (name)]),
      ...(manifest.more_colours ?? []),
    ];
    this.colour = select(
      "Colour of the papers",
      this._colours.map(([name, label]) => [name, `Colour: ${label}`]),
      (colour) => this.model.set({ colour }),
    );
    this.method = select("Method of the search", Object.entries(METHODS), (method) => this.model.set({ method }));
    this.k = select(
      "Number of papers to find",
      FOUND.map((n) => [String(n), `${n} papers`]),
      (k) => this.model.set({ k: Number(k) }),
    );
    this.tools = Object.entries(TOOLS).map(([name, [label, title]]) =>
      h("button", { title, "data-tool": name, class: `tool-${name}`, onclick: () => this._setTool(name) }, label),
    );
    this.undo = button("↶", "Undo", () => this.model.undo());
    this.redo = button("↷", "Redo", () => this.model.redo());
    const { camera } = this.map;
    const bar = h(
      "div",
      { class: "bar-top", role: "toolbar", "aria-label": "Map tools" },
      h("h1", { class: "title" }, manifest.title),
      this.search,
      this.kernel ? h("span", { class: "group" }, this.method, this.k) : null,
      this.colour,
      h("span", { class: "group" }, ...this.tools),
      h("span", { class: "group" }, this.undo, this.redo),
      h(
        "span",
        { class: "group" },
        button("+", "Zoom in", () => camera.zoom(1.6)),
        button("−", "Zoom out", () => camera.zoom(1 / 1.6)),
        button("⌂", "Show the whole map", () => camera.home()),
        button("Full", "Full screen", () => this._fullScreen()),
      ),
      button("Clear", "Remove the search, the selection and all filters (Esc)", () => this._clear()),
    );
    this.tabs = Object.keys(this.pages).map((name) =>
      h(
        "button",
        { role: "tab", type: "button", "data-page": name, onclick: () => this.turnTo(name) },
        name[0].toUpperCase() + name.slice(1),
      ),
    );
    this.root.classList.add("landscape-viewer");
    this.root.lang = "en"; // for the hyphens of names
    this.root.replaceChildren(
      bar,
      h(
        "div",
        { class: "body" },
        this.contents.element,
        h("div", { class: "middle" }, this.map.element, this.chips, this.tooltip.element, this.legend, this.notice),
        h(
          "div",
          { class: "side" },
          h("div", { class: "tabs", role: "tablist" }, ...this.tabs),
          ...Object.values(this.pages),
        ),
      ),
      this.status,
    );
    this._setTool("move");
    this.turnTo("filters");
  }

  /**
   * Show one page beside the map.
   * @param {string} page
   */
  turnTo(page) {
    for (const tab of this.tabs ?? []) {
      tab.setAttribute("aria-selected", String(tab.dataset.page === page));
    }
    for (const [name, element] of Object.entries(this.pages)) element.hidden = name !== page;
    this.pages[page].parentElement?.scrollTo(0, 0);
  }

  /** @param {string} name */
  _setTool(name) {
    this.tool = name;
    for (const one of this.tools ?? []) one.setAttribute("aria-pressed", String(one.dataset.tool === name));
    this.map.element.classList.toggle("selecting", name !== "move");
  }

  /** @param {boolean} isDark */
  setDark(isDark) {
    this.isDark = isDark;
    const { themes } = this.source.manifest;
    const theme = isDark ? themes.dark : themes.light;
    for (const [name, value] of Object.entries(theme)) {
      if (typeof value === "string") this.root.style.setProperty(`--${name}`, value);
    }
    this.root.style.colorScheme = isDark ? "dark" : "light";
    this.map.setTheme(theme);
    this.filters.follow(); // its marks have colours of the theme
  }

  _fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.root.requestFullscreen?.();
  }

  /** @param {string | undefined} name */
  hasColour(name) {
    return this._colours?.some(([one]) => one === name) ?? false;
  }

  // -- what follows from the state

  _follow() {
    const { model } = this;
    const { query, selected, colour, method, k } = model.state;
    if (this.search && this.search.value !== query) this.search.value = query;
    if (this.colour) this.colour.value = colour;
    if (this.method) this.method.value = method;
    if (this.k) this.k.value = String(k);
    if (this.undo) this.undo.disabled = !model.canUndo;
    if (this.redo) this.redo.disabled = !model.canRedo;
    this._showLegend();
    this._showChips();
    this.filters.follow();
    this.contents.follow();
    this.showStatus();
    this.list.follow();
    this.changed();
    const shown = this._shown;
    if (query !== shown.query || selected !== shown.selected || model.found !== shown.found) {
      if (model.marked.length) this.turnTo("papers");
      else if (model.opened < 0) this.turnTo("filters");
      this._shown = { query, selected, found: model.found };
    }
  }

  /** Show what is searched, filtered and selected, with numbers of papers; a click removes it. */
  _showChips() {
    const { model, source } = this;
    const { filters, query, selected } = model.state;
    const { facilities, concepts } = source.manifest.sets;
    const papers = (/** @type {Partial<import("./model.js").Filters>} */ only) =>
      model.passing({ ...ALL, ...only }).reduce((sum, one) => sum + one, 0);
    /** @type {[string, number, () => unknown][]} */
    const chips = [];
    if (query) chips.push([`“${query}”`, model.found.length, () => model.set({ query: "" })]);
    if (selected.length) chips.push(["selected", selected.length, () => model.select(new Uint32Array(0), "new")]);
    for (const [name, label] of /** @type {const} */ ([
      ["years", filters.years ? filters.years.join("–") : ""],
      ["region", source.regions[filters.region]?.label ?? ""],
      ["facility", facilities?.[filters.facility]?.name ?? ""],
      ["concept", concepts?.[filters.concept]?.name ?? ""],
      ["reviews", filters.reviews ? "reviews" : ""],
    ])) {
      const own = name === "facility" ? { facility: filters.facility, uses: filters.uses } : { [name]: filters[name] };
      if (label) chips.push([label, papers(own), () => model.filter({ [name]: ALL[name] })]);
    }
    this.chips?.replaceChildren(
      ...chips.map(([label, n, remove]) =>
        h("button", { class: "chip", title: `Remove ${label}`, onclick: remove }, `${label} (${number(n)}) ✕`),
      ),
      this.kernel && filters.region >= 0 ? this._renaming(filters.region) : "",
    );
  }

  /**
   * A button that asks for another name of a region, which the kernel saves.
   * @param {number} region
   */
  _renaming(region) {
    const { id, label } = this.source.regions[region];
    const field = h("input", {
      type: "text",
      "aria-label": `Another name of ${label}`,
      title: "Enter saves the name in labels.csv of the atlas; an empty name restores the first one",
      value: label,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        event.stopPropagation(); // Escape does not clear the map
        if (event.key === "Enter") this.kernel?.ask({ do: "rename", region: id, label: field.value });
        if (event.key === "Enter" || event.key === "Escape") this._showChips();
      },
    });
    const open = h("button", { class: "chip", onclick: () => (open.replaceWith(field), field.select()) }, "Rename");
    return open;
  }

  showStatus() {
    const { model, source } = this;
    const parts = [
      model.nPassing === source.manifest.papers
        ? count(model.nPassing, "paper")
        : `${number(model.nPassing)} of ${count(source.manifest.papers, "paper")} pass the filters`,
    ];
    if (model.state.query) {
      if (model.found.length || !model.isWaiting) parts.push(`${number(model.found.length)} found`);
      if (model.isWaiting) parts.push("the kernel searches");
    }
    if (model.state.selected.length) parts.push(`${number(model.state.selected.length)} selected`);
    if (this.kernel?.trouble) parts.push(this.kernel.trouble);
    if (source.missing) parts.push(`${number(source.n)} loaded so far`);
    if (source.manifest.generated) parts.push("the papers are generated");
    if (this.map._hasWebGL === false) parts.push("without WebGL, single papers appear when few are in view");
    this.status.textContent = parts.join(" · ");
    const missing = model.missing.map((word) => `“${word}”`).join(", ");
    if (this._warning) {
      this.say(this._warning);
      this._warning = "";
    } else if (model.problem) {
      this.say(model.problem);
    } else if (model.state.query && !model.isWaiting && (missing || !model.found.length)) {
      this.say(missing ? `No paper has ${missing}.` : "No paper has all of these words. Use fewer or other words.");
    } else {
      this.say(this.kernel?.notice ?? "");
    }
  }

  /**
   * Show a message on the map.
   * @param {string} text
   */
  say(text) {
    this.notice.textContent = text;
    this.notice.hidden = !text;
  }

  /**
   * Show a message with the next state.
   * @param {string} text
   */
  warn(text) {
    this._warning = text;
  }

  /**
   * Show what failed, and why.
   * @param {string} what
   * @param {unknown} error
   * @param {string} advice
   */
  fail(what, error, advice = "") {
    const reason = error instanceof Error ? error.message : String(error);
    this.say(`${what}: ${reason.replace(/\.$/, "")}. ${advice}`.trim());
  }

  _showLegend() {
    // The map reports its first colours before the rest is made.
    if (!this.legend || !this.map?.colouring) return;
    const { colouring, theme } = this.map;
    const { filters } = this.model.state;
    const entries = colouring.entries ?? [];
    this.contents.colour(entries);
    const isRegions = entries.some((entry) => entry.filter?.region !== undefined);
    // The contents beside the map show the colours of regions.
    this.legend.classList.toggle("classes", isRegions);
    /** @type {(HTMLElement | null)[]} */
    const items = entries.map((entry) => {
      const content = [h("span", { class: "swatch", style: { background: entry.colour } }), entry.label];
      const { filter } = entry;
      if (!filter) return h("span", { class: "key" }, ...content);
      const names = /** @type {(keyof typeof filter)[]} */ (Object.keys(filter));
      const isChosen = names.every((name) => filters[name] === filter[name]);
      const cleared = Object.fromEntries(names.map((name) => [name, ALL[name]]));
      return h(
        "button",
        {
          class: "key",
          "aria-pressed": String(isChosen),
          title: `Only ${entry.label}`,
          onclick: () => this.model.filter(isChosen ? cleared : filter),
        },
        ...content,
      );
    });
    if (colouring.ends) {
      const [low, high] = colouring.ends;
      items.push(
        h(
          "span",
          { class: "scale" },
          h("span", {}, `${colouring.title}: ${low}`),
          h("span", { class: "ramp", style: { background: colouring.css } }),
          h("span", {}, high),
          colouring.unknown ? h("span", { class: "swatch", style: { background: theme.missing } }) : null,
          colouring.unknown ? h("span", {}, `not known (${number(colouring.unknown)})`) : null,
        ),
      );
    }
    this.legend.replaceChildren(...items.filter((item) => item !== null));
  }

  // -- commands

  /**
   * Fly to a region and filter by it; the second time, remove the filter.
   * @param {number} row
   */
  toRegion(row) {
    const isChosen = this.model.state.filters.region === row;
    if (!isChosen) this.map.goTo(row);
    this.model.filter({ region: isChosen ? -1 : row });
  }

  /**
   * Open a paper, and move the map if the paper is not in view.
   * @param {number} point
   */
  go(point) {
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

  _search() {
    const query = this.search?.value.trim() ?? "";
    if (query === this.model.state.query) {
      if (this.model.problem) this.model.retry();
      return;
    }
    this.list.unsort();
    this._openKnown(query);
    this.model.set({ query });
  }

  /**
   * Open the paper whose identifier, or author and year, was searched, if there is one.
   * @param {string} query
   */
  async _openKnown(query) {
    let point = -1;
    if (/^\S*\d{4}\S*$/.test(query)) point = await this.source.find(bareId(query)).catch(() => -1);
    else if (readCited(query)) {
      const { points } = await this.model.index.search(query).catch(() => ({ points: [] }));
      if (points.length === 1) [point] = points;
    }
    if (point >= 0) this.go(point);
  }

  /**
   * Open the paper with an identifier.
   * @param {string} id
   */
  async openNamed(id) {
    if (id === this.record.id) return true;
    try {
      let point = await this.source.find(id);
      if (point < 0) {
        point = await this.source.find(bareId(id));
      }
      if (point >= 0) {
        this.go(point);
        return true;
      }
      this.say(`There is no paper ${id} on this map.`);
    } catch (error) {
      this.fail("The paper could not be found", error);
    }
    return false;
  }

  _clear() {
    const { filters } = this.model.state;
    if (this.search) this.search.value = "";
    this.model.open(-1);
    this.model.clear();
    if (filters.region >= 0) this.map.camera.home();
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const isTyping = /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      this.search?.focus();
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
}

/**
 * @param {string} label
 * @param {string} title
 * @param {() => void} onclick
 */
function button(label, title, onclick) {
  return h("button", { title, "aria-label": /^\w/.test(label) ? null : title, onclick }, label);
}

/**
 * @param {string} label
 * @param {[string, string][]} options values and texts
 * @param {(value: string) => void} choose
 */
function select(label, options, choose) {
  const made = h(
    "select",
    { "aria-label": label, onchange: () => choose(made.value) },
    ...options.map(([value, text]) => h("option", { value }, text)),
  );
  return made;
}
