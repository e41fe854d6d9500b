// One spot: its window, the fit, what is left, and the numbers with their errors.

import { colourAt } from "./colours.js";
import { h, show } from "./dom.js";

/**
 * @param {number[][]} rows
 * @param {(value: number) => [number, number, number]} colour
 * @returns {HTMLCanvasElement}
 */
function picture(rows, colour) {
  const canvas = h("canvas", { class: "pixels", "aria-hidden": "true" });
  [canvas.width, canvas.height] = [rows[0]?.length ?? 1, rows.length];
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  // What is masked has no number.
  rows.flat().forEach((value, index) => image.data.set(Number.isFinite(value) ? [...colour(value), 255] : [120, 60, 60, 255], index * 4));
  context.putImageData(image, 0, 0);
  return canvas;
}

export class SpotWindow {
  constructor() {
    this.pictures = h("div", { class: "windows" });
    this.status = h("p", { class: "hint", role: "status" });
    this.numbers = h("table", { class: "numbers" });
    this.element = h("section", { class: "spot", "aria-label": "Spot" }, this.pictures, this.status, this.numbers);
    this.clear();
  }

  clear() {
    this.pictures.replaceChildren();
    this.numbers.replaceChildren();
    this.status.textContent = "Click a spot, or press N in the frame, to see its window and numbers.";
  }

  /** @param {string} text */
  fail(text) {
    this.clear();
    this.status.textContent = text;
  }

  /** @param {any} found */
  show(found) {
    const all = [...found.pixels.flat(), ...(found.fit ?? []).flat()].filter(Number.isFinite);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const part = (/** @type {number} */ value) => (value - low) / Math.max(high - low, 1e-12);
    const residuals = /** @type {number[][] | null} */ (found.residuals);
    const most = Math.max(...(residuals ?? []).flat().filter(Number.isFinite).map(Math.abs), 1e-12);
    const grey = (/** @type {number} */ value) => colourAt("grey", part(value));
    // Blue below, white, orange above.
    const signed = (/** @type {number} */ value) => {
      const share = Math.min(Math.abs(value) / most, 1);
      const end = value < 0 ? [0, 90, 181] : [220, 100, 0];
      return /** @type {[number, number, number]} */ (end.map((channel) => Math.round(255 + share * (channel - 255))));
    };
    const figure = (/** @type {HTMLCanvasElement} */ canvas, /** @type {string} */ name, /** @type {string} */ range) =>
      h("figure", {}, canvas, h("figcaption", {}, name, h("br"), h("span", { class: "hint", text: range })));
    const range = `${show(low, 3)} to ${show(high, 3)}`;
    this.pictures.replaceChildren(
      figure(picture(found.pixels, grey), "window", range),
      ...(found.fit ? [figure(picture(found.fit, grey), "fit", range)] : []),
      ...(residuals ? [figure(picture(residuals, signed), "residual", `\u00b1${show(most, 3)}`)] : []),
    );
    // Its word and what it means.
    const reason = Array.isArray(found.reason) ? found.reason[1] : found.reason;
    const fate = reason ? `dropped: ${reason}` : found.kept === false || found.kept === null ? "no spot" : "kept";
    const [response, threshold] = found.response ?? [];
    const parts = [fate, found.status && `fit ${String(found.status).replace(/_/g, " ")}`, Number.isFinite(response) && `response ${show(response, 3)}${Number.isFinite(threshold) ? ` of ${show(threshold, 3)}` : ""}`];
    this.status.textContent = parts.filter(Boolean).join(" \u00b7 ");
    this.numbers.replaceChildren(
      ...(found.numbers ?? []).map((/** @type {any} */ { name, value, error, unit }) => {
        const hasError = Number.isFinite(error) && error !== null && error > 0;
        const digits = hasError ? Math.max(2, Math.ceil(Math.log10(Math.abs(value) / error || 1)) + 2) : 5;
        return h("tr", {}, h("th", { scope: "row", text: name }), h("td", { text: show(value, Math.min(digits, 8)) }),
          h("td", { text: hasError ? `\u00b1 ${show(error, 2)}` : "" }), h("td", { text: unit ?? "" }));
      }),
    );
  }
}
