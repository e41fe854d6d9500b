// A condition as the command reads it, and as ranges of columns. Both stay in step.

import { plain } from "./dom.js";

/** @typedef {{low: number | null, high: number | null}} Range */

const NUMBER = "[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?";
const AFTER = new RegExp(`^([A-Za-z_]\\w*)\\s*(<=|>=|<|>)\\s*(${NUMBER})$`);
const BEFORE = new RegExp(`^(${NUMBER})\\s*(<=|>=|<|>)\\s*([A-Za-z_]\\w*)$`);

/**
 * The parts that must all hold. One part if an "or" stands beside them.
 * @param {string} text
 * @returns {string[]}
 */
function parts(text) {
  const found = [""];
  let depth = 0;
  for (const symbol of text) {
    if (symbol === "(") depth += 1;
    if (symbol === ")") depth -= 1;
    if (symbol === "|" && depth === 0) return [`(${text.trim()})`];
    if (symbol === "&" && depth === 0) found.push("");
    else found[found.length - 1] += symbol;
  }
  return found.map((part) => part.trim()).filter((part) => part !== "");
}

/**
 * @param {string} part
 * @returns {{column: string, isLow: boolean, value: number} | null}
 */
function bound(part) {
  const after = AFTER.exec(part);
  if (after) return { column: after[1], isLow: after[2].startsWith(">"), value: Number(after[3]) };
  const before = BEFORE.exec(part);
  if (before) return { column: before[3], isLow: before[2].startsWith("<"), value: Number(before[1]) };
  return null;
}

/**
 * @param {string} text
 * @returns {Map<string, Range>}
 */
export function ranges(text) {
  /** @type {Map<string, Range>} */
  const found = new Map();
  for (const part of parts(text)) {
    const limit = bound(part);
    if (!limit) continue;
    const range = found.get(limit.column) ?? { low: null, high: null };
    if (limit.isLow) range.low = Math.max(range.low ?? Number.NEGATIVE_INFINITY, limit.value);
    else range.high = Math.min(range.high ?? Number.POSITIVE_INFINITY, limit.value);
    found.set(limit.column, range);
  }
  return found;
}

/**
 * The condition with other limits of one column.
 * @param {string} text
 * @param {string} column
 * @param {Range} range
 * @returns {string}
 */
export function withRange(text, column, { low, high }) {
  const all = parts(text);
  const first = all.findIndex((part) => bound(part)?.column === column);
  const others = all.filter((part) => bound(part)?.column !== column);
  const own = [];
  if (low !== null) own.push(`${column} >= ${plain(low)}`);
  if (high !== null) own.push(`${column} <= ${plain(high)}`);
  others.splice(first < 0 ? others.length : first, 0, ...own);
  return others.join(" & ");
}
