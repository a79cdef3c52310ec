// The table of contents: the tree of regions, their papers and their years.

import { sparkline } from "./charts.js";
import { count, h, number } from "./dom.js";
import { countRegions } from "./model.js";

/** Tree of regions beside the map. */
export class Contents {
  /** @param {import("./panel.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.element = h("nav", { class: "contents", "aria-label": "Regions" });
    /** @type {{count: HTMLElement, go: HTMLElement, swatch: HTMLElement}[]} */
    this._entries = [];
    this.build();
  }

  /** Make the tree; the years are those of the papers that are loaded. */
  build() {
    const { regions } = this.viewer.source;
    const counts = this._yearsOfRegions();
    const children = (/** @type {number} */ parent) =>
      regions.flatMap((one, row) => (one.parent === parent ? [row] : []));
    /** @type {(row: number) => HTMLElement} */
    const entry = (row) => {
      const inside = children(row);
      const own = {
        count: h("span", { class: "count" }, number(regions[row].papers)),
        go: h(
          "button",
          {
            class: "region",
            title: regions[row].keywords.join(", "),
            onclick: () => this.viewer.toRegion(row),
          },
          regions[row].label,
        ),
        swatch: h("span", { class: "swatch", hidden: true }),
      };
      this._entries[row] = own;
      const line = [own.swatch, own.go, counts && counts[row].length > 4 ? sparkline(counts[row]) : null, own.count];
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
    const outside = this.viewer.source.region.reduce((sum, row) => sum + Number(row >= regions.length), 0);
    this.element.replaceChildren(
      h("h2", {}, "Regions"),
      top.length ? h("ul", {}, ...top.map(entry)) : h("p", { class: "quiet" }, "This map has no regions."),
      top.length && outside ? h("p", { class: "quiet" }, `${count(outside, "paper")} in no region, in grey.`) : "",
    );
  }

  _yearsOfRegions() {
    const { source } = this.viewer;
    const { regions, manifest } = source;
    const { years } = manifest;
    if (!years) return null;
    const counts = regions.map(() => new Uint32Array(years[1] - years[0] + 1));
    for (let point = 0; point < source.n; point++) {
      const year = source.year[point] - years[0];
      if (year < 0) continue;
      for (let up = source.region[point]; up >= 0 && up < regions.length; up = regions[up].parent) {
        counts[up][year]++;
      }
    }
    return counts;
  }

  /** Show the papers of each region that pass the filters and were found, and the chosen region. */
  follow() {
    const { source, model } = this.viewer;
    const counts = countRegions(source, model.counted);
    this._entries.forEach((entry, row) => {
      entry.count.textContent = number(counts[row]);
      entry.count.title = `${number(counts[row])} of ${count(source.regions[row].papers, "paper")}`;
      entry.go.setAttribute("aria-pressed", String(model.state.filters.region === row));
    });
  }

  /**
   * Show the colours of regions.
   * @param {import("./colours.js").Entry[]} entries
   */
  colour(entries) {
    for (const { swatch } of this._entries) swatch.hidden = true;
    for (const { filter, colour } of entries) {
      const own = this._entries[filter?.region ?? -1];
      if (!own) continue;
      own.swatch.hidden = false;
      own.swatch.style.background = colour;
    }
  }
}
