// Charts that filter the map: years, facilities and concepts; and what the map shows.

import { barChart, yearChart } from "./charts.js";
import { count, h, number } from "./dom.js";
import { countYears } from "./model.js";

const BARS = 8;
const YEARS = 60; // older papers are rare, and bars need space

/** Page with the filters. */
export class FilterPage {
  /** @param {import("./panel.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.element = h("section", { class: "charts", "aria-label": "Filters" });
    this._sets = h("div", { class: "of-set" });
    this._focused = "";
  }

  /** Show the papers that pass the filters. */
  follow() {
    const { model, source } = this.viewer;
    const { filters } = model.state;
    // The controls are made again, so the focus moves to the new control of the same name.
    const focused = /** @type {HTMLElement | null} */ (
      /** @type {Document | ShadowRoot} */ (this.element.getRootNode()).activeElement ?? null
    );
    this._focused = focused && this.element.contains(focused) ? nameOf(focused) : "";
    const charts = [];
    const years = source.manifest.years;
    if (years) {
      const first = Math.max(years[0], years[1] - YEARS + 1);
      const last = years[1];
      const all = countYears(source, new Uint8Array(source.manifest.papers).fill(1), first, last);
      const passing = countYears(source, model.passing({ ...filters, years: null }), first, last);
      charts.push(
        this._head("Years", filters.years ? `${filters.years[0]}–${filters.years[1]}` : "", () =>
          model.filter({ years: null }),
        ),
        yearChart({ first, all, passing, chosen: filters.years, choose: (chosen) => model.filter({ years: chosen }) }),
      );
    }
    this.element.replaceChildren(...charts, this._layers(), this._sets);
    this._followSets();
  }

  _layers() {
    const { model, source } = this.viewer;
    const reviews = source.manifest.sets.reviews?.[0];
    const mine = source.manifest.sets.mine?.[0];
    const box = (
      /** @type {string} */ label,
      /** @type {boolean} */ isOn,
      /** @type {(isOn: boolean) => void} */ set,
      /** @type {string} */ swatch = "",
    ) => {
      const input = h("input", { type: "checkbox", onchange: () => set(input.checked) });
      input.checked = isOn;
      const dot = swatch ? h("span", { class: "swatch", style: { background: swatch } }) : null;
      return h("label", { class: "uses" }, input, dot, label);
    };
    const { layers, filters } = model.state;
    const layer = (/** @type {string} */ name, /** @type {string} */ label, swatch = "") =>
      box(
        label,
        layers.includes(name),
        (isOn) => model.set({ layers: isOn ? [...layers, name] : layers.filter((one) => one !== name) }),
        swatch,
      );
    const { theme } = this.viewer.map;
    return h(
      "div",
      { class: "layers", role: "group", "aria-label": "Shown on the map" },
      layer("names", "Names"),
      layer("papers", "Papers"),
      reviews ? layer("reviews", count(reviews.papers, "review"), theme.reviews) : null,
      reviews && layers.includes("reviews")
        ? box("only reviews", filters.reviews, (isOn) => model.filter({ reviews: isOn }))
        : null,
      mine
        ? h("span", { class: "uses" }, h("span", { class: "swatch", style: { background: theme.mine } }), `${number(mine.papers)} of my papers`)
        : null,
    );
  }

  async _followSets() {
    const { model, source } = this.viewer;
    const passes = model.counted;
    const shown = [];
    for (const [kind, title, name] of /** @type {const} */ ([
      ["facilities", "Facilities mentioned", "facility"],
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
        this.viewer.fail(`The ${title.toLowerCase()} could not be loaded`, error);
        return;
      }
      if (passes !== model.counted) return; // the filters have changed meanwhile
      bars.sort((a, b) => Number(b.row === chosen) - Number(a.row === chosen) || b.papers - a.papers);
      shown.push(
        this._head(title, chosen >= 0 ? entries[chosen].name : "", () => model.filter({ [name]: -1 })),
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
        name === "facility" && chosen >= 0 ? this._uses(entries[chosen]) : "",
        this._more(title, entries, (row) => model.filter({ [name]: row })),
      );
    }
    this._sets.replaceChildren(...shown);
    if (this._focused) {
      const again = [...this.element.querySelectorAll("button")].find((one) => nameOf(one) === this._focused);
      again?.focus();
      this._focused = "";
    }
  }

  /**
   * A choice between papers that mention a facility and papers that use its data.
   * @param {import("./source.js").SetEntry} entry
   */
  _uses(entry) {
    const { model } = this.viewer;
    const box = h("input", { type: "checkbox", onchange: () => model.filter({ uses: box.checked }) });
    box.checked = model.state.filters.uses;
    const text = `only the ${count(entry.uses, "paper")} that use its data`;
    return h("label", { class: "uses" }, box, text);
  }

  /**
   * @param {string} title
   * @param {import("./source.js").SetEntry[]} entries
   * @param {(row: number) => void} choose
   */
  _more(title, entries, choose) {
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
  _head(title, chosen, clear) {
    return h(
      "h2",
      {},
      title,
      chosen ? h("button", { class: "chip", title: `Remove the filter ${chosen}`, onclick: clear }, `${chosen} ✕`) : null,
    );
  }
}

/** @param {HTMLElement} control */
function nameOf(control) {
  return control.title || control.textContent || "";
}
