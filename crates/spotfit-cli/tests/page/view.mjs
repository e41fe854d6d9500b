// Does in a browser what people do in `spotfit view`, and compares what they get with what the command gives. `.ci/view`.

import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { Pictures } from "./pictures.mjs";
import { apart, blobs, drag, ended, fill, keyboard, nextSpot, rowsOf, same, spread, stack } from "./tools.mjs";
import { browser, complete, expect, folder, open, serve, spotfit, until, wrong } from "./window.mjs";

const write = process.argv.includes("--write");
const here = path.dirname(new URL(import.meta.url).pathname);
const root = path.resolve(here, "../../../..");
const only = process.argv.find((word) => word.startsWith("--only="))?.slice(7);

const CAMERA = { baseline: "100", sensitivity: "0.5", "pixel-size": "107" };
const camera = Object.entries(CAMERA).flatMap(([name, value]) => [`--${name}`, value]);

/** @param {string} name @param {() => Promise<void>} work */
async function step(name, work) {
  if (only && !new RegExp(only).test(name)) return;
  console.log(name);
  try {
    await work();
  } catch (error) {
    const shown = path.join(folder, `failed-${name.split(":")[0].replace(/\W+/g, "-")}.png`);
    await page.screenshot({ path: shown }).catch(() => {});
    expect(false, `${name}: ${/** @type {Error} */ (error).stack?.split("\n").slice(0, 6).join("\n")}\n  The page then: ${shown}`);
  }
}

fs.rmSync(path.join(folder, "out"), { recursive: true, force: true });
fs.rmSync(path.join(folder, "again"), { recursive: true, force: true });
spotfit([
  "simulate", "movie", "--output", "movie.tif", "--truth", "truth.csv", "--frames", "300", "--width", "192", "--height", "192", "--spots", "24",
  "--off-time", "120", "--beads", "3", "--drift", "0.006,-0.004", "--sensitivity", "0.5", "--seed", "11",
]);
spotfit(["localize", "movie.tif", "--output", "locs.csv", ...camera]);

const chromium = await browser();
const pictures = new Pictures(chromium, { made: path.join(folder, "pictures"), write });
const output = path.join(folder, "out");
const server = await serve(["movie.tif"], output);
const page = await open(chromium, server.address);

await step("names: every option of localize has a control with its name, its help and its default", async () => {
  const options = JSON.parse(spotfit(["options"])).localize.options;
  const without = ["movie", "more", "json", "follow", "idle", "frame", "preset"];
  for (const option of options) {
    if (without.includes(option.name)) continue;
    const control = page.locator("#movie").getByLabel(option.name, { exact: true });
    if ((await control.count()) !== 1) {
      expect(false, `there are ${await control.count()} controls named ${option.name}`);
      continue;
    }
    if (option.name !== "output") expect((await control.getAttribute("title")) === option.help, `${option.name} has another help`);
    if (option.default && !option.choices && !option.switch) {
      expect((await control.getAttribute("placeholder")) === option.default, `${option.name} shows another default`);
    }
  }
});

await step("threshold: the count is that of localize --frames", async () => {
  await fill(page, CAMERA);
  for (const threshold of ["5", "9", "20"]) {
    for (const frame of [1, 57]) {
      await page.getByLabel("frame number").fill(String(frame));
      await page.getByLabel("frame number").press("Enter");
      await page.getByRole("textbox", { name: "threshold", exact: true }).fill(threshold);
      spotfit(["localize", "movie.tif", "--frames", `${frame}:${frame}`, "--threshold", threshold, ...camera, "--output", "one.csv"]);
      const rows = rowsOf(path.join(folder, "one.csv"));
      await until(`${rows} spots with threshold ${threshold} in frame ${frame}`, async () => {
        const words = await page.locator("#movie .command code").textContent();
        return words.includes(`--threshold ${threshold} `) && Number(await page.locator("#kept").textContent()) === rows;
      });
    }
  }
});

await step("threshold: the handle of the response sets the option", async () => {
  const handle = page.getByRole("slider", { name: "threshold on the response" });
  const field = page.getByRole("textbox", { name: "threshold", exact: true });
  const before = Number(await field.inputValue());
  await handle.focus();
  await page.keyboard.press("ArrowRight");
  await until("a greater threshold", async () => Number(await field.inputValue()) > before);
  await field.fill("");
});

await step("errors stand beside their control", async () => {
  const field = page.getByRole("textbox", { name: "threshold", exact: true });
  await field.fill("much");
  await until("an error", async () => (await field.getAttribute("aria-invalid")) === "true");
  const id = await field.getAttribute("aria-errormessage");
  expect((await page.locator(`#${id}`).textContent()).includes("threshold"), "the error does not name the option");
  await field.fill("");
  await until("no error", async () => (await field.getAttribute("aria-invalid")) === null);
});

await step("frames: slider, keys and number are in step", async () => {
  const slider = page.getByRole("slider", { name: "frame", exact: true });
  const stage = page.getByRole("application", { name: "Frame" });
  await stage.focus();
  const number = async () => Number(await slider.inputValue());
  for (const [key, value] of /** @type {[string, number][]} */ ([["Home", 1], ["ArrowRight", 2], ["PageDown", 0], ["End", 300], ["ArrowLeft", 299], ["Home", 1]])) {
    await page.keyboard.press(key);
    if (value > 0) expect((await number()) === value, `${key} goes to frame ${await number()}, not ${value}`);
  }
});

await step("spots: window, fit, residual and numbers with errors", async () => {
  await nextSpot(page);
  const spot = page.getByRole("region", { name: "Spot" });
  const text = await spot.locator("table").textContent();
  for (const word of ["x", "y", "sigma", "photons", "\u00b1"]) expect(text.includes(word), `the numbers of a spot have no ${word}`);
});

await step("presets: what is saved is what localize reads", async () => {
  await page.locator("summary", { hasText: "Preset" }).click();
  await page.getByRole("textbox", { name: "threshold", exact: true }).fill("9");
  await page.getByLabel("Name of the preset").fill("mine.toml");
  await page.getByRole("button", { name: "Save the preset" }).click();
  const file = path.join(output, "mine.toml");
  await until("the preset", () => fs.existsSync(file));
  spotfit(["localize", "movie.tif", "--preset", file, "--output", "preset.csv", "--frames", "1:20"]);
  spotfit(["localize", "movie.tif", ...camera, "--threshold", "9", "--output", "typed.csv", "--frames", "1:20"]);
  expect(fs.readFileSync(path.join(folder, "preset.csv")).equals(fs.readFileSync(path.join(folder, "typed.csv"))), "the preset gives other rows");
  await page.getByRole("button", { name: "Reset all" }).click();
  await until("no option", async () => (await page.getByRole("textbox", { name: "baseline", exact: true }).inputValue()) === "");
  await page.getByLabel("Preset file").setInputFiles(file);
  await until("the preset's options", async () => (await page.getByRole("textbox", { name: "baseline", exact: true }).inputValue()) === "100");
  expect((await page.getByRole("textbox", { name: "threshold", exact: true }).inputValue()) === "9", "the preset's threshold is not loaded");
  await page.getByRole("textbox", { name: "threshold", exact: true }).fill("");
  await page.locator("summary", { hasText: "Preset" }).click();
});

await step("run: the table is that of the shown command, and is shown", async () => {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const command = await ended(page, "localize");
  same(command, output, ["movie.csv"]);
  const rows = rowsOf(path.join(output, "movie.csv"));
  await until("the picture", async () => (await page.getByRole("tab", { name: "Picture" }).getAttribute("aria-selected")) === "true");
  await until("all rows", async () => (await page.locator("#picture .tables .number").first().textContent()).replace(/\D/g, "") === String(rows));
  await complete(page);
});

await step("cancel: a job ends, and leaves no file", async () => {
  await page.getByRole("tab", { name: "Movie" }).click();
  // It is in a group that is closed.
  await page.locator("#movie").getByLabel("Find an option").fill("threads");
  await fill(page, { threshold: "", emitters: "auto", threads: "1", output: "slow.csv" });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Cancel localize" }).click();
  await page.locator("#jobs .job.failed").waitFor();
  expect(!fs.existsSync(path.join(output, "slow.csv")), "a job that was cancelled leaves a table");
  await page.getByRole("tab", { name: "Movie" }).click();
  await fill(page, { emitters: "", threads: "", output: "movie.csv" });
  await page.locator("#movie").getByLabel("Find an option").fill("");
  await page.getByRole("button", { name: "Close: localize" }).first().click();
  await page.getByRole("tab", { name: "Picture" }).click();
});

await step("zoom: by wheel at the pointer, by keys", async () => {
  const stage = await complete(page);
  const size = async () => Number(/1 px is ([\d.]+)/.exec(await page.locator("#picture .status").textContent())?.[1]);
  const before = await until("the size of a pixel", size);
  const box = await stage.boundingBox();
  await page.mouse.move(box.x + 200, box.y + 150);
  await page.mouse.wheel(0, -480);
  await until("a closer view", async () => Math.abs((await size()) / (before / 4) - 1) < 0.02);
  await complete(page);
  await stage.focus();
  await page.keyboard.press("-");
  await until("a wider view", async () => Math.abs((await size()) / (before / 4 * 1.5) - 1) < 0.02);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("0");
  await until("all of it", async () => Math.abs((await size()) / before - 1) < 0.001);
});

await step("hover: the numbers of the localization under the pointer", async () => {
  const stage = await complete(page);
  const box = await stage.boundingBox();
  const middle = { x: box.x + 100, y: box.y + 60, width: box.width - 200, height: box.height - 120 };
  const [spot] = await blobs(page, await page.screenshot({ clip: middle }));
  await page.mouse.move(middle.x + spot.x, middle.y + spot.y);
  const values = page.locator("#picture .hover");
  await until("numbers", async () => (await values.isVisible()) && /photons/.test(await values.textContent()));
  await page.mouse.move(5, 5);
  await until("no numbers", async () => !(await values.isVisible()));
});

await step("filter: handles and expression are in step, the export is that of the command", async () => {
  const field = page.locator("#picture").getByLabel("filter", { exact: true });
  await field.fill("photons > 300 & uncertainty < 15");
  const handle = page.getByRole("slider", { name: "photons from" });
  await until("the handle", async () => (await handle.getAttribute("aria-valuenow")) === "300");
  await page.getByRole("slider", { name: "sigma to" }).focus();
  for (let press = 0; press < 4; press += 1) await page.keyboard.press("PageDown");
  await until("the expression", async () => /sigma <= [\d.]+/.test(await field.inputValue()));
  expect((await field.inputValue()).startsWith("photons > 300 & uncertainty < 15"), `the expression became ${await field.inputValue()}`);
  await complete(page);
  await page.getByRole("button", { name: "Export the filtered table" }).click();
  const command = await ended(page, "filter");
  same(command, output, ["movie-filtered.csv"]);
  expect(rowsOf(path.join(output, "movie-filtered.csv")) < rowsOf(path.join(output, "movie.csv")), "the filter keeps all rows");
  // The new table has no place among those that are shown.
  await page.locator("#picture .tables label", { hasText: /^movie\.csv/ }).getByRole("checkbox").check();
});

await step("picture: the export is that of the command", async () => {
  await complete(page);
  await page.getByRole("button", { name: "Export the picture" }).click();
  same(await ended(page, "render"), output, ["picture.png"]);
});

await step("picks: circle, box and polygon, by pointer and by numbers; the export is that of the command", async () => {
  const stage = await complete(page);
  await page.getByRole("radio", { name: "Circle" }).click();
  await drag(page, stage, [200, 200], [240, 230]);
  await page.getByRole("radio", { name: "Box" }).click();
  await drag(page, stage, [300, 250], [420, 330]);
  await page.getByRole("radio", { name: "Polygon" }).click();
  const box = await stage.boundingBox();
  for (const [x, y] of [[150, 300], [250, 320], [180, 400]]) await page.mouse.click(box.x + x, box.y + y);
  await page.keyboard.press("Enter");
  const rows = page.locator("#picture .scroll tbody tr");
  await until("three picks", async () => (await rows.count()) === 3);
  await page.getByLabel("pick 2", { exact: true }).fill("box:0,0,100000,100000");
  await page.getByLabel("pick 2", { exact: true }).press("Enter");
  const condition = (await page.locator("#picture").getByLabel("filter", { exact: true }).inputValue()).trim();
  spotfit(["filter", path.join(output, "movie.csv"), ...(condition ? [condition] : []), "--output", "picked.csv"]);
  const all = String(rowsOf(path.join(folder, "picked.csv")));
  await until("the rows of the second pick", async () => (await rows.nth(1).locator("td").allTextContents()).some((text) => text === all));
  await page.getByRole("button", { name: "Export the picks" }).click();
  same(await ended(page, "pick"), output, ["picks.csv"]);
  await page.getByRole("radio", { name: "Pan" }).click();
});

await step("several tables: channels", async () => {
  const boxes = page.locator("#picture .tables").getByRole("checkbox");
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await complete(page);
  expect((await page.getByLabel(/^colour of /).count()) >= 2, "channels have no colours to choose");
  await boxes.nth(1).uncheck();
  await complete(page);
});

await step("3-D: points that turn", async () => {
  await page.getByRole("button", { name: "3-D" }).click();
  const canvas = page.locator("canvas.points");
  await until("points", async () => /\d of/.test(await page.locator(".space .caption").textContent()));
  await until("drawn points", async () => (await blobs(page, await canvas.screenshot())).length > 5);
  await canvas.focus();
  let before = await canvas.screenshot();
  await until("points at rest", async () => {
    const last = before;
    before = await canvas.screenshot();
    return last.equals(before);
  });
  await page.keyboard.press("ArrowRight");
  await until("points that turn", async () => !before.equals(await canvas.screenshot()));
  await page.getByRole("button", { name: "3-D" }).click();
});

await step("drift: found, drawn, taken out, put back; the table is that of the command", async () => {
  await page.getByRole("tab", { name: "Drift" }).click();
  await page.getByRole("button", { name: "Run drift" }).click();
  const command = await ended(page, "drift");
  const files = ["movie-straight.csv", "movie-straight-drift.csv", "movie-straight-drift.svg"];
  same(command, output, files);
  const chart = page.locator("#drift .figure img");
  await until("the chart", async () => chart.evaluate((/** @type {any} */ image) => image.complete && image.naturalWidth > 100));
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("tab", { name: "Picture" }).click();
  const shown = async () => (await page.locator("#picture .tables li", { has: page.locator("input:checked") }).allTextContents()).join();
  await until("the table without drift", async () => (await shown()).startsWith("movie-straight.csv"));
  await page.getByRole("tab", { name: "Drift" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("tab", { name: "Picture" }).click();
  await until("the table with drift", async () => !(await shown()).includes("straight"));
});

await step("beads: their drift is that of the commands", async () => {
  // Beads are in every frame.
  const lines = fs.readFileSync(path.join(folder, "truth.csv"), "utf8").trim().split("\n");
  const names = lines[0].split(",");
  const [x, y, molecule] = ["x", "y", "molecule"].map((name) => names.indexOf(name));
  /** @type {Map<string, number[][]>} */
  const places = new Map();
  for (const line of lines.slice(1)) {
    const cells = line.split(",");
    places.set(cells[molecule], [...(places.get(cells[molecule]) ?? []), [Number(cells[x]), Number(cells[y])]]);
  }
  const beads = [...places.values()].filter((all) => all.length === 300);
  expect(beads.length === 3, `there are ${beads.length} beads`);
  await page.getByRole("tab", { name: "Drift" }).click();
  for (const [index, all] of beads.entries()) {
    await page.getByRole("button", { name: "Add the middle" }).click();
    const field = page.getByLabel(`bead ${index + 1}`, { exact: true });
    await field.fill(all[150].map((place) => (place * 107).toFixed(1)).join(","));
    await field.press("Enter");
  }
  await page.locator("#drift").getByLabel("output", { exact: true }).fill("beads.csv");
  await page.getByRole("button", { name: "Run drift" }).click();
  await until("the drift of the beads", () => fs.existsSync(path.join(output, "beads-drift.csv")));
  const command = await ended(page, "drift");
  expect(command.includes("--beads beads-beads.csv"), `the command is ${command}`);
  same(command, output, ["beads.csv", "beads-drift.csv"]);
  await page.getByRole("button", { name: "Remove all beads" }).click();
});

await step("stats: the report in a frame, and a histogram of every column", async () => {
  await page.getByRole("tab", { name: "Stats" }).click();
  await page.getByRole("button", { name: "Run stats" }).click();
  await ended(page, "stats");
  await page.frameLocator("#stats iframe").getByText("Fourier ring correlation").first().waitFor();
  expect((await page.locator("#stats .columns-charts .histogram").count()) >= 6, "columns have no histograms");
});

await step("keyboard: Tab reaches every control, which shows it", async () => {
  for (const tab of ["Movie", "Picture", "Drift", "Stats"]) await keyboard(page, tab);
  // The report has a process of its own, which gives the focus back when it likes.
  const tab = page.getByRole("tab", { name: "Movie" });
  await until("the focus", async () => {
    await tab.click();
    await page.waitForTimeout(200);
    return tab.evaluate((/** @type {any} */ element) => document.hasFocus() && document.activeElement === element);
  });
  await page.waitForTimeout(200);
  await page.keyboard.press("ArrowRight");
  await until("the next tab by an arrow key", async () => (await page.getByRole("tab", { name: "Picture" }).getAttribute("aria-selected")) === "true");
});

await step("distance and profile: what is known", async () => {
  const pair = await serve(["pair.csv"], path.join(folder, "out-pair"));
  const page = await open(chromium, pair.address);
  await page.getByRole("tab", { name: "Picture" }).click();
  const stage = await complete(page);
  await page.getByLabel("scale bar").uncheck();
  await stage.focus();
  await page.keyboard.press("-");
  await complete(page);
  // Without its border, which would be bright, too.
  const box = await stage.boundingBox();
  const inset = 4;
  const clip = { x: box.x + inset, y: box.y + inset, width: box.width - 2 * inset, height: box.height - 2 * inset };
  const bright = (await blobs(page, await page.screenshot({ clip }))).filter((blob) => blob.light > 500);
  expect(bright.length === 2, `there are ${bright.length} clusters in view`);
  const [a, b] = bright.map(({ x, y }) => ({ x: x + inset, y: y + inset }));
  await page.getByRole("radio", { name: "Distance" }).click();
  await drag(page, stage, [a.x, a.y], [b.x, b.y]);
  const text = await page.getByLabel("distance", { exact: true }).textContent();
  const measured = Number.parseFloat(text);
  console.log(`  ${measured} nm measured, ${apart.toFixed(1)} nm known`);
  expect(Math.abs(measured / apart - 1) < 0.01, `the distance is ${text}, not ${apart} nm`);
  await page.getByRole("radio", { name: "Profile" }).click();
  await page.getByLabel("line from").fill("1700,2000");
  await page.getByLabel("line to").fill("2300,2000");
  await page.getByLabel("line to").press("Enter");
  await page.getByLabel("line width").fill("400");
  await page.getByRole("button", { name: "Profile", exact: true }).click();
  const found = await until("a width", async () => /FWHM ([\d.]+)/.exec(await page.locator("#picture .group").first().textContent()));
  const width = 2.3548 * spread;
  console.log(`  FWHM ${found[1]} nm measured, ${width.toFixed(1)} nm known`);
  expect(Math.abs(Number(found[1]) / width - 1) < 0.1, `the width is ${found[1]}, not ${width} nm`);
  await page.context().close();
  await pair.stop();
});

await step("pictures: light and dark, wide and narrow", async () => {
  const looks = path.join(folder, "out-looks");
  for (const look of ["light", "dark"]) {
    for (const [width, height] of [[1280, 800], [800, 900]]) {
      fs.rmSync(looks, { recursive: true, force: true });
      // Here, so that the shown commands name no folder of this machine.
      fs.mkdirSync(looks);
      const files = [["movie.tif", "movie.tif"], ["locs.csv", "molecules.csv"], ["locs.csv.spotfit.json", "molecules.csv.spotfit.json"]];
      for (const [from, to] of files) fs.copyFileSync(path.join(folder, from), path.join(looks, to));
      const server = await serve(["movie.tif", "molecules.csv"], ".", looks);
      const page = await open(chromium, server.address, { width, height, look });
      await page.waitForFunction(() => document.fonts.ready.then(() => true));
      await fill(page, CAMERA);
      await nextSpot(page);
      await page.evaluate(() => /** @type {any} */ (document.activeElement)?.blur());
      const file = (/** @type {string} */ tab) => path.join(here, "screenshots", `${tab}-${look}-${width}.webp`);
      const check = async (/** @type {string} */ tab) => {
        await page.waitForTimeout(300);
        await pictures.check(page, file(tab));
        // What the documentation shows.
        if (look === "dark" && width === 1280 && (tab === "movie" || tab === "picture")) await pictures.check(page, path.join(root, `docs/images/viewer-${tab}.png`));
        if (look === "light" && width === 1280 && tab === "drift") await pictures.check(page, path.join(root, `docs/images/viewer-${tab}.png`));
      };
      await check("movie");
      await page.getByRole("tab", { name: "Picture" }).click();
      const stage = await complete(page);
      if (width > 1000) {
        await page.locator("#picture").getByLabel("filter", { exact: true }).fill("uncertainty < 15");
        await page.getByLabel("colour-by").selectOption("frame");
        await page.getByRole("radio", { name: "Circle" }).click();
        await drag(page, stage, [300, 300], [340, 330]);
        await page.getByRole("radio", { name: "Pan" }).click();
        await page.locator("#picture .scroll tbody tr").first().waitFor();
        await complete(page);
      }
      await check("picture");
      await page.getByRole("tab", { name: "Drift" }).click();
      await page.getByRole("button", { name: "Run drift" }).click();
      await ended(page, "drift");
      await page.getByRole("button", { name: "Close: drift" }).first().click();
      await page.locator("#drift .figure img").waitFor();
      await complete(page, "Beads");
      await check("drift");
      await page.getByRole("tab", { name: "Stats" }).click();
      await page.getByRole("button", { name: "Run stats" }).click();
      await ended(page, "stats");
      await page.getByRole("button", { name: "Close: stats" }).first().click();
      await page.frameLocator("#stats iframe").getByText("Fourier ring correlation").first().waitFor();
      await check("stats");
      await page.context().close();
      await server.stop();
    }
  }
});

await step("channels: the frame in view is that of the chosen one", async () => {
  stack("two.tif", 96, 80, 6, "ImageJ=1\nimages=6\nchannels=2\nframes=3\n", (page) => 100 + page);
  const two = await serve(["two.tif", "--channel", "2"], path.join(folder, "out-two"));
  const other = await open(chromium, two.address);
  await other.locator("#movie summary", { hasText: "Movie" }).click();
  const field = other.getByRole("textbox", { name: "channel", exact: true });
  expect((await field.inputValue()) === "2", "the channel of the command line is not in the form");
  const stage = other.getByRole("application", { name: "Frame" });
  let places = 0;
  const shows = async (/** @type {number} */ value) => {
    await until(`pixels of ${value}`, async () => {
      // Only a pointer that moves tells.
      await stage.hover({ position: { x: 150 + (places++ % 7), y: 150 } });
      return (await other.locator(".pointer").textContent()).includes(String(value));
    });
  };
  await other.getByLabel("frame number").fill("3");
  await other.getByLabel("frame number").press("Enter");
  await shows(105);
  await field.fill("1");
  await shows(104);
  const refusal = other.locator("#movie .run .error");
  await field.fill("7");
  await until("an error", async () => (await refusal.textContent()).includes("no channel 7"));
  await other.locator("#movie summary", { hasText: "Preset" }).click();
  await other.getByRole("button", { name: "Reset all" }).click();
  await until("the channel of the command line", async () => (await field.inputValue()) === "2");
  await shows(105);
  await until("no error", async () => (await refusal.textContent()) === "");
  await other.context().close();
  await two.stop();
});

await step("PSF: learnt as the command does, shown and used; why there is none is said", async () => {
  spotfit([
    "simulate", "movie", "--output", "real.npy", "--frames", "80", "--width", "64", "--height", "64", "--density", "0.4", "--uniform", "--photons", "3000",
    "--background", "30", "--psf-na", "1.4", "--zernike", "2,2=0.1", "--pixel-size", "100",
  ]);
  const made = path.join(folder, "out-psf");
  fs.rmSync(made, { recursive: true, force: true });
  const real = await serve(["real.npy"], made);
  const other = await open(chromium, real.address);
  const field = (/** @type {string} */ name) => other.getByRole("textbox", { name, exact: true });
  await fill(other, { baseline: "100", sensitivity: "1", "read-noise": "1.5", "pixel-size": "100" });
  await other.locator("#movie summary", { hasText: "PSF" }).click();
  await other.getByRole("button", { name: "Learn the PSF" }).click();
  const image = other.locator("#movie .presets img");
  await until("the members", async () => (await image.count()) === 1 && (await image.evaluate((/** @type {HTMLImageElement} */ one) => one.complete && one.naturalWidth > 0)));
  same(await ended(other, "psf"), made, ["real-psf.hdf5", "real-psf.svg"]);
  // It is in a group that is closed.
  const aperture = other.locator("#movie").getByLabel("aperture", { exact: true });
  await aperture.evaluate((/** @type {HTMLInputElement} */ one) => (one.value = "8"));
  await other.getByRole("button", { name: "Use the PSF" }).click();
  expect((await aperture.inputValue()) === "", "an aperture is left beside a PSF");
  await until("the options", async () => (await other.locator("#movie .command code").textContent()).includes("--emitters auto --psf real-psf.hdf5"));
  await field("false-rate").fill("1");
  await field("frames").fill("1:1");
  await other.getByRole("button", { name: "Learn the PSF" }).click();
  await until("why there is none", async () => (await other.locator("#movie .presets .hint").allTextContents()).join().includes("cannot be learnt"));
  await other.context().close();
  await real.stop();
});

await step("the end of the server is told", async () => {
  page.mayLose = true;
  await server.stop();
  await page.locator("#lost:not([hidden])").waitFor();
});

await chromium.close();
if (wrong.length > 0) {
  console.log(`\n${wrong.length} wrong:\n${wrong.map((text) => `- ${text}`).join("\n")}`);
  process.exit(1);
}
console.log("All as the command does it.");
process.exit(0);
