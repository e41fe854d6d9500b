// The filter of the picture: a condition, and histograms with handles that say the same.

import { get } from "./api.js";
import { h } from "./dom.js";
import { ranges, withRange } from "./filter.js";
import { Histogram } from "./histogram.js";

/** Columns that people filter by. */
const USUAL = ["sigma", "photons", "uncertainty", "frame", "z"];

/**
 * Shows how often values of a column are how large.
 * @param {import("./api.js").Table} table
 * @param {string} column
 * @param {Histogram} chart
 * @param {number} [bins]
 */
export async function fill(table, column, chart, bins = 48) {
  try {
    chart.set(await get("histogram", { table: table.id, column, bins }));
  } catch {
    chart.set(null);
  }
}

export class Filters {
  /** @param {{changed: () => void, table: () => import("./api.js").Table | undefined}} settings */
  constructor(settings) {
    this.settings = settings;
    /** As the command reads it. */
    this.condition = "";
    /** @type {Map<string, Histogram>} */
    this.all = new Map();
    this.expression = h("textarea", {
      "aria-label": "filter", rows: 2, spellcheck: "false", placeholder: "photons > 300 & uncertainty < 20", oninput: () => this.typed(),
    });
    this.charts = h("div", { class: "charts" });
    this.more = h("select", {
      "aria-label": "Another column to filter by",
      onchange: () => {
        if (this.more.value) this.add(this.more.value);
        this.more.value = "";
      },
    });
    this.elements = [h("h2", { text: "Filter" }), this.expression, this.charts, this.more];
  }

  /** @param {string[]} names of the columns */
  begin(names) {
    this.all.clear();
    this.charts.replaceChildren();
    for (const name of USUAL) if (names.includes(name)) this.add(name);
    const others = names.filter((name) => name !== "id").map((value) => h("option", { value, text: value }));
    this.more.replaceChildren(h("option", { value: "", text: "Another column" }), ...others);
  }

  /** @param {string} name */
  add(name) {
    if (this.all.has(name)) return;
    const chart = new Histogram({
      title: name, handles: "range", changed: (low, high) => {
        this.condition = withRange(this.condition, name, { low, high });
        this.expression.value = this.condition;
        this.settings.changed();
      },
    });
    this.all.set(name, chart);
    this.charts.append(chart.element);
    this.renew();
  }

  /** Counts again what the table has. */
  renew() {
    const table = this.settings.table();
    if (table) for (const [name, chart] of this.all) fill(table, name, chart);
    this.limits();
  }

  /** Brings the handles where the condition has them. */
  limits() {
    const found = ranges(this.condition);
    for (const [name, chart] of this.all) chart.limit(found.get(name)?.low ?? null, found.get(name)?.high ?? null);
  }

  typed() {
    this.condition = this.expression.value.trim();
    this.limits();
    this.settings.changed();
  }
}
