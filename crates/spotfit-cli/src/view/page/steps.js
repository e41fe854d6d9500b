// Steps from table to table that have no view of their own.

import { Refused } from "./api.js";
import { choice, h } from "./dom.js";
import { Form } from "./form.js";
import { run } from "./jobs.js";
import { stem } from "./tables.js";

const STEPS = /** @type {Record<string, {first: string[], ending: string}>} */ ({
  link: { first: ["radius", "gap"], ending: "linked.csv" }, filter: { first: ["merge", "neighbours", "radius"], ending: "filtered.csv" }, convert: { first: ["picasso"], ending: "table.hdf5" },
});

/**
 * @param {import("./api.js").Session} session
 * @param {() => import("./api.js").Table | undefined} table
 * @returns {any}
 */
export function otherSteps(session, table) {
  const verbs = Object.keys(STEPS).filter((verb) => session.verbs[verb]);
  if (verbs.length === 0) return null;
  const place = h("div", {});
  const open = (/** @type {string} */ verb) => {
    const { first, ending } = STEPS[verb];
    const form = new Form(session.verbs[verb], { name: verb, first, without: ["output", "columns"], ranges: session.ranges, changed: () => form.fail("") });
    const refusal = h("p", { class: "error", role: "alert" });
    const output = h("input", { type: "text", "aria-label": `output of ${verb}`, placeholder: `NAME-${ending}`, spellcheck: "false" });
    const start = h("button", {
      type: "button", text: "Run", "aria-label": `Run ${verb}`,
      onclick: async () => {
        const of = table();
        if (!of) return;
        start.disabled = true;
        try {
          const name = output.value.trim() || `${stem(of.name)}-${ending}`;
          await (await run(verb, [of.path, ...form.words(), "--output", name])).ended;
          refusal.textContent = "";
        } catch (error) {
          const text = error instanceof Refused ? error.message : "There is no answer.";
          refusal.textContent = form.fail(text) ? "" : text;
        } finally {
          start.disabled = false;
        }
      },
    });
    place.replaceChildren(form.element, h("div", { class: "run" }, refusal, h("span", { text: "output" }), output, start));
  };
  open(verbs[0]);
  const choices = verbs.map((value) => ({ value, text: value }));
  return h("details", { class: "steps" }, h("summary", { text: "Other steps" }), choice("Step", choices, open).element, place);
}
