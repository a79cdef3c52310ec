// Drawing of points with WebGL. All maps of a page share one context, because browsers allow few.

const VERTEX = `
attribute vec2 place;
attribute float value;
attribute float kind;
uniform vec2 centre;
uniform vec2 factor;
uniform mediump float size;
uniform float wanted;
varying float position;
void main() {
  bool hidden = abs(kind - wanted) > 0.5;
  gl_Position = hidden ? vec4(2.0, 2.0, 2.0, 1.0) : vec4((place - centre) * factor, 0.0, 1.0);
  gl_PointSize = size;
  position = value;
}`;

const FRAGMENT = `
precision mediump float;
uniform sampler2D colours;
uniform float alpha;
uniform float size;
varying float position;
void main() {
  float radius = length(gl_PointCoord - 0.5) * size;
  float inside = size < 2.5 ? 1.0 : clamp(0.5 * size - radius + 0.5, 0.0, 1.0);
  vec4 colour = texture2D(colours, vec2((position * 255.0 + 0.5) / 256.0, 0.5));
  gl_FragColor = vec4(colour.rgb, 1.0) * (inside * alpha * colour.a);
}`;

/** Kinds of points: removed by filters, others, found, the user's own, reviews, and selected. */
export const REMOVED = 0;
export const SHOWN = 1;
export const MARKED = 2;
export const MINE = 3;
export const REVIEW = 4;
export const SELECTED = 5;

/**
 * @typedef {{x: number, y: number, scale: number}} View centre in map widths, pixels per map width
 * @typedef {{kind: number, size: number, alpha: number, colours: Uint8Array<ArrayBuffer>}} Pass
 */

/** The context, and what is needed to draw; made when the first map is shown. */
class Context {
  constructor() {
    this.canvas = document.createElement("canvas");
    const gl = this.canvas.getContext("webgl", {
      antialias: false,
      depth: false,
      premultipliedAlpha: true,
      preserveDrawingBuffer: false,
    });
    if (!gl) throw new Error("this browser has no WebGL");
    this.gl = gl;
    const program = gl.createProgram();
    for (const [kind, text] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ]) {
      const shader = gl.createShader(/** @type {number} */ (kind));
      if (!shader) throw new Error("the graphics context was lost");
      gl.shaderSource(shader, /** @type {string} */ (text));
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    ["place", "value", "kind"].forEach((name, at) => gl.bindAttribLocation(program, at, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
      throw new Error(`WebGL: ${gl.getProgramInfoLog(program)}`);
    }
    gl.useProgram(program);
    /** @type {{[name: string]: WebGLUniformLocation | null}} */
    this.at = {};
    for (const name of ["centre", "factor", "size", "wanted", "alpha", "colours"]) {
      this.at[name] = gl.getUniformLocation(program, name);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, gl.NEAREST],
      [gl.TEXTURE_MAG_FILTER, gl.NEAREST],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ]) {
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    }
    for (let at = 0; at < 3; at++) gl.enableVertexAttribArray(at);
  }
}

/** @type {Context | null} */
let shared = null;
/** @type {Set<Points>} */
const users = new Set();

/** Points of one map on the graphics card. */
export class Points {
  /** @param {import("./source.js").Source} source */
  constructor(source) {
    this._source = source;
    /** @type {Uint8Array} */
    this._values = new Uint8Array(source.manifest.papers);
    /** @type {Uint8Array} */
    this.kinds = new Uint8Array(source.manifest.papers).fill(SHOWN);
    /** @type {WebGLBuffer[] | null} */
    this._buffers = null;
    this._sent = 0;
    this.milliseconds = 0; // of the last drawing of all points
    this._connect();
  }

  _connect() {
    if (!shared || shared.gl.isContextLost()) shared = new Context();
    users.add(this);
    const gl = shared.gl;
    this._context = shared;
    this._buffers = [0, 1, 2].map(() => gl.createBuffer());
    this._sent = 0;
    this.send();
  }

  /** Send all points that are loaded, with their values and kinds. */
  send() {
    if (!this._buffers || !this._context) return;
    const gl = this._context.gl;
    const { n, place } = this._source;
    const data = [place.subarray(0, 2 * n), this._values.subarray(0, n), this.kinds.subarray(0, n)];
    data.forEach((content, at) => {
      if (at === 0 && this._sent === n) return; // places do not change
      gl.bindBuffer(gl.ARRAY_BUFFER, /** @type {WebGLBuffer[]} */ (this._buffers)[at]);
      gl.bufferData(gl.ARRAY_BUFFER, /** @type {BufferSource} */ (content), gl.STATIC_DRAW);
    });
    this._sent = n;
  }

  /**
   * Set the position of each point on the colour ramp, from 0 to 255.
   * @param {Uint8Array} values
   */
  colour(values) {
    this._values = values;
  }

  /**
   * Draw points onto a canvas, over what it shows.
   * @param {CanvasRenderingContext2D} target
   * @param {View} view
   * @param {Pass[]} passes
   * @param {number} ratio device pixels per pixel
   * @param {number} count number of points to draw; the first ones are a random sample
   */
  draw(target, view, passes, ratio, count) {
    const start = performance.now();
    if (!this._context || this._context.gl.isContextLost()) this._connect();
    const { gl, at, canvas: picture } = /** @type {Context} */ (this._context);
    const { width, height } = target.canvas;
    if (picture.width < width || picture.height < height) {
      picture.width = Math.max(picture.width, width);
      picture.height = Math.max(picture.height, height);
    }
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const [place, value, kind] = /** @type {WebGLBuffer[]} */ (this._buffers);
    gl.bindBuffer(gl.ARRAY_BUFFER, place);
    gl.vertexAttribPointer(0, 2, gl.UNSIGNED_SHORT, true, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, value);
    gl.vertexAttribPointer(1, 1, gl.UNSIGNED_BYTE, true, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, kind);
    gl.vertexAttribPointer(2, 1, gl.UNSIGNED_BYTE, false, 0, 0);
    gl.uniform2f(at.centre, view.x, view.y);
    const zoom = 2 * view.scale * ratio;
    gl.uniform2f(at.factor, zoom / width, zoom / height);
    for (const pass of passes) {
      gl.texImage2D(
        gl.TEXTURE_2D,
        0,
        gl.RGBA,
        256,
        1,
        0,
        gl.RGBA,
        gl.UNSIGNED_BYTE,
        pass.colours,
      );
      gl.uniform1f(at.size, pass.size * ratio);
      gl.uniform1f(at.alpha, pass.alpha);
      gl.uniform1f(at.wanted, pass.kind);
      gl.drawArrays(gl.POINTS, 0, Math.min(count, this._source.n));
    }
    target.drawImage(picture, 0, picture.height - height, width, height, 0, 0, width, height);
    if (count >= this._source.n) this.milliseconds = performance.now() - start;
  }

  /** Give the memory back, and the context if no other map uses it. */
  release() {
    users.delete(this);
    if (this._context && this._buffers) {
      for (const buffer of this._buffers) this._context.gl.deleteBuffer(buffer);
    }
    this._buffers = null;
    this._context = null;
    if (!users.size && shared) {
      shared.gl.getExtension("WEBGL_lose_context")?.loseContext();
      shared = null;
    }
  }
}

/** Whether this browser can draw with WebGL. */
export function hasWebGL() {
  if (shared) return true;
  try {
    shared = new Context();
    return true;
  } catch {
    return false;
  }
}
