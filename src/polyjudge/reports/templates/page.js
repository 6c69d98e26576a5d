"use strict";
(() => {
  const table = document.getElementById("map");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const form = document.getElementById("filters");
  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const parts = new Map();
  for (const data of document.querySelectorAll("script[data-details]")) {
    const place = data.dataset.details;
    if (!parts.has(place)) parts.set(place, []);
    parts.get(place).push(data);
  }
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  // Everything shown is made with textContent: what models wrote never becomes markup.
  const make = (name, text, attributes) => {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    return node;
  };
  const passage = (name, pieces, language, direction) => {
    const holder = make("p");
    holder.append(make("span", name, { class: "name" }));
    const text = make("bdi", undefined, { lang: language, dir: direction });
    for (const [piece, message] of pieces) {
      if (message) {
        const mark = make("mark", piece, { title: message });
        mark.append(make("span", " (" + message + ") ", { class: "hidden", lang: "en" }));
        text.append(mark);
      } else text.append(piece);
    }
    holder.append(text);
    return holder;
  };
  const item = (row, about) => {
    const holder = make("article", undefined, { class: "item" });
    holder.append(make("h3", row.category || "Output"));
    if (row.source) holder.append(passage("Source", [[row.source, ""]], "", "auto"));
    holder.append(passage("Output", row.output, about.tag, about.direction));
    if (row.reference) holder.append(passage("Reference", [[row.reference, ""]], about.tag, about.direction));
    const said = make("ul");
    for (const line of row.said) {
      const entry = make("li");
      entry.append(make("bdi", line));
      said.append(entry);
    }
    if (row.said.length) holder.append(said);
    return holder;
  };
  const fill = (cell, place, next) => {
    const data = JSON.parse(parts.get(place)[next].textContent);
    for (const line of data.notes) {
      const note = make("p");
      note.append(make("bdi", line));
      cell.append(note);
    }
    for (const row of data.items) cell.append(item(row, data));
    const left = parts.get(place).length - next - 1;
    if (left > 0) {
      const more = make("button", "Show more of " + data.total + " outputs", { type: "button", class: "more" });
      more.addEventListener("click", () => {
        more.remove();
        fill(cell, place, next + 1);
      });
      cell.append(more);
    }
  };
  const toggle = (row, open) => {
    const button = row.querySelector("button.open");
    const place = button.dataset.place;
    const shown = button.getAttribute("aria-expanded") === "true";
    if (open === shown) return;
    if (shown) row.nextElementSibling.remove();
    else {
      const below = make("tr", undefined, { class: "details" });
      const cell = make("td", undefined, { colspan: String(row.cells.length) });
      below.append(cell);
      if (parts.has(place)) fill(cell, place, 0);
      else cell.append(make("p", "There is no output."));
      row.after(below);
    }
    button.setAttribute("aria-expanded", String(!shown));
  };
  const words = (data) => {
    const said = data.items.map((row) => {
      const output = row.output.map(([piece]) => piece).join("");
      return [row.category, row.source, output, row.reference, ...row.said].join("\n");
    });
    return [...data.notes, ...said].join("\n");
  };
  const lowered = new Map();
  const holds = (row, wanted) => {
    if (plain(row.cells[0].textContent).includes(wanted)) return true;
    const place = row.dataset.place;
    if (!lowered.has(place)) {
      const texts = (parts.get(place) || []).map((data) => plain(words(JSON.parse(data.textContent))));
      lowered.set(place, texts);
    }
    return lowered.get(place).some((text) => text.includes(wanted));
  };
  const filter = () => {
    const wanted = plain(search.value.trim());
    let shown = 0;
    for (const row of rows) {
      let fits = true;
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
    count.textContent = shown + " of " + rows.length + " languages";
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
  const follow = () => {
    const row = location.hash.startsWith("#lang-") && document.getElementById(location.hash.slice(1));
    if (!row) return;
    if (row.hidden) {
      form.reset();
      filter();
    }
    toggle(row, true);
  };
  addEventListener("hashchange", follow);
  form.hidden = false;
  filter();
  follow();
})();
