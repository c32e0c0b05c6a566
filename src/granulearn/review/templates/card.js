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

// The card on screen.
class CardPanel {
  constructor({ failed }) {
    this.failed = failed;
    this.holder = at("card");
    this.cards = new Cards();
    this.row = null; // asked for
    this.card = null; // on screen; null while another one is on its way
  }

  async show(row, order) {
    this.row = row;
    const ready = this.cards.ready(row);
    if (ready) return this.paint(ready);
    this.wait();
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

  // Paint the card on screen again, with what is known by now.
  async refresh(order) {
    const { row } = this;
    this.cards.drop();
    const answer = await this.cards.get(row, order);
    if (this.row === row && this.card && answer.value) this.paint(answer.value, this.holder.scrollTop);
  }

  paint(card, scrolled = 0) {
    this.card = card;
    this.holder.classList.remove("waiting");
    const next = element("article");
    next.innerHTML = card.html; // from our own templates, in which every cell is escaped
    if (card.decision) {
      next.prepend(element("p", { class: "said" }, `Decided already: ${inWords(card, card.given_label)}. What you decide now replaces it.`));
    }
    likenChildren(this.holder, next);
    this.holder.scrollTop = scrolled;
  }

  say(...content) {
    this.row = this.card = null;
    this.holder.classList.remove("waiting");
    this.holder.replaceChildren(element("div", { class: "empty" }, ...content));
  }
}
