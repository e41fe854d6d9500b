// The server's answers.

/**
 * @typedef {{name: string, title: string, unit: string, low: number | null, high: number | null,
 *   q01: number | null, q99: number | null}} Column
 * @typedef {{id: number, name: string, path: string, rows: number, unit: string, pixel_size: number | null,
 *   extent: number[] | null, frames: number, columns: Column[], growing: boolean, command: string}} Table
 * @typedef {{name: string, help: string, value?: string, default?: string, choices?: string[], switch?: boolean,
 *   heading?: string, positional?: boolean, required?: boolean}} Option
 * @typedef {{name: string, path: string, width: number, height: number, frames: number, type: string,
 *   pixel_size: number | null, notes: any[],
 *   options?: Record<string, string | null>}} Movie
 * @typedef {{version: string, movie: Movie | null, tables: Table[], output: string, verbs: Record<string, Option[]>,
 *   ranges: Record<string, number[]>}} Session
 */

/** What the server refused, in the words of the command. */
export class Refused extends Error {
  /**
   * @param {string} text
   * @param {number} status
   */
  constructor(text, status) {
    super(text);
    this.status = status;
  }
}

/**
 * @param {string} path
 * @param {Record<string, any>} [query] what is null, undefined or empty is left out
 * @returns {string}
 */
export function address(path, query = {}) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") words.set(name, String(value));
  }
  const text = words.toString();
  return text ? `api/${path}?${text}` : `api/${path}`;
}

/** @type {Set<(lost: boolean) => void>} */
const watchers = new Set();
let lost = false;

/** @param {(lost: boolean) => void} call */
export function onConnection(call) {
  watchers.add(call);
}

/** @param {boolean} now */
export function connection(now) {
  if (now === lost) return;
  lost = now;
  for (const call of watchers) call(now);
}

/**
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<Response>}
 */
export async function ask(path, init = {}) {
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", ...init });
  } catch (error) {
    if (/** @type {any} */ (error).name !== "AbortError") connection(true);
    throw error;
  }
  if (answer.ok) return answer;
  let text = `${answer.status} ${answer.statusText}`;
  try {
    text = (await answer.json()).error ?? text;
  } catch {
    // It was no JSON: the status has to do.
  }
  throw new Refused(text, answer.status);
}

/**
 * @param {string} path
 * @param {Record<string, any>} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function get(path, query, signal) {
  return (await ask(address(path, query), { signal })).json();
}

/**
 * @param {string} path
 * @param {any} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function post(path, body, signal) {
  const init = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal };
  return (await ask(`api/${path}`, init)).json();
}

/**
 * Whether a request was given up because a newer one took its place.
 * @param {any} error
 * @returns {boolean}
 */
export function isOld(error) {
  return error?.name === "AbortError";
}

/**
 * Requests of which only the newest counts: the one before is given up.
 * @returns {() => AbortSignal}
 */
export function newest() {
  /** @type {AbortController | null} */
  let last = null;
  return () => {
    last?.abort();
    last = new AbortController();
    return last.signal;
  };
}

/** @type {Set<(event: any) => void>} */
const listeners = new Set();

/** @param {(event: any) => void} call */
export function onEvent(call) {
  listeners.add(call);
}

/**
 * Holds the events of the server open, and opens them again when it comes back.
 * @param {() => void} opened
 */
export function listen(opened) {
  const source = new EventSource("api/events");
  let before = false;
  source.onopen = () => {
    connection(false);
    if (before) opened();
    before = true;
  };
  source.onmessage = (message) => {
    const event = JSON.parse(message.data);
    for (const call of listeners) call(event);
  };
  source.onerror = () => {
    connection(true);
    if (source.readyState !== EventSource.CLOSED) return;
    source.close();
    setTimeout(() => listen(opened), 2000);
  };
}
