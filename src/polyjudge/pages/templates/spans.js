// Marking errors. Places are code points and whole graphemes; JavaScript counts UTF-16, so every place is converted here.
"use strict";

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const marks = { severity: "major", seen: false, active: null, tapped: null, saving: null, before: [] };
const isMarking = () => document.body.dataset.marks === "1";
const CATEGORIES = () => JSON.parse(document.body.dataset.categories || "[]");
const SEVERITIES = ["minor", "major", "critical"];
const lengthOf = (text) => Array.from(text).length;

// A text as it is shown: its leaves are runs of characters, or one character that is shown as its code.

function leavesOf(box) {
  return box.leaves || [];
}

function addLeaves(box, pieces) {
  box.leaves = leavesOf(box);
  for (const [kind, words] of pieces) {
    const last = box.leaves[box.leaves.length - 1];
    const start = last ? last.end : 0;
    box.leaves.push({ kind, words, start, end: start + (kind === "code" ? 1 : lengthOf(words)) });
  }
  box.edges = [0];
  for (const leaf of box.leaves) {
    if (leaf.kind === "code") box.edges.push(leaf.end);
    else {
      let place = leaf.start;
      for (const { segment } of SEGMENTER.segment(leaf.words)) {
        place += lengthOf(segment);
        box.edges.push(place);
      }
    }
  }
}

// Draw a text with its marks. Where several cover a part, it has the style of the worst; no character is wrapped alone.
function drawMarks(box, spans) {
  const own = spans.filter((span) => span.side === box.dataset.side && Number.isInteger(span.start) && span.state !== "rejected");
  const edges = new Set();
  for (const span of own) edges.add(span.start).add(span.end);
  box.replaceChildren();
  for (const leaf of leavesOf(box)) {
    const letters = leaf.kind === "code" ? [leaf.words] : Array.from(leaf.words);
    const cuts = [leaf.start, ...[...edges].filter((edge) => edge > leaf.start && edge < leaf.end).sort((a, b) => a - b), leaf.end];
    for (let index = 0; index + 1 < cuts.length; index++) {
      const [low, high] = [cuts[index], cuts[index + 1]];
      const words = leaf.kind === "code" ? leaf.words : letters.slice(low - leaf.start, high - leaf.start).join("");
      const over = own.filter((span) => span.start <= low && high <= span.end);
      const piece = leaf.kind === "code" ? made("span", words, "code") : document.createTextNode(words);
      if (!over.length) {
        box.append(piece);
        continue;
      }
      const worst = SEVERITIES[Math.max(...over.map((span) => SEVERITIES.indexOf(span.severity)))];
      const mark = made("mark", undefined, worst + (over.length > 1 ? " over" : "") + (box.dataset.side === "source" ? " gone" : ""));
      if (over.includes(spans[marks.active])) mark.classList.add("active");
      const ending = over.filter((span) => span.end === high).map((span) => spans.indexOf(span) + 1);
      if (ending.length) mark.dataset.n = ending.join(" ");
      mark.append(piece);
      box.append(mark);
    }
  }
}

// The place of a position in the document: how many code points of the text are before it.
function placeOf(box, node, offset) {
  const range = document.createRange();
  range.setStart(box, 0);
  range.setEnd(node, offset);
  const holder = range.cloneContents();
  let count = 0;
  const walker = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const leaf = walker.currentNode;
    count += leaf.parentElement?.classList.contains("code") ? (leaf.data ? 1 : 0) : lengthOf(leaf.data);
  }
  return count;
}

function positionAt(box, place) {
  let before = 0;
  let last = [box, 0];
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const leaf = walker.currentNode;
    const code = leaf.parentElement.classList.contains("code");
    const length = code ? 1 : lengthOf(leaf.data);
    if (place <= before + length) {
      const inside = place - before;
      return [leaf, code ? (inside ? leaf.data.length : 0) : Array.from(leaf.data).slice(0, inside).join("").length];
    }
    before += length;
    last = [leaf, leaf.data.length];
  }
  return last;
}

// What is selected, widened to whole graphemes; null if nothing of one text is.
function selected() {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const box = [...document.querySelectorAll(".text[data-side]")].find((each) => range.intersectsNode(each) && each.leaves);
  if (!box) return null;
  const first = box.contains(range.startContainer) ? placeOf(box, range.startContainer, range.startOffset) : 0;
  const last = box.contains(range.endContainer) ? placeOf(box, range.endContainer, range.endOffset) : box.edges[box.edges.length - 1];
  const start = Math.max(...box.edges.filter((edge) => edge <= first));
  const end = Math.min(...box.edges.filter((edge) => edge >= last));
  return start < end ? { side: box.dataset.side, start, end } : null;
}

// Keyboard: the letter at the caret is always selected, so it is seen; Shift extends.

function moveCaret(box, event) {
  const edges = box.edges;
  const most = edges.length - 2;
  if (most < 0) return false;
  const rtl = getComputedStyle(box).direction === "rtl";
  const steps = { ArrowRight: rtl ? -1 : 1, ArrowLeft: rtl ? 1 : -1, ArrowDown: 10, ArrowUp: -10, Home: -edges.length, End: edges.length };
  if (!Object.hasOwn(steps, event.key)) return false;
  const caret = (box.caret ??= { anchor: 0, focus: -1 });
  const next = caret.focus < 0 ? 0 : caret.focus + steps[event.key];
  caret.focus = Math.min(Math.max(next, 0), most);
  if (!event.shiftKey) caret.anchor = caret.focus;
  const low = edges[Math.min(caret.anchor, caret.focus)];
  const high = edges[Math.max(caret.anchor, caret.focus) + 1];
  getSelection().setBaseAndExtent(...positionAt(box, low), ...positionAt(box, high));
  return true;
}

// The list of errors

async function keep(spans, words, redraws = true) {
  const item = current();
  if (!(await save(item, { ...labelOf(item), spans, ...(item.reason ? { reason: "" } : {}) }, words))) return false;
  state.undo.push({ place: state.place, before: { ...labelOf(item), spans: marks.before } });
  drawLabel();
  drawProgress();
  if (redraws) drawSpans();
  announce(`Saved: ${words}`);
  return true;
}

async function change(make, words) {
  const item = current();
  marks.before = item.spans;
  return keep(make(item.spans.map((span) => ({ ...span }))), words);
}

async function markSelection(omission) {
  const found = selected();
  if (!found && !omission) {
    announce("Select the words first: with the mouse, by touch, or with the arrow keys in a text.");
    at("mark-help").hidden = false;
    return;
  }
  const place = found && (!omission || found.side === "source") ? found : { side: "source", start: null, end: null };
  const category = omission || place.side === "source" ? "accuracy/omission" : "";
  const span = { severity: marks.severity, category, state: "located", ...place };
  const count = current().spans.length;
  const before = marks.active;
  marks.active = count;
  if (!(await change((spans) => [...spans, span], "one error"))) {
    marks.active = before;
    return;
  }
  marks.tapped = null;
  getSelection().removeAllRanges();
  controlOf(count, "severity")?.focus();
}

const controlOf = (index, name) => at("span-list").querySelector(`[data-key="${index}:${name}"]`);

function choice(label, key, values, value, onChange) {
  const select = made("select");
  select.dataset.key = key;
  select.setAttribute("aria-label", label);
  for (const each of values) {
    const option = made("option", each || "no category");
    option.value = each;
    select.append(option);
  }
  if (!values.includes(value)) {
    const option = made("option", value);
    option.value = value;
    select.append(option);
  }
  select.value = value;
  select.addEventListener("change", () => onChange(select.value));
  return select;
}

function button(words, name, onClick, key = "") {
  const made_ = made("button", words);
  made_.type = "button";
  made_.dataset.key = key;
  made_.setAttribute("aria-label", name);
  made_.addEventListener("click", async () => {
    await marks.saving;
    if (!state.busy) onClick();
  });
  return made_;
}

function quoteOf(span) {
  const quote = made("bdi", span.text ? `“${span.text}”` : "a missing part");
  if (span.side === "output" && span.text) quote.lang = languageOf(current()).tag;
  return quote;
}

function spanRow(span, index) {
  const row = made("li", undefined, span.state === "rejected" ? "rejected" : span.severity);
  const named = `error ${index + 1}`;
  const isActive = marks.active === index;
  row.classList.toggle("active", isActive);
  row.append(made("span", String(index + 1), "n"), quoteOf(span));
  if (span.side === "source") row.append(made("span", "in the source", "soft"));
  if (span.state !== "located") row.append(made("span", span.state, "soft"));
  const set = (field) => async (value) => {
    if (field === "severity") marks.severity = value;
    await marks.saving;
    await change((spans) => ((spans[index][field] = value), spans), `${named}, ${value}`);
  };
  row.append(choice(`Severity of ${named}`, `${index}:severity`, SEVERITIES, span.severity, set("severity")));
  row.append(choice(`Category of ${named}`, `${index}:category`, ["", ...CATEGORIES()], span.category || "", set("category")));
  const toggle = button("Change", `Change the place and the words of ${named}`, () => activate(isActive ? null : index), `${index}:change`);
  toggle.setAttribute("aria-expanded", String(isActive));
  row.append(
    toggle,
    button("Delete", `Delete ${named}`, async () => {
      marks.active = null;
      if (await change((spans) => spans.filter((_, each) => each !== index), `${named} deleted`)) at("mark").focus();
    }),
  );
  row.append(...(isActive ? [changing(span, index)] : said(span)));
  row.addEventListener("keydown", (event) => moveByKey(event, index));
  return row;
}

// A proposed error that was confirmed, and then changed, is still decided: it has kept what the judge quoted.
function decides(own, span) {
  if (own.state === "located" || own.side !== span.side) return false;
  return (own.start === span.start && own.end === span.end) || (own.quote === span.text && own.start < span.end && span.start < own.end);
}

function drawProposed(item) {
  const open = (state.proposed || []).filter((span) => !item.spans.some((own) => decides(own, span)));
  const mayShow = document.body.dataset.blind !== "1" || item.spans.length > 0 || item.label !== null || marks.seen;
  at("proposed-box").hidden = !open.length;
  at("proposed-wait").hidden = mayShow;
  at("no-errors").hidden = mayShow;
  const rows = (mayShow ? open : []).map((span) => {
    const row = made("li", undefined, span.severity);
    row.append(quoteOf(span), made("span", [span.severity, span.category].filter(Boolean).join(", "), "soft"));
    if (span.explanation) row.append(made("bdi", span.explanation, "soft"));
    const decide = (state_) => async () => {
      const { side = "output", start, end, severity, category = "", explanation = "", correction = "" } = span;
      const own = { side, start, end, severity, category, explanation, correction, state: state_ };
      if (await change((spans) => [...spans, own], `proposed error ${state_}`)) (at("proposed").querySelector("button") || at("mark")).focus();
    };
    row.append(button("Confirm", `Confirm “${span.text}”`, decide("confirmed")), button("Reject", `Reject “${span.text}”`, decide("rejected")));
    return row;
  });
  at("proposed").replaceChildren(...rows);
}

function drawSpans() {
  if (!isMarking()) return;
  const item = current();
  for (const box of document.querySelectorAll(".text[data-side]")) if (box.leaves) drawMarks(box, item.spans);
  const key = at("span-list").contains(document.activeElement) ? document.activeElement.dataset.key : "";
  at("span-list").replaceChildren(...item.spans.map(spanRow));
  if (key) at("span-list").querySelector(`[data-key="${key}"]`)?.focus();
  at("span-none").hidden = item.spans.length > 0;
  drawProposed(item);
  drawHandles();
}

function beginMarking(found) {
  state.proposed = found.proposed.map((span) => ({ side: "output", ...span }));
  Object.assign(marks, { seen: false, active: null, tapped: null });
  for (const box of document.querySelectorAll(".text[data-side]")) watchTaps(box);
  at("mark-help").hidden = true;
  if (at("score")) {
    at("score").value = current().label ?? 50;
    at("score-shown").textContent = current().label ?? "–";
  }
  drawSpans();
}

function finish() {
  if (!at("score")) return give({ label: 0, reason: "" }, true);
  if (at("score-shown").textContent === "–") {
    announce("Give a score first.");
    at("score").focus();
    return undefined;
  }
  return give({ label: Number(at("score").value), reason: "" }, true);
}

if (isMarking()) {
  document.getElementById("no-errors").addEventListener("click", () => {
    marks.seen = true;
    drawSpans();
    document.getElementById("proposed").querySelector("button")?.focus();
  });
  // A press on a button would end the selection on some phones before it is read.
  for (const name of ["mark", "omission"]) document.getElementById(name).addEventListener("pointerdown", (event) => event.preventDefault());
  document.getElementById("score")?.addEventListener("input", () => {
    document.getElementById("score-shown").textContent = document.getElementById("score").value;
  });
}
