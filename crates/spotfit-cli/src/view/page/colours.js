// Colour maps, as `render --colour-map` has them, and colours that people with any colour vision tell apart.

/** Seventeen colours of each, evenly spaced. @type {Record<string, string>} */
const STOPS = {
  viridis: "44015448186a472d7b4240863b528b33638d2c728e26828e21918c1fa08828ae803fbc735ec96284d44baddc30d8e219fde725",
  inferno: "0000040b0724210c4a3d096557106e71196e8a226aa32c61bc3754d24644e45a31f1731df98e09fcac11f9cb35f2ea69fcffa4",
  magma: "0000040a08221d114736106b51127c6a1c818326819c2e7fb73779d0416fe75263f56b5cfc8961fea772fec488fde2a3fcfdbf",
  turbo: "23171b493eae4569ee3295f726bce129dcbc3ff39365fd6e95fb51c5ec3cecd12effad24ff821df05616cb2f0da31302900c00",
  sinebow: "ff4040f56f1adaa004b0cd017fee114ffe3225fb5f0ae59000bfbf0a90e5255ffb4f32fe7f11eeb001cdda04a0f51a6fff4040",
  grey: "000000101010202020303030404040505050606060707070808080909090a0a0a0b0b0b0c0c0c0d0d0d0e0e0e0f0f0f0ffffff",
};

export const MAPS = ["inferno", "magma", "viridis", "grey", "turbo", "sinebow"];

/** Those whose hue alone tells a value. */
export const HUES = ["turbo", "viridis", "sinebow"];

/**
 * @param {string} map
 * @param {number} place 0 to 1
 * @returns {[number, number, number]}
 */
export function colourAt(map, place) {
  const stops = STOPS[map] ?? STOPS.viridis;
  const last = stops.length / 6 - 1;
  const at = Math.min(Math.max(place, 0), 1) * last;
  const index = Math.min(Math.floor(at), last - 1);
  const part = (/** @type {number} */ which, /** @type {number} */ channel) =>
    Number.parseInt(stops.slice(which * 6 + channel * 2, which * 6 + channel * 2 + 2), 16);
  const mix = (/** @type {number} */ channel) =>
    Math.round(part(index, channel) + (at - index) * (part(index + 1, channel) - part(index, channel)));
  return [mix(0), mix(1), mix(2)];
}

/**
 * @param {string} map
 * @param {number} place 0 to 1
 * @returns {string}
 */
export function css(map, place) {
  return `rgb(${colourAt(map, place).join(",")})`;
}

/** Of what was dropped, by reason (Okabe and Ito). */
export const REASONS = ["#e69f00", "#56b4e9", "#cc79a7", "#d55e00", "#f0e442", "#0072b2", "#999999", "#ffffff"];

/** What `render --colours` takes for several tables. */
export const CHANNELS = ["magenta", "green", "cyan", "yellow", "orange", "red", "blue", "white"];

/** @type {Record<string, string>} */
export const CHANNEL_CSS = {
  red: "#ff0000", green: "#00ff00", blue: "#0000ff", cyan: "#00ffff", magenta: "#ff00ff", yellow: "#ffff00", orange: "#ff8000", white: "#ffffff",
};

/**
 * Draws a map from left to right.
 * @param {CanvasRenderingContext2D} context
 * @param {string} map
 * @param {number[]} box left, top, width, height
 * @param {number} [from] where it begins
 */
export function bar(context, map, [left, top, width, height], from = 0) {
  const gradient = context.createLinearGradient(left, 0, left + width, 0);
  for (let step = 0; step <= 16; step += 1) gradient.addColorStop(step / 16, css(map, from + ((1 - from) * step) / 16));
  context.fillStyle = gradient;
  context.fillRect(left, top, width, height);
}
