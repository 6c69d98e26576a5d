"use strict";
(() => {
  const table = document.getElementById("map");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const form = document.getElementById("filters");
  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const what = table.tHead.querySelector("button").textContent.toLowerCase();
  const parts = new Map();
  for (const data of document.querySelectorAll("script[data-details]")) {
    const place = data.dataset.details;
    if (!parts.has(place)) parts.set(place, []);
    parts.get(place).push(data);
  }
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  // Everything shown is made with textContent: what models wrote never becomes markup.
  const make = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    node.append(...children.filter((child) => child !== undefined && child !== ""));
    return node;
  };
  const icon = (style) => {
    const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", "#i-" + style);
    drawn.setAttribute("class", "i");
    drawn.setAttribute("aria-hidden", "true");
    drawn.append(use);
    return drawn;
  };
  const passage = (label, pieces, language, direction, style) => {
    const text = make("div", { class: "t" + style, lang: language, dir: direction });
    for (const [piece, severity, number] of typeof pieces === "string" ? [[pieces]] : pieces) {
      if (!severity) {
        text.append(piece);
        continue;
      }
      text.append(make("mark", { class: severity }, piece));
      if (number === undefined) continue;
      const hidden = make("span", { class: "vh", lang: "en" }, "finding " + number);
      text.append(make("sup", { class: "n " + severity, "data-n": String(number) }, hidden));
    }
    if (!pieces.length) text.append(make("span", { class: "empty", lang: "en" }, "∅ The output is empty"));
    return make("div", {}, make("span", { class: "lab" }, label), text);
  };
  const spans = (item) => {
    const list = make("ol", { class: "spans" });
    for (const [number, style, label, title, ...more] of item.spans) {
      const words = make("summary", {}, make("bdi", {}, title));
      const said = more.map((each) => make("p", {}, make("bdi", {}, each)));
      const about = said.length ? make("details", {}, words, ...said) : make("p", {}, make("bdi", {}, title));
      list.append(make("li", { class: style }, make("span", { class: "n" }, number ? String(number) : "–"), make("span", { class: "sev" }, label), about));
    }
    return list;
  };
  const findings = (item, about) => {
    const list = make("ol");
    const before = (item.spans || []).filter(([number]) => number).length;
    for (const [index, number] of item.findings.entries()) {
      const [severity, kind, message, record] = about.findings[number];
      const words = make("p", {}, make("b", {}, kind + ". "), make("bdi", {}, message), record ? " (" + record + ")" : "");
      list.append(make("li", { class: severity }, make("span", { class: "n" }, String(before + index + 1)), make("span", { class: "sev" }, severity), words));
    }
    return list;
  };
  const styles = { SKIPPED: "unjudged" };
  const article = (item, about) => {
    const judges = (item.judges || []).map((number) => about.verdicts[number]);
    const points = judges.map(([, scores]) => scores).filter(Boolean);
    const scores = make("span", { class: "sc" }, make("bdi", {}, points.join(" · ")));
    const style = styles[item.status] || (item.status || "scored").toLowerCase();
    const state = item.status ? make("span", { class: "st c-" + style }, icon(style), item.status) : "";
    const head = make("header", {}, make("h3", {}, make("bdi", {}, item.title)), state, scores);
    const texts = [];
    if (item.source) texts.push(passage("Source", item.source, "", "auto", ""));
    if ("output" in item) texts.push(passage(about.name ? "Output, " + about.name : "Output", item.output, about.tag, about.direction, ""));
    if (item.reference) texts.push(passage("Reference", item.reference, about.tag, about.direction, " ref"));
    const below = make("div", { class: "fnd" });
    if (item.spans) below.append(spans(item));
    if (item.findings) below.append(findings(item, about));
    for (const [judge, scores, words] of judges) {
      const said = points.length > 1 ? [scores, words].filter(Boolean).join(". ") : words;
      if (said) below.append(make("p", { class: "judge" }, make("b", {}, make("bdi", {}, judge), ": "), make("bdi", {}, said)));
    }
    for (const [name, raw] of item.raw || []) {
      below.append(make("details", {}, make("summary", {}, name), make("pre", { tabindex: "0" }, raw)));
    }
    const bad = style === "fail" || style === "conflict";
    const holder = make("article", { class: "card out " + (bad ? "bad" : "ok") }, head);
    if (texts.length) holder.append(make("div", { class: "tri c" + texts.length }, ...texts));
    holder.append(below);
    return holder;
  };
  const fill = (cell, place, next) => {
    const data = JSON.parse(parts.get(place)[next].textContent);
    for (const line of data.notes) cell.append(make("p", { class: "note" }, make("bdi", {}, line)));
    for (const item of data.items) cell.append(article(item, data));
    if (parts.get(place).length > next + 1) {
      const more = make("button", { type: "button", class: "btn more" }, "Show more of " + data.total + " " + data.unit);
      more.addEventListener("click", () => {
        more.remove();
        fill(cell, place, next + 1);
      });
      cell.append(more);
    }
  };
  const toggle = (row, open) => {
    const button = row.querySelector("button.open");
    if (!button) return;
    const place = button.dataset.place;
    const shown = button.getAttribute("aria-expanded") === "true";
    if (open === shown) return;
    if (shown) row.nextElementSibling.remove();
    else {
      const cell = make("td", { colspan: String(row.cells.length), role: "cell" });
      if (parts.has(place)) fill(cell, place, 0);
      else cell.append(make("p", { class: "note" }, "There is nothing to list."));
      row.after(make("tr", { class: "details", role: "row" }, cell));
    }
    row.classList.toggle("open", !shown);
    button.setAttribute("aria-expanded", String(!shown));
  };
  const words = (data) => {
    const whole = (text) => (typeof text === "object" ? text.map(([piece]) => piece).join("") : text);
    const said = data.items.map((item) => {
      const marks = (item.spans || []).map((span) => span.slice(2).join(" "));
      return [item.title, whole(item.source), whole(item.output), item.reference, ...marks].join("\n");
    });
    const found = [...data.findings, ...data.verdicts].map((each) => each.join(" "));
    return [...data.notes, ...said, ...found].join("\n");
  };
  const lowered = new Map();
  const holds = (row, wanted) => {
    if (plain(row.cells[0].textContent + "\n" + row.cells[row.cells.length - 1].textContent).includes(wanted)) return true;
    const place = row.dataset.place;
    if (!lowered.has(place)) {
      const texts = (parts.get(place) || []).map((data) => plain(words(JSON.parse(data.textContent))));
      lowered.set(place, texts);
    }
    return lowered.get(place).some((text) => text.includes(wanted));
  };
  const pressed = () => [...form.querySelectorAll("[data-chip][aria-pressed=true]")].map((chip) => chip.dataset.chip);
  const filter = () => {
    const wanted = plain(search.value.trim());
    const statuses = pressed();
    let shown = 0;
    for (const row of rows) {
      let fits = !statuses.length || statuses.includes(row.dataset.status);
      for (const choice of form.querySelectorAll("select")) {
        const value = choice.value;
        const own = row.dataset[choice.dataset.filter] || "";
        if (value && !(choice.dataset.filter === "problems" ? own.split(" ") : [own]).includes(value)) fits = false;
      }
      if (fits && wanted) fits = holds(row, wanted);
      if (!fits) toggle(row, false);
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    count.textContent = shown + " of " + rows.length + " " + what + (rows.length === 1 ? "" : "s");
  };
  const press = (status, on) => {
    for (const chip of form.querySelectorAll("[data-chip]")) {
      if (chip.dataset.chip === status) chip.setAttribute("aria-pressed", String(on));
      else if (status === "") chip.setAttribute("aria-pressed", "false");
    }
  };
  const reset = () => {
    form.reset();
    press("", false);
    filter();
  };
  const sort = (button) => {
    const place = Number(button.dataset.sort);
    const numeric = button.dataset.numeric === "1";
    const head = button.closest("th");
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const row of rows) toggle(row, false);
    for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => (place === 0 ? row.cells[0].textContent : row.cells[place].dataset.value || "");
    const order = (one, two) => {
      const [a, b] = [key(one), key(two)];
      if (a === "" || b === "") return (a === "") - (b === "");
      const found = numeric ? Number(a) - Number(b) : a.localeCompare(b);
      return down ? -found : found;
    };
    rows.sort(order);
    body.append(...rows);
  };
  body.addEventListener("click", (event) => {
    const button = event.target.closest("button.open");
    if (button) toggle(button.closest("tr"));
  });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const button = event.target.closest("button.open");
    if (!step || !button) return;
    event.preventDefault();
    const shown = rows.filter((row) => !row.hidden);
    const next = shown[shown.indexOf(button.closest("tr")) + step];
    if (next) next.querySelector("button.open").focus();
  });
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-sort]");
    if (button) sort(button);
  });
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-chip]");
    if (chip) {
      press(chip.dataset.chip, chip.getAttribute("aria-pressed") !== "true");
      filter();
    }
  });
  for (const button of document.querySelectorAll("[data-show]")) {
    button.addEventListener("click", () => {
      reset();
      press(button.dataset.show, true);
      filter();
      document.getElementById("languages").scrollIntoView();
      count.focus({ preventScroll: true });
    });
  }
  const intervals = document.getElementById("intervals");
  if (intervals) intervals.addEventListener("click", () => {
    intervals.setAttribute("aria-pressed", String(table.classList.toggle("ivs")));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      filter();
    }
  });
  const follow = () => {
    const row = location.hash.startsWith("#lang-") && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!row) return;
    if (row.hidden) reset();
    toggle(row, true);
    row.scrollIntoView({ behavior: "instant" });
  };
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => {
    for (const more of document.querySelectorAll("details")) more.open = true;
  });
  form.hidden = false;
  filter();
  follow();
})();
