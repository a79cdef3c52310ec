// Charts that show the papers that pass the filters, and set filters themselves.

import { h, number } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 64;
const SVG = "http://www.w3.org/2000/svg";

/**
 * Bars of the papers of each year. A drag over some years makes them the filter.
 * @param {{first: number, all: Uint32Array, passing: Uint32Array, chosen: [number, number] | null,
 *   choose: (years: [number, number] | null) => void}} given
 * @returns {HTMLElement}
 */
export function yearChart({ first, all, passing, chosen, choose }) {
  const n = all.length;
  const most = Math.max(1, ...all);
  const step = WIDTH / n;
  const chart = document.createElementNS(SVG, "svg");
  chart.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  chart.setAttribute("preserveAspectRatio", "none");
  chart.setAttribute("class", "years");
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", `Papers by year, ${first} to ${first + n - 1}`);
  for (const [counts, name] of /** @type {const} */ ([
    [all, "all"],
    [passing, "passing"],
  ])) {
    counts.forEach((papers, at) => {
      const height = papers ? Math.max(1, (HEIGHT * papers) / most) : 0;
      const bar = rectangle(at * step, HEIGHT - height, Math.max(0.8, step - 0.6), height, name);
      if (name === "all") {
        const title = document.createElementNS(SVG, "title");
        title.textContent = `${first + at}: ${number(passing[at])} of ${number(papers)} papers`;
        bar.append(title);
      }
      chart.append(bar);
    });
  }
  if (chosen) {
    const [a, b] = chosen.map((year) => Math.min(n - 1, Math.max(0, year - first)));
    chart.append(rectangle(a * step, 0, (b - a + 1) * step, HEIGHT, "chosen"));
  }
  /** @type {number | null} */
  let start = null;
  const yearAt = (/** @type {PointerEvent} */ event) => {
    const box = chart.getBoundingClientRect();
    const share = Math.min(0.999, Math.max(0, (event.clientX - box.left) / box.width));
    return first + Math.floor(share * n);
  };
  chart.addEventListener("pointerdown", (event) => {
    start = yearAt(event);
    chart.setPointerCapture(event.pointerId);
  });
  chart.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const end = yearAt(event);
    choose([Math.min(start, end), Math.max(start, end)]);
    start = null;
  });
  const ends = h("div", { class: "ends" }, h("span", {}, String(first)), h("span", {}, String(first + n - 1)));
  return h("div", { class: "chart" }, chart, ends);
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {string} name
 */
function rectangle(x, y, width, height, name) {
  const bar = document.createElementNS(SVG, "rect");
  for (const [key, value] of Object.entries({ x, y, width, height })) {
    bar.setAttribute(key, value.toFixed(2));
  }
  bar.setAttribute("class", name);
  return bar;
}

/**
 * A line of the papers of each year, for a region.
 * @param {Uint32Array} counts
 * @returns {SVGSVGElement}
 */
export function sparkline(counts) {
  const chart = document.createElementNS(SVG, "svg");
  chart.setAttribute("viewBox", "0 0 40 12");
  chart.setAttribute("class", "spark");
  chart.setAttribute("aria-hidden", "true");
  const most = Math.max(1, ...counts);
  const line = document.createElementNS(SVG, "polyline");
  const step = 40 / Math.max(1, counts.length - 1);
  line.setAttribute(
    "points",
    [...counts].map((papers, at) => `${(at * step).toFixed(1)},${(11 - (10 * papers) / most).toFixed(1)}`).join(" "),
  );
  chart.append(line);
  return chart;
}

/**
 * Bars of the most frequent facilities or concepts, which are buttons that set the filter.
 * @param {{name: string, papers: number, of: number, isChosen: boolean, choose: () => void}[]} bars
 * @returns {HTMLElement}
 */
export function barChart(bars) {
  const most = Math.max(1, ...bars.map((bar) => bar.papers));
  return h(
    "div",
    { class: "bars" },
    ...bars.map((bar) =>
      h(
        "button",
        {
          class: bar.isChosen ? "bar chosen" : "bar",
          "aria-pressed": String(bar.isChosen),
          title: `${bar.name}: ${number(bar.papers)} of ${number(bar.of)} papers`,
          onclick: bar.choose,
        },
        h("span", { class: "fill", style: { width: `calc((100% - 48px) * ${bar.papers / most})` } }),
        h("span", { class: "label" }, bar.name),
        h("span", { class: "count" }, number(bar.papers)),
      ),
    ),
  );
}
