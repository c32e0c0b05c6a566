"use strict";

// The page of a review: what keys and buttons do, and what is shown of how it goes.
const CLASSES = JSON.parse(at("classes").textContent);
let state = { generation: 0, fitting: false, decided: 0, can_undo: false };
let isBusy = false; // while an undo is on its way: the card on screen is about to change
let tab = "review";

const queue = new Queue({ moved: (row) => show(row), failed });
const desk = new Desk({ failed });
const outbox = new Outbox({ changed: showSaved, saved: acknowledged, refused: goBack });
const bulk = new Bulk({ filter: () => queue.filter, isFiltered: () => queue.isFiltered, ready: () => outbox.empty, done: decidedOnMany });

// --- what is said

function announce(text) {
  at("announcement").textContent = text;
}

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
  const { decided, worth_a_look: open, n_next: next, expected } = state;
  at("decided").textContent = `${decided.toLocaleString("en")} decided`;
  const share = expected === null ? "" : `; the next ${next} hold about ${expected < 1 ? expected.toFixed(1) : Math.round(expected)} wrong`;
  at("forecast").textContent = `${decided.toLocaleString("en")} of about ${(decided + open).toLocaleString("en")} worth a look${share}`;
  at("progress").firstElementChild.setAttribute("width", decided + open ? (100 * decided) / (decided + open) : 0);
  showAdvice();
  at("fitting").hidden = !state.fitting;
  for (const [verdict, count] of Object.entries(state.open)) {
    const button = document.querySelector(`[data-verdict="${verdict}"]`);
    button.querySelector(".count").textContent = count.toLocaleString("en");
    button.parentElement.hidden = count === 0 && !queue.verdicts.has(verdict);
  }
  showSaved();
  nameActions(desk.card, state.can_undo);
}

// A hint, and the random sample where no open label looks wrong.
function showAdvice() {
  const nothingWrong = state.worth_a_look === 0 && queue.total > 0;
  const advice = [nothingWrong ? "No open label looks wrong." : "", state.advice].filter(Boolean).join(" ");
  at("advice").hidden = !advice;
  at("advice").textContent = advice;
  at("offer").hidden = !nothingWrong || queue.order === "random";
}

function showTotal() {
  showAdvice();
  at("total").textContent = plural(queue.total, "row");
  at("clear").hidden = !queue.isFiltered;
  at("bulk").disabled = queue.total === 0;
}

function pressed(button, isOn) {
  button.setAttribute("aria-pressed", String(isOn));
}

// --- how it goes

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
  if (before.labels !== undefined && state.generation !== before.generation) await fittedAgain();
  if (tab === "table" && hasEnded) showPart("table");
  if (tab === "numbers") showPart("numbers");
  return state.fitting ? lookSoon(1500) : undefined;
}

// The queue has another order; the card on screen stays where it is. Cards of the audit before are
// dropped once those that come next are here, so that nobody waits for them.
async function fittedAgain() {
  const fresh = new Cards();
  const isDone = await queue.load((rows) => fresh.fetch(rows.slice(0, AHEAD), queue.order));
  if (!isDone) return desk.cards.drop();
  desk.cards = fresh;
  queue.isReordered = true;
  queue.mark(desk.row);
  showTotal();
  if (desk.row === null) showFirst();
  else fetchAhead();
  return announce("The audit was fitted again; the queue has a new order.");
}

// --- looking

function fetchAhead() {
  desk.cards.fetch(queue.after(desk.row, AHEAD), queue.order);
}

async function show(row) {
  if (row === undefined) return goOn();
  const shown = desk.show(row, queue.order);
  queue.mark(row);
  showTotal();
  await shown;
  if (desk.row !== row) return undefined;
  nameActions(desk.card, state.can_undo);
  return fetchAhead();
}

function showFirst() {
  queue.isReordered = false;
  return queue.rows.length ? show(queue.rows[0].row) : showEmpty();
}

// The list is used up, but the queue may go on: another random sample is drawn, for one.
async function goOn() {
  desk.wait();
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
  desk.cards.drop();
  for (const button of document.querySelectorAll(".orders button")) pressed(button, button.dataset.order === queue.order);
  for (const button of document.querySelectorAll("[data-verdict]")) pressed(button, queue.verdicts.has(button.dataset.verdict));
  at("sample-note").hidden = queue.order !== "random";
  at("pair").value = queue.pair;
  return reload();
}

function showEmpty() {
  const clear = element("button", { type: "button", class: "main", "data-clear": "" }, "Show all rows");
  if (queue.isFiltered) desk.say(element("p", {}, "No open row fits this filter."), clear);
  else desk.say(element("p", {}, "Every label has been looked at."));
  showTotal();
  nameActions(null, state.can_undo);
}

function move(step) {
  if (desk.row === null) return;
  const next = queue.neighbour(desk.row, step);
  if (next === undefined) return announce(step > 0 ? "This is the last row." : "This is the first row.");
  if (step > 0) queue.passed.add(desk.row);
  show(next);
}

// --- deciding

function decide(decision, label = null) {
  const card = desk.card;
  if (!card || isBusy) return;
  if (outbox.isGone) return showSaved();
  const said = label === card.given ? { decision: "keep", label: null } : { decision, label };
  const note = at("note").value;
  const taken = queue.take(card.row);
  message("");
  outbox.add({ body: { row: card.row, ...said, note, order: queue.order }, taken });
  at("note").value = "";
  desk.cards.forget(card.row);
  announce(`Row ${card.row}: ${inWords(said, card.given)}`);
  show(queue.following(taken.place));
}

function acknowledged(news) {
  state.decided += news;
  state.can_undo = true;
  showState();
  lookSoon();
}

// Decisions that the review refused are open again, and the first of them is on screen.
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
    desk.cards.forget(row);
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

// Which columns the review should be told about: those that are not what they would be by default.
function columnWishes() {
  const boxes = Array.from(document.querySelectorAll("#columns input"));
  const wish = (box) => (box.checked ? "include" : "ignore");
  const isNews = (box) => box.checked !== box.defaultChecked;
  const isAsked = (box) => box.dataset.asked === wish(box);
  const named = (what) => boxes.filter((box) => wish(box) === what && (isAsked(box) || (isNews(box) && !box.dataset.asked))).map((box) => box.name);
  return { ignore: named("ignore"), include: named("include") };
}

async function applyColumns() {
  at("apply").disabled = true;
  const answer = await tell("columns", columnWishes());
  at("columns-words").textContent = answer.value ? "The audit is being fitted again with these columns." : answer.error || GONE;
  if (!answer.value) return;
  state.fitting = true;
  lookSoon(0);
}

// --- keys and buttons

const ACTIONS = {
  keep: () => decide("keep"),
  take: () => (desk.card && desk.card.rival ? decide("change", desk.card.rival) : announce("Nothing is suggested for this row.")),
  exclude: () => decide("exclude"),
  unsure: () => decide("unsure"),
  number: (key) => desk.numbered(key) && decide("change", desk.numbered(key)),
  choose: () => desk.card && openChooser(CLASSES, (label) => decide("change", label)),
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
  ACTIONS[name](key);
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
  // Who chose with the mouse goes on with the keys of the card.
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
