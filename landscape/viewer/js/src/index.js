// The doors of the viewer: a page of a site has an element for the map, other pages call `mount`, and
// anywidget calls `render` in notebooks.

import { apply } from "./given.js";
import { show } from "./notebook.js";
import { Viewer } from "./panel.js";
import { fromPage, fromWeb, Source } from "./source.js";
import { enhance } from "./tables.js";
import text from "./style.css";

/** @param {Node} place */
function addStyle(place) {
  const root = place instanceof ShadowRoot ? place : document;
  if (root.adoptedStyleSheets.some((sheet) => "landscape" in sheet)) return;
  const sheet = Object.assign(new CSSStyleSheet(), { landscape: true });
  sheet.replaceSync(text);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

/**
 * Show an atlas in an element of a page.
 * @param {HTMLElement} element
 * @param {string | {[name: string]: string}} source address of the folder of the files, or the
 *   files in base64
 * @param {{dark?: boolean, address?: boolean}} options with `address`, the address of the page
 *   follows the state
 * @returns {Promise<Viewer>}
 */
export async function mount(element, source, options = {}) {
  addStyle(element.getRootNode());
  element.setAttribute("aria-busy", "true");
  try {
    const opened = await Source.open(typeof source === "string" ? fromWeb(source) : fromPage(source));
    return new Viewer(element, opened, options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    element.textContent = `The map cannot be shown: ${reason}.`;
    throw error;
  } finally {
    element.removeAttribute("aria-busy");
  }
}

/** The door for anywidget. */
export default {
  /** @param {{model: import("./notebook.js").WidgetModel, el: HTMLElement}} given */
  render({ model, el }) {
    return show(model, el, addStyle);
  },
};

for (const table of document.querySelectorAll("table.landscape-table")) {
  if (table instanceof HTMLTableElement) enhance(table);
}

// A page of a site has an element for the map, and a single page also has the files.
const place = document.getElementById("landscape-map");
if (place) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const files = document.getElementById("landscape-files")?.textContent;
  mount(place, files ? JSON.parse(files) : (place.dataset.source ?? "data/"), {
    dark: dark.matches,
    address: true,
  }).then(
    (viewer) => {
      // A page that was saved with a state shows it first, unless the address has another one.
      const given = JSON.parse(place.dataset.given || "{}");
      if (location.hash.length < 2 && Object.keys(given).length) apply(viewer, given);
      dark.addEventListener("change", () => viewer.setDark(dark.matches));
      Object.assign(window, { landscape: viewer });
    },
    (error) => console.error(error),
  );
}
