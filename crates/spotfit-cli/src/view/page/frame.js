// The frame of a movie: its pixels with a contrast, and marks on it.

import { bar, css } from "./colours.js";
import { h, onFrame, sharp, show, themed } from "./dom.js";
import { View } from "./view.js";

/**
 * @typedef {{x: number[], y: number[], [column: string]: any}} Columns
 * @typedef {{number: number, width: number, height: number, values: any, low: number, high: number, movie?: any}} Frame
 */

/** Where the map of the rings begins: what is darker does not show on a dark frame. */
const DARKEST = 0.5;

const TYPES = /** @type {Record<string, any>} */ ({
  u8: Uint8Array, u16: Uint16Array, i16: Int16Array, u32: Uint32Array, f32: Float32Array, f64: Float32Array,
});

/**
 * @param {number} number
 * @param {Response} answer
 * @returns {Promise<Frame>}
 */
export async function frameOf(number, answer) {
  const type = answer.headers.get("X-Type") ?? "u16";
  const values = new (TYPES[type] ?? Uint16Array)(await answer.arrayBuffer());
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { number, width: Number(answer.headers.get("X-Width")), height: Number(answer.headers.get("X-Height")), values, low, high };
}

/**
 * A contrast that shows spots: from the darkest hundredth to what few pixels exceed.
 * @param {Frame} frame
 * @returns {[number, number]}
 */
export function autoContrast(frame) {
  const step = Math.max(1, Math.floor(frame.values.length / 40000));
  /** @type {number[]} */
  const some = [];
  for (let index = 0; index < frame.values.length; index += step) some.push(frame.values[index]);
  some.sort((a, b) => a - b);
  const at = (/** @type {number} */ part) => some[Math.min(Math.floor(part * some.length), some.length - 1)];
  const [low, high] = [at(0.01), at(0.998)];
  return high > low ? [low, high] : [frame.low, Math.max(frame.high, frame.low + 1)];
}

/** Which of `x`, `y` is nearest. @param {Columns} columns @param {number[]} at @param {number} most */
function nearest(columns, at, most) {
  let [best, index] = [most, -1];
  for (let row = 0; row < columns.x.length; row += 1) {
    const distance = Math.hypot(columns.x[row] - at[0], columns.y[row] - at[1]);
    if (distance < best) [best, index] = [distance, row];
  }
  return { index, distance: best };
}

export class FrameView {
  /**
   * @param {object} settings
   * @param {(at: [number, number]) => void} settings.picked in pixels of the frame
   * @param {(text: string) => void} settings.hover
   * @param {(event: KeyboardEvent) => boolean} settings.key
   */
  constructor(settings) {
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.marks = h("canvas", { "aria-hidden": "true" });
    this.element = h(
      "div", {
        class: "stage", tabindex: "0", role: "application", "aria-label": "Frame",
        "aria-describedby": "frame-keys",
      },
      this.canvas, this.marks,
      h("span", { id: "frame-keys", class: "unseen", text: "Left and Right: frame. Shift and arrows: pan. Plus, minus, 0: zoom. N: next spot. Enter: its window." }),
    );
    /** @type {Frame | null} */
    this.frame = null;
    this.contrast = /** @type {[number, number]} */ ([0, 1]);
    this.pixels = document.createElement("canvas");
    /** @type {any} */
    this.preview = null;
    /** Reasons that are not shown, and "kept". @type {Set<string>} */
    this.hidden = new Set();
    /** @type {Map<string, string>} */
    this.colours = new Map();
    this.colourBy = { column: "", low: 0, high: 1, unit: "" };
    /** @type {[number, number] | null} */
    this.chosen = null;
    this.box = 7;
    this.paint = onFrame(() => this.draw());
    this.view = new View(this.element, {
      moved: this.paint,
      shift: true,
      click: (at) => settings.picked([at[0] - 0.5, at[1] - 0.5]),
      hover: (at) => settings.hover(this.under(at)),
      key: settings.key,
    });
    this.view.closest = 80;
  }

  /** @param {[number, number] | null} at */
  under(at) {
    if (!at || !this.frame) return "";
    const [x, y] = [Math.floor(at[0]), Math.floor(at[1])];
    const { width, height, values } = this.frame;
    if (x < 0 || y < 0 || x >= width || y >= height) return "";
    return `x ${x}, y ${y}: ${show(values[y * width + x], 6)}`;
  }

  /** @param {Frame} frame */
  set(frame) {
    const other = !this.frame || this.frame.width !== frame.width || this.frame.height !== frame.height;
    this.frame = frame;
    this.develop();
    if (other) this.view.show([0, 0, frame.width, frame.height]);
  }

  /** @param {[number, number]} contrast */
  expose(contrast) {
    this.contrast = contrast;
    if (this.frame) this.develop();
  }

  develop() {
    const { width, height, values } = /** @type {Frame} */ (this.frame);
    if (this.pixels.width !== width || this.pixels.height !== height) [this.pixels.width, this.pixels.height] = [width, height];
    const context = /** @type {CanvasRenderingContext2D} */ (this.pixels.getContext("2d"));
    const image = context.createImageData(width, height);
    const words = new Uint32Array(image.data.buffer);
    const [low, high] = this.contrast;
    const factor = 255 / Math.max(high - low, 1e-12);
    for (let index = 0; index < values.length; index += 1) {
      const level = (values[index] - low) * factor;
      const grey = level <= 0 ? 0 : level >= 255 ? 255 : level | 0;
      words[index] = 0xff000000 | (grey << 16) | (grey << 8) | grey;
    }
    context.putImageData(image, 0, 0);
    this.paint();
  }

  draw() {
    const { context } = sharp(this.canvas);
    if (this.frame) {
      context.imageSmoothingEnabled = this.view.scale < 1;
      const [left, top] = this.view.toScreen(0, 0);
      const side = this.view.scale;
      context.drawImage(this.pixels, left, top, this.frame.width * side, this.frame.height * side);
    }
    this.drawMarks();
  }

  drawMarks() {
    const { context, width, height } = sharp(this.marks);
    const preview = this.preview;
    // Marks of another frame would lie.
    if (!preview || preview.frame !== this.frame?.number || preview.movie !== this.frame?.movie) return;
    const radius = Math.min(Math.max((this.box / 2) * this.view.scale, 4), 60);
    const isNear = (/** @type {number[]} */ at) => at[0] > -radius && at[1] > -radius && at[0] < width + radius && at[1] < height + radius;
    const ring = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ colour) => {
      const at = this.view.toScreen(x + 0.5, y + 0.5);
      if (!isNear(at)) return;
      context.strokeStyle = colour;
      context.beginPath();
      context.arc(at[0], at[1], radius, 0, 2 * Math.PI);
      context.stroke();
    };
    context.lineWidth = 1.5;
    const { dropped, kept } = preview;
    context.setLineDash([3, 2]);
    for (let row = 0; row < (dropped?.x.length ?? 0); row += 1) {
      const reason = dropped.reason[row];
      if (!this.hidden.has(reason)) ring(dropped.x[row], dropped.y[row], this.colours.get(reason) ?? "#999999");
    }
    context.setLineDash([]);
    if (!this.hidden.has("kept")) {
      const { column, low, high } = this.colourBy;
      const values = column ? kept[column] : null;
      const isWide = low > 0 && high / low > 4;
      const place = (/** @type {number} */ value) =>
        isWide ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / Math.max(high - low, 1e-12);
      for (let row = 0; row < kept.x.length; row += 1) {
        ring(kept.x[row], kept.y[row], values ? css("viridis", DARKEST + (1 - DARKEST) * place(values[row])) : "#3fbc73");
      }
    }
    if (this.chosen) {
      const [x, y] = this.chosen;
      const side = this.box * this.view.scale;
      const [left, top] = this.view.toScreen(Math.round(x) + 0.5 - this.box / 2, Math.round(y) + 0.5 - this.box / 2);
      context.lineWidth = 2;
      context.strokeStyle = "#ffffff";
      context.strokeRect(left, top, side, side);
    }
    this.drawKey(context, height);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} height
   */
  drawKey(context, height) {
    const { column, low, high, unit } = this.colourBy;
    if (!column || !this.preview.kept[column] || this.preview.kept.x.length === 0) return;
    const [left, top] = [12, height - 52];
    context.fillStyle = "rgba(0,0,0,0.6)";
    context.fillRect(left - 4, top - 4, 152, 48);
    bar(context, "viridis", [left, top + 16, 144, 7], DARKEST);
    context.fillStyle = "#ffffff";
    context.font = `10px ${themed("font")}`;
    context.textBaseline = "top";
    context.textAlign = "left";
    context.fillText(unit && !column.startsWith(unit) ? `${column} (${unit})` : column, left, top + 1);
    context.fillText(show(low, 3), left, top + 27);
    context.textAlign = "right";
    context.fillText(show(high, 3), left + 144, top + 27);
  }

  /**
   * The spot or dropped candidate that is nearest to a place.
   * @param {[number, number]} at
   * @returns {{x: number, y: number} | null}
   */
  spotAt(at) {
    if (!this.preview) return null;
    const most = Math.max(this.box, 12 / this.view.scale);
    const kept = nearest(this.preview.kept, at, most);
    const dropped = nearest(this.preview.dropped, at, most);
    if (kept.index < 0 && dropped.index < 0) return null;
    const columns = kept.distance <= dropped.distance ? this.preview.kept : this.preview.dropped;
    const { index } = columns === this.preview.kept ? kept : dropped;
    return { x: columns.x[index], y: columns.y[index] };
  }
}
