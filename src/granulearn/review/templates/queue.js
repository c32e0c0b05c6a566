"use strict";

// The queue: the rows of a filter, and the list of them.
const PAGE = 50;
const MOST = 200; // rows of one answer
const OVERLAP = 10; // rows asked for again, since decisions on their way shift positions

const NO_FILTER = () => ({ verdicts: new Set(), kinds: new Set(), pair: "", find: "", column: "", value: "", issue: "" });

class Queue {
  // moved(row): a click on a row; failed(answer): the request failed.
  constructor({ moved, failed }) {
    Object.assign(this, { failed, order: "worst" }, NO_FILTER());
    this.list = at("rows");
    this.rows = []; // those in the list
    this.total = 0;
    this.decided = new Set(); // on this page, whether or not the review knows yet
    this.passed = new Set(); // shown and left open
    this.isReordered = false;
    this.asked = 0;
    this.list.addEventListener("scroll", () => this.scrolled());
    this.list.addEventListener("click", (event) => {
      const button = event.target.closest("[data-row]");
      if (button) moved(Number(button.dataset.row));
    });
  }

  get filter() {
    const { order, pair, find, value, issue } = this;
    const column = value === null ? "" : this.column; // until its values are known
    return { order, pair, find, column, value, issue, verdict: Array.from(this.verdicts).join(","), decided: Array.from(this.kinds).join(",") };
  }

  get isFiltered() {
    return Boolean(this.verdicts.size || this.kinds.size || this.pair || this.find || this.column || this.issue);
  }

  get isOfDecided() {
    return this.order === "decided";
  }

  // Load the beginning; return whether no later request has replaced it. The list stays the same
  // until `prepare`, called with the new rows, has done its work.
  async load(prepare = () => {}) {
    const asked = ++this.asked;
    const answer = await ask("queue", { ...this.filter, begin: 0, n: PAGE });
    if (asked !== this.asked) return false;
    if (!answer.value) {
      this.failed(answer);
      return false;
    }
    await prepare(this.open(answer.value.rows).map(({ row }) => row));
    if (asked !== this.asked) return false;
    this.rows = this.open(answer.value.rows);
    this.total = answer.value.total;
    this.list.replaceChildren(...this.rows.map(queueLine));
    this.list.scrollTop = 0;
    at("rated-note").hidden = true;
    return true;
  }

  open(rows) {
    return rows.filter(({ row, decision }) => decision || !this.decided.has(row));
  }

  async scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.list;
    if (scrollTop + clientHeight > scrollHeight - 400) await this.more();
  }

  // Load rows after the last one, unless something else was asked for meanwhile.
  async more() {
    const [asked, end] = [this.asked, this.rows.length];
    if (this.isLoading || end >= this.total) return;
    this.isLoading = true;
    const answer = await ask("queue", { ...this.filter, begin: Math.max(0, end - OVERLAP), n: PAGE + OVERLAP });
    this.isLoading = false;
    if (asked !== this.asked || !answer.value) return;
    const here = new Set(this.rows.map(({ row }) => row));
    const found = this.open(answer.value.rows).filter(({ row }) => !here.has(row));
    this.rows.push(...found);
    this.list.append(...found.map(queueLine));
    // Without new rows the queue is shorter than was known.
    this.total = found.length ? answer.value.total : this.rows.length;
  }

  // Give the rows in the list their present ratings.
  async rate() {
    const asked = this.asked;
    const answer = await ask("queue", { ...this.filter, begin: 0, n: Math.min(this.rows.length + OVERLAP, MOST) });
    if (asked !== this.asked || !answer.value) return;
    const now = new Map(answer.value.rows.map((queued) => [queued.row, queued]));
    this.rows = this.rows.map((queued) => now.get(queued.row) || queued);
    this.list.replaceChildren(...this.rows.map(queueLine));
  }

  indexOf(row) {
    return this.rows.findIndex((queued) => queued.row === row);
  }

  // Take a decided row out; return what `putBack` needs. Among decided rows it stays.
  take(row) {
    const index = this.indexOf(row);
    this.decided.add(row);
    if (index < 0 || this.isOfDecided) return { index, queued: null };
    const [queued] = this.rows.splice(index, 1);
    this.list.children[index].remove();
    this.total--;
    return { index, queued };
  }

  putBack(row, { index, queued }) {
    this.decided.delete(row);
    if (!queued || this.indexOf(row) >= 0) return;
    this.rows.splice(index, 0, queued);
    this.list.insertBefore(queueLine(queued), this.list.children[index] || null);
    this.total++;
  }

  // The row to show after the one at an index is decided on.
  following(index) {
    const fresh = this.rows.find(({ row }) => !this.passed.has(row));
    const next = this.isReordered || index < 0 ? fresh : this.rows[index] || fresh;
    this.isReordered = false;
    return (next || this.rows[0] || {}).row;
  }

  // The row some steps further on; undefined past the end.
  neighbour(row, step) {
    const index = this.indexOf(row);
    const next = this.rows[index < 0 ? 0 : index + step];
    return next && next.row;
  }

  after(row, count) {
    const index = this.indexOf(row);
    const from = this.isReordered || index < 0 ? 0 : index + 1;
    return this.rows.slice(from, from + count).map((queued) => queued.row);
  }

  mark(row) {
    const before = this.list.querySelector("[aria-current]");
    if (before) before.removeAttribute("aria-current");
    const index = this.indexOf(row);
    if (index < 0) return;
    this.list.children[index].firstElementChild.setAttribute("aria-current", "true");
    this.list.children[index].scrollIntoView({ block: "nearest" });
    if (index > this.rows.length - 15) this.more();
  }
}

// A decided row shows what was decided, another one what is suggested.
function queueLine({ row, given_label: given, second_class: second, verdict, error_probability: wrong, decision, label }) {
  const other = decision ? label : second;
  const link = decision || verdict === "wrong" ? "→" : "or";
  const pair = other ? `${shortened(given)} ${link} ${differing(other, given)}` : shortened(given);
  const last = decision ? element("span", { class: "probability" }, DONE[decision]) : element("span", { class: "probability", title: "probability that the label is wrong" }, inPercent(wrong));
  return element("li", {}, element(
    "button",
    { type: "button", class: decision ? "decided" : verdict, "data-row": row, title: other ? `${given} ${link} ${other}` : given, tabindex: -1 },
    element("span", {}, `row ${row}`), element("span", { class: "pair" }, pair), last,
  ));
}
