"use strict";
(() => {
  addEventListener("beforeprint", () => {
    for (const more of document.querySelectorAll("details")) more.open = true;
  });
  const form = document.getElementById("filters");
  if (!form) return;
  const search = document.getElementById("search");
  const language = document.getElementById("language");
  const count = document.getElementById("count");
  const chips = [...form.querySelectorAll("[data-severity]")];
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  const messages = [...document.querySelectorAll("article[data-severities]")].map((node) => ({
    node,
    section: node.closest(".language"),
    file: node.closest(".file"),
    severities: node.dataset.severities.split(" "),
    findings: node.querySelectorAll(".fnd li").length,
    text: "",
  }));
  const filter = () => {
    const wanted = plain(search.value.trim());
    const pressed = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.severity);
    const open = new Set();
    let shown = 0;
    for (const each of messages) {
      if (wanted && !each.text) each.text = plain(each.file.querySelector("h4").textContent + " " + each.node.textContent);
      const fits =
        (!language || !language.value || each.section.id === language.value) &&
        (!pressed.length || pressed.some((severity) => each.severities.includes(severity))) &&
        (!wanted || each.text.includes(wanted));
      each.node.hidden = !fits;
      if (!fits) continue;
      shown += each.findings;
      open.add(each.file).add(each.section);
    }
    for (const part of document.querySelectorAll(".language, .file")) part.hidden = !open.has(part);
    count.textContent = shown.toLocaleString("en") + " of " + Number(count.dataset.total).toLocaleString("en") + " findings";
  };
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-severity]");
    if (!chip) return;
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    filter();
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
    const target = location.hash.startsWith("#language-") && document.getElementById(location.hash.slice(1));
    if (!target || !target.hidden) return;
    if (language) language.value = "";
    search.value = "";
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    filter();
    target.scrollIntoView({ behavior: "instant" });
  };
  addEventListener("hashchange", follow);
  form.hidden = false;
  filter();
})();
