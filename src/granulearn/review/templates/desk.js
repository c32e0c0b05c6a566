"use strict";

// Cards: fetched before they are needed, so that the next one is there when a key is pressed.
const AHEAD = 6;
const MOST_CARDS = 40;

class Cards {
  constructor() {
    this.kept = new Map(); // row -> {promise, card}, the latest last
  }

  // Cards of an audit that was fitted again say something else.
  drop() {
    this.kept.clear();
  }

  forget(row) {
    this.kept.delete(row);
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

// The place where one card lies.
class Desk {
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

  paint(card) {
    this.card = card;
    this.holder.classList.remove("waiting");
    this.holder.innerHTML = card.html; // from our own templates, in which every cell is escaped
    if (card.decision) {
      this.holder.prepend(element("p", { class: "said" }, `Decided already: ${inWords(card, card.given)}. What you decide now replaces it.`));
    }
    this.holder.scrollTop = 0;
  }

  say(...content) {
    this.row = this.card = null;
    this.holder.classList.remove("waiting");
    this.holder.replaceChildren(element("div", { class: "empty" }, ...content));
  }

  async fetchAhead(rows, order) {
    for (const row of rows) {
      if (!this.cards.kept.has(row)) await this.cards.get(row, order);
    }
  }

  // The class with a number beside it on the card.
  numbered(key) {
    const found = Array.from(this.holder.querySelectorAll(".share kbd")).find((kbd) => kbd.textContent === key);
    return found && found.parentElement.dataset.label;
  }
}
