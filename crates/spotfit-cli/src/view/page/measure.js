// A line in the picture: its length, and the profile across it.

import { post, Refused } from "./api.js";
import { commandLine, h, onFrame, onTheme, plain, sharp, show, themed } from "./dom.js";
import { suited } from "./tables.js";

/** @typedef {[number, number]} Point */

/**
 * Two numbers with a comma between them.
 * @param {string} text
 * @returns {Point | null}
 */
export function pointOf(text) {
  const numbers = text.split(",").map((part) => Number(part));
  return numbers.length === 2 && text.trim() !== "" && numbers.every(Number.isFinite) ? [numbers[0], numbers[1]] : null;
}

export class Line {
  /** @param {{changed: () => void, table: () => import("./api.js").Table | undefined, filter: () => string}} settings */
  constructor(settings) {
    this.settings = settings;
    /** @type {Point | null} */
    this.from = null;
    /** @type {Point | null} */
    this.to = null;
    /** @type {any} */
    this.profile = null;
    const field = (/** @type {string} */ name, /** @type {string} */ placeholder) =>
      h("input", { type: "text", "aria-label": name, placeholder, spellcheck: "false", onchange: () => this.typed() });
    this.fromField = field("line from", "x,y");
    this.toField = field("line to", "x,y");
    this.widthField = field("line width", "as wide as a spot");
    this.length = h("output", { "aria-label": "distance", text: "-" });
    this.width = h("p", { class: "hint", role: "status" });
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.command = commandLine("The command that makes the profile");
    this.chart = h("div", { class: "chart" }, this.canvas);
    this.chart.hidden = true;
    this.element = h(
      "details", { class: "group" }, h("summary", { text: "Distance and profile" }),
      h("div", { class: "pair" }, h("span", { text: "from" }), this.fromField, h("span", { text: "to" }), this.toField,
        h("span", { text: "width" }), this.widthField, h("span", { text: "distance" }), this.length),
      h("div", { class: "line" },
        h("button", { type: "button", text: "Profile", onclick: () => this.ask() }),
        h("button", { type: "button", class: "quiet", text: "Clear", "aria-label": "Clear the line", onclick: () => this.clear() })),
      this.chart, this.width, this.command.element,
    );
    this.paint = onFrame(() => this.draw());
    new ResizeObserver(this.paint).observe(this.canvas);
    onTheme(this.paint);
  }

  get unit() {
    return this.settings.table()?.unit ?? "nm";
  }

  typed() {
    this.set(pointOf(this.fromField.value), pointOf(this.toField.value));
  }

  clear() {
    this.fromField.value = "";
    this.toField.value = "";
    this.set(null, null);
  }

  /**
   * @param {Point | null} from
   * @param {Point | null} to
   */
  set(from, to) {
    this.from = from;
    this.to = to;
    const text = (/** @type {Point} */ point) => point.map((value) => plain(value, 7)).join(",");
    if (from) this.fromField.value = text(from);
    if (to) this.toField.value = text(to);
    this.length.textContent = from && to ? `${show(this.distance, 5)} ${this.unit}` : "-";
    this.profile = null;
    this.chart.hidden = true;
    this.width.textContent = "";
    this.command.set("");
    this.settings.changed();
  }

  get distance() {
    return this.from && this.to ? Math.hypot(this.to[0] - this.from[0], this.to[1] - this.from[1]) : 0;
  }

  /** Half the width of the profile, in the unit of the table. */
  get half() {
    const typed = Number(this.widthField.value);
    return this.widthField.value.trim() !== "" && typed > 0 ? typed / 2 : this.distance / 8;
  }

  async ask() {
    const table = this.settings.table();
    if (!table || !this.from || !this.to) {
      this.width.textContent = "Draw a line, or type its ends.";
      return;
    }
    this.element.open = true;
    try {
      const width = Number(plain(2 * this.half, 4));
      this.profile = await post("profile", { table: table.id, from: this.from, to: this.to, width, filter: this.settings.filter() });
      const { fit, reason, unit, command } = this.profile;
      this.width.textContent = fit
        ? `FWHM ${show(fit.fwhm)}${fit.fwhm_error ? ` \u00b1 ${show(fit.fwhm_error, 2)}` : ""} ${unit}, \u03c3 ${show(fit.sigma)}${fit.sigma_error ? ` \u00b1 ${show(fit.sigma_error, 2)}` : ""} ${unit}, centre at ${show(fit.centre)} ${unit}`
        : `No width: ${reason ?? "nothing to fit"}`;
      this.command.set(command ?? "");
      this.chart.hidden = false;
      this.paint();
      this.settings.changed();
    } catch (error) {
      this.width.textContent = error instanceof Refused ? error.message : "There is no answer.";
    }
  }

  draw() {
    const { context, width, height } = sharp(this.canvas);
    if (!this.profile || width < 40) return;
    const { counts, curve, length, unit } = this.profile;
    const [left, right, top, floor] = [30, width - 6, 6, height - 18];
    const most = Math.max(...counts, ...(curve ?? []), 1) * 1.05;
    const across = (/** @type {number} */ part) => left + part * (right - left);
    const down = (/** @type {number} */ value) => floor - (value / most) * (floor - top);
    context.fillStyle = themed("accent");
    context.globalAlpha = 0.5;
    counts.forEach((/** @type {number} */ value, /** @type {number} */ index) => {
      const step = (right - left) / counts.length;
      context.fillRect(left + index * step, down(value), Math.max(step - 0.5, 0.5), floor - down(value));
    });
    context.globalAlpha = 1;
    context.strokeStyle = themed("text");
    context.lineWidth = 1.5;
    context.beginPath();
    (curve ?? []).forEach((/** @type {number} */ value, /** @type {number} */ index) => {
      const part = curve.length === counts.length ? (index + 0.5) / curve.length : index / Math.max(curve.length - 1, 1);
      context.lineTo(across(part), down(value));
    });
    context.stroke();
    context.lineWidth = 1;
    context.strokeStyle = themed("line");
    context.strokeRect(left + 0.5, top + 0.5, right - left, floor - top);
    context.fillStyle = themed("soft");
    context.font = `10px ${themed("font")}`;
    context.textBaseline = "top";
    context.textAlign = "left";
    context.fillText("0", left, floor + 5);
    context.textAlign = "right";
    const [value, suitedUnit] = suited(length, unit);
    context.fillText(`${show(value)} ${suitedUnit}`, right, floor + 5);
    context.textBaseline = "middle";
    context.fillText(show(most, 2), left - 4, top + 6);
    context.fillText("0", left - 4, floor - 4);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {(x: number, y: number) => [number, number]} place
   */
  overlay(context, place) {
    if (!this.from || !this.to) return;
    const [a, b] = [place(...this.from), place(...this.to)];
    context.strokeStyle = "#ffffff";
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(...a);
    context.lineTo(...b);
    context.stroke();
    for (const end of [a, b]) {
      context.beginPath();
      context.arc(end[0], end[1], 3, 0, 2 * Math.PI);
      context.stroke();
    }
    if (this.profile && this.distance > 0) {
      const [x, y] = [((this.to[1] - this.from[1]) / this.distance) * this.half, ((this.from[0] - this.to[0]) / this.distance) * this.half];
      context.setLineDash([4, 3]);
      context.beginPath();
      for (const [end, sign] of /** @type {[Point, number][]} */ ([[this.from, 1], [this.to, 1], [this.to, -1], [this.from, -1]])) {
        context.lineTo(...place(end[0] + sign * x, end[1] + sign * y));
      }
      context.closePath();
      context.stroke();
      context.setLineDash([]);
    }
    const [value, unit] = suited(this.distance, this.unit);
    const text = `${show(value)} ${unit}`;
    context.font = `12px ${themed("font")}`;
    const middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2 - 12];
    const wide = context.measureText(text).width;
    context.fillStyle = "rgba(0,0,0,0.65)";
    context.fillRect(middle[0] - wide / 2 - 4, middle[1] - 9, wide + 8, 18);
    context.fillStyle = "#ffffff";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(text, middle[0], middle[1]);
  }
}
