// The viewer of a page: a site has an element for the map, and other pages call `mount`.

import { Viewer } from "./panel.js";
import { fromPage, fromWeb, Source } from "./source.js";
import text from "./style.css";

/** @param {Document | ShadowRoot} root */
function addStyle(root) {
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
  const root = element.getRootNode();
  addStyle(root instanceof ShadowRoot ? root : document);
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

// A page of a site has an element for the map, and a single page also has the files.
const place = document.getElementById("landscape-map");
if (place) {
  const files = document.getElementById("landscape-files")?.textContent;
  mount(place, files ? JSON.parse(files) : (place.dataset.source ?? "data/"), {
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    address: true,
  }).then(
    (viewer) => Object.assign(window, { landscape: viewer }),
    (error) => console.error(error),
  );
}
