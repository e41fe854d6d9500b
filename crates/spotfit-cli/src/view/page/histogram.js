// A histogram with handles: what they enclose, or a threshold.

import { h, onFrame, onTheme, plain, round125, sharp, show, themed } from "./dom.js";

/**
 * @typedef {object} Bins
 * @property {number} from
 * @property {number} to
 * @property {number[]} counts
 * @property {boolean} [log] bins are even in the logarithm
 * @property {string} [unit]
 * @property {number[]} [others] counts of another kind, on top
 */

/**
 * @typedef {object} HistogramSettings
 * @property {string} title
 * @property {string} [label] of the handles; the title if not given
 * @property {"range" | "threshold" | "none"} handles
 * @property {(low: number | null, high: number | null) => void} [changed] `null` at the end of the axis: no limit
 * @property {string} [colour] name of a colour of the theme
 */

const EDGE = 10;
const BOTTOM = 16;
const TOP = 18;

export class Histogram {
  /** @param {HistogramSettings} settings */
  constructor(settings) {
    this.settings = settings;
    /** @type {Bins | null} */
    this.bins = null;
    /** @type {(number | null)[]} */
    this.values = [null, null];
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.caption = h("span", { class: "caption" });
    this.element = h("div", { class: "histogram", role: "group", "aria-label": `histogram: ${settings.title}` }, this.canvas, this.caption);
    const label = settings.label ?? settings.title;
    const names = { range: [`${label} from`, `${label} to`], threshold: [label], none: [] }[settings.handles];
    this.handles = names.map((name, which) => {
      const handle = h("div", { class: "handle", role: "slider", tabindex: "0", "aria-label": name, "aria-orientation": "horizontal" });
      handle.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event, which));
      handle.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
        handle.setPointerCapture(event.pointerId);
        handle.focus();
        event.preventDefault();
      });
      handle.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
        if (handle.hasPointerCapture(event.pointerId)) this.dragged(event, which);
      });
      this.element.append(handle);
      return handle;
    });
    this.draw = onFrame(() => this.paint());
    new ResizeObserver(this.draw).observe(this.canvas);
    onTheme(this.draw);
  }

  /** @param {Bins | null} bins */
  set(bins) {
    this.bins = bins && bins.counts.length > 0 && bins.to > bins.from ? bins : null;
    this.draw();
  }

  /**
   * @param {number | null} low
   * @param {number | null} [high]
   */
  limit(low, high = null) {
    this.values = [low, high];
    this.draw();
  }

  /**
   * @param {number} value
   * @returns {number} from 0 to 1
   */
  part(value) {
    if (!this.bins) return 0;
    const { from, to, log } = this.bins;
    const part = log ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from);
    return Number.isNaN(part) ? 0 : Math.min(Math.max(part, 0), 1);
  }

  /**
   * @param {number} part
   * @returns {number}
   */
  value(part) {
    if (!this.bins) return 0;
    const { from, to, log } = this.bins;
    return log ? from * (to / from) ** part : from + part * (to - from);
  }

  /** @param {number} which */
  place(which) {
    const value = this.values[which];
    return value === null ? (which === 0 ? 0 : 1) : this.part(value);
  }

  /**
   * @param {number} which
   * @param {number} part
   */
  to(which, part) {
    if (!this.bins) return;
    const isRange = this.settings.handles === "range";
    const inside = Math.min(Math.max(part, isRange && which === 1 ? this.place(0) : 0), isRange && which === 0 ? this.place(1) : 1);
    const atEnd = isRange && (which === 0 ? inside <= 0 : inside >= 1);
    this.values[which] = atEnd ? null : Number(plain(this.value(inside), 4));
    this.draw();
    this.settings.changed?.(this.values[0], this.values[1]);
  }

  /**
   * @param {PointerEvent} event
   * @param {number} which
   */
  dragged(event, which) {
    const box = this.canvas.getBoundingClientRect();
    this.to(which, (event.clientX - box.left - EDGE) / (box.width - 2 * EDGE));
  }

  /**
   * @param {KeyboardEvent} event
   * @param {number} which
   */
  key(event, which) {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (steps) this.to(which, this.place(which) + steps / 100);
    else if (event.key === "Home") this.to(which, 0);
    else if (event.key === "End") this.to(which, 1);
    else return;
    event.preventDefault();
  }

  paint() {
    const { context, width, height } = sharp(this.canvas);
    if (width < 40) return;
    const bins = this.bins;
    const [left, right, floor] = [EDGE, width - EDGE, height - BOTTOM];
    const unit = bins?.unit && !this.settings.title.startsWith(bins.unit) ? ` (${bins.unit})` : "";
    this.caption.textContent = this.settings.title + unit;
    context.strokeStyle = themed("line");
    context.beginPath();
    context.moveTo(left, floor + 0.5);
    context.lineTo(right, floor + 0.5);
    context.stroke();
    for (const handle of this.handles) handle.hidden = !bins;
    if (!bins) return;
    const most = Math.max(...bins.counts.map((count, index) => count + (bins.others?.[index] ?? 0)), 1);
    const step = (right - left) / bins.counts.length;
    const [low, high] = [this.place(0), this.place(1)];
    const colour = themed(this.settings.colour ?? "accent");
    bins.counts.forEach((count, index) => {
      const middle = (index + 0.5) / bins.counts.length;
      const inside =
        this.settings.handles === "none" || (middle >= low && (this.settings.handles === "threshold" || middle <= high));
      const tall = (count / most) * (floor - TOP);
      context.globalAlpha = inside ? 1 : 0.35;
      context.fillStyle = inside ? colour : themed("faint");
      context.fillRect(left + index * step, floor - tall, Math.max(step - 0.5, 0.5), tall);
      const other = ((bins.others?.[index] ?? 0) / most) * (floor - TOP);
      context.fillStyle = themed("faint");
      context.globalAlpha = 0.8;
      if (other > 0) context.fillRect(left + index * step, floor - tall - other, Math.max(step - 0.5, 0.5), other);
    });
    context.globalAlpha = 1;
    context.fillStyle = themed("soft");
    context.font = `10px ${themed("font")}`;
    context.textBaseline = "top";
    for (const tick of this.ticks((right - left) / 60)) {
      const at = left + this.part(tick) * (right - left);
      const text = show(tick, 3);
      const half = context.measureText(text).width / 2;
      if (at - half < 0 || at + half > width) continue;
      context.fillRect(Math.round(at), floor + 1, 1, 3);
      context.textAlign = "center";
      context.fillText(text, at, floor + 5);
    }
    this.handles.forEach((handle, which) => {
      const part = this.place(which);
      const value = this.values[which] ?? this.value(part);
      handle.style.left = `${left + part * (right - left)}px`;
      handle.style.top = `${TOP - 4}px`;
      handle.style.height = `${floor - TOP + 4}px`;
      handle.setAttribute("aria-valuemin", plain(bins.from));
      handle.setAttribute("aria-valuemax", plain(bins.to));
      handle.setAttribute("aria-valuenow", plain(Math.min(Math.max(value, bins.from), bins.to)));
      handle.setAttribute("aria-valuetext", `${show(value)}${bins.unit ? ` ${bins.unit}` : ""}`);
      handle.classList.toggle("idle", this.values[which] === null);
    });
  }

  /**
   * @param {number} most
   * @returns {number[]}
   */
  ticks(most) {
    if (!this.bins) return [];
    const { from, to, log } = this.bins;
    if (log && to / from > 20) {
      /** @type {number[]} */
      const found = [];
      if (to / from < 300) {
        for (const value of [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]) if (value >= from && value <= to) found.push(value);
        if (found.length > 2) return found;
        found.length = 0;
      }
      for (let power = 10 ** Math.ceil(Math.log10(from)); power <= to; power *= 10) found.push(power);
      return found;
    }
    const step = round125((to - from) / Math.max(most, 1));
    const found = [];
    for (let index = Math.ceil(from / step); index * step <= to; index += 1) found.push(index * step);
    return found;
  }
}

/**
 * The histogram of responses, which differ by powers of ten: even in the logarithm, from a quarter of the threshold.
 * @param {number[]} responses
 * @param {number | null} threshold
 * @returns {Bins | null}
 */
export function histogramOfResponses(responses, threshold) {
  const from = (threshold ?? 4) / 4;
  const to = Math.max(...responses, 4 * from) * 1.15;
  if (responses.length === 0 || !(from > 0)) return null;
  const counts = new Array(36).fill(0);
  for (const response of responses) {
    const bin = Math.floor((Math.log(response / from) / Math.log(to / from)) * counts.length);
    if (bin >= 0 && bin < counts.length) counts[bin] += 1;
  }
  return { from, to, counts, log: true, unit: "noise" };
}

/**
 * The histogram of some numbers: from the least to the greatest, but a hundredth that is far off stays out.
 * @param {ArrayLike<number>} numbers
 * @param {string} unit
 * @param {number[]} [within] a value that must be on the axis
 * @returns {Bins | null}
 */
export function histogramOf(numbers, unit, within = []) {
  const sorted = Float64Array.from(numbers).filter(Number.isFinite).sort();
  if (sorted.length === 0) return null;
  const at = (/** @type {number} */ part) => sorted[Math.min(Math.floor(part * sorted.length), sorted.length - 1)];
  const [low, high] = [at(0.01), at(0.99)];
  const margin = (high - low || Math.abs(high) || 1) * 0.1;
  let from = Math.max(low - margin, Math.min(sorted[0], ...within));
  let to = Math.min(high + margin, Math.max(sorted[sorted.length - 1], ...within));
  for (const value of within) [from, to] = [Math.min(from, value), Math.max(to, value)];
  if (to <= from) [from, to] = [from - margin, to + margin];
  const number = sorted.length > 400 ? 40 : 24;
  const counts = new Array(number).fill(0);
  for (const value of sorted) {
    const bin = Math.floor(((value - from) / (to - from)) * number);
    if (bin >= 0 && bin <= number) counts[Math.min(bin, number - 1)] += 1;
  }
  return { from, to, counts, unit };
}
