// Pictures of the page beside the committed ones.

import fs from "node:fs";
import path from "node:path";
import { expect } from "./window.mjs";

/** A channel of a pixel is another if it differs by more than this, of 255: the edges of letters do. */
const LEVELS = 40;
/** The share of the pixels that may be others. */
const OTHERS = 0.005;
/** How long a picture may take until it is as it was, in milliseconds. */
const LATE = 5000;

export class Pictures {
  /**
   * @param {any} chromium
   * @param {{made: string, write: boolean}} settings
   */
  constructor(chromium, { made, write }) {
    this.chromium = chromium;
    this.made = made;
    this.write = write;
    fs.mkdirSync(made, { recursive: true });
  }

  /** A page of its own that decodes pictures. */
  async page() {
    this.decoder ??= await (await this.chromium.newContext()).newPage();
    return this.decoder;
  }

  /**
   * @param {Buffer} png
   * @returns {Promise<Buffer>} the picture, small
   */
  async small(png) {
    const page = await this.page();
    const text = await page.evaluate(async (/** @type {string} */ data) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext("2d")?.drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", 0.86).split(",")[1];
    }, png.toString("base64"));
    return Buffer.from(text, "base64");
  }

  /**
   * The share of pixels that differ.
   * @param {string} committed
   * @param {Buffer} png
   * @returns {Promise<string>} empty if they agree
   */
  async differ(committed, png) {
    if (!fs.existsSync(committed)) return "there is no such picture yet";
    const page = await this.page();
    const kind = committed.endsWith("webp") ? "webp" : "png";
    return page.evaluate(
      async (/** @type {any} */ { old, now, kind, LEVELS, OTHERS }) => {
        const pixels = async (/** @type {string} */ source) => {
          const image = new Image();
          image.src = source;
          await image.decode();
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.width, image.height];
          const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
          context.drawImage(image, 0, 0);
          return context.getImageData(0, 0, image.width, image.height);
        };
        const [a, b] = [await pixels(`data:image/${kind};base64,${old}`), await pixels(`data:image/png;base64,${now}`)];
        if (a.width !== b.width || a.height !== b.height) return `it has ${b.width} x ${b.height} pixels, not ${a.width} x ${a.height}`;
        let others = 0;
        for (let at = 0; at < a.data.length; at += 4) {
          const far = Math.max(...[0, 1, 2].map((channel) => Math.abs(a.data[at + channel] - b.data[at + channel])));
          if (far > LEVELS) others += 1;
        }
        const share = others / (a.width * a.height);
        return share > OTHERS ? `${(100 * share).toFixed(2)} % of its pixels differ` : "";
      },
      { old: fs.readFileSync(committed).toString("base64"), now: png.toString("base64"), kind, LEVELS, OTHERS },
    );
  }

  /**
   * @param {any} page
   * @param {string} committed
   */
  async check(page, committed) {
    const made = path.join(this.made, `${path.basename(committed).replace(/\.\w+$/, "")}.png`);
    // No caret, no pointer: they are where the last step left them.
    await page.mouse.move(0, 0);
    const shoot = async () => {
      await page.waitForTimeout(100);
      return page.screenshot({ path: made, caret: "hide", animations: "disabled" });
    };
    if (this.write) {
      const png = await shoot();
      fs.mkdirSync(path.dirname(committed), { recursive: true });
      if ((await this.differ(committed, png)) === "") return;
      fs.writeFileSync(committed, committed.endsWith("webp") ? await this.small(png) : png);
      console.log(`  wrote ${committed}`);
      return;
    }
    // What a slow machine draws late is waited for.
    const end = Date.now() + LATE;
    let reason = "";
    do {
      reason = await this.differ(committed, await shoot());
    } while (reason !== "" && Date.now() < end);
    expect(reason === "", `${committed}: ${reason}; it was made as ${made}`);
  }
}
