"use strict";

// Sorting: a heading becomes a button; numbers as numbers, a dash last.
function valueOf(row, column, isText) {
  const text = row.cells[column].textContent.trim();
  if (isText) return text.toLowerCase();
  const number = parseFloat(text);
  return Number.isNaN(number) ? null : number;
}

function sortBy(table, heading) {
  const column = heading.cellIndex;
  const isText = heading.dataset.kind === "text";
  const ascending = heading.getAttribute("aria-sort") !== "ascending";
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const rows = Array.from(table.tBodies[0].rows);
  rows.sort((a, b) => {
    const first = valueOf(a, column, isText), second = valueOf(b, column, isText);
    if (first === null || second === null) return (first === null) - (second === null);
    const order = first < second ? -1 : first > second ? 1 : 0;
    return ascending ? order : -order;
  });
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, heading));
    heading.append(button);
  }
}

// Filtering: a text, and for tables of several conditions one of these.
function applyFilters(id) {
  const target = document.getElementById(id);
  const input = document.querySelector(`[data-filters="${id}"]`);
  const choice = document.querySelector(`[data-chooses="${id}"]`);
  const words = input.value.trim().toLowerCase().split(/\s+/);
  const items = target.tBodies ? target.tBodies[0].rows : target.children;
  let shown = 0;
  for (const item of items) {
    const label = (target.tBodies ? item.cells[0] : item.querySelector("summary")).textContent.toLowerCase();
    const fits = words.every((word) => label.includes(word)) &&
      (!choice || !choice.value || item.dataset.condition === choice.value);
    item.hidden = !fits;
    shown += fits;
  }
  document.querySelector(`[data-counts="${id}"]`).textContent = `${shown} of ${items.length}`;
}

for (const input of document.querySelectorAll("[data-filters], [data-chooses]")) {
  const id = input.dataset.filters || input.dataset.chooses;
  for (const event of ["input", "change"]) input.addEventListener(event, () => applyFilters(id));
  applyFilters(id);
}

// A link to a cell opens its details, even where a filter hides them.
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target || target.tagName !== "DETAILS") return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();

const root = document.documentElement;
document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
