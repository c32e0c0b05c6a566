"use strict";

// The page of a review: keys, buttons, and the state of the review.
const CLASSES = JSON.parse(at("classes").textContent);
let state = { generation: 0, fitting: false, decided: 0, can_undo: false };
let isBusy = false; // while an undo is on its way: the card on screen is about to change
let tab = "review";

const queue = new Queue({ moved: (row) => show(row), failed });
const panel = new CardPanel({ failed });
const outbox = new Outbox({ changed: showSaved, saved: acknowledged, refused: goBack });
const bulk = new Bulk({ filter: () => queue.filter, isFiltered: () => queue.isFiltered, ready: () => outbox.empty, done: decidedOnMany });

// --- messages

function message(text) {
  at("message").hidden = !text;
  at("message-text").textContent = text;
}

function failed(answer) {
  message(answer.error || goneWords());
}

function goneWords() {
  const left = outbox.waiting.length;
  return left ? `${GONE} ${plural(left, "decision")} ${left === 1 ? "was" : "were"} not saved.` : GONE;
}

function showSaved() {
  const left = outbox.waiting.length;
  at("saved").className = !left ? "" : outbox.isGone ? "unsaved" : "saving";
  at("saved").textContent = left ? (outbox.isGone ? "not saved" : "saving") : state.decided ? "saved" : "";
  if (outbox.isGone) message(goneWords());
  else if (at("message-text").textContent.startsWith(GONE)) message("");
}

function showState() {
  const { decided, suspects } = state;
  at("decided").textContent = `${decided.toLocaleString("en")} decided`;
  at("forecast").textContent = `${plural(suspects, "label")} left to check. ${state.advice}`;
  at("progress").firstElementChild.setAttribute("width", decided + suspects ? (100 * decided) / (decided + suspects) : 0);
  showReason();
  at("fitting").hidden = !state.fitting;
  for (const [verdict, count] of Object.entries(state.open)) {
    const button = document.querySelector(`[data-verdict="${verdict}"]`);
    button.querySelector(".count").textContent = count.toLocaleString("en");
    button.parentElement.hidden = count === 0 && !queue.verdicts.has(verdict);
  }
  showSaved();
  nameActions(panel.card, state.can_undo);
}

// Why the figures are as they are, and a random sample where it tells most.
function showReason() {
  at("reason").textContent = state.reason || "";
  at("offer").hidden = !state.wants_random || queue.total === 0 || queue.order === "random";
}

function showTotal() {
  showReason();
  at("total").textContent = plural(queue.total, "row");
  at("clear").hidden = !queue.isFiltered;
  at("bulk").disabled = queue.total === 0;
}

// --- the state

let timer = null;
function lookSoon(wait = 300) {
  clearTimeout(timer);
  timer = setTimeout(look, wait);
}

async function look() {
  const answer = await ask("state");
  if (!answer.value) {
    failed(answer);
    return lookSoon(2000);
  }
  if (at("message-text").textContent === GONE) message("");
  const before = state;
  state = answer.value;
  showState();
  const hasEnded = before.fitting && !state.fitting;
  if (state.failure && (hasEnded || state.failure !== before.failure)) message(`The audit could not be fitted again: ${state.failure}`);
  if (before.open && state.generation !== before.generation) await fittedAgain();
  else if (before.open && state.reason !== before.reason) await ratedAgain();
  if (tab === "table" && hasEnded) showPart("table");
  if (tab === "numbers") showPart("numbers");
  return state.fitting ? lookSoon(1500) : undefined;
}

// Each verified label sharpens the error probabilities of the others; the order on screen stays.
async function ratedAgain() {
  await queue.rate();
  queue.mark(panel.row);
  if (panel.row === null) return;
  await panel.refresh(queue.order);
  fetchAhead();
}

// The queue has a new order; the card on screen stays. Old cards are dropped once the next ones are
// here.
async function fittedAgain() {
  const fresh = new Cards();
  const isDone = await queue.load((rows) => fresh.fetch(rows.slice(0, AHEAD), queue.order));
  if (!isDone) return panel.cards.drop();
  panel.cards = fresh;
  queue.isReordered = true;
  queue.mark(panel.row);
  showTotal();
  if (panel.row === null) showFirst();
  else fetchAhead();
  return announce("The audit was fitted again; the queue has a new order.");
}

// --- looking

function fetchAhead() {
  panel.cards.fetch(queue.after(panel.row, AHEAD), queue.order);
}

async function show(row) {
  if (row === undefined) return goOn();
  const shown = panel.show(row, queue.order);
  queue.mark(row);
  showTotal();
  await shown;
  if (panel.row !== row) return undefined;
  nameActions(panel.card, state.can_undo);
  return fetchAhead();
}

function showFirst() {
  queue.isReordered = false;
  return queue.rows.length ? show(queue.rows[0].row) : showEmpty();
}

// The list is used up, but the queue may go on: another random sample is drawn, for one.
async function goOn() {
  panel.wait();
  await outbox.empty;
  queue.decided.clear(); // the review knows of all of them by now
  await reload();
}

async function reload() {
  if (await queue.load()) await showFirst();
}

function choose(values) {
  Object.assign(queue, values);
  queue.passed.clear();
  panel.cards.drop();
  for (const button of document.querySelectorAll(".orders button")) pressed(button, button.dataset.order === queue.order);
  for (const button of document.querySelectorAll("[data-verdict]")) pressed(button, queue.verdicts.has(button.dataset.verdict));
  at("sample-note").hidden = queue.order !== "random";
  at("pair").value = queue.pair;
  return reload();
}

function showEmpty() {
  const clear = element("button", { type: "button", class: "main", "data-clear": "" }, "Show all rows");
  if (queue.isFiltered) panel.say(element("p", {}, "No open row fits this filter."), clear);
  else panel.say(element("p", {}, "Every label has been checked."));
  showTotal();
  nameActions(null, state.can_undo);
}

function move(step) {
  if (panel.row === null) return;
  const next = queue.neighbour(panel.row, step);
  if (next === undefined) return announce(step > 0 ? "This is the last row." : "This is the first row.");
  if (step > 0) queue.passed.add(panel.row);
  show(next);
}

// --- deciding

function decide(decision, label = null) {
  const card = panel.card;
  if (!card || isBusy) return;
  if (outbox.isGone) return showSaved();
  const said = asDecision(decision, label, card.given_label);
  const note = at("note").value;
  const taken = queue.take(card.row);
  message("");
  outbox.add({ body: { row: card.row, ...said, note, order: queue.order }, taken });
  at("note").value = "";
  panel.cards.forget(card.row);
  announce(`Row ${card.row}: ${inWords(said, card.given_label)}`);
  show(queue.following(taken.index));
}

function acknowledged(count) {
  state.decided += count;
  state.can_undo = true;
  showState();
  lookSoon();
}

// Rows of refused decisions are open again, and the first of them is on screen.
function goBack(decisions, sentence) {
  for (const { body, taken } of decisions.slice().reverse()) queue.putBack(body.row, taken);
  const more = decisions.length > 1 ? ` ${decisions.length} decisions were not saved.` : "";
  message(sentence + more);
  at("note").value = decisions[0].body.note;
  show(decisions[0].body.row);
}

async function undo() {
  if (isBusy) return;
  if (outbox.isGone) return showSaved();
  isBusy = true;
  await outbox.empty;
  const answer = await tell("undo");
  isBusy = false;
  if (!answer.value) return failed(answer);
  const { rows } = answer.value;
  if (!rows.length) return announce("There is nothing to undo.");
  for (const row of rows) {
    queue.decided.delete(row);
    panel.cards.forget(row);
  }
  message("");
  announce(rows.length === 1 ? `Undone: row ${rows[0]} is open again.` : `Undone: ${rows.length} rows are open again.`);
  await queue.load();
  show(rows[0]);
  lookSoon(0);
}

function decidedOnMany(count, words) {
  announce(`${plural(count, "row")}: ${words}`);
  lookSoon(0);
  reload();
}

// --- the other parts of the page

async function showPart(name) {
  const answer = await ask(name);
  if (!answer.value) return failed(answer);
  at(`panel-${name}`).innerHTML = answer.value.html;
}

function open(name) {
  tab = name;
  for (const button of document.querySelectorAll("[data-tab]")) {
    if (button.dataset.tab === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  for (const part of ["table", "review", "numbers"]) at(`panel-${part}`).hidden = part !== name;
  if (name !== "review") showPart(name);
}

// The columns that are not used as by default.
function columnOptions() {
  const boxes = Array.from(document.querySelectorAll("#columns input"));
  const option = (box) => (box.checked ? "include" : "ignore");
  const isNews = (box) => box.checked !== box.defaultChecked;
  const isAsked = (box) => box.dataset.asked === option(box);
  const named = (what) => boxes.filter((box) => option(box) === what && (isAsked(box) || (isNews(box) && !box.dataset.asked))).map((box) => box.name);
  return { ignore: named("ignore"), include: named("include") };
}

async function applyColumns() {
  at("apply").disabled = true;
  const answer = await tell("columns", columnOptions());
  at("columns-message").textContent = answer.value ? "The audit is being fitted again with these columns." : answer.error || GONE;
  if (!answer.value) return;
  state.fitting = true;
  lookSoon(0);
}

// --- keys and buttons

const DECIDING = decidingActions({ card: () => panel.card, holder: () => panel.holder, classes: CLASSES, decide });
const ALWAYS = {
  undo,
  next: () => move(1),
  previous: () => move(-1),
  note: () => at("note").focus(),
  search: () => {
    unfold(true);
    at("find").select();
    at("find").focus();
  },
};

listenForActions(({ name, key }) => {
  if (name === "help") return at("help-dialog").showModal();
  if (tab !== "review") return false;
  const act = ALWAYS[name] || (panel.card && DECIDING[name]);
  if (act) act(key);
  return true;
});

function unfold(isOpen) {
  at("queue").classList.toggle("open", isOpen);
  at("queue-toggle").setAttribute("aria-expanded", String(isOpen));
}

document.addEventListener("click", (event) => {
  const { tab: name, order, verdict, label } = (event.target.closest("[data-tab], [data-order], [data-verdict], [data-label]") || { dataset: {} }).dataset;
  if (name) open(name);
  else if (order) choose({ order });
  else if (label !== undefined) decide("change", label);
  else if (verdict) {
    const verdicts = new Set(queue.verdicts);
    if (!verdicts.delete(verdict)) verdicts.add(verdict);
    choose({ verdicts });
  } else if (event.target.closest("[data-clear], #clear")) {
    at("find").value = "";
    choose({ verdicts: new Set(), pair: "", find: "" });
  }
});
let typing = null;
at("find").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => choose({ find: at("find").value }), 200);
});
at("find").addEventListener("keydown", (event) => event.key === "Enter" && at("find").blur());
at("note").addEventListener("keydown", (event) => event.key === "Enter" && at("note").blur());
at("pair").addEventListener("change", () => {
  // After a choice with the mouse, keys belong to the card again.
  if (!at("pair").matches(":focus-visible")) at("pair").blur();
  choose({ pair: at("pair").value });
});
at("bulk").addEventListener("click", () => bulk.open());
at("queue-toggle").addEventListener("click", () => unfold(!at("queue").classList.contains("open")));
at("message-close").addEventListener("click", () => message(""));
at("panel-table").addEventListener("change", () => { at("apply").disabled = false; });
at("panel-table").addEventListener("submit", (event) => {
  event.preventDefault();
  applyColumns();
});
addEventListener("beforeunload", (event) => outbox.waiting.length && event.preventDefault());

look();
reload();
