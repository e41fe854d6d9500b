// Localizations as points in space, which turn.

import { ask, address, isOld, newest } from "./api.js";
import { colourAt } from "./colours.js";
import { count, h, onFrame } from "./dom.js";

const MOST = 500000;

const VERTEX = `
attribute vec4 place;
uniform mat3 turn;
uniform vec3 middle;
uniform vec4 scale;
uniform vec2 range;
varying float value;
void main() {
  vec3 at = turn * ((place.xyz - middle) * scale.x);
  gl_Position = vec4(at.x * scale.y, -at.y * scale.z, at.z * 0.001, 1.0);
  gl_PointSize = scale.w;
  value = clamp((place.w - range.x) / max(range.y - range.x, 1e-9), 0.0, 1.0);
}`;

const FRAGMENT = `
precision mediump float;
uniform sampler2D map;
uniform float strength;
varying float value;
void main() {
  float far = length(gl_PointCoord - 0.5) * 2.0;
  if (far > 1.0) discard;
  gl_FragColor = vec4(texture2D(map, vec2(value, 0.5)).rgb * strength * (1.0 - far * far), 1.0);
}`;

export class Points {
  constructor() {
    this.canvas = h("canvas", {
      class: "points", tabindex: "0", role: "application",
      "aria-label": "Localizations in space. Arrow keys turn, plus and minus zoom, 0 is the view from above.",
    });
    this.text = h("span", { class: "caption", role: "status" });
    this.element = h("div", { class: "space" }, this.canvas, this.text);
    this.element.hidden = true;
    this.latest = newest();
    this.angles = [0.6, 0.5];
    this.zoom = 1;
    this.rows = 0;
    /** @type {{gl: any, uniform: (name: string) => any} | null} */
    this.drawing = null;
    this.paint = onFrame(() => this.draw());
    this.canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.canvas.setPointerCapture(event.pointerId));
    this.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      if (this.canvas.hasPointerCapture(event.pointerId)) this.turn(event.movementX / 150, event.movementY / 150);
    });
    this.canvas.addEventListener("wheel", (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      this.zoom *= 2 ** (-event.deltaY / 240);
      this.paint();
    }, { passive: false });
    this.canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const turns = /** @type {Record<string, number[]>} */ ({ ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] });
      if (turns[event.key]) this.turn(turns[event.key][0], turns[event.key][1]);
      else if (event.key === "+" || event.key === "=") this.zoom *= 1.25;
      else if (event.key === "-") this.zoom /= 1.25;
      else if (event.key === "0") [this.angles, this.zoom] = [[0, 0], 1];
      else return;
      this.paint();
      event.preventDefault();
    });
    new ResizeObserver(this.paint).observe(this.canvas);
  }

  /** @param {number} across @param {number} down */
  turn(across, down) {
    this.angles = [this.angles[0] + across, Math.min(Math.max(this.angles[1] + down, -Math.PI / 2), Math.PI / 2)];
    this.paint();
  }

  start() {
    const gl = this.canvas.getContext("webgl", { antialias: true, preserveDrawingBuffer: true });
    if (!gl) return null;
    const program = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    const place = gl.getAttribLocation(program, "place");
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, 4, gl.FLOAT, false, 0, 0);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) {
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    return { gl, uniform: (/** @type {string} */ name) => gl.getUniformLocation(program, name) };
  }

  /**
   * @param {{table: import("./api.js").Table, extent: number[], filter: string, column: string, map: string, range: number[]}} what
   */
  async show({ table, extent, filter, column, map, range }) {
    this.drawing ??= this.start();
    if (!this.drawing) {
      this.text.textContent = "This browser has no WebGL, which the view in space needs.";
      return;
    }
    try {
      const query = { table: table.id, extent: extent.join(), most: MOST, filter, colour_by: column };
      const answer = await ask(address("points", query), { signal: this.latest() });
      const values = new Float32Array(await answer.arrayBuffer());
      const { gl } = this.drawing;
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      const colours = new Uint8Array(256 * 4);
      for (let step = 0; step < 256; step += 1) colours.set([...colourAt(map, 0.05 + (0.9 * step) / 255), 255], step * 4);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colours);
      this.rows = values.length / 4;
      this.range = range;
      let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let row = 2; row < values.length; row += 4) [low, high] = [Math.min(low, values[row]), Math.max(high, values[row])];
      this.middle = [(extent[0] + extent[2]) / 2, (extent[1] + extent[3]) / 2, this.rows > 0 ? (low + high) / 2 : 0];
      this.side = Math.max(extent[2] - extent[0], extent[3] - extent[1], 1e-9);
      const of = Number(answer.headers.get("X-Of") ?? this.rows);
      this.text.textContent = `${count(this.rows)} of ${count(of)} localizations${low === high ? ", all of one height" : ""}`;
      this.paint();
    } catch (error) {
      if (!isOld(error)) this.text.textContent = /** @type {Error} */ (error).message;
    }
  }

  draw() {
    if (!this.drawing || this.element.hidden || !this.middle) return;
    const { gl, uniform } = this.drawing;
    const scale = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.canvas.clientWidth * scale), Math.round(this.canvas.clientHeight * scale)];
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const [[ca, sa], [cb, sb]] = this.angles.map((angle) => [Math.cos(angle), Math.sin(angle)]);
    // About the y axis, then about the x axis; columns one after the other.
    gl.uniformMatrix3fv(uniform("turn"), false, [ca, sa * sb, -sa * cb, 0, cb, sb, sa, -ca * sb, ca * cb]);
    gl.uniform3fv(uniform("middle"), this.middle);
    const least = Math.min(width, height);
    gl.uniform4f(uniform("scale"), (1.6 / (this.side ?? 1)) * this.zoom, least / width, least / height, Math.max(2, 2.5 * scale * Math.sqrt(this.zoom)));
    gl.uniform2fv(uniform("range"), this.range ?? [0, 1]);
    gl.uniform1f(uniform("strength"), Math.min(Math.max(2 / Math.sqrt(this.rows / 1000 + 1), 0.12), 1));
    gl.drawArrays(gl.POINTS, 0, this.rows);
  }
}
