"use strict";

// Decisions of a page without a server: kept in the browser, and downloaded as a journal.

// A cell as Python's csv module writes it.
function csvCell(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvLine(cells) {
  return `${cells.map(csvCell).join(",")}\n`;
}

const oneLine = (text) => text.split(/\s+/).filter(Boolean).join(" ");

class Decisions {
  // facts: of the page; `key` is different for each table.
  constructor(facts) {
    this.facts = facts;
    this.key = `granulearn decisions ${facts.key}`;
    this.lines = this.read();
    this.isKept = true;
  }

  read() {
    try {
      const lines = JSON.parse(memory.get(this.key) || "[]");
      return Array.isArray(lines) ? lines : [];
    } catch {
      return [];
    }
  }

  keep() {
    this.isKept = memory.set(this.key, JSON.stringify(this.lines));
  }

  // A decision about a row replaces the one before.
  add(card, { decision, label, note, who }) {
    this.lines = this.read(); // another tab may have added some
    this.lines.push({
      row: card.row, hash: card.hash, given_label: card.given_label, cell: card.cell, verdict: card.verdict, probability: card.probability,
      decision, new_label: label || "", note: oneLine(note), who: oneLine(who),
      when: `${new Date().toISOString().slice(0, 19)}+00:00`, drawn: "worst", target: this.facts.target, batch: "", version: this.facts.version,
    });
    this.keep();
  }

  // Undo the last decision; return its row.
  undo() {
    this.lines = this.read();
    const last = this.lines.pop();
    this.keep();
    return last && last.row;
  }

  about(row) {
    return this.lines.findLast((line) => line.row === row);
  }

  get count() {
    return new Set(this.lines.map((line) => line.row)).size;
  }

  csv() {
    const { columns } = this.facts;
    return [columns, ...this.lines.map((line) => columns.map((name) => line[name]))].map(csvLine).join("");
  }

  download() {
    const address = URL.createObjectURL(new Blob([this.csv()], { type: "text/csv" }));
    element("a", { href: address, download: this.facts.file }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
}
