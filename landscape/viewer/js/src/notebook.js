// The viewer in a notebook: a widget whose model holds the files and the state.

import { download, h } from "./dom.js";
import { apply, describe } from "./given.js";
import { Viewer } from "./panel.js";
import { Source } from "./source.js";
import { Tools } from "./tools.js";

/**
 * @typedef {{get: (name: string) => any, set: (name: string, value: unknown) => void,
 *   save_changes: () => void, on: (name: string, use: (...given: any[]) => void) => void,
 *   off: (name: string, use: (...given: any[]) => void) => void,
 *   send: (message: object, callbacks?: object, buffers?: ArrayBuffer[]) => void,
 *   widget_manager?: {kernel?: {status?: string, connectionStatus?: string}}}} WidgetModel
 * @typedef {import("./messages.js").Request} Request
 */

const TRAITS = ["files", "titles", "words"]; // with files; the first ones make another viewer
const STILL = 120; // milliseconds without another change, after which the kernel is told
const PATIENCE = 700; // milliseconds until a request counts as waiting
const LOOK = 1_000; // milliseconds between looks at the kernel

/** The kernel behind a viewer. */
export class Kernel {
  /** @param {WidgetModel} model */
  constructor(model) {
    this.model = model;
    this.trouble = ""; // what the user must know of the state of the kernel
    /** @type {Map<string, Uint8Array<ArrayBuffer>>} */
    this._files = new Map();
    /** @type {Map<string, {use: (bytes: Uint8Array<ArrayBuffer>) => void, fail: (error: Error) => void}[]>} */
    this._wanted = new Map();
    /** @type {Map<string, number>} */
    this._asked = new Map(); // files that were asked for, and when
    /** @type {Set<Viewer>} */
    this._viewers = new Set();
    for (const name of TRAITS) this._take(name);
    /** @type {[string, (...given: any[]) => void][]} */
    this._handlers = [
      ...TRAITS.slice(1).map((name) => /** @type {[string, () => void]} */ ([`change:${name}`, () => this._take(name)])),
      ["change:coming", () => this._askForMissing()],
      ["change:found", () => this._hearFound()],
      ["msg:custom", (message, buffers) => this._hear(message, buffers)],
    ];
    for (const [event, use] of this._handlers) model.on(event, use);
    /** @type {{key: string, use: (answer: import("./model.js").Answer) => void}[]} */
    this._searches = [];
    this.search = this.search.bind(this);
    this._clock = setInterval(() => this._look(), LOOK);
  }

  /**
   * Call a function after an event of the model, until the kernel is closed.
   * @param {string} event
   * @param {(...given: any[]) => void} use
   */
  on(event, use) {
    this._handlers.push([event, use]);
    this.model.on(event, use);
  }

  /** Stop listening. */
  close() {
    clearInterval(this._clock);
    for (const [event, use] of this._handlers) this.model.off(event, use);
  }

  /** @param {string} name */
  _take(name) {
    for (const [file, view] of Object.entries(this.model.get(name) ?? {})) {
      this._arrive(file, bytesOf(view));
    }
  }

  /**
   * @param {string} name
   * @param {Uint8Array<ArrayBuffer>} bytes
   */
  _arrive(name, bytes) {
    this._files.set(name, bytes);
    for (const { use } of this._wanted.get(name) ?? []) use(bytes);
    this._wanted.delete(name);
    this._asked.delete(name);
  }

  /**
   * Read a file: from the model, or from the kernel.
   * @type {import("./source.js").Read}
   */
  read = (name) => {
    const known = this._files.get(name);
    if (known) return Promise.resolve(known);
    return new Promise((use, fail) => {
      this._wanted.set(name, [...(this._wanted.get(name) ?? []), { use, fail }]);
      this._askForMissing();
    });
  };

  _askForMissing() {
    const isComing = this.model.get("coming");
    for (const name of this._wanted.keys()) {
      // Titles and their words are sent without being asked for.
      if (this._asked.has(name) || (isComing && /^(?:records|words)\b/.test(name))) continue;
      this._asked.set(name, performance.now());
      this.ask({ do: "read", name });
    }
  }

  /**
   * Send a request to the kernel.
   * @param {Request} request
   * @param {ArrayBuffer[]} buffers
   */
  ask(request, buffers = []) {
    this.model.send(request, {}, buffers);
  }

  /**
   * @param {{kind: string, name?: string, type?: string, error?: string, html?: string}} message
   * @param {DataView[]} buffers
   */
  _hear(message, buffers) {
    const name = message.name ?? "";
    if (message.kind === "read" && message.error) {
      for (const { fail } of this._wanted.get(name) ?? []) fail(new Error(message.error));
      this._wanted.delete(name);
      this._asked.delete(name);
    } else if (message.kind === "read") {
      this._arrive(name, bytesOf(buffers[0]));
    } else if (message.kind === "download") {
      download(name, message.type ?? "application/octet-stream", bytesOf(buffers[0]));
    }
  }

  /** What the kernel wants to be shown on the map. */
  get notice() {
    return /** @type {string} */ (this.model.get("notice") ?? "");
  }

  /**
   * Search by meaning and words.
   * @type {import("./model.js").Search}
   */
  search(query, { method, k, filters }) {
    const key = JSON.stringify([query, method, k, filters.years]);
    return new Promise((use) => {
      this._searches.push({ key, use });
      if (!this._hearFound()) this.ask({ do: "search", query, method, k, years: filters.years });
    });
  }

  /** Give the papers that the kernel found to the searches for them; whether there were any. */
  _hearFound() {
    /** @type {Partial<import("./messages.js").SearchResult> | undefined} */
    const found = this.model.get("found");
    if (!found?.key) return false;
    const key = JSON.stringify(found.key);
    const own = this._searches.filter((one) => one.key === key);
    if (!own.length) return false;
    const points = pointsOf(found.points);
    for (const { use } of own) use({ points, missing: [], note: found.note, problem: found.problem });
    this._searches = this._searches.filter((one) => one.key !== key);
    return true;
  }

  /** Note whether the kernel is busy or gone. */
  _look() {
    const { kernel } = this.model.widget_manager ?? {};
    const status = kernel?.status ?? "";
    const now = performance.now();
    const isWaiting = [...this._asked.values()].some((since) => now - since > PATIENCE) || this._searches.length > 0;
    const before = this.trouble;
    if (kernel) this._hadKernel = true;
    // JupyterLab's manager has no kernel any more after it was shut down.
    if (!kernel && this._hadKernel) this._isGone = true;
    if (/^(?:dead|terminating|restarting|autorestarting)$/.test(status) || kernel?.connectionStatus === "disconnected") {
      this._isGone = true;
    }
    this.trouble = this._isGone
      ? "the kernel is gone: the map still moves; run the cell again for records, searches and files"
      : isWaiting
        ? "the kernel is busy: what needs it waits"
        : "";
    if (this.trouble !== before) for (const viewer of this._viewers) viewer.showStatus();
  }

  /**
   * Page with what needs the kernel.
   * @param {Viewer} viewer
   */
  page(viewer) {
    return new Tools(viewer, this).element;
  }

  /**
   * Send a request with the papers that are listed.
   * @param {Request} request
   */
  askOfListed(request) {
    const [viewer] = this._viewers;
    this.ask(request, [Uint32Array.from(viewer?.model.listed ?? []).buffer]);
  }

  /**
   * Keep a viewer and the model equal.
   * @param {Viewer} viewer
   * @returns {() => void} function that ends it
   */
  join(viewer) {
    const { model } = this;
    this._viewers.add(viewer);
    const box = viewer.source.manifest.box;
    const side = box[2] - box[0];
    let written = ""; // what the model holds
    let own = ""; // what the viewer makes of it: in a panel of another shape, another window
    let selected = viewer.model.state.selected;
    let timer = 0;
    const write = () => {
      const given = describe(viewer);
      const text = JSON.stringify(given);
      const { state } = viewer.model;
      const isNew = text !== own;
      const isSelected = state.selected !== selected;
      // Setting tells this viewer, too, which must know that the change is its own.
      written = own = text;
      selected = state.selected;
      if (isNew) model.set("given", given);
      if (isSelected) {
        // The number tells one set of bytes from another, because the model cannot.
        const turn = (model.get("selected")?.turn ?? 0) + 1;
        model.set("selected", { turn, points: new DataView(selected.slice().buffer) });
        const outline = state.outline?.map(([x, y]) => [box[0] + side * x, box[1] + side * y]) ?? null;
        model.set("outline", outline);
      }
      if (isNew || isSelected) model.save_changes();
    };
    viewer.onChange(() => {
      clearTimeout(timer);
      timer = setTimeout(write, STILL);
    });
    const readGiven = () => {
      const given = model.get("given") ?? {};
      const text = JSON.stringify(given);
      if (text === written) return;
      written = text;
      apply(viewer, given);
      // A linked viewer would answer with a window of its own, and both would move without end.
      own = JSON.stringify({ ...describe(viewer), ...(given.paper ? { paper: given.paper } : {}) });
    };
    const readSelected = () => {
      const points = pointsOf(model.get("selected")?.points);
      if (isSame(points, selected)) return;
      selected = points;
      viewer.model.set({ selected: points, outline: null });
    };
    const readNotice = () => viewer.showStatus();
    const readTheme = () => viewer.setDark(isDark(model.get("theme")));
    model.on("change:given", readGiven);
    model.on("change:selected", readSelected);
    model.on("change:notice", readNotice);
    model.on("change:theme", readTheme);
    const themes = new MutationObserver(readTheme);
    themes.observe(document.body, { attributes: true });
    readGiven();
    readSelected();
    return () => {
      clearTimeout(timer);
      themes.disconnect();
      this._viewers.delete(viewer);
      model.off("change:given", readGiven);
      model.off("change:selected", readSelected);
      model.off("change:notice", readNotice);
      model.off("change:theme", readTheme);
      viewer.remove();
    };
  }
}

/**
 * Show the widget.
 * @param {WidgetModel} model
 * @param {HTMLElement} element
 * @param {(root: Node) => void} addStyle
 * @returns {() => void} function that removes it
 */
export function show(model, element, addStyle) {
  const root = h("div", {});
  element.append(root);
  addStyle(element.getRootNode());
  /** @type {(() => void)[]} */
  let ends = [];
  const build = async () => {
    for (const end of ends) end();
    ends = [];
    root.style.height = `${model.get("height")}px`;
    const kernel = new Kernel(model);
    ends.push(() => kernel.close());
    try {
      const source = await Source.open(kernel.read);
      const viewer = new Viewer(root, source, { dark: isDark(model.get("theme")), kernel });
      Object.assign(root, { viewer }); // for tests
      ends.push(kernel.join(viewer));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      root.textContent = `The map cannot be shown: ${reason.replace(/\.$/, "")}.`;
    }
  };
  model.on("change:files", build); // an atlas that was opened again
  build();
  return () => {
    model.off("change:files", build);
    for (const end of ends) end();
  };
}

/**
 * Whether a theme is dark; "auto" is that of the page.
 * @param {string} theme
 */
function isDark(theme) {
  if (theme !== "auto") return theme === "dark";
  const { body } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (/vscode-/.test(body.className)) return /vscode-(?:dark|high-contrast)\b/.test(body.className);
  return false;
}

/**
 * @param {DataView | ArrayBuffer | Uint8Array | null | undefined} view
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesOf(view) {
  if (!view) return new Uint8Array(0);
  if (view instanceof ArrayBuffer) return new Uint8Array(view);
  return new Uint8Array(/** @type {ArrayBuffer} */ (view.buffer), view.byteOffset, view.byteLength);
}

/** @param {DataView | ArrayBuffer | Uint8Array | null | undefined} view */
function pointsOf(view) {
  return new Uint32Array(bytesOf(view).slice().buffer);
}

/**
 * @param {Uint32Array} one
 * @param {Uint32Array} other
 */
function isSame(one, other) {
  return one.length === other.length && one.every((point, at) => point === other[at]);
}
