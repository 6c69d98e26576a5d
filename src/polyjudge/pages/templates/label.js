// The labelling page. Texts of items are only ever inserted as text; no other host is contacted.
"use strict";

const WAIT_MS = 1500;
const TITLES = { source: "Source", output: "Output", reference: "Reference" };
const SVG = "http://www.w3.org/2000/svg";
const state = { annotator: "", items: [], languages: {}, place: 0, shown: null, shownAt: 0, busy: false, undo: [], figures: null };

const at = (id) => document.getElementById(id);
const scale = () => document.body.dataset.scale;
const current = () => state.items[state.place];
const languageOf = (item) => state.languages[item.language];
const isDone = (item) => item.label !== null || item.reason === "skipped" || item.reason === "cannot read this language";
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function made(kind, text, className) {
  const element = document.createElement(kind);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

// Requests

class Refused extends Error {}

async function request(path, options) {
  const response = await fetch(path, { credentials: "omit", cache: "no-store", ...options });
  if (response.ok) return response.json();
  throw new Refused(response.status === 403 ? "" : (await response.text()).trim() || `error ${response.status}`);
}

function showError(words) {
  at("error").hidden = !words;
  at("error").textContent = words;
}

// Repeat a request until the server answers, because it may be restarted. Returns null if it refuses.
async function requestUntilAnswered(path, options, notDone) {
  for (;;) {
    try {
      const found = await request(path, options);
      showError("");
      return found;
    } catch (error) {
      if (error instanceof Refused) {
        showError(
          error.message
            ? `${notDone}: ${error.message}`
            : `${notDone}: polyjudge was restarted. Open the address that it printed. All earlier labels are saved.`,
        );
        return null;
      }
      showError(`${notDone}: polyjudge does not answer. All earlier labels are saved. Trying again; if you stopped polyjudge, start it again.`);
      await wait(WAIT_MS);
    }
  }
}

// Start

async function begin(name) {
  const found = await requestUntilAnswered(`overview?annotator=${encodeURIComponent(name)}`, {}, "Cannot start");
  if (!found) return;
  Object.assign(state, { annotator: found.annotator, items: found.items, languages: found.languages, shown: null, undo: [] });
  history.replaceState(null, "", "#" + encodeURIComponent(found.annotator));
  at("name-shown").textContent = found.annotator;
  at("welcome").hidden = true;
  at("work").hidden = at("who").hidden = false;
  drawFigures(found);
  state.place = Math.max(0, nextOpen(0));
  await show();
}

function unreadable() {
  return new Set(state.items.filter((item) => item.reason === "cannot read this language").map((item) => item.language));
}

function nextOpen(from) {
  const passedOver = unreadable();
  const isOpen = (item) => !isDone(item) && !passedOver.has(item.language);
  const after = state.items.findIndex((item, place) => place >= from && isOpen(item));
  return after >= 0 ? after : state.items.findIndex(isOpen);
}

// Showing an item

async function show() {
  const item = current();
  const language = languageOf(item);
  at("language").textContent = language.name;
  at("native").textContent = language.native === language.name ? "" : language.native;
  at("native").lang = language.tag;
  at("place").textContent = `Item ${state.place + 1} of ${state.items.length}`;
  at("parts").replaceChildren();
  state.shown = null;
  closeNote();
  drawLabel();
  drawProgress();
  const found = await requestUntilAnswered(`item?id=${encodeURIComponent(item.id)}`, {}, "Cannot show the item");
  if (!found || found.id !== current().id) return;
  at("parts").replaceChildren(...found.parts.filter((part) => part.name === "output" || part.total).map((part) => partShown(item.id, part)));
  window.scrollTo(0, 0);
  if (isMarking()) beginMarking(found);
  state.shown = item.id;
  state.shownAt = performance.now();
}

function partShown(id, part) {
  const section = made("section", undefined, `part ${part.name}`);
  section.append(made("h3", TITLES[part.name]));
  const text = made("div", undefined, "text");
  if (part.lang) text.lang = part.lang;
  text.dir = part.dir;
  text.dataset.script = part.script;
  text.tabIndex = 0;
  if (isMarking() && part.name !== "reference") text.dataset.side = part.name;
  text.setAttribute("role", "region");
  text.setAttribute("aria-label", TITLES[part.name]);
  section.append(text);
  if (!part.total) {
    text.textContent = "empty output";
    text.classList.add("empty");
    text.dir = "ltr";
    text.lang = "en";
  }
  addPieces(text, part);
  if (part.end < part.total) section.append(moreButton(id, part, text));
  return section;
}

function addPieces(text, part) {
  if (text.dataset.side && part.total) addLeaves(text, part.pieces);
  for (const [kind, words] of part.pieces) text.append(kind === "code" ? made("span", words, "code") : document.createTextNode(words));
}

function moreButton(id, part, text) {
  const button = made("button");
  const say = (end) => {
    button.textContent = `Show more: ${end.toLocaleString("en")} of ${part.total.toLocaleString("en")} characters are shown`;
  };
  let end = part.end;
  say(end);
  button.type = "button";
  button.addEventListener("click", async () => {
    button.disabled = true;
    const more = await requestUntilAnswered(`part?id=${encodeURIComponent(id)}&name=${part.name}&start=${end}`, {}, "Cannot show more");
    button.disabled = false;
    if (!more) return;
    addPieces(text, more);
    drawSpans();
    end = more.end;
    say(end);
    if (end >= more.total) button.remove();
  });
  return button;
}

function words(item) {
  const parts = [];
  if (item.label !== null) parts.push(scale() === "1-5" ? `${item.label} of 5` : scale() === "esa" ? `${item.label} of 100` : scale() === "mqm" ? `score ${item.label}` : item.label);
  if (item.spans?.length) parts.push(`${item.spans.length} ${item.spans.length === 1 ? "error" : "errors"}`);
  if (item.passed !== null) parts.push(item.passed ? "good enough" : "not good enough");
  if (item.reason) parts.push(item.reason);
  return parts.join(", ");
}

function drawLabel() {
  const item = current();
  const label = words(item);
  const waits = label && !isDone(item) ? (isMarking() ? "; not done yet" : "; points are missing") : "";
  const note = item.note ? "with a note" : "";
  at("own-label").textContent = [label ? `Your label: ${label}${waits}` : "", note].filter(Boolean).join(" · ");
  const pressed = { c: item.reason === "cannot read this language", s: item.reason === "skipped" };
  for (let points = 1; points <= 5; points++) pressed[points] = item.label === points;
  pressed.p = item.label === "pass" || item.passed === true;
  pressed.f = item.label === "fail" || item.passed === false;
  for (const [name, is] of Object.entries(pressed)) {
    document.querySelector(`[data-do="${name}"]`)?.setAttribute("aria-pressed", String(is));
  }
}

// Labelling

async function save(item, label, text) {
  state.busy = true;
  const seconds = state.shownAt ? (performance.now() - state.shownAt) / 1000 : null;
  const spans = label.spans?.map(({ text, ...place }) => place); // the server has the text
  const body = JSON.stringify({ id: item.id, annotator: state.annotator, seconds, ...label, spans });
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  const found = await requestUntilAnswered("label", options, `Not saved (${text})`);
  state.busy = false;
  if (!found) return false;
  Object.assign(item, { label: found.label, passed: found.passed, reason: found.reason, note: found.note, spans: found.spans });
  drawFigures(found);
  return true;
}

const labelOf = (item) => ({ label: item.label, passed: item.passed, reason: item.reason, note: item.note, spans: item.spans });

async function give(change, moves) {
  const item = current();
  const before = labelOf(item);
  const after = { ...before, ...change, note: at("note-box").hidden ? before.note : at("note").value };
  const text = words({ ...item, ...after }) || "note";
  if (!(await save(item, after, text))) return;
  state.undo.push({ place: state.place, before });
  const label = `${text} for item ${state.place + 1}`;
  if (!moves) {
    drawLabel();
    drawProgress();
    announce(`Saved: ${label}`);
    return;
  }
  await go(nextOpen(state.place + 1), `Saved: ${label}.`);
}

async function go(place, text) {
  if (place < 0) {
    drawLabel();
    drawProgress();
    announce(`${text || ""} All your items are done. Thank you.`);
    at("place").textContent = "All your items are done. Thank you.";
    return;
  }
  state.place = Math.min(Math.max(place, 0), state.items.length - 1);
  await show();
  announce(`${text || ""} Item ${state.place + 1} of ${state.items.length}, ${languageOf(current()).name}`);
}

async function undo() {
  const last = state.undo.pop();
  if (!last) {
    announce("Nothing to undo. Go back with the left arrow, and label again.");
    at("own-label").textContent = "Nothing to undo on this page. Go back with ← and label again.";
    return;
  }
  const wasNothing = last.before.label === null && last.before.passed === null && !last.before.reason && !last.before.note && !last.before.spans?.length;
  const label = wasNothing ? { label: null, passed: null, reason: "undone", note: "" } : last.before;
  if (await save(state.items[last.place], label, "undo")) await go(last.place, "Undone.");
  else state.undo.push(last);
}

function announce(text) {
  at("status").textContent = text.trim();
}

// Notes

function openNote() {
  at("note-box").hidden = false;
  document.querySelector('[data-do="n"]').setAttribute("aria-expanded", "true");
  at("note").value = current().note;
  at("note").focus();
}

function closeNote() {
  if (at("note-box").contains(document.activeElement)) document.querySelector('[data-do="n"]').focus();
  at("note-box").hidden = true;
  document.querySelector('[data-do="n"]').setAttribute("aria-expanded", "false");
}

async function saveNote() {
  if (state.busy) return;
  await give({}, false);
  closeNote();
}

// Figures

function drawProgress() {
  const passedOver = unreadable();
  const open = state.items.filter((item) => !isDone(item) && !passedOver.has(item.language)).length;
  const labelled = state.items.filter((item) => item.label !== null).length;
  const done = state.items.length - open;
  at("progress").max = state.items.length;
  at("progress").value = done;
  at("progress-words").textContent = `${labelled} of ${state.items.length} labelled by you, ${open} to go`;
  const counts = new Map();
  for (const item of state.items) {
    const count = counts.get(item.language) || { done: 0, all: 0 };
    count.all += 1;
    count.done += isDone(item) || passedOver.has(item.language) ? 1 : 0;
    counts.set(item.language, count);
  }
  const rows = [...counts].map(([tag, count]) => [state.languages[tag].name, count]).sort((a, b) => a[0].localeCompare(b[0], "en"));
  at("languages").replaceChildren(
    ...rows.map(([name, count]) => made("li", `${name} ${count.done}/${count.all}`, count.done === count.all ? "full" : "")),
  );
}

function drawFigures(found) {
  const { points, bounds, agreement, judged, total } = found;
  const shown = points.filter((point) => point[2] !== null);
  at("chart").replaceChildren(...(shown.length > 1 ? [chart(shown, bounds)] : []));
  at("estimate").textContent = estimateWords(points, judged, total);
  at("agreement").textContent = agreementWords(agreement);
  at("hour").textContent = hourWords(found.hour);
  at("hour-languages").replaceChildren(...hourLanguages(found.hour).map((words) => made("li", words)));
}

const number = (value) => (scale() !== "pass-fail" ? value.toFixed(2) : `${(100 * value).toFixed(0)}%`);

function estimateWords(points, judged, total) {
  if (!points.length) return "The estimate appears after two labels.";
  const [count, mean, low, high] = points[points.length - 1];
  const what = scale() !== "pass-fail" ? "mean" : "pass rate";
  const of = judged ? ` of all ${total.toLocaleString("en")} items, estimated with the judge's scores` : "";
  const labels = count === 1 ? "1 labelled item" : `${count} labelled items`;
  if (low === null) return `After ${labels}: ${what} ${number(mean)}${of}. The interval appears after one more.`;
  return `After ${labels}: ${what} ${number(mean)}${of}; 95% interval ${number(low)} to ${number(high)} (width ${number(high - low)}).`;
}

const MOST_LANGUAGES = 5;
const pointsOf = (value) => (scale() !== "pass-fail" ? value.toFixed(2) : `${(100 * value).toFixed(0)} points`);

function widthsOf(width) {
  if (width.after === null) return "no interval, which needs two labels";
  if (width.now === null) return `about ${pointsOf(width.after)} then; no interval yet, which needs two labels`;
  return `${pointsOf(width.now)} now, about ${pointsOf(width.after)} then`;
}

function hourWords(hour) {
  if (!hour.left) return "All items of the sample have a label.";
  const source = hour.is_measured ? "your pace" : "a usual pace";
  const left = hour.left === 1 ? "remaining label takes" : `${hour.left} remaining labels take`;
  const minutes = Math.max(1, Math.round((hour.left * hour.seconds) / 60));
  const rest = `the ${left} about ${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
  const gives = hour.labels < hour.left ? `in an hour you can give ${hour.labels} of the ${hour.left} remaining labels` : rest;
  const pace = `At ${source} of ${hour.seconds.toFixed(0)} s a label, ${gives}`;
  return `${pace}. Expected width of the 95% interval: ${widthsOf(hour.overall)}.`;
}

function hourLanguages(hour) {
  if (!hour.left || hour.languages.length < 2) return [];
  return hour.languages
    .filter((each) => each.after !== null && each.more > 0)
    .slice(0, MOST_LANGUAGES)
    .map((each) => `${state.languages[each.language] ? state.languages[each.language].name : each.language}: ${widthsOf(each)}`);
}

function agreementWords(found) {
  if (found.annotators.length < 2) return "No other person has labelled any of these items yet.";
  const names = found.annotators.join(" and ");
  if (found.same === null) return `${names} share ${found.items} labelled items; their agreement appears from 5 on.`;
  const alpha = found.alpha === null ? "not defined, since all labels are the same" : found.alpha.toFixed(2);
  return `${names} agree exactly on ${(100 * found.same).toFixed(0)}% of ${found.items} shared items. Krippendorff's alpha is ${alpha}: 1 is perfect, 0 is chance.`;
}

function drawn(kind, attributes, text) {
  const element = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function chart(points, bounds) {
  const [width, height, left, bottom] = [300, 150, 34, 22];
  const last = points[points.length - 1];
  const [low, high] = bounds;
  const first = points[0][0];
  const x = (count) => left + ((count - first) / Math.max(1, last[0] - first)) * (width - left - 8);
  const y = (value) => 8 + ((high - value) / (high - low)) * (height - bottom - 8);
  const line = (place) => points.map((point) => `${x(point[0]).toFixed(1)},${y(point[place]).toFixed(1)}`);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img" });
  svg.setAttribute("aria-label", `The 95% interval after each label: now ${number(last[2])} to ${number(last[3])}`);
  for (const value of [low, (low + high) / 2, high]) {
    svg.append(drawn("line", { x1: left, x2: width - 8, y1: y(value), y2: y(value), class: "axis" }));
    const shown = scale() !== "pass-fail" ? value : `${100 * value}%`;
    svg.append(drawn("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, shown));
  }
  svg.append(drawn("polygon", { points: [...line(3), ...line(2).reverse()].join(" "), class: "band" }));
  svg.append(drawn("polyline", { points: line(1).join(" "), class: "mean" }));
  svg.append(drawn("circle", { cx: x(last[0]), cy: y(last[1]), r: 3.5, class: "dot" }));
  svg.append(drawn("text", { x: left, y: height - 6 }, `${first} labels`));
  svg.append(drawn("text", { x: width - 8, y: height - 6, "text-anchor": "end" }, last[0]));
  return svg;
}

// Keys and buttons

function points(value) {
  return give({ label: value, reason: "" }, true);
}

function verdict(passed) {
  return scale() === "1-5" ? give({ passed, reason: "" }, current().label !== null) : points(passed ? "pass" : "fail");
}

const NOTHING = { label: null, passed: null };
const DEEDS = {
  p: () => verdict(true),
  f: () => verdict(false),
  c: () => give({ ...NOTHING, reason: "cannot read this language" }, true),
  s: () => give({ ...NOTHING, reason: "skipped" }, true),
  n: () => (at("note-box").hidden ? openNote() : closeNote()),
  u: undo,
  back: () => go(state.place - 1),
  forth: () => go(state.place + 1),
};
if (scale() === "1-5") for (let value = 1; value <= 5; value++) DEEDS[value] = () => points(value);
if (isMarking()) {
  delete DEEDS.p;
  delete DEEDS.f;
  Object.assign(DEEDS, { m: () => markSelection(false), o: () => markSelection(true), d: finish });
}
const WITHOUT_TEXT = ["back", "forth", "u"];
const KEYS = { ArrowLeft: "back", ArrowRight: "forth" };

async function act(name) {
  if (isMarking()) await marks.saving;
  if (state.busy || at("work").hidden || !Object.hasOwn(DEEDS, name)) return;
  // An item whose text has not arrived cannot have been read.
  if (!WITHOUT_TEXT.includes(name) && state.shown !== current().id) {
    announce("Not saved: the text of this item has not arrived yet.");
    return;
  }
  await DEEDS[name]();
}

document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLElement && event.target.closest("input, textarea, select");
  if (typing) {
    if (event.target.id === "note" && event.key === "Escape") closeNote();
    if (event.target.id === "note" && event.key === "Enter" && (event.ctrlKey || event.metaKey)) saveNote();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || at("help").open) return;
  if (event.target.leaves && moveCaret(event.target, event)) {
    event.preventDefault();
    return;
  }
  if (event.repeat) return;
  if (event.key === "?" && !at("work").hidden) at("help").showModal();
  const name = KEYS[event.key] || event.key.toLowerCase();
  if (Object.hasOwn(DEEDS, name) && !at("work").hidden) {
    event.preventDefault();
    act(name);
  }
});
for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => act(button.dataset.do));
at("note-save").addEventListener("click", saveNote);
at("note-close").addEventListener("click", closeNote);
at("help-open").addEventListener("click", () => at("help").showModal());
at("help-close").addEventListener("click", () => at("help").close());
at("other-name").addEventListener("click", () => {
  history.replaceState(null, "", "#");
  at("work").hidden = at("who").hidden = true;
  at("welcome").hidden = false;
  at("name").value = "";
  at("name").focus();
});
at("name-form").addEventListener("submit", (event) => {
  event.preventDefault();
  begin(at("name").value);
});

function nameInAddress() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

if (nameInAddress()) begin(nameInAddress());
else at("name").focus();
