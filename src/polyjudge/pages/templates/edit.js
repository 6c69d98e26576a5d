// Changing a mark: its ends by buttons, keys, handles or another selection, and what is said of it.
"use strict";

const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });
const LONGEST = 2000;
const boxOf = (side) => document.querySelector(`.text[data-side="${side}"]`);
const hasPlace = (span) => Number.isInteger(span.start) && Number.isInteger(span.end);

function activate(index) {
  marks.active = index;
  drawSpans();
  announce(index === null ? "" : `Error ${index + 1}: Shift and the arrow keys move its end, with Ctrl its start.`);
}

// The place of a span with one end moved by a grapheme; null if it cannot be moved.
function moved(span, end, step) {
  const edges = boxOf(span.side)?.edges || [];
  const next = step > 0 ? edges.find((edge) => edge > span[end]) : [...edges].reverse().find((edge) => edge < span[end]);
  const place = { start: span.start, end: span.end, [end]: next };
  return next !== undefined && place.start < place.end ? place : null;
}

async function setPlace(index, place) {
  const span = current().spans[index];
  const quote = span.quote || (span.state === "located" ? "" : span.text);
  const replaced = { ...span, ...place, quote };
  return change((spans) => spans.map((each, number) => (number === index ? replaced : each)), `place of error ${index + 1}`);
}

async function move(index, end, step) {
  const place = moved(current().spans[index], end, step);
  if (!place) {
    announce(`The ${end} cannot be moved further.`);
    return;
  }
  if (await setPlace(index, place)) announce(`Marked: ${current().spans[index].text}`);
}

async function takeSelection(index) {
  const found = selected();
  if (!found) {
    announce("Select the words first.");
    at("mark-help").hidden = false;
    return;
  }
  if (await setPlace(index, found)) getSelection().removeAllRanges();
}

// In the direction of the text: the left arrow goes on in Arabic.
function moveByKey(event, index) {
  const span = current().spans[index];
  if (!event.shiftKey || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  if (event.target.closest("textarea, select") || marks.active !== index) return;
  event.preventDefault();
  event.stopPropagation();
  if (state.busy || !hasPlace(span)) return;
  const rtl = getComputedStyle(boxOf(span.side)).direction === "rtl";
  move(index, event.ctrlKey || event.metaKey ? "start" : "end", (event.key === "ArrowRight") === rtl ? -1 : 1);
}

// What is said of a mark

function said(span) {
  if (!span.explanation && !span.correction) return [];
  const line = made("p", undefined, "said soft");
  if (span.explanation) line.append(made("bdi", span.explanation));
  if (span.correction) line.append(made("span", " → "), corrected(span));
  return [line];
}

function corrected(span) {
  const words = made("bdi", span.correction);
  words.lang = languageOf(current()).tag;
  return words;
}

function changing(span, index) {
  const box = made("div", undefined, "change");
  const named = `error ${index + 1}`;
  const ends = made("div", undefined, "ends");
  if (hasPlace(span)) {
    for (const end of ["start", "end"]) {
      ends.append(made("span", end === "start" ? "Start" : "End", "soft"));
      for (const [words, step] of [["earlier", -1], ["later", 1]]) {
        ends.append(button(words, `${end} of ${named} ${words}`, () => move(index, end, step), `${index}:${end}${step}`));
      }
    }
  }
  const take = button("Take the selection", `Take the selection for ${named}`, () => takeSelection(index), `${index}:take`);
  take.addEventListener("pointerdown", (event) => event.preventDefault());
  ends.append(take);
  box.append(ends);
  box.append(wordsField(span, index, "explanation", "What is wrong (optional)"));
  const correction = wordsField(span, index, "correction", "What should be there (optional)");
  const field = correction.querySelector("textarea");
  const ofText = boxOf("output");
  if (ofText) field.dir = getComputedStyle(ofText).direction;
  field.lang = languageOf(current()).tag;
  box.append(correction);
  return box;
}

function wordsField(span, index, name, title) {
  const label = made("label", title);
  const field = made("textarea");
  field.rows = 1;
  field.maxLength = LONGEST;
  field.dir = "auto";
  field.value = span[name] || "";
  field.dataset.key = `${index}:${name}`;
  field.addEventListener("change", () => {
    const item = current();
    marks.saving = (marks.saving || Promise.resolve()).then(() => saveWords(item, index, name, field.value));
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" && !(event.key === "Enter" && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    controlOf(index, "change").focus();
  });
  label.append(field);
  return label;
}

// The list is not drawn again, because the person is on the way to the next field.
async function saveWords(item, index, name, value) {
  while (state.busy) await wait(10);
  if (item !== current() || (item.spans[index]?.[name] || "") === value.trim()) return;
  marks.before = item.spans;
  const spans = item.spans.map((span, each) => (each === index ? { ...span, [name]: value.trim() } : span));
  await keep(spans, `${name} of error ${index + 1}`, false);
}

// Handles at both ends of the mark that is being changed

function placeAt(box, x, y) {
  const found = document.caretPositionFromPoint?.(x, y);
  const range = found ? null : document.caretRangeFromPoint?.(x, y);
  const [node, offset] = found ? [found.offsetNode, found.offset] : [range?.startContainer, range?.startOffset];
  return node && box.contains(node) ? placeOf(box, node, offset) : null;
}

function edgeRect(box, place, end) {
  const edges = box.edges;
  const number = edges.findIndex((edge) => edge >= place);
  const [low, high] = end === "start" ? [place, edges[number + 1] ?? place] : [edges[number - 1] ?? 0, place];
  const range = document.createRange();
  range.setStart(...positionAt(box, low));
  range.setEnd(...positionAt(box, high));
  const rects = [...range.getClientRects()].filter((rect) => rect.width);
  const rect = end === "start" ? rects[0] : rects[rects.length - 1];
  if (!rect) return null;
  const isLeft = (getComputedStyle(box).direction === "rtl") === (end === "end");
  return { x: isLeft ? rect.left : rect.right, top: rect.top, bottom: rect.bottom };
}

function drawHandles() {
  for (const handle of document.querySelectorAll(".handle")) handle.remove();
  const span = current().spans[marks.active];
  if (!span || !hasPlace(span) || span.state === "rejected") return;
  const box = boxOf(span.side);
  if (!box || span.end > box.edges[box.edges.length - 1]) return;
  for (const end of ["start", "end"]) {
    const handle = made("span", undefined, `handle ${end}`);
    handle.setAttribute("aria-hidden", "true");
    handle.addEventListener("pointerdown", (event) => drag(event, handle, box, span, end));
    box.parentElement.append(handle);
    putHandle(handle, box, span[end], end);
  }
}

function putHandle(handle, box, place, end) {
  const rect = edgeRect(box, place, end);
  const [outer, inner] = [box.parentElement.getBoundingClientRect(), box.getBoundingClientRect()];
  handle.hidden = !rect || rect.bottom < inner.top || rect.bottom > inner.bottom + 1;
  if (handle.hidden) return;
  handle.style.left = `${rect.x - outer.left}px`;
  handle.style.top = `${rect.bottom - outer.top}px`;
  handle.dataset.middle = String((rect.top + rect.bottom) / 2);
}

function putHandles() {
  const span = isMarking() && current()?.spans?.[marks.active];
  const box = span && boxOf(span.side);
  if (!box?.edges) return;
  for (const handle of document.querySelectorAll(".handle")) {
    const end = handle.classList.contains("start") ? "start" : "end";
    putHandle(handle, box, span[end], end);
  }
}

function drag(event, handle, box, span, end) {
  if (state.busy || event.button) return;
  event.preventDefault();
  const index = marks.active;
  const others = current().spans;
  const lift = event.clientY - Number(handle.dataset.middle);
  let place = { start: span.start, end: span.end };
  handle.setPointerCapture(event.pointerId);
  handle.style.pointerEvents = "none"; // so that the text below it is found; the capture stays
  const onMove = (each) => {
    const found = placeAt(box, each.clientX, each.clientY - lift);
    if (found === null) return;
    const nearest = box.edges.reduce((best, edge) => (Math.abs(edge - found) < Math.abs(best - found) ? edge : best));
    const next = { start: span.start, end: span.end, [end]: nearest };
    if (next.start >= next.end) return;
    place = next;
    const shown = { ...span, ...place };
    const spans = others.map((one, number) => (number === index ? shown : one));
    drawMarks(box, spans);
    putHandle(handle, box, place[end], end);
  };
  const onEnd = (each) => {
    handle.removeEventListener("pointermove", onMove);
    for (const name of ["pointerup", "pointercancel"]) handle.removeEventListener(name, onEnd);
    const isChanged = place.start !== span.start || place.end !== span.end;
    if (each.type === "pointerup" && isChanged) setPlace(index, place);
    else drawSpans();
  };
  handle.addEventListener("pointermove", onMove);
  for (const name of ["pointerup", "pointercancel"]) handle.addEventListener(name, onEnd);
}

// Taps and clicks: on a mark, it can be changed; by touch on a word, the word is selected, with a second one all between.

const LONG_PRESS_MS = 450;

function watchTaps(box) {
  box.addEventListener("pointerdown", (event) => (marks.pressedAt = event.timeStamp));
  box.addEventListener("click", (event) => tapped(box, event));
  box.addEventListener("scroll", putHandles);
}

function tapped(box, event) {
  const byTouch = event.pointerType === "touch";
  const isLong = event.timeStamp - marks.pressedAt > LONG_PRESS_MS;
  if (isLong && !getSelection().isCollapsed) return; // the browser has selected a word itself
  if (state.busy || !box.leaves || (!byTouch && !getSelection().isCollapsed)) return;
  const place = placeAt(box, event.clientX, event.clientY);
  if (place === null) return;
  const isIn = (span) => span.side === box.dataset.side && hasPlace(span) && span.state !== "rejected" && span.start <= place && place <= span.end;
  const index = marks.tapped ? -1 : current().spans.findIndex((span, number) => number !== marks.active && isIn(span));
  if (index >= 0) activate(index);
  else if (byTouch) selectWord(box, place);
}

function selectWord(box, place) {
  const word = wordAt(box, place);
  if (!word) return;
  const first = marks.tapped?.side === box.dataset.side ? marks.tapped : null;
  const [low, high] = first ? [Math.min(first.start, word.start), Math.max(first.end, word.end)] : [word.start, word.end];
  marks.tapped = first ? null : { side: box.dataset.side, ...word };
  getSelection().setBaseAndExtent(...positionAt(box, low), ...positionAt(box, high));
  announce(first ? "Selected." : "Selected. Tap another word to select all between.");
}

function wordAt(box, place) {
  const leaf = box.leaves.find((each) => each.start <= place && place <= each.end);
  if (!leaf || leaf.kind === "code") return leaf && { start: leaf.start, end: leaf.end };
  const letters = Array.from(leaf.words);
  const index = letters.slice(0, place - leaf.start).join("").length;
  const segments = WORDS.segment(leaf.words);
  const [after, before] = [segments.containing(index), index ? segments.containing(index - 1) : undefined];
  const found = after?.isWordLike || !before?.isWordLike ? after || before : before;
  if (!found) return null;
  const start = leaf.start + lengthOf(leaf.words.slice(0, found.index));
  return { start, end: start + lengthOf(found.segment) };
}

if (isMarking()) addEventListener("resize", putHandles);
