// A form of a verb's options, made from the words of the command. What it gives are words as they would be typed.

import { h } from "./dom.js";

/** @typedef {import("./api.js").Option} Option */

/**
 * @typedef {object} FormSettings
 * @property {string} name of the form, for people who do not see it
 * @property {string[]} first the options in view, in this order
 * @property {string[]} [without] options that the page itself sets
 * @property {Record<string, number[]>} [ranges] lowest, highest, step
 * @property {Record<string, string>} [units]
 * @property {() => void} changed
 */

/** Whether a value would be taken for an option. */
const isDashed = (/** @type {string} */ value) => value.startsWith("-") && value.length > 1;

/** A default that holds in the usual case, which only the help tells. @param {string} help */
const defaultIn = (help) => /\[default: ([^;\]]+)/.exec(help)?.[1];

/** How a value is written, where that is not plain from its unit. @param {Option} option @param {string} unit */
const formOf = ({ value }, unit) => (!unit && value && /[^A-Z<>_]/.test(value) ? value : "");

export class Form {
  /**
   * @param {Option[]} options
   * @param {FormSettings} settings
   */
  constructor(options, settings) {
    this.settings = settings;
    const without = new Set([...(settings.without ?? []), "json"]);
    this.options = options.filter((option) => !option.positional && !without.has(option.name));
    /** @type {Map<string, any>} */
    this.controls = new Map();
    /** @type {Map<string, any>} */
    this.rows = new Map();
    /** @type {{element: any, names: string[]}[]} */
    this.groups = [];
    const byName = new Map(this.options.map((option) => [option.name, option]));
    const first = settings.first.flatMap((name) => byName.get(name) ?? []);
    this.element = h("form", { class: "options", "aria-label": settings.name, autocomplete: "off", novalidate: true });
    this.element.addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
    this.element.append(...first.map((option) => this.row(option)));

    /** @type {Map<string, Option[]>} */
    const headings = new Map();
    for (const option of this.options) {
      if (first.includes(option)) continue;
      const heading = option.heading ?? "Options";
      headings.set(heading, [...(headings.get(heading) ?? []), option]);
    }
    if (headings.size === 0) return;
    const search = h("input", {
      type: "search", placeholder: "Find an option", "aria-label": "Find an option", spellcheck: "false",
      oninput: () => this.find(search.value),
    });
    this.element.append(h("div", { class: "find" }, search));
    for (const [heading, members] of headings) {
      const element = h("details", {}, h("summary", { text: heading }), ...members.map((option) => this.row(option)));
      this.groups.push({ element, names: members.map((option) => option.name) });
      this.element.append(element);
    }
    this.none = h("p", { class: "hint", text: "No option has these letters." });
    this.none.hidden = true;
    this.element.append(this.none);
  }

  /**
   * @param {Option} option
   * @returns {any}
   */
  row(option) {
    const id = `${this.settings.name}-${option.name}`.replace(/[^a-z0-9-]/gi, "-");
    const [low, high, step] = this.settings.ranges?.[option.name] ?? [];
    const unit = this.settings.units?.[option.name] ?? "";
    const about = {
      id, name: option.name, title: option.help, "aria-describedby": `${id}-help`, spellcheck: "false",
    };
    const changed = () => this.changed(option.name);
    /** @type {any} */
    let control;
    if (option.switch) {
      control = h("input", { ...about, type: "checkbox", onchange: changed });
    } else if (option.choices && !(option.value ?? "").includes(",")) {
      const unset = option.default ? `${option.default} (default)` : "default";
      control = h(
        "select", { ...about, onchange: changed },
        h("option", { value: "", text: unset }),
        ...option.choices.filter((value) => value !== option.default).map((value) => h("option", { value, text: value })),
      );
    } else {
      const placeholder = option.default ?? defaultIn(option.help) ?? formOf(option, unit);
      control = h("input", { ...about, type: "text", placeholder, oninput: changed });
      if (option.choices) {
        control.setAttribute("list", `${id}-list`);
        this.element.append(h("datalist", { id: `${id}-list` }, ...option.choices.map((value) => h("option", { value }))));
      }
      if (step) {
        control.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
          const times = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
          const text = control.value || option.default || String(low);
          if (!times || Number.isNaN(Number(text))) return;
          const value = Math.min(Math.max(Number(text) + times * step, low), high);
          control.value = String(Number(value.toPrecision(10)));
          event.preventDefault();
          changed();
        });
      }
    }
    this.controls.set(option.name, control);
    const row = h(
      "div", { class: option.switch ? "option switch" : "option" },
      h("label", { for: id, text: option.name, title: option.help }),
      h("span", { class: "field" }, control, unit && h("span", { class: "unit", text: unit, "aria-hidden": "true" })),
      h("span", { id: `${id}-help`, class: "unseen", text: option.help }),
      h("span", { class: "error", id: `${id}-error`, role: "alert" }),
    );
    this.rows.set(option.name, row);
    return row;
  }

  /** @param {string} name */
  changed(name) {
    this.mark(name);
    this.settings.changed();
  }

  /** @param {string} name */
  mark(name) {
    const row = this.rows.get(name);
    row?.classList.toggle("set", this.get(name) !== "");
    row?.classList.toggle("with-unit", /[a-z\u00b5]/i.test(this.get(name)));
  }

  /**
   * The value of an option: "" where it is not set, "true" for a switch.
   * @param {string} name
   * @returns {string}
   */
  get(name) {
    const control = this.controls.get(name);
    if (!control) return "";
    if (control.type === "checkbox") return control.checked ? "true" : "";
    return control.value.trim();
  }

  /**
   * @param {string} name
   * @param {string | number | boolean | null} value
   * @param {boolean} [quietly] without telling
   * @returns {boolean} whether there is such an option
   */
  set(name, value, quietly = false) {
    const control = this.controls.get(name);
    if (!control) return false;
    if (control.type === "checkbox") control.checked = value === true || value === "true";
    else if (control.tagName === "SELECT") {
      const text = value === null ? "" : String(value);
      control.value = [...control.options].some((option) => option.value === text) ? text : "";
    } else control.value = value === null || value === false ? "" : String(value);
    this.mark(name);
    if (!quietly) this.settings.changed();
    return true;
  }

  /**
   * @param {string[]} [without]
   * @returns {string[]}
   */
  words(without = []) {
    const words = [];
    for (const { name, switch: isSwitch } of this.options) {
      const value = this.get(name);
      if (value === "" || without.includes(name)) continue;
      if (isSwitch) words.push(`--${name}`);
      else if (isDashed(value)) words.push(`--${name}=${value}`);
      else words.push(`--${name}`, value);
    }
    return words;
  }

  /**
   * Shows what the command says beside the control that it names.
   * @param {string} text empty if all is well
   * @returns {boolean} whether there is such a control
   */
  fail(text) {
    for (const [name, row] of this.rows) {
      row.querySelector(".error").textContent = "";
      const control = this.controls.get(name);
      control.removeAttribute("aria-invalid");
      control.removeAttribute("aria-errormessage");
    }
    if (!text) return true;
    const names = [...text.matchAll(/--([a-z][a-z0-9-]*)/g)].map((match) => match[1]);
    const name = names.find((found) => this.get(found) !== "") ?? names.find((found) => this.controls.has(found));
    if (!name || !this.controls.has(name)) return false;
    const control = this.controls.get(name);
    const row = this.rows.get(name);
    row.querySelector(".error").textContent = text.replace(/^error: /, "").split("\n\n")[0];
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-errormessage", row.querySelector(".error").id);
    const group = row.closest("details");
    if (group) group.open = true;
    return true;
  }

  /** @param {string} letters */
  find(letters) {
    const wanted = letters.trim().toLowerCase();
    let any = false;
    for (const { element, names } of this.groups) {
      let some = false;
      for (const name of names) {
        const option = this.options.find((other) => other.name === name);
        const text = `${name} ${option?.help ?? ""}`.toLowerCase();
        const shown = wanted === "" || (wanted.length < 3 ? name.includes(wanted) : text.includes(wanted));
        this.rows.get(name).hidden = !shown;
        some ||= shown;
      }
      element.hidden = !some;
      element.open = some && wanted !== "";
      any ||= some;
    }
    this.none.hidden = any;
  }
}

/**
 * The options of a preset: TOML of one level, as `localize --preset` reads it.
 * @param {string} text
 * @returns {[string, string | boolean][]}
 */
export function presetOf(text) {
  /** @type {[string, string | boolean][]} */
  const found = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const match = /^\s*"?([A-Za-z0-9_-]+)"?\s*=\s*("(?:[^"\\]|\\.)*"|'[^']*'|\[[^\]]*\]|[^#\s]+)\s*(#.*)?$/.exec(line);
    if (!match) {
      if (/^\s*(#.*)?$/.test(line)) continue;
      throw new Error(`line ${index + 1} is not 'option = value'`);
    }
    const [, name, value] = match;
    if (value === "true" || value === "false") found.push([name, value === "true"]);
    else if (value.startsWith('"')) found.push([name, JSON.parse(value)]);
    else if (value.startsWith("'")) found.push([name, value.slice(1, -1)]);
    else if (value.startsWith("[")) found.push([name, value.slice(1, -1).split(",").map((part) => part.trim().replace(/^["']|["']$/g, "")).join(",")]);
    else found.push([name, value.replace(/_/g, "")]);
  }
  return found;
}
