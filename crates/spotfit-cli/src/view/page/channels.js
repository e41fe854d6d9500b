// The tables: which are shown, and in which colour where there are several.

import { CHANNEL_CSS, CHANNELS } from "./colours.js";
import { count, h } from "./dom.js";

export class Channels {
  /**
   * @param {import("./tables.js").Tables} tables
   * @param {() => void} changed called when a colour is another
   */
  constructor(tables, changed) {
    this.tables = tables;
    this.changed = changed;
    /** By the tables' numbers. @type {Map<number, string>} */
    this.colours = new Map();
    this.element = h("ul", { class: "tables", "aria-label": "Tables" });
  }

  show() {
    this.element.replaceChildren(...this.tables.all.map((table, index) => this.row(table, index)));
  }

  /**
   * @param {import("./api.js").Table} table
   * @param {number} index
   * @returns {any}
   */
  row(table, index) {
    const { tables } = this;
    const box = h("input", {
      type: "checkbox",
      onchange: () => {
        const ids = tables.all.filter(({ id }) => (id === table.id ? box.checked : tables.shownIds.has(id))).map(({ id }) => id);
        tables.show(ids.length > 0 ? ids : [table.id]);
      },
    });
    box.checked = tables.shownIds.has(table.id);
    const colour = this.colours.get(table.id) ?? CHANNELS[index % CHANNELS.length];
    this.colours.set(table.id, colour);
    const swatch = h("span", { class: "dot", "aria-hidden": "true" });
    swatch.style.background = CHANNEL_CSS[colour];
    const select = h("select", {
      "aria-label": `colour of ${table.name}`,
      onchange: () => {
        this.colours.set(table.id, select.value);
        this.show();
        this.changed();
      },
    }, ...CHANNELS.map((value) => h("option", { value, text: value })));
    select.value = colour;
    const several = tables.shown.length > 1 && box.checked;
    const rows = h("span", { class: "number", text: `${count(table.rows)}${table.growing ? " +" : ""}` });
    const label = h("label", { title: table.path }, box, several && swatch, h("span", { class: "name", text: table.name }), rows);
    return h("li", {}, label, several && select);
  }
}
