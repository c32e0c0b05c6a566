"use strict";

// The page of a review: keys, buttons, and the state of the review.
const CLASSES = JSON.parse(at("classes").textContent);
let state = { generation: 0, fitting: false, decided: 0, new_classes: [] };
let isBusy = false; // while an undo is on its way: the card on screen is about to change
let tab = "review";
const mine = []; // names of the actions that were taken on this page
const trail = { rows: [], at: -1 }; // the rows that were on screen
let filterOfReview = null; // while decided rows are listed

const queue = new Queue({ moved: choseRow, failed });
const panel = new CardPanel({ failed });
const outbox = new Outbox({ changed: showSaved, saved: acknowledged, refused: goBack, clashed });
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
  nameButtons();
}

function nameButtons() {
  nameActions(panel.card, mine.length > 0 || Boolean(panel.card && panel.card.decision));
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
  at("rated-note").hidden = queue.order !== "worst";
  queue.mark(panel.row);
  await panel.refresh(queue.order, queue.after(panel.row, AHEAD));
}

// The queue has a new order; the card on screen stays. Old cards are dropped once the next ones are
// here.
async function fittedAgain() {
  const [asked, fresh] = [++panel.asked, new Cards()];
  const isDone = await queue.load((rows) => fresh.fetch(rows.slice(0, AHEAD), queue.order));
  if (!isDone) return panel.cards.drop();
  if (asked === panel.asked) panel.cards = fresh;
  else panel.cards.drop(); // a decision came between
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
  if (!queue.isOfDecided && trail.rows[trail.at] !== row) {
    trail.rows.splice(++trail.at, Infinity, row);
  }
  const shown = panel.show(row, queue.order, queue.decided.has(row) ? outbox.empty : null);
  queue.mark(row);
  showTotal();
  await shown;
  if (panel.row !== row) return undefined;
  nameButtons();
  return fetchAhead();
}

// Show a row that was on screen before.
function showAgain(at) {
  trail.at = at;
  return show(trail.rows[at]);
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
  for (const button of document.querySelectorAll("[data-decided]")) pressed(button, queue.kinds.has(button.dataset.decided));
  at("sample-note").hidden = queue.order !== "random";
  // One finding among several of its kind comes from the list of them.
  if (!Array.from(at("issue").options).some(({ value }) => value === queue.issue)) {
    at("issue").append(element("option", { value: queue.issue }, `one of: ${queue.issue.replace(/ \d+$/, "")}`));
  }
  for (const name of ["pair", "column", "issue"]) at(name).value = queue[name];
  if (at("find").value !== queue.find) at("find").value = queue.find;
  return Promise.all([reload(), listValues()]);
}

// The values of the column that was chosen.
async function listValues() {
  const { column, value } = queue;
  const answer = column ? await ask("values", { column }) : { value: { values: [] } };
  if (column !== queue.column) return undefined;
  if (!answer.value) return failed(answer);
  const options = answer.value.values.map(([text, count]) => element("option", { value: text }, `${text || "(missing)"} (${count.toLocaleString("en")})`));
  at("value").replaceChildren(...options);
  at("value").disabled = !column;
  if (!column) at("value").append(element("option", {}, "any value"));
  else if (value === null && options.length) choose({ value: at("value").value });
  else at("value").value = value;
  return undefined;
}

function showEmpty() {
  const clear = element("button", { type: "button", class: "main", "data-clear": "" }, "Show all rows");
  if (queue.isFiltered) panel.say(element("p", {}, `No ${queue.isOfDecided ? "decided" : "open"} row fits this filter.`), clear);
  else if (queue.isOfDecided) panel.say(element("p", {}, "No decision yet."));
  else panel.say(element("p", {}, "Every label has been checked."));
  showTotal();
  nameButtons();
}

// Along the rows that were on screen, and then along the queue.
function move(step) {
  const seen = trail.at + step;
  if (!queue.isOfDecided && seen >= 0 && seen < trail.rows.length) return showAgain(seen);
  if (panel.row === null) return undefined;
  const next = queue.neighbour(panel.row, step);
  if (next === undefined) return announce(step > 0 ? "This is the last row." : "This is the first row. Rows that were decided on before are among Decided.");
  if (step > 0) queue.passed.add(panel.row);
  return show(next);
}

// --- deciding

function decide(decision, label = null, isNew = false) {
  const card = panel.card;
  if (!card || isBusy) return;
  if (outbox.isGone) return showSaved();
  const said = asDecision(decision, label, card.given_label);
  const note = at("note").value;
  const taken = queue.take(card.row);
  message("");
  send({ row: card.row, ...said, note, order: queue.order, revision: card.revision, new_class: isNew }, taken, card.given_label);
  at("note").value = "";
  announce(`Row ${card.row}: ${inWords(said, card.given_label)}`);
  if (queue.isOfDecided) return stayAmongDecided(card.row);
  // After rows that were gone back to, on to where one was.
  const ahead = trail.rows.findIndex((row, index) => index > trail.at && !queue.decided.has(row));
  return ahead < 0 ? show(queue.following(taken.index)) : showAgain(ahead);
}

function send(body, taken, given) {
  const action = newAction();
  mine.push(action);
  panel.forget(body.row);
  outbox.add({ body: { ...body, action }, taken, given });
}

// A decision about a decided row moves it to the top; the row below comes next.
async function stayAmongDecided(row) {
  const next = queue.neighbour(row, 1);
  panel.wait();
  await outbox.empty;
  if (await queue.load()) show(next === undefined ? row : next);
}

// The row was decided on elsewhere since its card was shown: both decisions are shown, one stays.
const clashes = [];
function clashed(decision, conflict) {
  mine.splice(mine.indexOf(decision.body.action), 1);
  panel.forget(decision.body.row);
  clashes.push({ decision, conflict });
  if (clashes.length === 1) showClash();
}

function showClash() {
  const [{ decision: { body, given }, conflict }] = clashes;
  at("conflict-text").textContent = `Row ${body.row} (${given}) was decided on in another tab or by somebody else after you saw it.`;
  at("conflict-there").textContent = standing(conflict, given);
  at("conflict-here").textContent = inWords(body, given) + (body.note ? `, “${body.note}”` : "");
  at("conflict").returnValue = "";
  at("conflict").showModal();
}

at("conflict").addEventListener("close", async () => {
  const { decision: { body, taken, given }, conflict } = clashes.shift();
  if (at("conflict").returnValue === "here") send({ ...body, revision: conflict.revision }, taken, given);
  else if (!conflict.decision) {
    queue.putBack(body.row, taken);
    showTotal();
  }
  lookSoon(0);
  if (clashes.length) showClash();
});

function acknowledged(count) {
  state.decided += count;
  showState();
  lookSoon();
}

// Rows of refused decisions are open again, and the first of them is on screen.
function goBack(decisions, sentence) {
  for (const { body, taken } of decisions.slice().reverse()) {
    queue.putBack(body.row, taken);
    mine.splice(mine.indexOf(body.action), 1);
  }
  const more = decisions.length > 1 ? ` ${decisions.length} decisions were not saved.` : "";
  message(sentence + more);
  at("note").value = decisions[0].body.note;
  show(decisions[0].body.row);
}

// Undo the decision on screen, or else the last one of this page; or an action by its name.
async function undo(action = null) {
  if (isBusy) return undefined;
  if (outbox.isGone) return showSaved();
  isBusy = true;
  await outbox.empty;
  const { card } = panel;
  const asked = typeof action === "string" ? { action } : card && card.decision ? { action: card.action, row: card.row } : { action: mine.at(-1) };
  const answer = asked.action ? await tell("undo", asked) : { value: { rows: [] } };
  isBusy = false;
  if (!answer.value) return failed(answer);
  if (mine.includes(asked.action) && !(asked.row && sizeOf(card) > 1)) mine.splice(mine.indexOf(asked.action), 1);
  const { rows } = answer.value;
  panel.cards.drop();
  if (!rows.length) return announce(asked.action ? "This was undone already, or decided again since." : "Nothing of this page to undo. Earlier decisions are among Decided.");
  for (const row of rows) {
    queue.decided.delete(row);
    panel.forget(row);
  }
  message("");
  announce(rows.length === 1 ? `Undone: row ${rows[0]} is open again.` : `Undone: ${rows.length} rows are open again.`);
  const next = queue.isOfDecided ? queue.neighbour(rows[0], 1) : rows[0];
  await queue.load();
  if (queue.isOfDecided) queue.indexOf(next) < 0 ? showFirst() : show(next);
  else showAgain(trail.rows.includes(next) ? trail.rows.lastIndexOf(next) : trail.rows.push(next) - 1);
  return lookSoon(0);
}

function decidedOnMany(count, words, action) {
  mine.push(action);
  panel.cards.drop();
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
  for (const part of ["table", "review", "numbers"]) at(`panel-${part}`).hidden = part !== (name === "decided" ? "review" : name);
  if (name === "table" || name === "numbers") return showPart(name);
  return listDecided(name === "decided");
}

// The filter of the review waits while decided rows are listed.
function listDecided(isOn) {
  if (isOn === queue.isOfDecided) return undefined;
  at("panel-review").classList.toggle("of-decided", isOn);
  const { order, verdicts, pair, find, column, value, issue } = queue;
  const before = filterOfReview || { order: "worst" };
  filterOfReview = isOn ? { order, verdicts, pair, find, column, value, issue } : null;
  return choose({ ...NO_FILTER(), ...(isOn ? { order: "decided" } : before) });
}

function openIssue(issue) {
  open("review");
  choose({ ...NO_FILTER(), issue });
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

// A label that no row has yet: asked for once more, since a slip of a key would make a class.
function confirmClass(label) {
  const row = panel.row;
  at("confirm-text").textContent = `“${label}” is not one of the ${CLASSES.length} classes of this table. The corrected table will have it; the audit learns nothing from this row.`;
  at("confirm").returnValue = "";
  at("confirm").onclose = () => at("confirm").returnValue && panel.row === row && decide("change", label, true);
  at("confirm").showModal();
}

const DECIDING = decidingActions({
  card: () => panel.card, holder: () => panel.holder, decide, add: confirmClass,
  classes: () => [...CLASSES, ...state.new_classes],
});
const ALWAYS = {
  undo: () => undo(),
  texts: () => panel.toggleTexts(),
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
  if (at("panel-review").hidden) return false;
  const act = ALWAYS[name] || (panel.card && DECIDING[name]);
  if (act) act(key);
  return true;
});

function choseRow(row) {
  unfold(false);
  show(row);
}

function unfold(isOpen) {
  at("queue").classList.toggle("open", isOpen);
  at("queue-toggle").setAttribute("aria-expanded", String(isOpen));
}

document.addEventListener("click", (event) => {
  const { tab: name, order, verdict, label, decided, issue, undo: action } = (event.target.closest("[data-tab], [data-order], [data-verdict], [data-label], [data-decided], [data-issue], [data-undo]") || { dataset: {} }).dataset;
  if (name) open(name);
  else if (issue) openIssue(issue);
  else if (action) undo(action);
  else if (order) choose({ order });
  else if (label !== undefined) decide("change", label);
  else if (verdict) {
    const verdicts = new Set(queue.verdicts);
    if (!verdicts.delete(verdict)) verdicts.add(verdict);
    choose({ verdicts });
  } else if (decided) {
    const kinds = new Set(queue.kinds);
    if (!kinds.delete(decided)) kinds.add(decided);
    choose({ kinds });
  } else if (event.target.closest("[data-clear], #clear")) choose(NO_FILTER());
});
let typing = null;
at("find").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => choose({ find: at("find").value }), 200);
});
at("find").addEventListener("keydown", (event) => event.key === "Enter" && at("find").blur());
at("note").addEventListener("keydown", (event) => event.key === "Enter" && at("note").blur());
for (const name of ["pair", "column", "value", "issue"]) {
  at(name).addEventListener("change", () => {
    // After a choice with the mouse, keys belong to the card again.
    if (!at(name).matches(":focus-visible")) at(name).blur();
    choose({ [name]: at(name).value, ...(name === "column" ? { value: null } : {}) });
  });
}
at("bulk").addEventListener("click", () => bulk.open());
at("queue-toggle").addEventListener("click", () => unfold(!at("queue").classList.contains("open")));
at("message-close").addEventListener("click", () => message(""));
at("panel-table").addEventListener("change", () => { at("apply").disabled = false; });
at("panel-table").addEventListener("submit", (event) => {
  event.preventDefault();
  applyColumns();
});
// Somebody may have decided on rows while this page was not looked at.
addEventListener("focus", () => {
  look();
  panel.refresh(queue.order, queue.after(panel.row, AHEAD));
});
addEventListener("beforeunload", (event) => outbox.waiting.length && event.preventDefault());

look();
reload();
