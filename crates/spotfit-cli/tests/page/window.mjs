// A window of `spotfit view` in a browser, watched: no error on its console, no request to anywhere else.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

export const folder = path.resolve(process.env.SPOTFIT_VIEW_FOLDER ?? "target/view");
export const binary = path.resolve(process.env.SPOTFIT ?? "target/release/spotfit");

const playwright = pathToFileURL(path.join(folder, "node_modules/playwright-core/index.mjs")).href;
const { chromium } = await import(playwright);

/** Milliseconds: only what hangs takes so long, whatever else its machine does. */
const HANGS = 600000;

// Each server has one.
process.setMaxListeners(40);

/** What is wrong, so that all of it is told. @type {string[]} */
export const wrong = [];

/**
 * @param {any} good
 * @param {string} text
 */
export function expect(good, text) {
  if (good) return;
  wrong.push(text);
  console.log(`  WRONG: ${text}`);
}

/**
 * Runs the command in a folder.
 * @param {string[]} words
 * @param {string} [where]
 * @returns {string} what it said
 */
export function spotfit(words, where = folder) {
  const { status, stdout, stderr } = spawnSync(binary, words, { cwd: where, encoding: "utf8", maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`spotfit ${words.join(" ")}: ${stderr}`);
  return stdout + stderr;
}

export async function browser() {
  const names = [process.env.CHROMIUM ?? "", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const executablePath = names.find((name) => name && fs.existsSync(name));
  if (!executablePath) throw new Error("There is no Chromium.");
  // WebGL by the processor, fonts without the hints of this machine: the same pixels everywhere.
  const args = [
    "--no-sandbox", "--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader", "--font-render-hinting=none",
    "--disable-lcd-text", "--force-color-profile=srgb", "--hide-scrollbars",
  ];
  return chromium.launch({ executablePath, args });
}

/**
 * A server; it ends when `stop` is called.
 * @param {string[]} words
 * @param {string} output
 * @param {string} [where] the folder in which it is typed
 * @returns {Promise<{address: string, stop: () => Promise<void>}>}
 */
export async function serve(words, output, where = folder) {
  fs.mkdirSync(output, { recursive: true });
  const child = spawn(binary, ["view", ...words, "--output", output, "--no-open"], { cwd: where });
  process.on("exit", () => child.kill());
  let said = "";
  child.stderr.on("data", (data) => (said += data));
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const address = await new Promise((resolve, reject) => {
    let line = "";
    child.stdout.on("data", (data) => {
      line += data;
      if (line.includes("\n")) resolve(line.trim());
    });
    child.on("exit", () => reject(new Error(`spotfit view ${words.join(" ")}: ${said}`)));
    setTimeout(() => reject(new Error(`spotfit view says no address: ${said}`)), HANGS).unref();
  });
  const stop = async () => {
    child.kill("SIGINT");
    await ended;
    if (said.includes("panicked")) expect(false, `the server said: ${said}`);
  };
  return { address: process.env.SPOTFIT_VIEW_PROXY ? await proxied(address) : address, stop };
}

/**
 * The page from the sources instead of the binary, while it is written.
 * @param {string} address
 * @returns {Promise<string>}
 */
async function proxied(address) {
  const port = 20000 + Math.floor(Math.random() * 20000);
  const child = spawn("node", [process.env.SPOTFIT_VIEW_PROXY ?? "", address, String(port)], { stdio: "inherit" });
  process.on("exit", () => child.kill());
  await new Promise((resolve) => setTimeout(resolve, 400));
  return address.replace(/:\d+\//, `:${port}/`);
}

/**
 * @param {any} chromium
 * @param {string} address
 * @param {{width?: number, height?: number, look?: string}} [settings]
 */
export async function open(chromium, address, { width = 1280, height = 800, look = "light" } = {}) {
  const context = await chromium.newContext({ viewport: { width, height }, colorScheme: look, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(HANGS);
  const origin = new URL(address).origin;
  page.on("request", (/** @type {any} */ request) => {
    const url = request.url();
    expect(url.startsWith(origin) || url.startsWith("data:") || url.startsWith("blob:"), `a request to ${url}`);
  });
  page.on("pageerror", (/** @type {Error} */ error) => expect(false, `the page threw ${error.stack}`));
  page.on("console", (/** @type {any} */ message) => {
    // What the command refuses is an answer with a status, which Chromium logs.
    const isAnswer = /status of (400|409|422)/.test(message.text());
    if (message.type() === "error" && !isAnswer && !page.mayLose) expect(false, `the console says ${message.text()} (${message.location().url})`);
  });
  await page.goto(address);
  await page.getByRole("tab", { name: "Movie" }).waitFor();
  return page;
}

/**
 * Waits until something holds.
 * @param {string} what
 * @param {() => Promise<any> | any} holds
 * @param {number} [most] milliseconds
 */
export async function until(what, holds, most = HANGS) {
  const end = Date.now() + most;
  for (;;) {
    const found = await holds();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not within ${most} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/**
 * Waits until all tiles in view are there.
 * @param {any} page
 * @param {string} [name]
 */
export async function complete(page, name = "Picture") {
  const stage = page.getByRole("application", { name, exact: true });
  await page.waitForTimeout(150);
  await until(`${name} is complete`, async () => (await stage.getAttribute("data-complete")) === "true");
  return stage;
}
