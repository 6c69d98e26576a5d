// The list of runs. Their summaries are requested one after the other; no other host is contacted.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const ORDER = ["pass", "checked", "fail", "conflict", "unreliable", "unjudged", "skipped"];
const WORDS = { pass: "passed", checked: "checked (grammar, meaning not judged)", fail: "failed", conflict: "in conflict" };
const STYLES = { pass: "passed", checked: "checked", fail: "failed", conflict: "failed" };

function shares(counts) {
  const total = ORDER.reduce((sum, name) => sum + (counts[name] || 0), 0);
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ class: "shares", width: "130", height: "8", "aria-hidden": "true" })) svg.setAttribute(name, value);
  let x = 0;
  for (const name of ORDER) {
    const width = total ? (130 * (counts[name] || 0)) / total : 0;
    const bar = document.createElementNS(SVG, "rect");
    for (const [key, value] of Object.entries({ x, y: 0, width, height: 8, class: STYLES[name] || "other" })) bar.setAttribute(key, value);
    svg.append(bar);
    x += width;
  }
  return svg;
}

function card(found) {
  if (found.judged !== undefined) {
    const unreadable = found.unreadable ? `, ${found.unreadable} lines unreadable` : "";
    const passed = found.meets === undefined ? "" : `, ${found.meets} pass, ${found.misses} do not`;
    return [document.createTextNode(`${found.judged} judged, ${found.unjudged} unjudged${passed}${unreadable}`)];
  }
  const words = ORDER.filter((name) => found[name]).map((name) => `${found[name]} ${WORDS[name] || name}`);
  const line = document.createElement("div");
  line.textContent = words.join(", ");
  return [shares(found), line];
}

async function fill(row) {
  const [languages, items, place] = ["languages", "items", "card"].map((name) => row.querySelector(`.${name}`));
  try {
    const response = await fetch(`summary?name=${encodeURIComponent(row.dataset.run)}`, { credentials: "omit", cache: "no-store" });
    if (!response.ok) throw new Error((await response.text()).trim());
    const found = await response.json();
    languages.textContent = found.languages ?? "–";
    items.textContent = found.items;
    place.replaceChildren(...card(found));
  } catch (error) {
    languages.textContent = items.textContent = "–";
    place.textContent = error instanceof TypeError ? "polyjudge does not answer; start it again" : `cannot be read: ${error.message}`;
  }
}

const rows = [...document.querySelectorAll("tr[data-run]")];
const selected = () => rows.filter((row) => row.querySelector("input").checked);
const button = document.getElementById("compare");

for (const row of rows) {
  row.querySelector("input").addEventListener("change", () => {
    button.disabled = selected().length !== 2;
  });
}
// Runs are sorted by time, newest first: the lower one is the earlier run.
button?.addEventListener("click", () => {
  const [after, before] = selected().map((row) => encodeURIComponent(row.dataset.run));
  location.href = `compare?a=${before}&b=${after}`;
});
(async () => {
  for (const row of rows) await fill(row);
})();
