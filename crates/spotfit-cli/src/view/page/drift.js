// Drift: found, drawn, taken out, and put back.

import { address, Refused } from "./api.js";
import { editable, h, plain } from "./dom.js";
import { Form } from "./form.js";
import { run } from "./jobs.js";
import { pointOf } from "./measure.js";
import { stem } from "./tables.js";
import { TileStage } from "./tiles.js";

const FIRST = ["segment", "knots", "range", "beads", "bead-radius", "anyway", "with-error"];
const WITHOUT = ["output", "table", "plot", "apply"];

export class DriftPanel {
  /**
   * @param {HTMLElement} panel
   * @param {import("./api.js").Session} session
   * @param {import("./tables.js").Tables} tables
   */
  constructor(panel, session, tables) {
    this.tables = tables;
    /** The table that is chosen. */
    this.last = -1;
    /** The table without drift. @type {import("./api.js").Table | undefined} */
    this.found = undefined;
    /** Which tables were shown before. @type {number[][]} */
    this.before = [];
    /** @type {[number, number][]} */
    this.beads = [];
    this.form = new Form(session.verbs.drift, { name: "drift", first: FIRST, without: WITHOUT, ranges: {}, units: { segment: "frames", knots: "frames" }, changed: () => this.form.fail("") });
    this.select = tables.select("Table to correct", () => this.chosen());
    this.output = h("input", { type: "text", "aria-label": "output", spellcheck: "false" });
    this.start = h("button", { type: "button", class: "main", text: "Run", "aria-label": "Run drift", onclick: () => this.run() });
    this.refusal = h("p", { class: "error", role: "alert" });
    this.apply = h("button", { type: "button", text: "Apply", title: "Show the table without drift", onclick: () => this.take() });
    this.undo = h("button", { type: "button", text: "Undo", title: "Show what was shown before", onclick: () => this.back() });
    [this.apply.disabled, this.undo.disabled] = [true, true];
    this.chart = h("div", { class: "figure" }, h("p", { class: "empty", text: "Run drift to see the drift of the stage." }));
    this.text = h("p", { class: "hint", role: "status" });
    this.stage = new TileStage("Beads", {
      click: (at) => {
        this.beads.push(at);
        this.showBeads();
      },
      overlay: (context) => this.overlay(context),
      failed: (text) => (this.refusal.textContent = text),
    });
    this.list = h("ul", { class: "picks", "aria-label": "Beads by click" });
    const beads = h(
      "details", { class: "beads", open: true }, h("summary", { text: "Beads by click" }),
      h("p", { class: "hint", text: "Zoom in and click each bead. They are followed instead of the localizations." }),
      this.stage.element, this.list,
      h("div", { class: "line" },
        h("button", { type: "button", class: "quiet", text: "Add the middle", onclick: () => {
          this.beads.push([this.stage.view.centre[0], this.stage.view.centre[1]]);
          this.showBeads();
        } }),
        h("button", { type: "button", class: "quiet", text: "None", "aria-label": "Remove all beads", onclick: () => {
          this.beads = [];
          this.showBeads();
        } })),
    );
    beads.addEventListener("toggle", () => this.stage.view.fit());
    panel.replaceChildren(
      h("aside", { class: "left" },
        h("div", { class: "pair" }, h("span", { text: "table" }), this.select), this.form.element,
        h("div", { class: "run" }, this.refusal, h("span", { text: "output" }), this.output, this.start)),
      h("div", { class: "middle scrolls" }, h("div", { class: "line" }, this.apply, this.undo, this.text), this.chart, beads),
    );
    tables.watch(() => this.chosen());
  }

  get table() {
    return this.tables.all.find((table) => table.id === Number(this.select.value));
  }

  chosen() {
    const table = this.table;
    this.start.disabled = !table;
    if (!table?.extent) return;
    if (table.id !== this.last) {
      this.last = table.id;
      this.output.value = `${stem(table.name)}-straight.csv`;
    }
    this.stage.set({ tables: String(table.id), blur: "none", colour_by: "density", colour_map: "inferno" }, table.unit);
    if (this.stage.view.fitted) this.stage.view.show(table.extent);
  }

  get radius() {
    const typed = /^([\d.]+)\s*(nm|um|\u00b5m|px)?$/.exec(this.form.get("bead-radius"));
    const table = this.table;
    const nanometres = table?.unit === "nm";
    if (typed) {
      const factor = { um: 1000, "\u00b5m": 1000, px: nanometres ? table?.pixel_size ?? 100 : 1 }[typed[2] ?? ""] ?? 1;
      return Number(typed[1]) * factor;
    }
    return nanometres ? 500 : 5;
  }

  showBeads() {
    const texts = this.beads.map((bead) => bead.map((value) => plain(value, 7)).join(","));
    editable(this.list, "bead", texts, (index, text) => {
      const place = pointOf(text);
      if (place) this.beads[index] = place;
      this.stage.paint();
      return place !== null;
    }, (index) => {
      this.beads.splice(index, 1);
      this.showBeads();
    });
    this.stage.paint();
  }

  /** @param {CanvasRenderingContext2D} context */
  overlay(context) {
    context.strokeStyle = "#56b4e9";
    context.lineWidth = 1.5;
    for (const [x, y] of this.beads) {
      const [across, down] = this.stage.view.toScreen(x, y);
      context.beginPath();
      context.arc(across, down, Math.max(this.radius * this.stage.view.scale, 4), 0, 2 * Math.PI);
      context.stroke();
    }
  }

  async run() {
    const table = this.table;
    if (!table) return;
    this.start.disabled = true;
    const name = stem(this.output.value.trim());
    const words = this.form.words();
    try {
      if (this.beads.length > 0) {
        const circles = this.beads.map(([x, y]) => `--circle=${plain(x, 7)},${plain(y, 7)},${plain(this.radius, 4)}`);
        const picked = await run("pick", [table.path, ...circles, "--output", `${name}-beads.csv`]);
        if ((await picked.ended).kind === "failed") return;
        words.push("--beads", `${name}-beads.csv`);
      }
      const { ended } = await run("drift", [table.path, ...words, "--output", this.output.value.trim(), "--table", `${name}-drift.csv`, "--plot", `${name}-drift.svg`]);
      this.refusal.textContent = "";
      this.form.fail("");
      this.done(await ended, `${name}-drift.svg`);
    } catch (error) {
      const text = error instanceof Refused ? error.message : "There is no answer.";
      this.refusal.textContent = this.form.fail(text) ? "" : text;
    } finally {
      this.start.disabled = false;
    }
  }

  /**
   * @param {import("./jobs.js").End} end
   * @param {string} plot
   */
  done(end, plot) {
    if (end.kind === "failed") {
      this.text.textContent = end.error ?? "";
      return;
    }
    this.found = end.tables?.[0];
    this.text.textContent = String(end.text ?? "").split("\n")[0];
    // A job writes the same file again: the number of the job makes it another address.
    this.chart.replaceChildren(h("img", { src: `${address("file", { name: plot })}&job=${end.job}`, alt: `Drift: ${this.text.textContent}` }));
    this.apply.disabled = !this.found;
  }

  take() {
    if (!this.found) return;
    this.before.push([...this.tables.shownIds]);
    this.tables.show([this.found.id]);
    this.undo.disabled = false;
    this.apply.disabled = true;
  }

  back() {
    const ids = this.before.pop();
    if (ids) this.tables.show(ids);
    this.undo.disabled = this.before.length === 0;
    this.apply.disabled = !this.found;
  }
}
