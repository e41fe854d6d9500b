// The picture of tables, in tiles that the server makes for the zoom in view.

import { ask, address, isOld, Refused } from "./api.js";
import { h, onFrame, round125, sharp, show, themed } from "./dom.js";
import { suited } from "./tables.js";
import { View } from "./view.js";

const SIDE = 256;
const MOST = 400;
const AT_ONCE = 4;

/** @typedef {{bitmap: ImageBitmap | null, generation: number, used: number}} Tile */

/**
 * @typedef {object} Looks what tiles depend on; words of `render`
 * @property {string} tables
 * @property {string} [blur]
 * @property {string} [colour_by]
 * @property {string} [colour_map]
 * @property {string} [colour_range]
 * @property {string} [colours]
 * @property {string} [filter]
 * @property {string} [gamma]
 * @property {string} [saturated]
 */

export class TileStage {
  /**
   * @param {string} label
   * @param {Partial<import("./view.js").ViewSettings> & {failed?: (text: string) => void, overlay?: (context: CanvasRenderingContext2D) => void}} settings
   */
  constructor(label, settings) {
    this.settings = settings;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.marks = h("canvas", { "aria-hidden": "true" });
    this.element = h("div", { class: "stage", tabindex: "0", role: "application", "aria-label": label }, this.canvas, this.marks);
    this.paint = onFrame(() => this.draw());
    this.view = new View(this.element, { ...settings, moved: () => this.moved() });
    /** @type {Looks} */
    this.looks = { tables: "" };
    this.unit = "nm";
    this.scaleBar = true;
    this.generation = 0;
    /** @type {Map<string, Tile>} */
    this.tiles = new Map();
    /** @type {Map<string, AbortController>} */
    this.running = new Map();
    /** @type {Map<number, {generation: number, peak: Promise<number | null>}>} */
    this.peaks = new Map();
    this.clock = 0;
  }

  /**
   * @param {Looks} looks
   * @param {string} unit
   */
  set(looks, unit) {
    this.unit = unit;
    if (JSON.stringify(looks) === JSON.stringify(this.looks)) return;
    this.looks = looks;
    this.renew();
  }

  /** Asks for all tiles again; the ones before stay until then. */
  renew() {
    this.generation += 1;
    for (const controller of this.running.values()) controller.abort();
    this.running.clear();
    this.moved();
  }

  /** Side of a pixel of the tiles, in the unit of the table. */
  get pixel() {
    return 2 ** Math.round(Math.log2(1 / (this.view.scale * (window.devicePixelRatio || 1))));
  }

  moved() {
    this.settings.moved?.();
    this.paint();
    this.fetch();
  }

  /** @returns {{key: string, x: number, y: number, far: number}[]} the tiles in view, the middle ones first */
  wanted() {
    const pixel = this.pixel;
    const side = SIDE * pixel;
    const [left, top, right, bottom] = this.view.shown;
    const [l, t, r, b] = this.view.extent;
    // Blurred spots reach a little beyond the extent.
    const margin = Math.max(r - l, b - t) * 0.02;
    const found = [];
    const from = [Math.floor(Math.max(left, l - margin) / side), Math.floor(Math.max(top, t - margin) / side)];
    const to = [Math.floor(Math.min(right, r + margin) / side), Math.floor(Math.min(bottom, b + margin) / side)];
    for (let y = from[1]; y <= to[1]; y += 1) {
      for (let x = from[0]; x <= to[0]; x += 1) {
        const far = Math.hypot((x + 0.5) * side - this.view.centre[0], (y + 0.5) * side - this.view.centre[1]);
        found.push({ key: `${pixel}/${x}/${y}`, x, y, far });
      }
    }
    return found.sort((a, b) => a.far - b.far).slice(0, MOST / 2);
  }

  /** @returns {boolean} whether every tile in view is the newest */
  get complete() {
    return this.wanted().every(({ key }) => this.tiles.get(key)?.generation === this.generation);
  }

  /** @param {number} pixel */
  peak(pixel) {
    const known = this.peaks.get(pixel);
    if (known?.generation === this.generation) return known.peak;
    const query = { ...this.looks, pixel, extent: this.view.part.join() };
    const peak = ask(address("contrast", query))
      .then((answer) => answer.json())
      .then((found) => found.peak ?? null)
      .catch((error) => {
        this.peaks.delete(pixel);
        throw error;
      });
    this.peaks.set(pixel, { generation: this.generation, peak });
    return peak;
  }

  fetch() {
    if (!this.looks.tables || this.element.clientWidth === 0) return;
    const wanted = this.wanted();
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, controller] of this.running) {
      if (!keys.has(key)) {
        controller.abort();
        this.running.delete(key);
      }
    }
    for (const { key, x, y } of wanted) {
      if (this.running.size >= AT_ONCE) return;
      if (this.running.has(key) || this.tiles.get(key)?.generation === this.generation) continue;
      this.one(key, x, y, this.pixel);
    }
  }

  /**
   * @param {string} key
   * @param {number} x
   * @param {number} y
   * @param {number} pixel
   */
  async one(key, x, y, pixel) {
    const controller = new AbortController();
    const generation = this.generation;
    this.running.set(key, controller);
    const { saturated: _, ...looks } = this.looks;
    try {
      const peak = await this.peak(pixel);
      if (controller.signal.aborted) return;
      const query = { ...looks, pixel, x, y, peak };
      const answer = await ask(address("tile", query), { signal: controller.signal });
      const bitmap = answer.status === 204 ? null : await createImageBitmap(await answer.blob());
      if (generation !== this.generation) return;
      this.tiles.set(key, { bitmap, generation, used: (this.clock += 1) });
      this.settings.failed?.("");
      this.tidy();
      this.paint();
    } catch (error) {
      if (isOld(error)) return;
      if (error instanceof Refused) {
        // It would be refused again.
        this.tiles.set(key, { bitmap: null, generation, used: (this.clock += 1) });
        this.settings.failed?.(error.message);
      }
    } finally {
      if (this.running.get(key) === controller) this.running.delete(key);
      if (!controller.signal.aborted) this.fetch();
    }
  }

  tidy() {
    if (this.tiles.size <= MOST) return;
    const oldest = [...this.tiles].sort((a, b) => a[1].used - b[1].used).slice(0, MOST / 4);
    for (const [key, tile] of oldest) {
      tile.bitmap?.close();
      this.tiles.delete(key);
    }
  }

  draw() {
    const { context, width, height } = sharp(this.canvas);
    context.fillStyle = "#000000";
    context.fillRect(0, 0, width, height);
    const pixel = this.pixel;
    const side = SIDE * pixel * this.view.scale;
    context.imageSmoothingEnabled = true;
    for (const { key, x, y } of this.wanted()) {
      const [left, top] = this.view.toScreen(x * SIDE * pixel, y * SIDE * pixel);
      // Whole pixels of the screen, so that no seam shows between tiles.
      const box = [Math.round(left), Math.round(top), Math.round(left + side), Math.round(top + side)];
      const tile = this.tiles.get(key);
      if (tile?.bitmap) {
        tile.used = this.clock += 1;
        context.drawImage(tile.bitmap, box[0], box[1], box[2] - box[0], box[3] - box[1]);
      } else if (!tile) {
        this.drawOther(context, pixel, x, y, box);
      }
    }
    this.drawMarks();
    this.element.dataset.complete = String(this.complete);
  }

  /**
   * Draws a tile from one with larger or smaller pixels until it is there.
   * @param {CanvasRenderingContext2D} context
   * @param {number} pixel
   * @param {number} x
   * @param {number} y
   * @param {number[]} box
   */
  drawOther(context, pixel, x, y, box) {
    const [width, height] = [box[2] - box[0], box[3] - box[1]];
    for (let level = 1; level <= 6; level += 1) {
      const times = 2 ** level;
      const [px, py] = [Math.floor(x / times), Math.floor(y / times)];
      const bitmap = this.tiles.get(`${pixel * times}/${px}/${py}`)?.bitmap;
      if (!bitmap) continue;
      const part = SIDE / times;
      context.drawImage(bitmap, (x - px * times) * part, (y - py * times) * part, part, part, box[0], box[1], width, height);
      return;
    }
    for (const [right, down] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
      const bitmap = this.tiles.get(`${pixel / 2}/${2 * x + right}/${2 * y + down}`)?.bitmap;
      if (bitmap) context.drawImage(bitmap, box[0] + (right * width) / 2, box[1] + (down * height) / 2, width / 2, height / 2);
    }
  }

  drawMarks() {
    const { context, width, height } = sharp(this.marks);
    this.settings.overlay?.(context);
    if (!this.scaleBar || !this.looks.tables) return;
    const length = round125(width / 6 / this.view.scale);
    const long = length * this.view.scale;
    const [value, unit] = suited(length, this.unit);
    const text = `${show(value)} ${unit}`;
    context.font = `12px ${themed("font")}`;
    const wide = Math.max(long, context.measureText(text).width);
    const [right, bottom] = [width - 16, height - 14];
    context.fillStyle = "rgba(0,0,0,0.55)";
    context.fillRect(right - wide - 8, bottom - 26, wide + 16, 34);
    context.fillStyle = "#ffffff";
    context.fillRect(right - wide / 2 - long / 2, bottom - 3, long, 3);
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    context.fillText(text, right - wide / 2, bottom - 9);
  }
}
