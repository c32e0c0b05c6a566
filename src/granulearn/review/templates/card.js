"use strict";

// Cards, fetched ahead, so that the next one is there when a key is pressed.
const AHEAD = 6;
const MOST_CARDS = 40;

class Cards {
  constructor() {
    this.kept = new Map(); // row -> {promise, card}, the latest last
  }

  // After the audit was fitted again.
  drop() {
    this.kept.clear();
  }

  forget(row) {
    this.kept.delete(row);
  }

  async fetch(rows, order) {
    for (const row of rows) if (!this.kept.has(row)) await this.get(row, order);
  }

  ready(row) {
    const kept = this.kept.get(row);
    return kept && kept.card;
  }

  get(row, order) {
    let kept = this.kept.get(row);
    if (!kept) {
      kept = { card: null };
      kept.promise = ask(`card/${row}`, { order }).then((answer) => {
        if (answer.value) kept.card = answer.value;
        else this.kept.delete(row); // asked for again when it is needed
        return answer;
      });
    }
    this.kept.delete(row);
    this.kept.set(row, kept);
    for (const old of this.kept.keys()) {
      if (this.kept.size <= MOST_CARDS) break;
      this.kept.delete(old);
    }
    return kept.promise;
  }
}

// Give an element the content of another, and keep equal nodes: new texts in the same table cost a
// browser less time and memory than a new table.
function likenChildren(old, next) {
  const [before, after] = [Array.from(old.childNodes), Array.from(next.childNodes)];
  for (const [index, node] of after.entries()) {
    if (index < before.length) liken(before[index], node);
    else old.append(node);
  }
  for (const node of before.slice(after.length)) node.remove();
}

function liken(old, next) {
  if (old.nodeName !== next.nodeName) return old.replaceWith(next);
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return undefined;
  }
  for (const { name } of Array.from(old.attributes)) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  return likenChildren(old, next);
}

// How many rows were decided on at once.
const sizeOf = ({ batch }) => Number(batch.split("/")[1] || 1);

// What was decided about the row of a card, by whom and when.
function saidBefore(card) {
  const size = sizeOf(card);
  const many = size > 1 ? ` at once with ${plural(size - 1, "other row")}` : "";
  const said = element("p", { class: "said" }, `Decided already: ${standing(card, card.given_label)}${many}. What you decide now replaces it. `);
  if (many) said.append(element("button", { type: "button", "data-undo": card.action }, `Undo all ${size}`));
  return said;
}

function standing({ decision, label, who, when, note }, given) {
  if (!decision) return "open: a decision was undone";
  const time = when ? ` on ${new Date(when).toLocaleString([], { dateStyle: "short", timeStyle: "short" })}` : "";
  return `${inWords({ decision, label }, given)}${who ? ` by ${who}` : ""}${time}${note ? `, “${note}”` : ""}`;
}

// The card on screen.
class CardPanel {
  constructor({ failed }) {
    this.failed = failed;
    this.holder = at("card");
    this.cards = new Cards();
    this.row = null; // asked for
    this.card = null; // on screen; null while another one is on its way
    this.asked = 0;
    this.isOpen = false; // whether long texts are open
  }

  get texts() {
    return Array.from(this.holder.querySelectorAll("details:not(.kept)"));
  }

  // Open all long texts, on the next cards too; or close them.
  toggleTexts() {
    this.isOpen = this.texts.some((text) => !text.open);
    for (const text of this.texts) text.open = this.isOpen;
    if (this.isOpen) this.texts[0].scrollIntoView({ block: "nearest" });
  }

  // Once `known` is there, the review knows what was decided about the row.
  async show(row, order, known) {
    this.row = row;
    const ready = this.cards.ready(row);
    if (ready) return this.paint(ready);
    this.wait();
    await known;
    const answer = await this.cards.get(row, order);
    if (this.row !== row || this.card) return undefined;
    if (answer.value) return this.paint(answer.value);
    return this.failed(answer);
  }

  // Nobody decides on a card while another one is on its way.
  wait() {
    this.card = null;
    this.holder.classList.add("waiting");
  }

  // A decision about the row was taken or undone; its card, and those on their way, are old.
  forget(row) {
    this.asked++;
    this.cards.forget(row);
  }

  // Fetch cards again, with what is known by now: the one on screen, which is painted, and the
  // next ones. Until they are here, the old ones are good enough.
  async refresh(order, rows) {
    const { row } = this;
    const asked = ++this.asked;
    const fresh = new Cards();
    const answer = row === null ? {} : await fresh.get(row, order);
    if (asked !== this.asked) return;
    if (this.row === row && this.card && answer.value) this.paint(answer.value, this.holder.scrollTop);
    await fresh.fetch(rows, order);
    if (asked === this.asked) this.cards = fresh;
  }

  paint(card, scrolled = 0) {
    // What the reader has opened stays open when the card is painted again.
    const wasOpen = this.card && this.card.row === card.row ? this.texts.map((text) => text.open) : [];
    this.card = card;
    this.holder.classList.remove("waiting");
    const next = element("article");
    next.innerHTML = card.html; // from our own templates, in which every cell is escaped
    if (card.decision) next.prepend(saidBefore(card));
    likenChildren(this.holder, next);
    for (const [index, text] of this.texts.entries()) text.open = wasOpen[index] ?? this.isOpen;
    this.holder.scrollTop = scrolled;
  }

  say(...content) {
    this.row = this.card = null;
    this.holder.classList.remove("waiting");
    this.holder.replaceChildren(element("div", { class: "empty" }, ...content));
  }
}
