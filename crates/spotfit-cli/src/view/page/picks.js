// Picks: circles, boxes and polygons in the picture, and what lies in them.

import { isOld, newest, post, Refused } from "./api.js";
import { commandLine, editable, h, later, plain, show, themed } from "./dom.js";
import { run } from "./jobs.js";
import { stem } from "./tables.js";

/** @typedef {[number, number]} Point */

/** What comes first in the table of picks. */
const FIRST = ["rows", "photons", "x", "y", "z", "frames"];

/** What each kind of pick wants, and how many numbers that are. */
const KINDS = /** @type {Record<string, [string, (count: number) => boolean]>} */ ({
  circle: ["x,y,r", (count) => count === 3], box: ["l,t,r,b", (count) => count === 4], polygon: ["x,y,x,y,x,y", (count) => count >= 6 && count % 2 === 0],
});

/**
 * @param {string} text as in circle:x,y,r
 * @returns {{kind: string, numbers: number[]} | null}
 */
export function pickOf(text) {
  const [kind, rest] = text.trim().split(":");
  const numbers = (rest ?? "").split(",").map(Number);
  return KINDS[kind]?.[1](numbers.length) && numbers.every(Number.isFinite) ? { kind, numbers } : null;
}

export class Picks {
  /** @param {{changed: () => void, tables: () => import("./api.js").Table[], filter: () => string, view: () => import("./view.js").View}} settings */
  constructor(settings) {
    this.settings = settings;
    /** @type {string[]} */
    this.picks = [];
    /** What is being drawn. @type {Point[]} */
    this.points = [];
    this.latest = newest();
    this.list = h("ol", { class: "picks", "aria-label": "Picks" });
    this.table = h("table", { class: "numbers" });
    this.message = h("p", { class: "error", role: "alert" });
    this.output = h("input", { type: "text", value: "picks.csv", "aria-label": "Name of the table of picks", spellcheck: "false" });
    this.command = commandLine("The command that makes the table of picks");
    const add = (/** @type {string} */ kind) =>
      h("button", { type: "button", class: "quiet", text: kind, "aria-label": `Add a ${kind}`, onclick: () => this.addInView(kind) });
    this.element = h(
      "details", { class: "group" }, h("summary", { text: "Picks" }),
      h("div", { class: "line" }, h("span", { text: "Add" }), ...Object.keys(KINDS).map(add)),
      this.list, this.message, h("div", { class: "scroll" }, this.table),
      h("div", { class: "line" }, this.output, h("button", { type: "button", text: "Export", "aria-label": "Export the picks", onclick: () => this.export() })),
      this.command.element,
    );
    this.ask = later(60, () => this.measure());
  }

  /** @param {string} kind */
  addInView(kind) {
    const [left, top, right, bottom] = this.settings.view().shown;
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const half = Math.min(right - left, bottom - top) / 6;
    const numbers = {
      circle: [x, y, half], box: [x - half, y - half, x + half, y + half], polygon: [x, y - half, x + half, y + half, x - half, y + half],
    }[kind];
    this.add(kind, numbers ?? []);
  }

  /**
   * @param {string} kind
   * @param {number[]} numbers
   */
  add(kind, numbers) {
    this.picks.push(`${kind}:${numbers.map((value) => plain(value, 7)).join(",")}`);
    this.element.open = true;
    this.rebuild();
  }

  rebuild() {
    editable(this.list, "pick", this.picks, (index, text) => {
      const isGood = pickOf(text) !== null;
      this.message.textContent = isGood ? "" : `A pick is ${Object.entries(KINDS).map(([kind, [form]]) => `${kind}:${form}`).join(" or ")}.`;
      if (isGood) {
        this.picks[index] = text.trim();
        this.changed();
      }
      return isGood;
    }, (index) => {
      this.picks.splice(index, 1);
      this.rebuild();
    });
    this.changed();
  }

  changed() {
    this.settings.changed();
    this.ask();
  }

  async measure() {
    const tables = this.settings.tables().map((table) => table.id);
    if (this.picks.length === 0 || tables.length === 0) {
      this.latest();
      this.table.replaceChildren();
      this.command.set("");
      this.message.textContent = "";
      return;
    }
    try {
      const body = { tables, picks: this.picks, filter: this.settings.filter() };
      const { columns, units, command } = await post("pick", body, this.latest());
      const rest = Object.keys(columns).filter((name) => !FIRST.includes(name) && !(name === "table" && tables.length === 1));
      const names = [...FIRST.filter((name) => columns[name]), ...rest];
      const cell = (/** @type {any} */ value) => h("td", { text: typeof value === "number" ? show(value, 5) : String(value ?? "") });
      const rows = Math.max(0, ...names.map((name) => columns[name].length));
      this.table.replaceChildren(
        h("thead", {}, h("tr", {}, ...names.map((name) => h("th", { scope: "col" }, name.replace(/_/g, " "), units?.[name] && !name.startsWith(units[name]) ? h("span", { class: "hint", text: ` ${units[name]}` }) : "")))),
        h("tbody", {}, ...Array.from({ length: rows }, (_, row) => h("tr", {}, ...names.map((name) => cell(columns[name][row]))))),
      );
      this.command.set(command ?? "");
      this.message.textContent = "";
    } catch (error) {
      if (!isOld(error)) this.message.textContent = error instanceof Refused ? error.message : "There is no answer.";
    }
  }

  /** @returns {string[]} */
  words() {
    const filter = this.settings.filter();
    const picks = this.picks.flatMap((pick) => {
      const [kind, numbers] = pick.split(":");
      return [`--${kind}=${numbers}`];
    });
    return [...picks, ...(filter ? ["--filter", filter] : [])];
  }

  async export() {
    if (this.picks.length === 0) {
      this.message.textContent = "Pick something first.";
      return;
    }
    try {
      const [tables, name] = [this.settings.tables(), this.output.value.trim()];
      // A table of picks for each table.
      for (const table of tables) await run("pick", [table.path, ...this.words(), "--output", tables.length > 1 ? `${stem(table.name)}-${name}` : name]);
    } catch (error) {
      this.message.textContent = error instanceof Refused ? error.message : "There is no answer.";
    }
  }

  /**
   * A step of drawing.
   * @param {string} kind
   * @param {"down" | "drag" | "up"} step
   * @param {Point} at
   */
  drawn(kind, step, at) {
    if (kind === "polygon") {
      if (step !== "up") return;
      const first = this.points[0];
      const near = 8 / this.settings.view().scale;
      if (first && this.points.length >= 3 && Math.hypot(first[0] - at[0], first[1] - at[1]) < near) this.close();
      else this.points.push(at);
    } else if (step === "down") this.points = [at, at];
    else {
      this.points[1] = at;
      const [[x, y]] = this.points;
      const far = Math.hypot(at[0] - x, at[1] - y);
      if (step === "up") {
        this.points = [];
        if (far * this.settings.view().scale > 3) {
          this.add(kind, kind === "circle" ? [x, y, far] : [Math.min(x, at[0]), Math.min(y, at[1]), Math.max(x, at[0]), Math.max(y, at[1])]);
        }
      }
    }
    this.settings.changed();
  }

  /** Ends a polygon. */
  close() {
    const points = this.points;
    this.points = [];
    if (points.length >= 3) this.add("polygon", points.flat());
    this.settings.changed();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {(x: number, y: number) => [number, number]} place
   * @param {string} tool
   */
  overlay(context, place, tool) {
    context.lineWidth = 1.5;
    context.font = `11px ${themed("font")}`;
    context.textAlign = "left";
    context.textBaseline = "bottom";
    const outline = (/** @type {string} */ kind, /** @type {number[]} */ numbers, /** @type {string} */ label) => {
      context.strokeStyle = "#56b4e9";
      context.fillStyle = "#ffffff";
      context.beginPath();
      /** @type {Point} */
      let corner = [0, 0];
      if (kind === "circle") {
        const [x, y] = place(numbers[0], numbers[1]);
        const radius = Math.abs(place(numbers[0] + numbers[2], numbers[1])[0] - x);
        context.arc(x, y, radius, 0, 2 * Math.PI);
        corner = [x + radius * 0.71, y - radius * 0.71];
      } else if (kind === "box") {
        const [a, b] = [place(numbers[0], numbers[1]), place(numbers[2], numbers[3])];
        context.rect(a[0], a[1], b[0] - a[0], b[1] - a[1]);
        corner = [b[0], a[1]];
      } else {
        for (let index = 0; index + 1 < numbers.length; index += 2) {
          const at = place(numbers[index], numbers[index + 1]);
          context.lineTo(...at);
          if (index === 0) corner = at;
        }
        if (label) context.closePath();
      }
      context.stroke();
      context.fillText(label, corner[0] + 3, corner[1]);
    };
    this.picks.forEach((text, index) => {
      const pick = pickOf(text);
      if (pick) outline(pick.kind, pick.numbers, String(index + 1));
    });
    if (this.points.length === 0) return;
    if (tool === "polygon") outline("polygon", this.points.flat(), "");
    else {
      const [[x, y], [right, bottom]] = this.points;
      outline(tool, tool === "circle" ? [x, y, Math.hypot(right - x, bottom - y)] : [x, y, right, bottom], "");
    }
  }
}
