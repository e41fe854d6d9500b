// What runs: its progress, how it ended, and the command that does the same.

import { onEvent, post, Refused } from "./api.js";
import { byId, commandLine, count, h } from "./dom.js";

/** @typedef {import("./api.js").Table} Table */
/** @typedef {{kind: string, job: number, text?: string, error?: string, report?: any, tables?: Table[], files?: string[], command: string}} End */

class Job {
  /**
   * @param {number} id
   * @param {string} verb
   * @param {string} command
   */
  constructor(id, verb, command) {
    this.id = id;
    this.verb = verb;
    this.command = command;
    this.title = h("span", { class: "job-title", text: verb });
    this.bar = h("progress", { "aria-label": `Progress of ${verb}` });
    this.text = h("span", { class: "job-text", role: "status" });
    this.notes = h("ul", { class: "notes" });
    this.stop = h("button", { type: "button", class: "quiet", text: "Cancel", "aria-label": `Cancel ${verb}`, onclick: () => post("cancel", { job: id }) });
    this.close = h("button", { type: "button", class: "quiet", text: "Close", "aria-label": `Close: ${verb}`, onclick: () => this.element.remove() });
    this.close.hidden = true;
    const shown = commandLine("The command that does the same");
    shown.set(command);
    this.element = h(
      "div", { class: "job" },
      h("div", { class: "job-line" }, this.title, this.bar, this.text, shown.element, this.stop, this.close), this.notes,
    );
    /** @type {(end: End) => void} */
    this.resolve = () => {};
    /** @type {Promise<End>} */
    this.ended = new Promise((resolve) => (this.resolve = resolve));
  }

  /** @param {any} event */
  event(event) {
    if (event.kind === "progress") {
      if (event.total) {
        this.bar.max = event.total;
        this.bar.value = event.done;
      }
      const of = event.total ? ` of ${count(event.total)}` : "";
      const found = event.found ? `, ${count(event.found)} found` : "";
      this.text.textContent = `${count(event.done)}${of} ${event.unit ?? ""}${found}`;
    } else if (event.kind === "note") {
      this.notes.append(h("li", { text: event.text }));
    } else if (event.kind === "done" || event.kind === "failed") {
      this.bar.hidden = true;
      this.stop.hidden = true;
      this.close.hidden = false;
      const failed = event.kind === "failed";
      this.element.classList.toggle("failed", failed);
      this.text.textContent = failed ? event.error : String(event.text ?? "done").split("\n")[0];
      this.text.title = failed ? event.error : String(event.text ?? "");
      this.resolve({ ...event, command: this.command });
    }
  }
}

/** @type {Map<number, Job>} */
const jobs = new Map();
/** What came of a job before the answer that tells its number. @type {any[]} */
let early = [];
/** @type {Set<(table: Table, isResult: boolean) => void>} */
const growing = new Set();

/**
 * Calls the function with tables that are new or have grown, and whether they are what the movie gives.
 * @param {(table: Table, isResult: boolean) => void} call
 */
export function onRows(call) {
  growing.add(call);
}

onEvent((event) => {
  const isResult = jobs.get(event.job)?.verb === "localize";
  const tables = event.kind === "rows" ? [event.table] : event.kind === "done" ? event.tables ?? [] : [];
  for (const table of tables) for (const call of growing) call(table, isResult);
  if (event.job === undefined || event.job === null) {
    // A table of the command line that cannot be read.
    if (event.kind === "failed") tell(event.error);
    return;
  }
  const job = jobs.get(event.job);
  if (job) job.event(event);
  else early = [...early.slice(-200), event];
});

/**
 * Shows what went wrong without a job.
 * @param {string} text
 */
function tell(text) {
  const line = h(
    "div", { class: "job failed", role: "alert" },
    h("div", { class: "job-line" }, h("span", { class: "job-text", text }), h("button", { type: "button", class: "quiet", text: "Close", onclick: () => line.remove() })),
  );
  byId("jobs").prepend(line);
}

/**
 * Starts a job; asks before it replaces a file that this window did not make.
 * @param {string} verb
 * @param {string[]} words
 * @returns {Promise<{job: number, command: string}>}
 */
async function begin(verb, words) {
  try {
    return await post("run", { verb, words });
  } catch (error) {
    const isThere = error instanceof Refused && error.status === 409;
    if (!isThere || !window.confirm(`${error.message}\n\nReplace it?`)) throw error;
    return post("run", { verb, words, replace: true });
  }
}

/**
 * Runs a verb; the footer shows how it goes. It rejects if the command refuses its words.
 * @param {string} verb
 * @param {string[]} words
 * @returns {Promise<{command: string, ended: Promise<End>}>}
 */
export async function run(verb, words) {
  const { job: id, command } = await begin(verb, words);
  const job = new Job(id, verb, command);
  jobs.set(id, job);
  const footer = byId("jobs");
  footer.prepend(job.element);
  for (const old of [...footer.children].slice(3)) if (!old.querySelector("progress:not([hidden])")) old.remove();
  for (const event of early) if (event.job === id) job.event(event);
  early = early.filter((event) => event.job !== id);
  return { command, ended: job.ended };
}

/** Jobs that nobody tells of any more, because the server started anew. */
export function forget() {
  for (const job of jobs.values()) {
    if (!job.stop.hidden) job.event({ kind: "failed", error: "Spotfit was started again; this job has ended." });
  }
}
