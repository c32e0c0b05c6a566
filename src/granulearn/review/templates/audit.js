"use strict";

// Without this file the page is a list of rows that open; with it, rows can be filtered and decided on.
const list = at("cards");
const cards = list ? Array.from(list.children) : [];
const state = { verdicts: new Set(), pair: "", find: "", sort: "doubt" };

// What a card is found and ordered by, read once.
const known = new Map(cards.map((card, index) => [card, {
  row: Number(card.dataset.row),
  index,
  verdict: card.dataset.verdict,
  pair: card.dataset.pair,
  label: card.querySelector(".change").textContent,
  search: card.dataset.search,
}]));
// Equal cards stay in the order of the page.
const orders = {
  doubt: (a, b) => a.index - b.index,
  row: (a, b) => a.row - b.row,
  pair: (a, b) => a.label.localeCompare(b.label) || a.index - b.index,
};

function fits(card, words) {
  return (!state.verdicts.size || state.verdicts.has(card.verdict)) &&
    (!state.pair || card.pair === state.pair) &&
    words.every((word) => (/^#\d+$/.test(word) ? card.row === Number(word.slice(1)) : card.search.includes(word)));
}

// The content of closed cards is out of the document until they open: moving it takes a second.
const inner = new Map(cards.map((card) => [card, card.lastElementChild]));
function fill(card) {
  card.append(inner.get(card));
}
for (const card of cards) {
  if (!card.open) inner.get(card).remove();
  card.querySelector("summary").addEventListener("click", () => {
    fill(card);
    setCurrent(card.open ? null : card);
  });
  card.addEventListener("toggle", () => card.open && fill(card));
}

let ordered = "doubt"; // as the page comes
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

// The address keeps the filter, so that a link shows the same rows.
function write() {
  const kept = new URLSearchParams();
  if (state.verdicts.size) kept.set("verdict", Array.from(state.verdicts).join(","));
  if (state.pair) kept.set("pair", state.pair);
  if (state.find) kept.set("find", state.find);
  if (state.sort !== "doubt") kept.set("sort", state.sort);
  history.replaceState(null, "", `#${kept}`);
}

function read() {
  const kept = new URLSearchParams(location.hash.slice(1));
  const verdicts = new Set(cards.map((card) => card.dataset.verdict));
  state.verdicts = new Set((kept.get("verdict") || "").split(",").filter((verdict) => verdicts.has(verdict)));
  state.pair = Array.from(at("pair").options, (option) => option.value).includes(kept.get("pair")) ? kept.get("pair") : "";
  state.find = kept.get("find") || "";
  state.sort = kept.get("sort") in orders ? kept.get("sort") : "doubt";
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

// --- deciding

const facts = cards.length ? JSON.parse(at("facts").textContent) : null;
const decisions = facts && new Decisions(facts);
let current = null; // the card that keys are about

function factsOf(card) {
  const { given, second, ...others } = card.dataset;
  return { ...others, given_label: given, second_class: second };
}

function setCurrent(card) {
  if (current) current.classList.remove("current");
  current = card;
  if (card) card.classList.add("current");
  showDeck();
}

// A reader who decides nothing sees no buttons.
function showDeck() {
  at("deck").hidden = !current && !decisions.count;
  nameActions(current && factsOf(current), decisions.lines.length > 0);
}

function openOnly(card) {
  if (current && current !== card) current.open = false;
  fill(card);
  card.open = true;
  setCurrent(card);
  card.scrollIntoView({ block: "nearest" });
}

function shownCards() {
  return Array.from(list.children).filter((card) => !card.hidden);
}

function move(step) {
  const among = shownCards();
  const next = among[among.indexOf(current) + step];
  if (next) openOnly(next);
  else announce(step > 0 ? "This is the last row." : "This is the first row.");
}

// Show the decision on a card.
function markCard(card) {
  const said = decisions.about(card.dataset.row);
  const before = card.querySelector("summary .said");
  if (before) before.remove();
  card.classList.toggle("decided", Boolean(said));
  if (said) card.querySelector(".line").append(element("span", { class: "said" }, inWords({ decision: said.decision, label: said.new_label }, said.given_label)));
}

function showDecided() {
  const where = decisions.isKept ? "kept in this browser" : "in this page alone: download them before you close it";
  at("decided").textContent = decisions.count ? `${decisions.count} decided, ${where}` : "nothing decided yet";
  at("download").disabled = !decisions.count;
  showDeck();
}

function decide(decision, label = null) {
  if (!current) return;
  const card = current;
  const given = card.dataset.given;
  const said = asDecision(decision, label, given);
  decisions.add(factsOf(card), { ...said, note: at("note").value, who: at("who").value });
  at("note").value = "";
  markCard(card);
  announce(`Row ${card.dataset.row}: ${inWords(said, given)}`);
  const among = shownCards();
  const next = among.slice(among.indexOf(card) + 1).find((other) => !other.classList.contains("decided"));
  if (next) openOnly(next);
  else announce("No row below is left to decide on.");
  showDecided();
}

function undo() {
  const row = decisions.undo();
  if (row === undefined) return announce("There is nothing to undo.");
  const card = at(`row-${row}`);
  if (card) {
    markCard(card);
    card.hidden = false;
    openOnly(card);
  }
  announce(`Undone: row ${row} is open again.`);
  return showDecided();
}

const DECIDING = decidingActions({ card: () => factsOf(current), holder: () => inner.get(current), classes: () => facts.classes, decide });
const ALWAYS = {
  undo,
  next: () => move(1),
  previous: () => move(-1),
  note: () => at("note").focus(),
  search: () => at("find").focus(),
  help: () => at("help-dialog").showModal(),
};

if (cards.length) {
  for (const chip of document.querySelectorAll(".chip")) {
    if (chip.dataset.cards === "0") continue;
    asButton(chip, "", () => {
      const verdicts = new Set(state.verdicts);
      if (!verdicts.delete(chip.dataset.verdict)) verdicts.add(chip.dataset.verdict);
      change({ verdicts });
    });
  }
  for (const row of document.querySelectorAll("#pairs tr[data-pair]")) {
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
  listenForActions(({ name, key }) => {
    // Keys decide on the open row only.
    const act = ALWAYS[name] || (current && DECIDING[name]);
    if (!act) return false;
    act(key);
    return true;
  });
  list.addEventListener("click", (event) => {
    const share = event.target.closest("[data-label]");
    if (!share) return;
    setCurrent(share.closest(".doubted"));
    decide("change", share.dataset.label);
  });
  at("note").addEventListener("keydown", (event) => event.key === "Enter" && at("note").blur());
  at("who").value = memory.get("granulearn who") || "";
  at("who").addEventListener("change", () => memory.set("granulearn who", at("who").value));
  at("download").addEventListener("click", () => decisions.download());
  addEventListener("beforeunload", (event) => !decisions.isKept && decisions.lines.length && event.preventDefault());
  addEventListener("hashchange", read);
  cards.forEach(markCard);
  showDecided();
  read();
}
