// The tables of this window, and which of them are shown.

import { h } from "./dom.js";

/** @typedef {import("./api.js").Table} Table */

/**
 * What is shown at first: the tables that were named, or else what was made last.
 * @param {Table[]} tables
 * @returns {number[]}
 */
function begin(tables) {
  const named = tables.filter((table) => !table.command);
  return (named.length > 0 ? named : tables.slice(-1)).map((table) => table.id);
}

export class Tables {
  /** @param {Table[]} tables */
  constructor(tables) {
    /** @type {Table[]} */
    this.all = tables;
    /** @type {Set<number>} */
    this.shownIds = new Set(begin(tables));
    /** @type {Set<(table: Table | null) => void>} */
    this.listeners = new Set();
  }

  /** Calls the function now and whenever tables change. @param {(table: Table | null) => void} call */
  watch(call) {
    this.listeners.add(call);
    call(null);
  }

  /** @param {Table | null} table the one whose rows changed */
  tell(table) {
    for (const call of this.listeners) call(table);
  }

  get shown() {
    return this.all.filter((table) => this.shownIds.has(table.id));
  }

  /**
   * A table that is new or has grown. A new one takes the place of those that are shown.
   * @param {Table} table
   * @param {boolean} show
   */
  add(table, show) {
    const index = this.all.findIndex((other) => other.id === table.id);
    if (index >= 0) this.all[index] = table;
    else {
      // One that was made anew takes the place of the one with its name.
      const old = this.all.find((other) => other.path === table.path);
      this.all = [...this.all.filter((other) => other !== old), table];
      const wasShown = old !== undefined && this.shownIds.delete(old.id);
      if (show) this.shownIds = new Set([table.id]);
      else if (wasShown) this.shownIds.add(table.id);
    }
    this.tell(table);
  }

  /** @param {number[]} ids */
  show(ids) {
    this.shownIds = new Set(ids);
    this.tell(null);
  }

  /** @param {Table[]} tables */
  replace(tables) {
    this.all = tables;
    const ids = tables.map((table) => table.id);
    this.shownIds = new Set([...this.shownIds].filter((id) => ids.includes(id)));
    if (this.shownIds.size === 0) this.shownIds = new Set(begin(tables));
    this.tell(null);
  }

  /**
   * A list to choose one from.
   * @param {string} label
   * @param {() => void} changed
   * @returns {any}
   */
  select(label, changed) {
    const select = h("select", { "aria-label": label, onchange: changed });
    let first = -1;
    this.watch(() => {
      // It follows what is shown, and otherwise stays.
      const now = this.shown[0]?.id ?? -1;
      const before = now === first ? select.value : String(now);
      first = now;
      select.replaceChildren(...this.all.map((table) => h("option", { value: table.id, text: table.name })));
      const ids = this.all.map((table) => String(table.id));
      select.value = ids.includes(before) ? before : String(this.shown[0]?.id ?? ids[0] ?? "");
    });
    return select;
  }
}

/**
 * A length with a unit that suits it.
 * @param {number} value
 * @param {string} unit
 * @returns {[number, string]}
 */
export function suited(value, unit) {
  return unit === "nm" && Math.abs(value) >= 1000 ? [value / 1000, "\u00b5m"] : [value, unit];
}

/**
 * The ending of a file's name taken off.
 * @param {string} name
 * @returns {string}
 */
export function stem(name) {
  return name.replace(/\.(csv|hdf5)$/i, "");
}

/**
 * A word as a shell takes it.
 * @param {string} word
 * @returns {string}
 */
export function quoted(word) {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}
