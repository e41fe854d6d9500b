// How soon a changed option, a tile and a picture are drawn, from the change to the drawn pixels. `.ci/view --speed`.

import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { browser, complete, folder, open, serve, spotfit, until } from "./window.mjs";

const rows = Number(process.argv.slice(2).find((word) => /^\d/.test(word)) ?? 1e7);
const RUNS = 31;

/** @param {number[]} times */
function median(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** @type {string[]} */
const late = [];

/**
 * @param {string} what
 * @param {number[]} times
 * @param {number} most milliseconds
 */
function tell(what, times, most) {
  const middle = median(times);
  console.log(`${what}: median ${middle.toFixed(0)} ms of ${times.length} (${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)}), at most ${most}`);
  if (middle > most) late.push(what);
}

/**
 * A table of rings on a field of 100 um, one for every thousand of ten million rows.
 * @param {string} table
 */
function simulate(table) {
  const file = fs.openSync(table, "w");
  fs.writeSync(file, '"frame","x [nm]","y [nm]","sigma [nm]","intensity [photon]","uncertainty_xy [nm]"\n');
  let seed = 1;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  for (let done = 0; done < rows; ) {
    let text = "";
    for (let line = 0; line < 50000 && done < rows; line += 1, done += 1) {
      const ring = done % 10000;
      const [x, y] = [(ring % 100) * 1000 + 500, Math.floor(ring / 100) * 1000 + 500];
      const [angle, radius] = [random() * 2 * Math.PI, 300 + 20 * random()];
      const numbers = [x + radius * Math.cos(angle), y + radius * Math.sin(angle), 120 + 20 * random(), 500 + 1000 * random(), 8 + 6 * random()];
      text += `${1 + Math.floor((done * 20000) / rows)},${numbers.map((value) => value.toFixed(1)).join()}\n`;
    }
    fs.writeSync(file, text);
  }
  fs.closeSync(file);
}

const SIDES = process.argv.includes("--tables") ? [] : [[512, 100], [2048, 250]];
for (const [side] of SIDES) {
  if (fs.existsSync(path.join(folder, `speed-${side}.tif`))) continue;
  const spots = Math.round((side / 512) ** 2 * 100);
  spotfit(["simulate", "movie", "--output", `speed-${side}.tif`, "--frames", "20", "--width", String(side), "--height", String(side), "--spots", String(spots), "--seed", "3"]);
}
const table = path.join(folder, `speed-${rows}.csv`);
if (rows > 0 && !fs.existsSync(table)) simulate(table);

const chromium = await browser();
for (const [side, most] of SIDES) {
  const movie = `speed-${side}.tif`;
  const server = await serve([movie], path.join(folder, "out-speed"));
  const page = await open(chromium, server.address);
  await until("the first spots", async () => Number((await page.locator("#kept").textContent({ timeout: 20000 })).replace(/\D/g, "")) > 0);
  await page.waitForTimeout(500);
  const times = [];
  for (let run = 0; run < RUNS; run += 1) {
    times.push(
      await page.evaluate(
        (/** @type {number} */ run) =>
          new Promise((resolve) => {
            const field = /** @type {HTMLInputElement} */ (document.querySelector("#movie input[name=threshold]"));
            const stage = /** @type {HTMLElement} */ (document.querySelector("#movie .stage"));
            const start = performance.now();
            const seen = new MutationObserver(() => {
              seen.disconnect();
              // The marks are in the canvas; the next picture of the screen shows them.
              requestAnimationFrame(() => resolve(performance.now() - start));
            });
            seen.observe(stage, { attributes: true, attributeFilter: ["data-drawn"] });
            field.value = String(6 + (run % 7));
            field.dispatchEvent(new Event("input", { bubbles: true }));
          }),
        run,
      ),
    );
    await page.waitForTimeout(80);
  }
  tell(`a changed threshold at ${side} x ${side}, ${await page.locator("#kept").textContent()} spots`, times, most);
  await page.context().close();
  await server.stop();
}

if (rows > 0) {
  const server = await serve([table], path.join(folder, "out-speed"));
  const page = await open(chromium, server.address);
  // Reading takes as long as it takes; what counts begins when the table is there.
  await until("the table", async () => Number((await page.locator("#picture .tables .number").textContent()).replace(/\D/g, "")) === rows, 180000);
  const start = Date.now();
  await page.getByRole("tab", { name: "Picture" }).click();
  const stage = await complete(page);
  tell(`the first picture of ${rows} rows`, [Date.now() - start], 3000);
  /** @type {string[]} */
  const tiles = [];
  page.on("request", (/** @type {any} */ request) => request.url().includes("api/tile") && tiles.push(request.url()));
  const box = await stage.boundingBox();
  await page.mouse.move(box.x + 300, box.y + 250);
  for (let turn = 0; turn < 8; turn += 1) {
    await page.mouse.wheel(0, -240);
    await complete(page);
  }
  // One after the other, each until its pixels are there; with another peak, so that none was made before.
  const times = await page.evaluate(async (/** @type {string[]} */ tiles) => {
    const times = [];
    for (const tile of tiles) {
      const start = performance.now();
      const answer = await fetch(tile.replace(/peak=([0-9.e+-]+)/, (_, peak) => `peak=${1.01 * Number(peak)}`), { cache: "no-store" });
      await createImageBitmap(await answer.blob());
      times.push(performance.now() - start);
    }
    return times;
  }, tiles.filter((_, index) => index % Math.ceil(tiles.length / 60) === 0));
  tell(`a tile of ${rows} rows, at eight zooms`, times, 100);
  await page.context().close();
  await server.stop();
}
await chromium.close();
if (late.length > 0) {
  console.log(`Later than wanted: ${late.join("; ")}`);
  process.exit(1);
}
process.exit(0);
