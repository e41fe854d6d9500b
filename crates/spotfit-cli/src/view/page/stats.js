// The report of `stats`, and a histogram of every column.

import { address, get, Refused } from "./api.js";
import { h } from "./dom.js";
import { Form } from "./form.js";
import { Histogram } from "./histogram.js";
import { run } from "./jobs.js";
import { stem } from "./tables.js";

export class StatsPanel {
  /**
   * @param {HTMLElement} panel
   * @param {import("./api.js").Session} session
   * @param {import("./tables.js").Tables} tables
   */
  constructor(panel, session, tables) {
    this.tables = tables;
    /** The table that is described. */
    this.last = -1;
    this.form = new Form(session.verbs.stats, { name: "stats", first: ["filter", "drift", "no-nena", "no-frc"], without: ["output"], changed: () => this.form.fail("") });
    this.select = tables.select("Table to describe", () => this.chosen());
    this.output = h("input", { type: "text", "aria-label": "output", spellcheck: "false" });
    this.start = h("button", { type: "button", class: "main", text: "Run", "aria-label": "Run stats", onclick: () => this.run() });
    this.refusal = h("p", { class: "error", role: "alert" });
    this.report = h("div", { class: "report" });
    this.charts = h("div", { class: "columns-charts", "aria-label": "Histograms of the columns", role: "group" });
    panel.replaceChildren(
      h("aside", { class: "left" },
        h("div", { class: "pair" }, h("span", { text: "table" }), this.select), this.form.element,
        h("div", { class: "run" }, this.refusal, h("span", { text: "output" }), this.output, this.start)),
      h("div", { class: "middle scrolls" }, this.report, this.charts),
    );
    tables.watch((table) => this.chosen(table));
  }

  get table() {
    return this.tables.all.find((table) => table.id === Number(this.select.value));
  }

  /** @param {import("./api.js").Table | null} [grown] */
  chosen(grown) {
    const table = this.table;
    this.start.disabled = !table;
    if (!table || (table.id === this.last && (grown?.id !== table.id || table.growing))) return;
    this.last = table.id;
    this.output.value = `${stem(table.name)}-stats.html`;
    this.report.replaceChildren();
    const columns = table.columns.filter(({ name }) => name !== "id");
    this.charts.replaceChildren(
      ...columns.map(({ name, title }) => {
        const chart = new Histogram({ title: name, handles: "none" });
        chart.element.title = title;
        get("histogram", { table: table.id, column: name, bins: 60 }).then((found) => chart.set(found), () => chart.set(null));
        return chart.element;
      }),
    );
  }

  async run() {
    const table = this.table;
    if (!table) return;
    this.start.disabled = true;
    try {
      const name = this.output.value.trim();
      const { ended } = await run("stats", [table.path, ...this.form.words(), "--output", name]);
      this.refusal.textContent = "";
      const end = await ended;
      if (end.kind === "failed") this.refusal.textContent = end.error ?? "";
      else this.report.replaceChildren(h("iframe", { title: `Statistics of ${table.name}`, src: `${address("file", { name })}&job=${end.job}` }));
    } catch (error) {
      const text = error instanceof Refused ? error.message : "There is no answer.";
      this.refusal.textContent = this.form.fail(text) ? "" : text;
    } finally {
      this.start.disabled = false;
    }
  }
}
