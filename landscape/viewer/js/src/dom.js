// Elements of the page. Texts become text nodes, so nothing in an atlas can become markup.

/**
 * Make an element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {{[name: string]: any}} attributes functions are event handlers, such as onclick,
 *   and the style is an object, because a page may forbid styles in attributes
 * @param {(Node | string | null | undefined)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key === "style") Object.assign(element.style, value);
    else if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/**
 * A number with separators of thousands.
 * @param {number} value
 */
export function number(value) {
  return value.toLocaleString("en");
}

/**
 * A number and a noun, such as "1 paper" or "2 papers".
 * @param {number} value
 * @param {string} noun
 */
export function count(value, noun) {
  return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/**
 * Save a text or bytes as a file.
 * @param {string} name
 * @param {string} kind
 * @param {string | Uint8Array<ArrayBuffer>} content
 */
export function download(name, kind, content) {
  const address = URL.createObjectURL(new Blob([content], { type: kind }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
