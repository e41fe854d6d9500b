// The page: its tabs, its theme, and its connection with the server.

import { get, listen, onConnection } from "./api.js";
import { byId, choice, count, h, themeChanged } from "./dom.js";
import { DriftPanel } from "./drift.js";
import { forget, onRows } from "./jobs.js";
import { MoviePanel } from "./movie.js";
import { PicturePanel } from "./picture.js";
import { StatsPanel } from "./stats.js";
import { Tables } from "./tables.js";

const TABS = ["movie", "picture", "drift", "stats"];

/** @param {string} name */
function open(name) {
  for (const tab of TABS) {
    const button = byId(`tab-${tab}`);
    const on = tab === name;
    button.setAttribute("aria-selected", String(on));
    button.tabIndex = on ? 0 : -1;
    byId(tab).hidden = !on;
  }
}

function tabs() {
  const list = byId("tabs");
  for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", () => open(tab));
  list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const now = TABS.findIndex((tab) => byId(`tab-${tab}`).tabIndex === 0);
    const next = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (next === undefined) return;
    const tab = TABS[(next + TABS.length) % TABS.length];
    open(tab);
    byId(`tab-${tab}`).focus();
    event.preventDefault();
  });
}

function theme() {
  const root = document.documentElement;
  const looks = [
    { value: "auto", text: "Auto", title: "As the system" }, { value: "light", text: "Light" }, { value: "dark", text: "Dark" },
  ];
  const look = choice("Theme", looks, (value) => {
    if (value === "auto") delete root.dataset.theme;
    else root.dataset.theme = value;
    localStorage.setItem("theme", value);
    themeChanged();
  });
  const kept = localStorage.getItem("theme");
  if (kept === "light" || kept === "dark") {
    root.dataset.theme = kept;
    look.choose(kept);
  }
  byId("theme").append(look.element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
}

async function start() {
  tabs();
  theme();
  onConnection((lost) => (byId("lost").hidden = !lost));
  /** @type {import("./api.js").Session} */
  const session = await get("session");
  const tables = new Tables(session.tables);
  const { movie } = session;
  const about = (/** @type {import("./api.js").Movie} */ { name, width, height, frames }) => {
    byId("what").textContent = `${name} \u00b7 ${width}\u00d7${height} px \u00b7 ${count(frames)} frames`;
  };
  if (movie) about(movie);
  else byId("what").textContent = session.tables.map((table) => table.name).join(", ");
  byId("what").title = movie?.path ?? "";
  document.title = `${movie?.name ?? session.tables[0]?.name ?? ""} \u00b7 Spotfit`;

  const picture = new PicturePanel(byId("picture"), session, tables);
  if (movie) new MoviePanel(byId("movie"), session, movie, about);
  else byId("movie").replaceChildren(h("p", { class: "empty", text: "No movie is open. Name one: spotfit view movie.tif" }));
  new DriftPanel(byId("drift"), session, tables);
  new StatsPanel(byId("stats"), session, tables);
  onRows((table, isResult) => {
    const isNew = tables.all.every(({ id }) => id !== table.id);
    tables.add(table, isResult);
    // The first rows of a movie.
    if (isResult && isNew) open("picture");
  });
  listen(async () => {
    // It was started anew, maybe with other files.
    forget();
    const now = await get("session");
    if (now.movie?.path !== movie?.path) location.reload();
    tables.replace(now.tables);
    picture.forget();
  });
  open(movie || session.tables.length === 0 ? "movie" : "picture");
}

start().catch((error) => byId("lost").replaceWith(h("p", { class: "failed", role: "alert", text: `Spotfit does not answer: ${error.message}` })));
