// A canvas that pans and zooms: by wheel at the pointer, by dragging, with two fingers, and by keys.

/**
 * @typedef {object} ViewSettings
 * @property {() => void} moved
 * @property {(at: [number, number], event: PointerEvent) => boolean | void} [down] true if it takes the drag for itself
 * @property {(at: [number, number], event: PointerEvent) => void} [drag] while it has taken it
 * @property {(at: [number, number], event: PointerEvent) => void} [up]
 * @property {(at: [number, number], event: PointerEvent) => void} [click] without a drag
 * @property {(at: [number, number] | null) => void} [hover]
 * @property {(event: KeyboardEvent) => boolean} [key] true if it is done with the key
 * @property {boolean} [shift] arrow keys pan only with Shift
 */

const NEAREST = 400;

export class View {
  /**
   * @param {HTMLElement} element
   * @param {ViewSettings} settings
   */
  constructor(element, settings) {
    this.element = element;
    this.settings = settings;
    this.centre = [0, 0];
    /** Pixels of the screen per unit. */
    this.scale = 1;
    /** What all of it is: left, top, right, bottom. */
    this.extent = [0, 0, 1, 1];
    this.closest = NEAREST;
    /** Whether all of it is in view, and stays so when the size changes. */
    this.fitted = true;
    /** @type {Map<number, [number, number]>} */
    this.fingers = new Map();
    this.taken = false;
    this.travel = 0;
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", (event) => this.up(event));
    element.addEventListener("pointercancel", (event) => this.fingers.delete(event.pointerId));
    element.addEventListener("pointerleave", () => settings.hover?.(null));
    element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => {
      // A tab that is not shown has no size.
      if (element.clientWidth === 0) return;
      if (this.fitted) this.fit();
      else settings.moved();
    }).observe(element);
  }

  get size() {
    return [Math.max(this.element.clientWidth, 1), Math.max(this.element.clientHeight, 1)];
  }

  /** @param {number[]} extent */
  show(extent) {
    this.extent = extent;
    this.fit();
  }

  /** Brings all of it into view. */
  fit() {
    this.fitted = true;
    if (this.element.clientWidth === 0) return;
    const [left, top, right, bottom] = this.extent;
    const [width, height] = this.size;
    this.centre = [(left + right) / 2, (top + bottom) / 2];
    this.scale = Math.min(width / Math.max(right - left, 1e-9), height / Math.max(bottom - top, 1e-9));
    this.farthest = this.scale / 8;
    this.settings.moved();
  }

  /** @returns {number[]} left, top, right, bottom of what is in view */
  get shown() {
    const [width, height] = this.size;
    const [x, y] = this.centre;
    const [half, tall] = [width / 2 / this.scale, height / 2 / this.scale];
    return [x - half, y - tall, x + half, y + tall];
  }

  /** @returns {number[]} what is in view of the extent; all of it if nothing is */
  get part() {
    const [left, top, right, bottom] = this.shown;
    const [l, t, r, b] = this.extent;
    const part = [Math.max(left, l), Math.max(top, t), Math.min(right, r), Math.min(bottom, b)];
    return part[2] > part[0] && part[3] > part[1] ? part : this.extent;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @returns {[number, number]}
   */
  toScreen(x, y) {
    const [width, height] = this.size;
    return [(x - this.centre[0]) * this.scale + width / 2, (y - this.centre[1]) * this.scale + height / 2];
  }

  /**
   * @param {number} across
   * @param {number} down
   * @returns {[number, number]}
   */
  toData(across, down) {
    const [width, height] = this.size;
    return [(across - width / 2) / this.scale + this.centre[0], (down - height / 2) / this.scale + this.centre[1]];
  }

  /**
   * @param {{clientX: number, clientY: number}} event
   * @returns {[number, number]}
   */
  place(event) {
    const box = this.element.getBoundingClientRect();
    return this.toData(event.clientX - box.left, event.clientY - box.top);
  }

  /**
   * @param {number} factor
   * @param {number[]} [at] what stays where it is
   */
  zoom(factor, at = this.centre) {
    const scale = Math.min(Math.max(this.scale * factor, this.farthest ?? 0), this.closest);
    const real = scale / this.scale;
    this.centre = [at[0] + (this.centre[0] - at[0]) / real, at[1] + (this.centre[1] - at[1]) / real];
    this.scale = scale;
    this.fitted = false;
    this.settings.moved();
  }

  /**
   * @param {number} across
   * @param {number} down
   */
  pan(across, down) {
    this.centre = [this.centre[0] - across / this.scale, this.centre[1] - down / this.scale];
    this.fitted = false;
    this.settings.moved();
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    const step = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    this.zoom(2 ** (-step / 240), this.place(event));
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button !== 0) return;
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    this.travel = 0;
    this.taken = this.fingers.size === 1 && this.settings.down?.(this.place(event), event) === true;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const last = this.fingers.get(event.pointerId);
    if (!last) {
      this.settings.hover?.(this.place(event));
      return;
    }
    const [across, down] = [event.clientX - last[0], event.clientY - last[1]];
    this.travel += Math.abs(across) + Math.abs(down);
    const before = [...this.fingers.values()];
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.taken) {
      this.settings.drag?.(this.place(event), event);
    } else if (before.length === 1) {
      if (this.travel > 3) this.pan(across, down);
    } else {
      const after = [...this.fingers.values()];
      const apart = (/** @type {number[][]} */ [a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]);
      const middle = { clientX: (after[0][0] + after[1][0]) / 2, clientY: (after[0][1] + after[1][1]) / 2 };
      this.zoom(apart(after) / Math.max(apart(before), 1), this.place(middle));
    }
  }

  /** @param {PointerEvent} event */
  up(event) {
    if (!this.fingers.delete(event.pointerId)) return;
    if (this.taken) this.settings.up?.(this.place(event), event);
    else if (this.travel <= 3) this.settings.click?.(this.place(event), event);
    this.taken = false;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.settings.key?.(event)) {
      event.preventDefault();
      return;
    }
    const step = 60;
    const isPan = event.key.startsWith("Arrow") && event.shiftKey === Boolean(this.settings.shift);
    if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.fit();
    else if (isPan && event.key === "ArrowLeft") this.pan(step, 0);
    else if (isPan && event.key === "ArrowRight") this.pan(-step, 0);
    else if (isPan && event.key === "ArrowUp") this.pan(0, step);
    else if (isPan && event.key === "ArrowDown") this.pan(0, -step);
    else return;
    event.preventDefault();
  }
}
