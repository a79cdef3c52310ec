// The map: density, points, names, outlines and lines, and what the pointer touches.

import { Camera } from "./camera.js";
import { byColumn, byNumber, byRegion, bySet, plain, ramp, rgb } from "./colours.js";
import { densityGrid, densityPicture, densityValues, tones } from "./density.js";
import { h } from "./dom.js";
import { Places } from "./places.js";
import { hasWebGL, MARKED, MINE, Points, REMOVED, REVIEW, SELECTED, SHOWN } from "./renderer.js";

/** @typedef {import("./colours.js").Theme} Theme */

const SLOW = 45; // milliseconds of a frame, from which a sample is drawn while the map moves
const SAMPLE = 60_000;
const MOST_CORNERS = 60; // of an outline
const REACH = 9; // pixels between the pointer and a paper
const DOTS = 15_000; // papers that are drawn one by one without WebGL
const PICTURE_UNTIL = 3_500; // scale at which the picture of the density has faded
const DENSE = 2_000_000; // papers, from which the picture is shown with every colour
const SVG = "http://www.w3.org/2000/svg";

/** The map of a model. */
export class MapView {
  /**
   * @param {import("./model.js").Model} model
   * @param {Theme} theme
   * @param {{hovered: (point: number, x: number, y: number) => void, tool: () => string,
   *   coloured: () => void, failed: (name: string, error: unknown) => void, moved: () => void}} on
   */
  constructor(model, theme, on) {
    this.model = model;
    this.source = model.source;
    this.theme = theme;
    this.on = on;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.names = h("div", { class: "names" });
    this.overlay = /** @type {SVGSVGElement} */ (document.createElementNS(SVG, "svg"));
    this.overlay.setAttribute("aria-hidden", "true");
    this.element = h(
      "div",
      {
        class: "map",
        tabindex: "0",
        role: "application",
        "aria-label":
          "Map of papers. Arrow keys move, plus and minus zoom, zero shows the whole map.",
      },
      this.canvas,
      this.overlay,
      this.names,
    );
    this.camera = new Camera(this.element, {
      changed: () => {
        this.request();
        if (!this.camera?.isMoving) this.on.moved();
      },
      clicked: (x, y, event) => this._click(x, y, event),
      isDrawing: (event) => this.on.tool() !== "move" || event.shiftKey,
      drawing: (corners) => this._outline(corners),
      drawn: (corners, event) => this._choose(corners, event),
    });
    this.element.addEventListener("pointermove", (event) => this._hover(event));
    this.element.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") this.on.hovered(-1, 0, 0);
    });
    /** @type {import("./colours.js").Colouring | null} */
    this.colouring = null;
    this._isRemoved = false;
    /** @type {(() => void) | null} */
    this._flyLater = null;
    /** @type {Points | null} */
    this._points = null;
    /** @type {boolean | undefined} */
    this._pictureIsMain = undefined;
    /** @type {[number, number][]} */
    this._corners = [];
    this._tapped = -1;
    this._frame = 0;
    this.frames = 0; // drawn so far, for tests and measurements
    this._labels = this.source.manifest.names.map((name) => this._label(name));
    this._reload();
    this._sizes = new ResizeObserver(() => this._resize());
    this._sizes.observe(this.element);
    this._seen = new IntersectionObserver((entries) => this._visible(entries[0].isIntersecting));
    this._seen.observe(this.element);
    model.on("state", () => this._restate());
    model.on("open", () => this.request());
    model.on("loaded", () => this._reload());
  }

  /** Compute what depends on the loaded papers. */
  _reload() {
    this.places = new Places(this.source);
    this._makeDensity();
    this.colourBy(this.model.state.colour);
  }

  _makeDensity() {
    this._passes = this.model.passes;
    this._grid = densityGrid(this.source, this.model.passes);
    this._tone = tones(this.source, this._grid, this.model.passes);
    this._picture = null;
  }

  _restate() {
    if (this.model.passes !== this._passes) this._makeDensity();
    this.colourBy(this.model.state.colour);
  }

  /** @param {boolean} isVisible */
  _visible(isVisible) {
    if (!isVisible) {
      this._points?.release();
      this._points = null;
      this._isStale = true;
    } else {
      this.request();
    }
  }

  /** @param {Theme} theme */
  setTheme(theme) {
    this.theme = theme;
    this._picture = null;
    this.colourBy(this.model.state.colour);
  }

  /**
   * Colour the papers.
   * @param {string} name
   */
  colourBy(name) {
    const { source, theme } = this;
    const { facility, concept } = this.model.state.filters;
    const turn = (this._colourTurn = (this._colourTurn ?? 0) + 1);
    const later = (/** @type {Promise<import("./colours.js").Colouring>} */ coming) => {
      coming.then(
        (found) => {
          if (turn === this._colourTurn) this._useColours(name, found);
        },
        (error) => {
          if (turn === this._colourTurn) this.on.failed(name, error);
        },
      );
      return this.colouring ?? byRegion(source, theme);
    };
    if (name === "year") {
      this._useColours(name, byNumber(source, theme, "Year", source.year, String));
    } else if (name === "citations") {
      const write = (/** @type {number} */ value) => String(value - 1);
      this._useColours(name, byNumber(source, theme, "Citations", source.citations, write));
    } else if (name === "density") {
      const grid = /** @type {Float32Array} */ (this._grid);
      const tone = /** @type {(density: number) => number} */ (this._tone);
      this._useColours(name, {
        title: "Density",
        values: densityValues(source, grid, tone),
        colours: ramp(theme.ramp.slice(2)),
        ends: /** @type {[string, string]} */ (["few papers", "many"]),
        css: `linear-gradient(to right, ${theme.ramp.slice(1).join(",")})`,
      });
    } else if (name === "facility" || name === "concept") {
      const [kind, chosen] = name === "facility" ? ["facilities", facility] : ["concepts", concept];
      const set = bySet(source, theme, /** @type {"facilities" | "concepts"} */ (kind), Number(chosen));
      this._useColours(name, later(set), false);
    } else if (name === "region") {
      this._useColours(name, byRegion(source, theme));
    } else {
      this._useColours(name, later(source.column(name).then((column) => byColumn(theme, column))), false);
    }
  }

  /**
   * @param {string} name
   * @param {import("./colours.js").Colouring} colouring
   */
  _useColours(name, colouring, isComplete = true) {
    this.colouring = colouring;
    this._colourName = name;
    this._isStale = true;
    this.request();
    if (isComplete) this.on.coloured();
  }

  /** Draw in the next frame. */
  request() {
    if (!this._frame && !this._isRemoved) {
      this._frame = requestAnimationFrame(() => this._draw());
    }
  }

  _resize() {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight) return;
    this.ratio = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = Math.round(clientWidth * this.ratio);
    this.canvas.height = Math.round(clientHeight * this.ratio);
    this.overlay.setAttribute("viewBox", `0 0 ${clientWidth} ${clientHeight}`);
    this.camera.resize(clientWidth, clientHeight);
    if (this._flyLater) {
      this._flyLater();
      this._flyLater = null;
    }
  }

  _draw() {
    this._frame = 0;
    const { camera, canvas, theme } = this;
    if (camera.width <= 1) return;
    const target = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const ratio = this.ratio ?? 1;
    target.fillStyle = theme.page;
    target.fillRect(0, 0, canvas.width, canvas.height);
    this._drawPicture(target, ratio);
    if (this._drawsPoints()) this._drawPoints(target, ratio);
    else this._drawDots(target, ratio);
    this._placeNames();
    this._drawOverlay();
    this.frames += 1;
  }

  /**
   * @param {CanvasRenderingContext2D} target
   * @param {number} ratio
   */
  _drawPicture(target, ratio) {
    const { scale } = this.camera.view;
    const hasPapers = this.model.state.layers.includes("papers");
    const isMain =
      this._colourName === "density" || !hasPapers || !this._drawsPoints() || this.source.n > DENSE;
    const alpha = Math.min(1, Math.max(0, 1.6 - (1.6 * scale) / PICTURE_UNTIL)) * (isMain ? 1 : 0.35);
    const hasPoints = this._drawsPoints() && this.model.state.layers.includes("papers");
    if (alpha <= 0 && hasPoints) return;
    if (!this._picture || this._pictureIsMain !== isMain) {
      const colours = ramp(isMain ? this.theme.ramp : [this.theme.page, this.theme.quiet]);
      const grid = /** @type {Float32Array} */ (this._grid);
      const tone = /** @type {(density: number) => number} */ (this._tone);
      this._picture = densityPicture(grid, tone, colours);
      this._pictureIsMain = isMain;
    }
    const [left, top] = this.camera.toPixel(0, 1);
    target.globalAlpha = hasPoints ? alpha : Math.max(alpha, 0.5);
    target.imageSmoothingQuality = "high";
    target.drawImage(this._picture, left * ratio, top * ratio, scale * ratio, scale * ratio);
    target.globalAlpha = 1;
  }

  _drawsPoints() {
    if (this._hasWebGL === undefined) this._hasWebGL = hasWebGL();
    return this._hasWebGL;
  }

  /**
   * @param {CanvasRenderingContext2D} target
   * @param {number} ratio
   */
  _drawPoints(target, ratio) {
    try {
      this._points ??= new Points(this.source);
      this._pass(this._points, target, ratio);
    } catch {
      // The context was lost and cannot be made again.
      this._points = null;
      this._hasWebGL = false;
      this.request();
    }
  }

  /**
   * @param {Points} points
   * @param {CanvasRenderingContext2D} target
   * @param {number} ratio
   */
  _pass(points, target, ratio) {
    const { camera, model, source, theme } = this;
    const { values, colours } = /** @type {import("./colours.js").Colouring} */ (this.colouring);
    if (this._isStale || this._sentPapers !== source.n) {
      points.colour(values);
      points.kinds = model.kinds;
      points.send();
      this._isStale = false;
      this._sentPapers = source.n;
    }
    if (!model.state.layers.includes("papers")) return;
    const { size, alpha } = dotOf(camera.view.scale, source.n);
    const hasMarks = model.found.length > 0 || model.state.selected.length > 0;
    const marked = Math.max(size * 1.3, 4.5);
    // Few papers that pass the filters are drawn larger.
    const few = dotOf(camera.view.scale, model.nPassing);
    const shown = Math.min(few.size, 2 * size + 1);
    const opacity = model.nPassing < source.n ? few.alpha : alpha;
    const passes = [
      { kind: SHOWN, size: shown, alpha: hasMarks ? opacity * 0.3 : opacity, colours },
      // Selected papers keep their colours while the others fade.
      { kind: SELECTED, size: Math.max(shown, 3), alpha: Math.max(opacity, 0.8), colours },
      { kind: REVIEW, size: marked, alpha: 0.9, colours: plain(theme.reviews) },
      { kind: MINE, size: marked + 3, alpha: 1, colours: plain(theme.page) },
      { kind: MINE, size: marked + 1, alpha: 1, colours: plain(theme.mine) },
      // No class has the colour of the text.
      { kind: MARKED, size: marked + 2.5, alpha: 1, colours: plain(theme.page) },
      { kind: MARKED, size: marked, alpha: 1, colours: plain(theme.ink) },
    ];
    if (model.passes.includes(0)) {
      passes.unshift({ kind: REMOVED, size, alpha: alpha * 0.16, colours: plain(theme.quiet) });
    }
    const isSlow = points.milliseconds > SLOW;
    const count = camera.isMoving && isSlow ? Math.min(SAMPLE, source.n) : source.n;
    points.draw(target, camera.view, passes, ratio, count);
  }

  /**
   * Draw the papers in view one by one if there are few; otherwise the density is enough.
   * @param {CanvasRenderingContext2D} target
   * @param {number} ratio
   */
  _drawDots(target, ratio) {
    const { camera, model } = this;
    const [x0, y1] = camera.toMap(0, 0);
    const [x1, y0] = camera.toMap(camera.width, camera.height);
    /** @type {[number, number, number][]} */
    const dots = [];
    /** @type {[number, number][]} */
    const marks = [];
    this._places().within(x0, y0, x1, y1, (point, x, y) => {
      if (model.kinds[point] === MARKED || model.kinds[point] === MINE) marks.push([x, y]);
      else if (model.kinds[point] && dots.length <= DOTS) dots.push([point, x, y]);
    });
    const { size, alpha } = dotOf(camera.view.scale, this.source.n);
    const { values, colours } = /** @type {import("./colours.js").Colouring} */ (this.colouring);
    target.globalAlpha = alpha;
    for (const [point, x, y] of dots.length > DOTS ? [] : dots) {
      const at = 4 * values[point];
      target.fillStyle = `rgb(${colours[at]},${colours[at + 1]},${colours[at + 2]})`;
      this._dot(target, x, y, size, ratio);
    }
    target.globalAlpha = 0.95;
    target.fillStyle = this.theme.ink;
    for (const [x, y] of marks) this._dot(target, x, y, Math.max(size * 1.3, 4.5), ratio);
    target.globalAlpha = 1;
  }

  /**
   * @param {CanvasRenderingContext2D} target
   * @param {number} x
   * @param {number} y
   * @param {number} size
   * @param {number} ratio
   */
  _dot(target, x, y, size, ratio) {
    const [px, py] = this.camera.toPixel(x, y);
    target.fillRect((px - size / 2) * ratio, (py - size / 2) * ratio, size * ratio, size * ratio);
  }

  /** @returns {Places} */
  _places() {
    return /** @type {Places} */ (this.places);
  }

  // -- names

  /** @param {import("./source.js").Name} name */
  _label(name) {
    const region = this.source.regions[name.region];
    const [x0, y0, x1] = this.source.manifest.box;
    const side = x1 - x0;
    const label = h(
      "button",
      {
        class: `name level-${region.level}`,
        tabindex: "-1",
        title: `${region.label}: ${region.papers.toLocaleString("en")} papers`,
        style: {
          fontSize: `${this.source.manifest.fonts.sizes[region.level]}px`,
          lineHeight: String(this.source.manifest.fonts.line),
        },
        onclick: () => this.goTo(name.region),
      },
      ...name.lines.flatMap((line, at) => (at ? [h("br"), line] : [line])),
    );
    const place = [(region.x - x0) / side, (region.y - y0) / side];
    return { name, label, x: place[0], y: place[1], isShown: false, width: 0 };
  }

  _placeNames() {
    const { camera } = this;
    this.names.hidden = !this.model.state.layers.includes("names");
    for (const one of this._labels) {
      const [x, y] = camera.toPixel(one.x, one.y);
      const [smallest, largest] = one.name.scales;
      const { scale } = camera.view;
      const inView = x > -80 && y > -30 && x < camera.width + 80 && y < camera.height + 30;
      const isShown = scale >= smallest && scale < largest && inView;
      if (isShown !== one.isShown) {
        one.isShown = isShown;
        if (isShown) this.names.append(one.label);
        else one.label.remove();
      }
      if (!isShown) continue;
      one.width ||= one.label.offsetWidth;
      let left = x + one.name.dx;
      // A name whose peak is in view is not cut by the edge.
      const half = one.width / 2 + 3;
      const bounded = Math.max(half, Math.min(camera.width - half, left));
      // A large shift would put it on another name.
      if (x > 0 && x < camera.width && Math.abs(bounded - left) < Math.max(80, half)) left = bounded;
      one.label.style.transform =
        `translate(${left.toFixed(1)}px,${(y + one.name.dy).toFixed(1)}px) translate(-50%,-50%)`;
    }
  }

  /**
   * Fly to a region.
   * @param {number} region
   */
  goTo(region) {
    if (this.camera.width <= 1) {
      this._flyLater = () => this.goTo(region); // the size of the map is not known yet
      return;
    }
    const wanted = new Set(this.model.inside[region]);
    /** @type {[number, number][]} */
    const places = [];
    const step = Math.max(1, Math.floor(this.source.n / 100_000));
    for (let point = 0; point < this.source.n; point += step) {
      if (wanted.has(this.source.region[point])) places.push(this.placeOf(point));
    }
    if (!places.length) return;
    // The window of the middle 96% of the papers.
    const trimmed = [0, 1].map((side) => {
      const sorted = places.map((place) => place[side]).sort((a, b) => a - b);
      return [sorted[Math.floor(0.02 * sorted.length)], sorted[Math.floor(0.98 * (sorted.length - 1))]];
    });
    this.camera.fly(
      this.camera.around([
        [trimmed[0][0], trimmed[1][0]],
        [trimmed[0][1], trimmed[1][1]],
      ]),
    );
  }

  /**
   * Fly to some papers.
   * @param {number[]} points
   */
  goToPapers(points) {
    const loaded = points.filter((point) => point < this.source.n);
    if (loaded.length) this.camera.fly(this.camera.around(loaded.map((point) => this.placeOf(point))));
  }

  /** The window of the map at rest, in the units of the map: x0, y0, x1, y1; null for the whole map. */
  get window() {
    const { destination: view, whole, width, height } = this.camera;
    if (Math.abs(view.scale / whole - 1) < 0.01 && Math.hypot(view.x - 0.5, view.y - 0.5) < 0.01) return null;
    const [x0, y0, x1] = this.source.manifest.box;
    const side = x1 - x0;
    const [across, up] = [width / view.scale / 2, height / view.scale / 2];
    return [
      x0 + side * (view.x - across),
      y0 + side * (view.y - up),
      x0 + side * (view.x + across),
      y0 + side * (view.y + up),
    ];
  }

  /**
   * Show a window; null shows the whole map.
   * @param {number[] | null} box
   */
  show(box) {
    if (this.camera.width <= 1) {
      this._flyLater = () => this.show(box);
      return;
    }
    const { camera } = this;
    const [x0, y0, x1] = this.source.manifest.box;
    const side = x1 - x0;
    const to = box
      ? {
          x: ((box[0] + box[2]) / 2 - x0) / side,
          y: ((box[1] + box[3]) / 2 - y0) / side,
          scale: Math.min((camera.width * side) / (box[2] - box[0]), (camera.height * side) / (box[3] - box[1])),
        }
      : { x: 0.5, y: 0.5, scale: camera.whole };
    camera.fly(to);
  }

  /**
   * Position of a paper in map widths.
   * @param {number} point
   * @returns {[number, number]}
   */
  placeOf(point) {
    const { place } = this.source;
    return [place[2 * point] / 0xffff, place[2 * point + 1] / 0xffff];
  }

  // -- pointer

  /** @param {PointerEvent} event */
  _hover(event) {
    if (event.buttons || event.pointerType === "touch") return;
    const [x, y] = this.camera.pixelOf(event);
    this._hovered = this._at(x, y);
    this.element.classList.toggle("on-paper", this._hovered >= 0);
    this.on.hovered(this._hovered, x, y);
  }

  /**
   * The paper at a pixel, or -1.
   * @param {number} x
   * @param {number} y
   */
  _at(x, y) {
    const [mapX, mapY] = this.camera.toMap(x, y);
    return this._places().nearest(mapX, mapY, REACH / this.camera.view.scale, this.model.passes);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {PointerEvent} event
   */
  _click(x, y, event) {
    if (/** @type {HTMLElement} */ (event.target).closest(".name")) return;
    const point = this._at(x, y);
    // A finger cannot hover: its first tap shows what the paper is.
    const isFirstTap = event.pointerType === "touch" && point !== this._tapped;
    this._tapped = point;
    this.on.hovered(isFirstTap ? point : -1, x, y);
    if (point >= 0 && !isFirstTap) this.model.open(point);
  }

  /** @param {[number, number][]} corners */
  _outline(corners) {
    this._corners = corners;
    this._drawOverlay();
  }

  /**
   * @param {[number, number][]} corners
   * @param {PointerEvent} event
   */
  _choose(corners, event) {
    this._corners = [];
    const tool = this.on.tool();
    const how = event.altKey || tool === "remove" ? "remove" : tool === "add" || event.ctrlKey ? "add" : "new";
    if (how === "new") this.selectInside(shortened(corners));
    else this.model.select(this._places().inside(corners, this.model.passes), how);
  }

  /**
   * Select the papers inside an outline.
   * @param {[number, number][]} corners
   */
  selectInside(corners) {
    this.model.select(this._places().inside(corners, this.model.passes), "new", corners);
  }

  _drawOverlay() {
    const { camera, model, theme } = this;
    const shapes = [];
    const pixels = (/** @type {[number, number][]} */ places) =>
      places.map(([x, y]) => camera.toPixel(x, y).map((side) => side.toFixed(1)).join(",")).join(" ");
    const isLoaded = (/** @type {number} */ point) => point >= 0 && point < this.source.n;
    for (const [points, dash] of isLoaded(model.opened) ? (this.links ?? []) : []) {
      for (const point of points.filter(isLoaded)) {
        const ends = pixels([this.placeOf(model.opened), this.placeOf(point)]);
        shapes.push(svg("polyline", { points: ends, class: "link", "stroke-dasharray": dash }));
      }
    }
    if (this._corners?.length) {
      shapes.push(svg("polygon", { points: pixels(this._corners), class: "outline" }));
    }
    if (isLoaded(model.opened)) {
      const [x, y] = camera.toPixel(...this.placeOf(model.opened));
      shapes.push(svg("circle", { cx: String(x), cy: String(y), r: "8", class: "opened" }));
    }
    this.overlay.style.setProperty("--mark", `rgb(${rgb(theme.accent).join(",")})`);
    this.overlay.replaceChildren(...shapes);
  }

  /**
   * Draw lines from the open paper to its references and citations.
   * @param {[number[], string][]} links papers, and the dashes of their lines
   */
  link(links) {
    this.links = links;
    this.request();
  }

  /** Remove the observers, and give the memory of the graphics card back. */
  remove() {
    this._isRemoved = true;
    this._sizes.disconnect();
    this._seen.disconnect();
    cancelAnimationFrame(this._frame);
    this._points?.release();
    this._points = null;
  }
}

/**
 * At most about MOST_CORNERS corners of an outline, in numbers that fit into an address.
 * @param {[number, number][]} corners
 * @returns {[number, number][]}
 */
function shortened(corners) {
  const step = Math.ceil(corners.length / MOST_CORNERS);
  return corners
    .filter((_, place) => place % step === 0)
    .map(([x, y]) => [Number(x.toPrecision(5)), Number(y.toPrecision(5))]);
}

/**
 * Size and opacity of the dot of a paper.
 * @param {number} scale
 * @param {number} papers
 */
export function dotOf(scale, papers) {
  const spacing = scale / Math.sqrt(Math.max(papers, 1));
  return {
    size: Math.min(9, Math.max(1.5, 0.62 * spacing)),
    alpha: Math.min(0.9, Math.max(0.4, 0.4 + 0.06 * spacing)),
  };
}

/**
 * @param {string} name
 * @param {{[name: string]: string}} attributes
 */
function svg(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
