// The picture of the shown tables: colours, filters, measures, picks, and the view in space.

import { get, isOld, newest, Refused } from "./api.js";
import { bar, CHANNEL_CSS, CHANNELS, HUES, MAPS } from "./colours.js";
import { choice, commandLine, count, h, later, onTheme, plain, sharp, show } from "./dom.js";
import { ranges, withRange } from "./filter.js";
import { Histogram } from "./histogram.js";
import { run } from "./jobs.js";
import { Line } from "./measure.js";
import { Picks } from "./picks.js";
import { Points } from "./points.js";
import { otherSteps } from "./steps.js";
import { quoted, stem } from "./tables.js";
import { TileStage } from "./tiles.js";

/** @typedef {import("./api.js").Table} Table */
/** @typedef {import("./api.js").Column} Column */

const FILTERS = ["sigma", "photons", "uncertainty", "frame", "z"];
const TOOLS = [
  { value: "pan", text: "Pan", title: "Drag to pan; wheel, + and \u2212 zoom; 0 shows all" },
  { value: "distance", text: "Distance", title: "Drag from one end to the other" },
  { value: "profile", text: "Profile", title: "Drag along what is to be profiled" },
  { value: "circle", text: "Circle", title: "Pick a circle: drag from its centre" },
  { value: "box", text: "Box", title: "Pick a box: drag from corner to corner" },
  { value: "polygon", text: "Polygon", title: "Pick a polygon: click its corners, Enter ends it, Escape gives it up" },
];

export class PicturePanel {
  /**
   * @param {HTMLElement} panel
   * @param {import("./api.js").Session} session
   * @param {import("./tables.js").Tables} tables
   */
  constructor(panel, session, tables) {
    this.tables = tables;
    this.tool = "pan";
    this.condition = "";
    /** @type {(number | null)[]} */
    this.range = [null, null];
    /** @type {Map<number, string>} */
    this.channels = new Map();
    this.near = newest();
    /** @type {Map<string, Histogram>} */
    this.filters = new Map();
    this.grown = { id: -1, until: 0 };
    /** Names of the columns of the first table. */
    this.names = "";
    /** The condition by which picks were measured. */
    this.measured = "";
    this.tell = later(80, () => this.describe());
    this.soon = later(60, () => this.refresh());
    this.stage = new TileStage("Picture", {
      down: (at) => this.tool !== "pan" && this.tool !== "polygon" && this.drawn("down", at),
      drag: (at) => this.drawn("drag", at),
      up: (at) => this.drawn("up", at),
      click: (at) => this.tool === "polygon" && this.picks.drawn("polygon", "up", at),
      hover: (at) => this.hover(at),
      key: (event) => this.key(event),
      moved: () => this.tell(),
      failed: (text) => (this.failure.textContent = text),
      overlay: (context) => this.overlay(context),
    });
    const filter = () => this.condition;
    this.line = new Line({ changed: () => this.stage.paint(), table: () => this.table, filter });
    this.picks = new Picks({ changed: () => this.stage.paint(), tables: () => this.tables.shown, filter, view: () => this.stage.view });
    this.points = new Points();
    this.failure = h("p", { class: "error", role: "alert" });
    this.status = h("p", { class: "line status" });
    this.values = h("dl", { class: "hover", "aria-label": "Localization under the pointer" });
    this.values.hidden = true;
    this.stage.element.append(this.values);
    this.tools = choice("Tool", TOOLS, (value) => this.take(value));
    this.space = h("button", { type: "button", "aria-pressed": "false", text: "3-D", onclick: () => this.turn() });

    this.list = h("ul", { class: "tables", "aria-label": "Tables" });
    const tiles = () => this.refresh();
    this.colourBy = h("select", { "aria-label": "colour-by", onchange: () => this.recolour() });
    this.map = h("select", { "aria-label": "colour-map", onchange: tiles }, ...MAPS.map((value) => h("option", { value, text: value })));
    this.swatch = h("canvas", { class: "map", "aria-hidden": "true" });
    this.colours = new Histogram({
      title: "colour range", handles: "range", changed: (low, high) => {
        this.range = [low, high];
        this.soon();
      },
    });
    this.blur = h("select", { "aria-label": "blur", onchange: tiles }, ...["uncertainty", "average", "none"].map((value) => h("option", { value, text: value })));
    this.width = h("input", { type: "text", "aria-label": "blur width", placeholder: "or a width, as 20nm", spellcheck: "false", onchange: tiles });
    this.gamma = h("input", { type: "range", min: 0.2, max: 2, step: 0.05, value: 1, "aria-label": "gamma", oninput: () => this.soon() });
    this.gammaText = h("output", { text: "1" });
    this.saturated = h("input", { type: "range", min: 0, max: 100, step: 1, value: 62, "aria-label": "saturated", oninput: () => {
      this.isAuto = false;
      this.soon();
    } });
    this.saturatedText = h("output", { text: "auto" });
    this.isAuto = true;
    this.scaleBar = h("input", { type: "checkbox", onchange: () => {
      this.stage.scaleBar = this.scaleBar.checked;
      this.stage.paint();
      this.tell();
    } });
    this.scaleBar.checked = true;

    this.expression = h("textarea", { "aria-label": "filter", rows: 2, spellcheck: "false", placeholder: "photons > 300 & uncertainty < 20", oninput: () => this.typed() });
    this.rejected = h("p", { class: "error", role: "alert" });
    this.charts = h("div", { class: "charts" });
    this.more = h("select", { "aria-label": "Another column to filter by", onchange: () => {
      if (this.more.value) this.addFilter(this.more.value);
      this.more.value = "";
    } });
    this.name = h("input", { type: "text", value: "picture.png", "aria-label": "Name of the picture", spellcheck: "false" });
    this.part = h("select", { "aria-label": "Part of the picture", onchange: () => this.tell() }, h("option", { value: "view", text: "what is in view" }), h("option", { value: "all", text: "all of it" }));
    this.rows = h("input", { type: "text", "aria-label": "Name of the filtered table", spellcheck: "false" });
    this.command = commandLine("The command that makes this picture");

    panel.replaceChildren(
      h("aside", { class: "left" },
        h("h2", { text: "Tables" }), this.list,
        h("h2", { text: "Colours" }),
        h("div", { class: "pair" }, h("span", { text: "colour by" }), this.colourBy, h("span", { text: "colour map" }), this.map),
        this.swatch, this.colours.element,
        h("div", { class: "pair" },
          h("span", { text: "blur" }), this.blur, h("span", { text: "" }), this.width,
          h("span", { text: "gamma" }), h("span", { class: "slide" }, this.gamma, this.gammaText),
          h("span", { text: "saturated" }), h("span", { class: "slide" }, this.saturated, this.saturatedText)),
        h("div", { class: "line" },
          h("button", { type: "button", class: "quiet", text: "Auto contrast", onclick: () => this.auto() }),
          h("label", {}, this.scaleBar, " scale bar")),
        h("h2", { text: "Export" }),
        h("div", { class: "pair" }, h("span", { text: "part" }), this.part),
        h("div", { class: "line" }, this.name, h("button", { type: "button", text: "Export", "aria-label": "Export the picture", onclick: () => this.exportPicture() })),
        h("div", { class: "line" }, this.rows, h("button", { type: "button", text: "Export", "aria-label": "Export the filtered table", onclick: () => this.exportRows() })),
        this.failure, otherSteps(session, () => this.table)),
      h("div", { class: "middle" },
        h("div", { class: "line tools" }, this.tools.element, this.space,
          h("button", { type: "button", text: "All", title: "Show all of it (0)", onclick: () => this.stage.view.fit() })),
        h("div", { class: "stages" }, this.stage.element, this.points.element), this.status, this.command.element),
      h("aside", { class: "right" },
        h("h2", { text: "Filter" }), this.expression, this.rejected, this.charts, this.more,
        this.line.element, this.picks.element),
    );
    const paint = () => {
      const { context, width, height } = sharp(this.swatch);
      if (!this.swatch.hidden) bar(context, this.map.value, [0, 0, width, height]);
    };
    this.map.addEventListener("change", paint);
    new ResizeObserver(paint).observe(this.swatch);
    onTheme(paint);
    this.paintMap = paint;
    tables.watch((table) => this.changed(table));
  }

  /** @returns {Table | undefined} */
  get table() {
    return this.tables.shown[0];
  }

  /** @param {Table | null} table */
  changed(table) {
    this.showList();
    // A table that grows is drawn again once a second: the tiles of one time must come before those of the next.
    if (table?.growing && table.id === this.grown.id && Date.now() < this.grown.until) return;
    this.grown = { id: table?.id ?? -1, until: Date.now() + 1000 };
    const first = this.table;
    if (!first) {
      this.status.textContent = "No table is open. Run localize, or name one: spotfit view locs.csv";
      return;
    }
    const names = first.columns.map((column) => column.name).join();
    if (names !== this.names) {
      this.names = names;
      this.columns(first);
    }
    // A table that is still read has no extent.
    const extents = this.tables.shown.flatMap((shown) => (shown.extent ? [shown.extent] : []));
    if (extents.length === 0) {
      this.status.textContent = first.growing ? `${first.name} is read` : `${first.name} has no localizations`;
      return;
    }
    const extent = [0, 1, 2, 3].map((side) => (side < 2 ? Math.min : Math.max)(...extents.map((other) => other[side])));
    if (extent.join() !== this.stage.view.extent.join()) {
      if (this.stage.view.fitted) this.stage.view.show(extent);
      else this.stage.view.extent = extent;
    }
    if (table && this.tables.shownIds.has(table.id)) this.stage.renew();
    this.rows.value = `${stem(first.name)}-filtered.csv`;
    this.refresh();
    this.histograms();
    if (this.picks.picks.length > 0) this.picks.ask();
  }

  /** The server has started anew. */
  forget() {
    this.stage.renew();
  }

  showList() {
    const shown = this.tables.shown;
    this.list.replaceChildren(
      ...this.tables.all.map((table, index) => {
        const box = h("input", { type: "checkbox", onchange: () => {
          const ids = this.tables.all.filter(({ id }) => (id === table.id ? box.checked : this.tables.shownIds.has(id))).map(({ id }) => id);
          this.tables.show(ids.length > 0 ? ids : [table.id]);
        } });
        box.checked = this.tables.shownIds.has(table.id);
        const colour = this.channels.get(table.id) ?? CHANNELS[index % CHANNELS.length];
        this.channels.set(table.id, colour);
        const swatch = h("span", { class: "dot", "aria-hidden": "true" });
        swatch.style.background = CHANNEL_CSS[colour];
        const select = h("select", { "aria-label": `colour of ${table.name}`, onchange: () => {
          this.channels.set(table.id, select.value);
          this.showList();
          this.refresh();
        } }, ...CHANNELS.map((value) => h("option", { value, text: value })));
        select.value = colour;
        const several = shown.length > 1 && box.checked;
        return h("li", {}, h("label", { title: table.path }, box, several && swatch, h("span", { class: "name", text: table.name }), h("span", { class: "number", text: `${count(table.rows)}${table.growing ? " +" : ""}` })), several && select);
      }),
    );
  }

  /** @param {Table} table */
  columns(table) {
    const names = table.columns.map((column) => column.name);
    const others = names.filter((name) => !["x", "y", "id"].includes(name));
    const before = this.colourBy.value;
    this.colourBy.replaceChildren(...["density", ...others].map((value) => h("option", { value, text: value })));
    this.colourBy.value = [...others, "density"].includes(before) ? before : names.includes("z") ? "z" : "density";
    this.filters.clear();
    this.charts.replaceChildren();
    for (const name of FILTERS) if (names.includes(name)) this.addFilter(name);
    this.more.replaceChildren(h("option", { value: "", text: "Another column" }), ...names.filter((name) => name !== "id").map((value) => h("option", { value, text: value })));
    this.recolour();
  }

  /** @param {string} name */
  addFilter(name) {
    if (this.filters.has(name)) return;
    const chart = new Histogram({
      title: name, handles: "range", changed: (low, high) => {
        this.condition = withRange(this.condition, name, { low, high });
        this.expression.value = this.condition;
        this.soon();
      },
    });
    this.filters.set(name, chart);
    this.charts.append(chart.element);
    this.histogram(name, chart);
  }

  histograms() {
    for (const [name, chart] of this.filters) this.histogram(name, chart);
    const column = this.colourBy.value;
    this.colours.element.hidden = column === "density" || this.tables.shown.length > 1;
    if (!this.colours.element.hidden) this.histogram(column, this.colours);
  }

  /**
   * @param {string} column
   * @param {Histogram} chart
   */
  async histogram(column, chart) {
    if (!this.table) return;
    try {
      const found = await get("histogram", { table: this.table.id, column, bins: 48 });
      chart.set({ from: found.from, to: found.to, counts: found.counts, log: found.log, unit: found.unit });
      this.limits();
    } catch {
      chart.set(null);
    }
  }

  /** Brings the handles where the condition has them. */
  limits() {
    const found = ranges(this.condition);
    for (const [name, chart] of this.filters) chart.limit(found.get(name)?.low ?? null, found.get(name)?.high ?? null);
  }

  typed() {
    this.condition = this.expression.value.trim();
    this.limits();
    this.soon();
  }

  recolour() {
    this.range = [null, null];
    this.colours.limit(null, null);
    const column = this.colourBy.value;
    const isHue = column !== "density";
    for (const option of this.map.options) option.disabled = isHue && !HUES.includes(option.value);
    if (isHue !== HUES.includes(this.map.value)) this.map.value = isHue ? "turbo" : "inferno";
    this.histograms();
    this.refresh();
  }

  /** @returns {string} the range of the colours, or "" */
  get colourRange() {
    const column = this.table?.columns.find(({ name }) => name === this.colourBy.value);
    if (!column) return "";
    return [this.range[0] ?? column.q01 ?? 0, this.range[1] ?? column.q99 ?? 1].map((value) => plain(value, 4)).join(",");
  }

  /** @returns {import("./tiles.js").Looks} */
  get looks() {
    const shown = this.tables.shown;
    const isOne = shown.length === 1;
    const isValue = isOne && this.colourBy.value !== "density";
    const share = this.isAuto ? "" : plain(0.001 * 500 ** (Number(this.saturated.value) / 100), 3);
    return {
      tables: shown.filter(({ extent }) => extent).map(({ id }) => id).join(),
      blur: this.width.value.trim() || this.blur.value,
      colour_by: isOne ? this.colourBy.value : "",
      colour_map: isOne ? this.map.value : "",
      colour_range: isValue ? this.colourRange : "",
      colours: isOne ? "" : shown.map(({ id }) => this.channels.get(id)).join(),
      filter: this.condition,
      gamma: Number(this.gamma.value) === 1 ? "" : plain(Number(this.gamma.value), 3),
      saturated: share,
    };
  }

  auto() {
    this.isAuto = true;
    this.gamma.value = "1";
    this.refresh();
    this.stage.renew();
  }

  refresh() {
    if (!this.table?.extent) return;
    const looks = this.looks;
    this.gammaText.textContent = show(Number(this.gamma.value), 3);
    this.saturatedText.textContent = looks.saturated ? show(Number(looks.saturated), 2) : "auto";
    this.map.disabled = this.tables.shown.length > 1;
    this.colourBy.disabled = this.tables.shown.length > 1;
    this.swatch.hidden = this.map.disabled;
    this.paintMap();
    this.stage.set(looks, this.table.unit);
    this.tell();
    if (!this.points.element.hidden) this.showPoints();
    if (this.condition !== this.measured) {
      this.measured = this.condition;
      if (this.picks.picks.length > 0) this.picks.ask();
    }
  }

  /** Shows how much is in view, and the command. */
  describe() {
    if (!this.table?.extent) return;
    const { unit } = this.table;
    this.status.textContent = `${count(this.tables.shown.reduce((sum, table) => sum + table.rows, 0))} localizations \u00b7 1 px is ${show(1 / this.stage.view.scale, 3)} ${unit}`;
    const words = ["spotfit", "render", ...this.tables.shown.map(({ path }) => path), ...this.renderWords(), "--output", this.name.value];
    this.command.set(words.map(quoted).join(" "));
  }

  /** @returns {string[]} */
  renderWords() {
    const looks = this.looks;
    const words = ["--pixel", `${plain(this.stage.pixel, 12)}${this.table?.unit ?? "nm"}`];
    if (this.part.value === "view") words.push(`--extent=${this.stage.view.part.map((value) => plain(value, 7)).join()}`);
    for (const [name, value] of Object.entries(looks)) {
      if (!value || name === "tables") continue;
      words.push(`--${name.replace("_", "-")}${value.startsWith("-") ? `=${value}` : ""}`);
      if (!value.startsWith("-")) words.push(value);
    }
    if (!this.scaleBar.checked) words.push("--scale-bar", "0");
    return words;
  }

  /**
   * @param {string} verb
   * @param {string[]} words
   */
  async run(verb, words) {
    try {
      this.failure.textContent = "";
      await run(verb, words);
    } catch (error) {
      this.failure.textContent = error instanceof Refused ? error.message : "There is no answer.";
    }
  }

  exportPicture() {
    return this.table && this.run("render", [...this.tables.shown.map(({ path }) => path), ...this.renderWords(), "--output", this.name.value.trim()]);
  }

  exportRows() {
    return this.table && this.run("filter", [this.table.path, ...(this.condition ? [this.condition] : []), "--output", this.rows.value.trim()]);
  }

  /** @param {string} tool */
  take(tool) {
    this.tool = tool;
    this.picks.points = [];
    this.stage.element.classList.toggle("drawing", tool !== "pan");
    if (tool === "distance" || tool === "profile") this.line.element.open = true;
    else if (tool !== "pan") this.picks.element.open = true;
    this.stage.paint();
  }

  /**
   * @param {"down" | "drag" | "up"} step
   * @param {[number, number]} at
   * @returns {boolean}
   */
  drawn(step, at) {
    if (this.tool === "circle" || this.tool === "box") this.picks.drawn(this.tool, step, at);
    else {
      this.line.set(step === "down" ? at : this.line.from, at);
      if (step === "up" && this.tool === "profile") this.line.ask();
    }
    return true;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Enter" && this.picks.points.length >= 3) this.picks.close();
    else if (event.key === "Escape") {
      this.picks.points = [];
      this.stage.paint();
    } else return false;
    return true;
  }

  hover = later(50, async (/** @type {[number, number] | null} */ at) => {
    const signal = this.near();
    if (!at || !this.table || this.stage.view.fingers.size > 0) {
      this.values.hidden = true;
      return;
    }
    try {
      const radius = plain(8 / this.stage.view.scale, 4);
      const tables = this.tables.shown.map(({ id }) => id).join();
      const found = await get("near", { tables, x: plain(at[0], 9), y: plain(at[1], 9), radius, filter: this.condition }, signal);
      this.values.hidden = !found;
      if (!found) return;
      this.values.replaceChildren(...found.values.flatMap((/** @type {any} */ { name, value, unit }) => [
        h("dt", { text: name }), h("dd", { text: `${typeof value === "number" ? show(value, 6) : value} ${unit ?? ""}` }),
      ]));
    } catch (error) {
      if (!isOld(error)) this.values.hidden = true;
    }
  });

  /** @param {CanvasRenderingContext2D} context */
  overlay(context) {
    const place = (/** @type {number} */ x, /** @type {number} */ y) => this.stage.view.toScreen(x, y);
    this.line.overlay(context, place);
    this.picks.overlay(context, place, this.tool);
  }

  turn() {
    const on = this.points.element.hidden;
    this.points.element.hidden = !on;
    this.space.setAttribute("aria-pressed", String(on));
    if (on) this.showPoints();
  }

  showPoints() {
    if (!this.table) return;
    const chosen = this.colourBy.value;
    const name = chosen !== "density" ? chosen : this.table.columns.some((column) => column.name === "z") ? "z" : "frame";
    const column = this.table.columns.find((other) => other.name === name);
    const range = chosen !== "density" && this.colourRange ? this.colourRange.split(",").map(Number) : [column?.q01 ?? 0, column?.q99 ?? 1];
    const map = HUES.includes(this.map.value) ? this.map.value : "turbo";
    this.points.show({ table: this.table, extent: this.stage.view.part, filter: this.condition, column: name, map, range });
  }
}
