// What several steps in the page have in common.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { binary, expect, folder, until } from "./window.mjs";

/** @param {string} file @returns {number} */
export const rowsOf = (file) => fs.readFileSync(file, "utf8").trim().split("\n").length - 1;

/**
 * Sets options of a form.
 * @param {any} page
 * @param {Record<string, string>} values
 */
export async function fill(page, values) {
  for (const [name, value] of Object.entries(values)) await page.getByRole("tabpanel").getByLabel(name, { exact: true }).fill(value);
}

/**
 * The command of the newest job, when it has ended.
 * @param {any} page
 * @param {string} verb
 * @returns {Promise<string>}
 */
export async function ended(page, verb) {
  const job = page.locator("#jobs .job", { has: page.locator(".job-title", { hasText: new RegExp(`^${verb}$`) }) }).first();
  await job.getByRole("button", { name: `Close: ${verb}` }).waitFor();
  expect(!(await job.getAttribute("class")).includes("failed"), `${verb} failed: ${await job.locator(".job-text").textContent()}`);
  return job.locator("code").textContent();
}

/** Shows the first spot that the newest options find in the frame. @param {any} page */
export async function nextSpot(page) {
  const frame = page.getByRole("application", { name: "Frame" });
  await until("what is found in the frame", async () => (await frame.getAttribute("aria-busy")) === "false");
  await frame.focus();
  // Once: another press is the next spot, however long the first one's window takes.
  await page.keyboard.press("n");
  await page.getByRole("region", { name: "Spot" }).getByText("residual").waitFor();
}

/** Numbers the folders of commands that are executed again. */
let again = 0;

/**
 * Executes the command that the page shows in another folder, and compares what it makes.
 * @param {string} command
 * @param {string} output where the page made it
 * @param {string[]} files
 */
export function same(command, output, files) {
  again += 1;
  const other = path.join(folder, "again", String(again));
  fs.mkdirSync(other, { recursive: true });
  // What it reads lies where it lay: names are relative to the folder of the window.
  for (const name of fs.readdirSync(output)) if (!files.includes(name)) fs.copyFileSync(path.join(output, name), path.join(other, name));
  const { status, stderr } = spawnSync("bash", ["-euc", command], {
    cwd: other, encoding: "utf8", env: { ...process.env, PATH: `${path.dirname(binary)}:${process.env.PATH}` },
  });
  expect(status === 0, `${command}: ${stderr}`);
  for (const name of files) {
    const [made, now] = [path.join(output, name), path.join(other, name)];
    expect(fs.existsSync(made), `the page made no ${name}`);
    expect(fs.existsSync(now), `${command} made no ${name}`);
    if (fs.existsSync(made) && fs.existsSync(now)) {
      expect(fs.readFileSync(made).equals(fs.readFileSync(now)), `${name} is not what this makes: ${command}`);
    }
  }
}

/**
 * The centres of the bright blobs of a picture of the screen, in its pixels.
 * @param {any} page
 * @param {Buffer} png
 * @returns {Promise<{x: number, y: number, light: number}[]>}
 */
export async function blobs(page, png) {
  return page.evaluate(async (/** @type {string} */ data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    const [width, height] = [image.width, image.height];
    [canvas.width, canvas.height] = [width, height];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.drawImage(image, 0, 0);
    const { data: bytes } = context.getImageData(0, 0, width, height);
    const light = Array.from({ length: width * height }, (_, at) => bytes[at * 4] + bytes[at * 4 + 1] + bytes[at * 4 + 2]);
    const found = [];
    for (let start = 0; start < light.length; start += 1) {
      if (light[start] < 60) continue;
      const blob = { x: 0, y: 0, light: 0 };
      const open = [start];
      while (open.length > 0) {
        const at = open.pop() ?? 0;
        const weight = light[at];
        if (weight < 60) continue;
        light[at] = 0;
        const [x, y] = [at % width, Math.floor(at / width)];
        blob.x += weight * (x + 0.5);
        blob.y += weight * (y + 0.5);
        blob.light += weight;
        if (x > 0) open.push(at - 1);
        if (x + 1 < width) open.push(at + 1);
        if (y > 0) open.push(at - width);
        if (y + 1 < height) open.push(at + width);
      }
      found.push({ x: blob.x / blob.light, y: blob.y / blob.light, light: blob.light });
    }
    return found.sort((a, b) => b.light - a.light);
  }, png.toString("base64"));
}

/**
 * Drags in an element from place to place.
 * @param {any} page
 * @param {any} element
 * @param {number[]} from
 * @param {number[]} to
 */
export async function drag(page, element, from, to) {
  const box = await element.boundingBox();
  await page.mouse.move(box.x + from[0], box.y + from[1]);
  await page.mouse.down();
  await page.mouse.move(box.x + (from[0] + to[0]) / 2, box.y + (from[1] + to[1]) / 2);
  await page.mouse.move(box.x + to[0], box.y + to[1]);
  await page.mouse.up();
}

/** Every control that is shown can be reached by Tab. @param {any} page @param {string} tab */
export async function keyboard(page, tab) {
  await page.getByRole("tab", { name: tab }).click();
  await page.waitForTimeout(300);
  const all = await page.evaluate(() => {
    const found = [...document.querySelectorAll("button, input, select, textarea, summary, [role=slider], [role=application], code[tabindex]")];
    const shown = /** @type {any[]} */ (found).filter((item) => item.checkVisibility() && !item.disabled && item.tabIndex >= 0);
    shown.forEach((item, index) => (item.dataset.reach = String(index)));
    return shown.map((item) => item.getAttribute("aria-label") || item.name || item.textContent || item.tagName);
  });
  const reached = new Set();
  let hidden = 0;
  await page.evaluate(() => /** @type {any} */ (document.activeElement)?.blur());
  // A report has a process of its own, which takes as many presses as it likes; those that land in the page count.
  for (let [landed, pressed] = [0, 0]; landed < all.length + 10 && pressed < 1000 && reached.size < all.length; pressed += 1) {
    await page.keyboard.press("Tab");
    const [index, seen] = await page.evaluate(() => {
      const item = /** @type {any} */ (document.activeElement);
      const style = getComputedStyle(item);
      return [item.dataset.reach ?? "", style.outlineStyle !== "none" || item.matches("iframe, body")];
    });
    if (!seen) hidden += 1;
    if (index === "") continue;
    reached.add(index);
    landed += 1;
  }
  const missed = all.filter((/** @type {string} */ _, /** @type {number} */ index) => !reached.has(String(index)));
  expect(missed.length === 0, `${tab}: Tab does not reach ${missed.join(", ")}`);
  expect(hidden === 0, `${tab}: ${hidden} controls do not show that they have the focus`);
}

// Two clusters: 6000 nm apart along x, 2500 nm along y, with a known width.
export const apart = Math.hypot(6000, 2500);
export const spread = 40;
{
  const lines = ['"id","frame","x [nm]","y [nm]","sigma [nm]","intensity [photon]","uncertainty_xy [nm]"'];
  // The quantiles of a normal distribution along x and y, each once.
  const quantile = (/** @type {number} */ share) => {
    let [low, high] = [-6, 6];
    const under = (/** @type {number} */ z) => {
      let sum = 0.5;
      for (let at = 0; at < 400; at += 1) {
        const [a, b] = [(z * at) / 400, (z * (at + 1)) / 400];
        sum += (((b - a) / 2) * (Math.exp(-a * a / 2) + Math.exp(-b * b / 2))) / Math.sqrt(2 * Math.PI);
      }
      return sum;
    };
    for (let turn = 0; turn < 40; turn += 1) {
      const middle = (low + high) / 2;
      if (under(middle) < share) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };
  const normal = Array.from({ length: 30 }, (_, at) => spread * quantile((at + 0.5) / 30));
  let id = 0;
  for (const [x, y] of [[2000, 2000], [8000, 4500]]) {
    for (const dx of normal) for (const dy of normal) lines.push([(id += 1), 1 + (id % 100), (x + dx).toFixed(3), (y + dy).toFixed(3), 130, 1000, 10].join());
  }
  fs.writeFileSync(path.join(folder, "pair.csv"), `${lines.join("\n")}\n`);
}

/**
 * A TIFF file of pages of 16 bits, each with one value in all of its pixels.
 * @param {string} name
 * @param {number} width
 * @param {number} height
 * @param {number} pages
 * @param {string} description of the first page
 * @param {(page: number) => number} value
 */
export function stack(name, width, height, pages, description, value) {
  const text = Buffer.from(`${description}\0`, "latin1");
  const size = 2 * width * height;
  const tags = 9;
  const directory = 2 + 12 * tags + 4;
  const first = 8 + text.length + (text.length % 2);
  const bytes = Buffer.alloc(first + pages * (size + directory));
  bytes.write("II*\0", "latin1");
  text.copy(bytes, 8);
  for (let page = 0; page < pages; page += 1) {
    const pixels = first + page * (size + directory);
    const own = pixels + size;
    bytes.writeUInt32LE(own, page === 0 ? 4 : pixels - 4);
    for (let at = pixels; at < own; at += 2) bytes.writeUInt16LE(value(page), at);
    bytes.writeUInt16LE(tags, own);
    /** @type {[number, number, number, number][]} tag, type (2 text, 3 and 4 whole numbers), count, value */
    const entries = [
      [256, 4, 1, width], [257, 4, 1, height], [258, 3, 1, 16], [259, 3, 1, 1], [262, 3, 1, 1],
      [270, 2, text.length, 8], [273, 4, 1, pixels], [278, 4, 1, height], [279, 4, 1, size],
    ];
    entries.forEach(([tag, type, number, content], index) => {
      const at = own + 2 + 12 * index;
      bytes.writeUInt16LE(tag, at);
      bytes.writeUInt16LE(type, at + 2);
      bytes.writeUInt32LE(number, at + 4);
      bytes.writeUInt32LE(content, at + 8);
    });
  }
  fs.writeFileSync(path.join(folder, name), bytes);
}
