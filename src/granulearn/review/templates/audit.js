"use strict";

// Without this file the page is a list of rows that open; with it, rows can be chosen.
const root = document.documentElement;
root.classList.add("js");

document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

const list = document.getElementById("cards");
const cards = list ? Array.from(list.children) : [];
const at = (id) => document.getElementById(id);
const state = { verdicts: new Set(), pair: "", find: "", sort: "against" };
const pressed = (button, on) => button.setAttribute("aria-pressed", String(on));

// What a card is found and ordered by, read once.
const known = new Map(cards.map((card) => [card, {
  row: Number(card.dataset.row),
  against: Number(card.dataset.against),
  verdict: card.dataset.verdict,
  pair: card.dataset.pair,
  words: card.querySelector(".change").textContent,
  search: card.dataset.search,
}]));
// Cards that are equal stay in the order in which the page came.
const orders = {
  against: (a, b) => b.against - a.against,
  row: (a, b) => a.row - b.row,
  pair: (a, b) => a.words.localeCompare(b.words) || b.against - a.against,
};

function fits(card, words) {
  return (!state.verdicts.size || state.verdicts.has(card.verdict)) &&
    (!state.pair || card.pair === state.pair) &&
    words.every((word) => (/^#\d+$/.test(word) ? card.row === Number(word.slice(1)) : card.search.includes(word)));
}

// What closed cards hold stays out of the document until they open: moving it costs a second.
const inner = new Map(cards.map((card) => [card, card.lastElementChild]));
function fill(card) {
  card.append(inner.get(card));
}
for (const card of cards) {
  if (!card.open) inner.get(card).remove();
  card.querySelector("summary").addEventListener("click", () => fill(card));
  card.addEventListener("toggle", () => card.open && fill(card));
}

let ordered = "against"; // as the page comes
function show() {
  const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const card of cards) {
    card.hidden = !fits(known.get(card), words);
    count += !card.hidden;
  }
  if (ordered !== state.sort) {
    const order = orders[state.sort];
    list.append(...cards.slice().sort((a, b) => order(known.get(a), known.get(b))));
    ordered = state.sort;
  }
  at("shown").textContent = `${count} of ${cards.length} shown`;
  at("none").hidden = count > 0;
  at("clear").hidden = !(state.verdicts.size || state.pair || state.find);
  at("find").value = state.find;
  at("pair").value = state.pair;
  at("sort").value = state.sort;
  for (const button of document.querySelectorAll(".chip button")) pressed(button, state.verdicts.has(button.parentElement.dataset.verdict));
  for (const button of document.querySelectorAll("#pairs th button")) pressed(button, state.pair === button.closest("tr").dataset.pair);
}

// The address keeps the choice, so that a link shows the same rows.
function write() {
  const kept = new URLSearchParams();
  if (state.verdicts.size) kept.set("verdict", Array.from(state.verdicts).join(","));
  if (state.pair) kept.set("pair", state.pair);
  if (state.find) kept.set("find", state.find);
  if (state.sort !== "against") kept.set("sort", state.sort);
  history.replaceState(null, "", `#${kept}`);
}

function read() {
  const kept = new URLSearchParams(location.hash.slice(1));
  const verdicts = new Set(cards.map((card) => card.dataset.verdict));
  state.verdicts = new Set((kept.get("verdict") || "").split(",").filter((verdict) => verdicts.has(verdict)));
  state.pair = Array.from(at("pair").options, (option) => option.value).includes(kept.get("pair")) ? kept.get("pair") : "";
  state.find = kept.get("find") || "";
  state.sort = kept.get("sort") in orders ? kept.get("sort") : "against";
  show();
}

function change(values) {
  Object.assign(state, values);
  write();
  show();
}

function asButton(holder, label, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...holder.childNodes);
  if (label) button.title = label;
  button.addEventListener("click", act);
  holder.append(button);
  pressed(button, false);
}

if (cards.length) {
  for (const chip of document.querySelectorAll(".chip")) {
    if (chip.dataset.cards === "0") continue;
    asButton(chip, "", () => {
      const verdicts = new Set(state.verdicts);
      if (!verdicts.delete(chip.dataset.verdict)) verdicts.add(chip.dataset.verdict);
      change({ verdicts });
    });
  }
  for (const row of document.querySelectorAll("#pairs tbody tr")) {
    asButton(row.cells[0], "Show only these rows", () => change({ pair: state.pair === row.dataset.pair ? "" : row.dataset.pair }));
  }
  at("find").addEventListener("input", (event) => change({ find: event.target.value }));
  at("pair").addEventListener("change", (event) => change({ pair: event.target.value }));
  at("sort").addEventListener("change", (event) => change({ sort: event.target.value }));
  at("clear").addEventListener("click", () => {
    change({ verdicts: new Set(), pair: "", find: "" });
    at("find").focus();
  });
  at("open-all").addEventListener("click", (event) => {
    const open = event.target.getAttribute("aria-pressed") !== "true";
    for (const card of cards) {
      if (open && !card.hidden) fill(card);
      card.open = open && !card.hidden;
    }
    pressed(event.target, open);
    event.target.textContent = open ? "Close all" : "Open all";
  });
  at("controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    at("find").focus();
  });
  addEventListener("hashchange", read);
  read();
}
