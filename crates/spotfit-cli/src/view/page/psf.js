// The PSF of the movie, learnt from its own spots.

import { address, Refused } from "./api.js";
import { h } from "./dom.js";
import { run } from "./jobs.js";
import { stem } from "./tables.js";

/** @typedef {import("./form.js").Form} Form */

/** The options of localizing that learning heeds. */
const HEEDED = [
  "baseline", "sensitivity", "em-gain", "read-noise", "camera", "camera-from", "cameras", "defects", "saturation", "false-rate", "roi", "frames",
  "channel", "slice", "position", "strict", "pixel-size", "max-frame-pixels", "learn-frames", "threads", "instruction-set",
];

/** The options that are for Gaussians, or for learning. */
const GAUSSIAN = [
  "learn-frames", "aperture", "calibration", "fixed-sigma", "shape", "profile", "sigma", "sigma-min", "sigma-max", "centre-margin", "criteria",
  "min-delta", "min-step", "max-error",
];

/**
 * Learns it with the options of a form, shows its members, and sets what localizing needs.
 * @param {string} movie the movie's name
 * @param {Form} form
 * @returns {HTMLElement}
 */
export function psfOf(movie, form) {
  const name = h("input", { type: "text", value: `${movie.replace(/\.[^.]*$/, "")}-psf.hdf5`, "aria-label": "Name of the PSF", spellcheck: "false" });
  const said = h("p", { class: "hint", role: "status" });
  const shown = h("div", {});
  let learnt = "";
  const use = h("button", {
    type: "button", text: "Use it", "aria-label": "Use the PSF",
    onclick: () => {
      // What does not go with a PSF that is there.
      for (const name of GAUSSIAN) form.set(name, null, true);
      form.set("emitters", "auto", true);
      form.set("psf", learnt);
    },
  });
  use.disabled = true;
  const others = () => [...form.controls.keys()].filter((option) => !HEEDED.includes(option));
  const learn = h("button", {
    type: "button", text: "Learn", "aria-label": "Learn the PSF",
    onclick: async () => {
      learn.disabled = true;
      const [file, plot] = [name.value.trim(), `${stem(name.value.trim())}.svg`];
      try {
        const { ended } = await run("psf", [...form.words(others()), "--output", file, "--plot", plot]);
        said.textContent = "";
        const end = await ended;
        said.textContent = end.kind === "failed" ? end.error ?? "" : String(end.text ?? "").split("\n").slice(0, 2).join("; ");
        if (end.kind === "failed") return;
        learnt = file;
        use.disabled = false;
        const source = `${address("file", { name: plot })}&job=${end.job}`;
        const image = h("img", { src: source, alt: "Members of the PSF, what they leave of spots, and their profiles" });
        shown.replaceChildren(h("a", { href: source, target: "_blank", title: "Larger" }, image));
      } catch (error) {
        const text = error instanceof Refused ? error.message : "There is no answer.";
        said.textContent = form.fail(text) ? "" : text;
      } finally {
        learn.disabled = false;
      }
    },
  });
  return h("details", { class: "presets" }, h("summary", { text: "PSF" }), h("div", { class: "line" }, name, learn, use), said, shown);
}
