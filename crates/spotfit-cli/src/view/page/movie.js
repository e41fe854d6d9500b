// The movie: what would be found on the frame in view, and the options that decide it.

import { ask, address, get, isOld, newest, post, Refused } from "./api.js";
import { REASONS } from "./colours.js";
import { commandLine, count, h, later, plain, show } from "./dom.js";
import { Form, presetOf } from "./form.js";
import { autoContrast, frameOf, FrameView } from "./frame.js";
import { Histogram, histogramOf, histogramOfResponses } from "./histogram.js";
import { run } from "./jobs.js";
import { psfOf } from "./psf.js";
import { SpotWindow } from "./spot.js";
import { quoted } from "./tables.js";

/** @typedef {import("./api.js").Session} Session */

/** Options that people turn first. */
const FIRST = [
  "baseline", "sensitivity", "read-noise", "em-gain", "pixel-size", "box", "threshold", "false-rate", "shape",
  "estimator", "emitters", "sigma", "drop", "filter", "frames", "roi",
];

/** What only says how a table is written. */
const WRITING = ["overwrite", "no-record", "write-defects", "picasso", "frames"];

/** What the page does itself, or has no use for while it shows a movie. */
const WITHOUT = ["follow", "idle", "frame", "preset", "output"];

const UNITS = {
  baseline: "ADU", sensitivity: "e/ADU", "read-noise": "e", "pixel-size": "nm", box: "px", "false-rate": "/Mpx",
  threshold: "noise", saturation: "ADU", roi: "px", "centre-margin": "px", "sigma-min": "px", "sigma-max": "px", "fixed-sigma": "px",
};

export class MoviePanel {
  /**
   * @param {HTMLElement} panel
   * @param {Session} session
   * @param {import("./api.js").Movie} movie
   * @param {(movie: import("./api.js").Movie) => void} reopened
   */
  constructor(panel, session, movie, reopened) {
    this.movie = movie;
    this.reopened = reopened;
    this.number = 1;
    /** The options of the movie that the window was opened with. */
    this.said = movie.options ?? {};
    this.latest = newest();
    this.reopening = newest();
    /** Whether the movie that the options choose is not open. */
    this.stale = false;
    this.asking = false;
    this.again = false;
    this.known = false;
    /** @type {any} */
    this.preview = null;
    /** @type {[number, number] | null} */
    this.fixed = null;
    /** @type {[number, number] | null} */
    this.chosen = null;

    this.stage = new FrameView({
      picked: (at) => this.pick(at),
      hover: (text) => (this.pointer.textContent = text),
      key: (event) => this.key(event),
    });
    this.form = new Form(session.verbs.localize, {
      name: "localize", first: FIRST, without: WITHOUT, ranges: session.ranges, units: UNITS, changed: () => this.changed(),
    });
    this.begin();
    this.opened = this.chosenFrames();
    this.showPixelSize();
    const stem = movie.name.replace(/\.[^.]*$/, "");
    this.output = h("input", { type: "text", id: "run-output", value: `${stem}.csv`, spellcheck: "false", "aria-label": "output" });
    this.start = h("button", { type: "button", class: "main", text: "Run", onclick: () => this.run() });
    this.refusal = h("p", { class: "error", role: "alert" });

    const file = h("input", { type: "file", accept: ".toml", "aria-label": "Preset file", onchange: () => this.load(file) });
    file.hidden = true;
    const presetName = h("input", { type: "text", value: "preset.toml", "aria-label": "Name of the preset", spellcheck: "false" });
    this.saved = h("span", { class: "hint", role: "status" });
    const presets = h(
      "details", { class: "presets" }, h("summary", { text: "Preset" }),
      h("div", { class: "line" },
        h("button", { type: "button", text: "Open a preset", onclick: () => file.click() }), file,
        h("button", { type: "button", text: "Reset all", onclick: () => this.reset() })),
      h("div", { class: "line" }, presetName,
        h("button", { type: "button", text: "Save", "aria-label": "Save the preset", onclick: () => this.save(presetName.value) })),
      this.saved,
    );

    this.slider = h("input", {
      type: "range", min: 1, max: movie.frames, step: 1, value: 1, "aria-label": "frame",
      oninput: () => this.go(Number(this.slider.value)),
    });
    this.slider.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (this.key(event)) event.preventDefault();
    });
    this.numberField = h("input", {
      type: "number", min: 1, max: movie.frames, value: 1, "aria-label": "frame number", onchange: () => this.go(Number(this.numberField.value)),
    });
    this.total = h("span", { class: "of", text: `of ${count(movie.frames)}` });
    this.pointer = h("span", { class: "pointer" });
    this.command = commandLine("The command that localizes so");

    this.counts = h("p", { class: "counts", role: "status" });
    this.legend = h("ul", { class: "legend", "aria-label": "Marks" });
    this.colourBy = h("select", { "aria-label": "Colour of the rings", onchange: () => this.recolour() });
    this.notes = h("ul", { class: "notes", "aria-label": "Notes" });
    const limit = (/** @type {number | null} */ low, /** @type {number | null} */ high) => this.stretch(low, high);
    this.contrast = new Histogram({ title: "contrast", handles: "range", changed: limit, colour: "soft" });
    this.response = new Histogram({
      title: "response", label: "threshold on the response", handles: "threshold", changed: (value) => this.threshold(value),
    });
    this.charts = ["sigma", "photons", "uncertainty"].map((title) => new Histogram({ title, handles: "none" }));
    this.spot = new SpotWindow();

    panel.replaceChildren(
      h("aside", { class: "left" }, presets, psfOf(movie.name, this.form), this.form.element,
        h("div", { class: "run" }, this.refusal,
          h("label", { for: "run-output", text: "output" }), this.output, this.start)),
      h("div", { class: "middle" }, this.stage.element,
        h("div", { class: "line frames" }, this.slider, this.numberField, this.total, this.pointer),
        this.command.element),
      h("aside", { class: "right" },
        h("div", { class: "found" }, this.counts, this.legend,
          h("label", { class: "line" }, h("span", { text: "Colour by" }), this.colourBy), this.notes),
        this.spot.element, this.response.element, ...this.charts.map((chart) => chart.element),
        this.contrast.element,
        h("div", { class: "line" },
          h("button", { type: "button", class: "quiet", text: "Auto contrast", onclick: () => this.auto() }))),
    );
    this.showNotes([]);
    this.go(1);
  }

  /** Sets the options that the window was opened with. */
  begin() {
    for (const [name, value] of Object.entries(this.said)) this.form.set(name, value, true);
  }

  reset() {
    for (const name of this.form.controls.keys()) this.form.set(name, null, true);
    this.begin();
    this.changed();
  }

  /** The options that choose the frames of the movie, as requests have them. */
  chosenFrames() {
    return Object.fromEntries(Object.keys(this.said).map((name) => [name, this.form.get(name)]));
  }

  changed() {
    const chosen = this.chosenFrames();
    if (this.stale || address("movie", chosen) !== address("movie", this.opened)) this.reopen(chosen);
    else this.refresh();
  }

  /**
   * Other frames of the movie: another channel, slice or position.
   * @param {Record<string, string>} chosen
   */
  async reopen(chosen) {
    this.opened = chosen;
    this.stale = true;
    this.preview = this.stage.preview = null;
    this.forgetSpot();
    this.stage.draw();
    try {
      this.movie = await get("movie", chosen, this.reopening());
      this.stale = false;
      this.slider.max = this.numberField.max = String(this.movie.frames);
      this.total.textContent = `of ${count(this.movie.frames)}`;
      this.showPixelSize();
      this.reopened(this.movie);
      this.fixed = null;
      this.go(this.number);
    } catch (error) {
      if (!isOld(error)) this.refuse(error);
    }
  }

  showPixelSize() {
    const size = this.movie.pixel_size;
    this.form.controls.get("pixel-size")?.setAttribute("placeholder", size ? plain(size, 6) : "");
  }

  forgetSpot() {
    this.chosen = null;
    this.stage.chosen = null;
    this.spot.clear();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.shiftKey) return false;
    const page = Math.max(10, Math.round(this.movie.frames / 50));
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: page, PageDown: -page }[event.key];
    if (steps) this.go(this.number + steps);
    else if (event.key === "Home") this.go(1);
    else if (event.key === "End") this.go(this.movie.frames);
    else if (event.key === "n" || event.key === "N") this.nextSpot();
    else return false;
    return true;
  }

  /** @param {number} number */
  async go(number) {
    const wanted = Math.min(Math.max(Math.round(number) || 1, 1), this.movie.frames);
    // The spot of another frame.
    if (wanted !== this.number) this.forgetSpot();
    this.number = wanted;
    this.slider.value = wanted;
    this.numberField.value = wanted;
    // It is shown when the movie is open.
    if (this.stale) return;
    // What is found there is asked for at the same time.
    this.refresh();
    const movie = this.opened;
    try {
      const answer = await ask(address("frame", { ...movie, number: wanted }), { signal: this.latest() });
      const frame = await frameOf(wanted, answer);
      if (movie !== this.opened) return;
      frame.movie = movie;
      // It stays from frame to frame, so that what changes is the light.
      this.fixed ??= autoContrast(frame);
      this.stage.contrast = this.fixed;
      this.stage.set(frame);
      this.showContrast();
    } catch (error) {
      if (!isOld(error)) this.refuse(error);
    }
  }

  showContrast() {
    const frame = this.stage.frame;
    if (!frame) return;
    const [low, high] = this.stage.contrast;
    const margin = (high - low) * 0.6;
    const from = Math.max(frame.low, low - margin);
    const to = Math.min(Math.max(frame.high, from + 1), high + margin);
    const counts = new Array(48).fill(0);
    const factor = 48 / (to - from);
    const step = Math.max(1, Math.floor(frame.values.length / 65536));
    for (let index = 0; index < frame.values.length; index += step) {
      const bin = Math.floor((frame.values[index] - from) * factor);
      if (bin >= 0 && bin < 48) counts[bin] += 1;
    }
    this.contrast.set({ from, to, counts: counts.map(Math.sqrt), unit: "ADU" });
    this.contrast.limit(low, high);
  }

  auto() {
    this.fixed = this.stage.frame && autoContrast(this.stage.frame);
    if (!this.fixed) return;
    this.stage.expose(this.fixed);
    this.showContrast();
  }

  /**
   * @param {number | null} low
   * @param {number | null} high
   */
  stretch(low, high) {
    const bins = this.contrast.bins;
    if (!bins) return;
    this.fixed = [low ?? bins.from, Math.max(high ?? bins.to, (low ?? bins.from) + 1e-6)];
    this.stage.expose(this.fixed);
  }

  /** @param {number | null} value */
  threshold(value) {
    this.form.set("false-rate", null, true);
    this.form.set("threshold", value === null ? null : plain(value, 3));
  }

  /** Asks for what is found. One question at a time: the next one goes out with the newest options. */
  async refresh() {
    if (this.stale) return;
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    this.stage.element.ariaBusy = "true";
    const [movie, frame, words] = [this.opened, this.number, this.form.words(WRITING)];
    try {
      const preview = await post("preview", { words, frame });
      if (movie === this.opened) {
        if (!this.again) this.form.fail("");
        if (frame === this.number) this.found({ ...preview, movie });
        this.refusal.textContent = "";
      }
    } catch (error) {
      if (!this.again && movie === this.opened) this.refuse(error);
    }
    this.asking = false;
    this.stage.element.ariaBusy = String(this.again);
    if (!this.again) return;
    this.again = false;
    this.refresh();
  }

  /** @param {any} error */
  refuse(error) {
    // Another window asked something newer.
    if (error instanceof Refused && error.status === 409) return;
    const text = error instanceof Refused ? error.message : "There is no answer.";
    this.refusal.textContent = this.form.fail(text) ? "" : text;
  }

  /** @param {any} preview */
  found(preview) {
    this.preview = preview;
    const reasons = Object.keys(preview.counts.dropped ?? {});
    for (const reason of reasons) {
      if (!this.stage.colours.has(reason)) this.stage.colours.set(reason, REASONS[this.stage.colours.size % REASONS.length]);
    }
    this.stage.preview = preview;
    this.stage.box = preview.box ?? 7;
    const columns = Object.keys(preview.kept).filter((name) => typeof preview.kept[name]?.[0] === "number" && name !== "frame" && name !== "id");
    if (columns.length > 0 && !this.known) {
      this.known = true;
      const before = columns.includes("photons") ? "photons" : "";
      this.colourBy.replaceChildren(h("option", { value: "", text: "one colour" }), ...columns.map((value) => h("option", { value, text: value })));
      this.colourBy.value = before;
    }
    this.recolour();
    this.showCounts(preview.counts, reasons);
    this.showNotes(preview.notes ?? []);
    const frames = this.form.get("frames");
    const rest = [...(frames ? ["--frames", frames] : []), "-o", this.output.value.trim()].map(quoted).join(" ");
    this.command.set(String(preview.localize_command ?? "").replace(/ (-o|--output) \S+$/, ` ${rest}`));
    this.showCharts();
    if (this.chosen) this.window(this.chosen);
  }

  recolour() {
    const column = this.colourBy.value;
    const values = this.preview?.kept[column] ?? [];
    const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
    const at = (/** @type {number} */ part) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
    this.stage.colourBy = { column, low: at(0.02), high: at(0.98), unit: this.preview?.units?.[column] ?? "" };
    this.stage.draw();
    this.stage.element.dataset.drawn = `${Number(this.stage.element.dataset.drawn ?? 0) + 1}`;
  }

  /**
   * @param {any} counts
   * @param {string[]} reasons
   */
  showCounts(counts, reasons) {
    this.counts.replaceChildren(
      h("strong", { id: "kept", text: count(counts.kept) }), counts.kept === 1 ? " spot kept of " : " spots kept of ",
      h("span", { text: count(counts.candidates) }), " candidates",
    );
    const entries = [["kept", counts.kept, "#3fbc73"], ...reasons.map((reason) => [reason, counts.dropped[reason], this.stage.colours.get(reason)])];
    if (this.legend.childElementCount === entries.length && [...this.legend.children].every((item, index) => item.dataset.reason === entries[index][0])) {
      entries.forEach(([, number], index) => (this.legend.children[index].querySelector(".number").textContent = count(number)));
      return;
    }
    this.legend.replaceChildren(
      ...entries.map(([reason, number, colour]) => {
        const box = h("input", { type: "checkbox", onchange: () => this.toggle(reason, box.checked) });
        box.checked = !this.stage.hidden.has(reason);
        const swatch = h("span", { class: reason === "kept" ? "swatch" : "swatch dashed", "aria-hidden": "true" });
        swatch.style.borderColor = colour;
        return h("li", { "data-reason": reason }, h("label", {}, box, swatch, h("span", { text: reason.replace(/_/g, " ") }), h("span", { class: "number", text: count(number) })));
      }),
    );
  }

  /**
   * @param {string} reason
   * @param {boolean} shown
   */
  toggle(reason, shown) {
    if (shown) this.stage.hidden.delete(reason);
    else this.stage.hidden.add(reason);
    this.stage.draw();
  }

  /** @param {{kind?: string, text: string}[]} notes */
  showNotes(notes) {
    const all = [...(this.movie.notes ?? []), ...notes].map((note) => (typeof note === "string" ? note : note.text));
    // An option is not cut in two at its hyphens.
    this.notes.replaceChildren(...[...new Set(all)].map((text) => h("li", { text: text.replace(/--(?=[a-z])/g, "-\u2060-\u2060") })));
  }

  showCharts() {
    const { kept, units, detector } = this.preview;
    for (const chart of this.charts) {
      const name = chart.settings.title;
      const column = kept[name] ?? kept[`${name}_x`] ?? kept[`${name}_xy`];
      chart.set(column ? histogramOf(column, units?.[name] ?? units?.[`${name}_x`] ?? "") : null);
    }
    const threshold = detector?.threshold ?? null;
    // What stays under the threshold is in the histogram, too.
    const responses = [...(detector?.responses ?? []), ...(detector?.below ?? [])].filter((value) => value !== null);
    this.response.set(histogramOfResponses(responses, threshold));
    this.response.limit(threshold);
  }

  /** @param {[number, number]} at */
  pick(at) {
    const spot = this.stage.spotAt(at);
    this.chosen = spot ? [spot.x, spot.y] : null;
    this.stage.chosen = this.chosen;
    this.stage.draw();
    if (this.chosen) this.window(this.chosen);
    else this.spot.clear();
  }

  nextSpot() {
    const kept = this.preview?.kept;
    if (!kept || kept.x.length === 0 || this.preview.frame !== this.number) return;
    const index = this.chosen ? kept.x.findIndex((/** @type {number} */ x, /** @type {number} */ row) => x === this.chosen?.[0] && kept.y[row] === this.chosen[1]) : -1;
    const next = (index + 1) % kept.x.length;
    this.pick([kept.x[next], kept.y[next]]);
  }

  window = later(0, async (/** @type {[number, number]} */ [x, y]) => {
    const movie = this.opened;
    try {
      const spot = await post("window", { words: this.form.words(WRITING), frame: this.number, x, y });
      if (movie === this.opened) this.spot.show(spot);
    } catch (error) {
      if (!(error instanceof Refused && error.status === 409)) this.spot.fail(error instanceof Refused ? error.message : "There is no answer.");
    }
  });

  async run() {
    this.start.disabled = true;
    try {
      const words = [...(this.form.words()), "--output", this.output.value.trim()];
      const { ended } = await run("localize", words);
      this.refusal.textContent = "";
      const end = await ended;
      if (end.kind === "failed") this.form.fail(end.error ?? "");
    } catch (error) {
      this.refuse(error);
    } finally {
      this.start.disabled = false;
    }
  }

  /** @param {HTMLInputElement} file */
  async load(file) {
    const [chosen] = file.files ?? [];
    if (!chosen) return;
    try {
      const options = presetOf(await chosen.text());
      for (const name of this.form.controls.keys()) this.form.set(name, null, true);
      this.begin();
      const unknown = options.filter(([name, value]) => !this.form.set(name.replace(/_/g, "-"), value, true)).map(([name]) => name);
      this.saved.textContent = unknown.length > 0 ? `${chosen.name} has options that are not known: ${unknown.join(", ")}` : `${chosen.name} is loaded`;
      this.changed();
    } catch (error) {
      this.saved.textContent = `${chosen.name}: ${/** @type {Error} */ (error).message}`;
    }
    file.value = "";
  }

  /** @param {string} name */
  async save(name) {
    try {
      // What the command line says is of this movie, and not of all.
      const said = Object.keys(this.said).filter((own) => this.said[own] && this.form.get(own) === this.said[own]);
      const { file } = await post("preset", { name, words: this.form.words([...WRITING, ...said]) });
      this.saved.textContent = `Saved: ${file}`;
    } catch (error) {
      this.saved.textContent = /** @type {Error} */ (error).message;
    }
  }
}
