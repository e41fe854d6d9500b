// Elements, and what several of them have in common.

/**
 * An element with attributes, listeners (`onclick`) and children. `null`, `undefined` and `false` are left out.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/**
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}.`);
  return found;
}

/**
 * Calls the function when nothing has asked for it for some time.
 * @template {any[]} A
 * @param {number} milliseconds
 * @param {(...values: A) => void} call
 * @returns {(...values: A) => void}
 */
export function later(milliseconds, call) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => call(...values), milliseconds);
  };
}

/**
 * Calls the function once before the next picture of the screen.
 * @param {() => void} call
 * @returns {() => void}
 */
export function onFrame(call) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      call();
    });
  };
}

/**
 * A number with so many digits that matter, without an exponent where that is readable.
 * @param {number | null | undefined} value
 * @param {number} [digits]
 * @returns {string}
 */
export function show(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(Math.max(digits - 2, 1)).replace("e+", "e").replace("-", "\u2212");
  const decimals = Math.min(Math.max(digits - 1 - Math.floor(Math.log10(size)), 0), 8);
  let text = value.toFixed(decimals);
  if (text.includes(".")) text = text.replace(/0+$/, "").replace(/\.$/, "");
  return text.replace("-", "\u2212");
}

/**
 * A whole number with its thousands apart.
 * @param {number} value
 * @returns {string}
 */
export function count(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u00a0");
}

/**
 * A number as the command reads it.
 * @param {number} value
 * @param {number} [digits]
 * @returns {string}
 */
export function plain(value, digits = 5) {
  return String(Number(value.toPrecision(digits)));
}

/**
 * The next round number: 1, 2 or 5 times a power of ten.
 * @param {number} value
 * @returns {number}
 */
export function round125(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const head = value / power;
  return power * (head < 1.5 ? 1 : head < 3.5 ? 2 : head < 7.5 ? 5 : 10);
}

/**
 * A canvas as sharp as the screen; its context draws in pixels of CSS.
 * @param {HTMLCanvasElement} canvas
 * @returns {{context: CanvasRenderingContext2D, width: number, height: number}}
 */
export function sharp(canvas) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/**
 * A colour of the theme.
 * @param {string} name
 * @returns {string}
 */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** @type {Set<() => void>} */
const repaints = new Set();

/**
 * Calls the function when the theme changes.
 * @param {() => void} call
 */
export function onTheme(call) {
  repaints.add(call);
}

/** Draws everything anew that has colours of the theme. */
export function themeChanged() {
  for (const call of repaints) call();
}

/**
 * A group of buttons of which one is pressed; arrow keys move between them.
 * @param {string} label
 * @param {{value: string, text: string, title?: string}[]} choices
 * @param {(value: string) => void} chosen
 * @returns {{element: any, choose: (value: string) => void}}
 */
export function choice(label, choices, chosen) {
  const element = h("div", { class: "choice", role: "radiogroup", "aria-label": label });
  /** @param {string} value */
  const mark = (value) => {
    for (const button of element.children) {
      const on = button.value === value;
      button.setAttribute("aria-checked", String(on));
      button.tabIndex = on ? 0 : -1;
    }
  };
  for (const { value, text, title } of choices) {
    element.append(
      h("button", {
        type: "button", role: "radio", value, text, title,
        onclick: () => {
          mark(value);
          chosen(value);
        },
      }),
    );
  }
  element.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const all = /** @type {HTMLButtonElement[]} */ ([...element.children]);
    const next = all[(all.findIndex((button) => button.tabIndex === 0) + step + all.length) % all.length];
    next.focus();
    next.click();
    event.preventDefault();
    event.stopPropagation();
  });
  mark(choices[0].value);
  return { element, choose: mark };
}

/**
 * Fills a list with texts that can be changed and taken away.
 * @param {HTMLElement} list
 * @param {string} name of one of them
 * @param {string[]} texts
 * @param {(index: number, text: string) => boolean} change whether it takes the text
 * @param {(index: number) => void} remove
 */
export function editable(list, name, texts, change, remove) {
  list.replaceChildren(
    ...texts.map((value, index) => {
      const field = h("input", {
        type: "text", value, "aria-label": `${name} ${index + 1}`, spellcheck: "false",
        onchange: () => field.setAttribute("aria-invalid", String(!change(index, field.value))),
      });
      const label = `Remove ${name} ${index + 1}`;
      const away = h("button", { type: "button", class: "quiet", text: "\u00d7", "aria-label": label, onclick: () => remove(index) });
      return h("li", {}, field, away);
    }),
  );
}

/**
 * The command that does the same, with a button that copies it.
 * @param {string} label
 * @returns {{element: any, set: (text: string) => void}}
 */
export function commandLine(label) {
  const text = h("code", { "aria-label": label, tabindex: "0", text: "" });
  const copy = h("button", {
    type: "button", class: "quiet", text: "Copy", "aria-label": `Copy: ${label}`,
    onclick: async () => {
      let copied = true;
      try {
        await navigator.clipboard.writeText(text.textContent);
      } catch {
        // Without the permission, what is selected can be copied.
        const range = document.createRange();
        range.selectNodeContents(text);
        const selection = window.getSelection();
        selection?.removeAllRanges();
        selection?.addRange(range);
        copied = document.execCommand("copy");
      }
      copy.textContent = copied ? "Copied" : "Selected";
      setTimeout(() => (copy.textContent = "Copy"), 1500);
    },
  });
  const element = h("div", { class: "command" }, text, copy);
  element.hidden = true;
  return {
    element,
    set(command) {
      text.textContent = command;
      element.hidden = !command;
    },
  };
}
