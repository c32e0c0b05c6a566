"use strict";

// One decision about all rows of a filter: first a preview, then the decision.
class Bulk {
  // filter() and isFiltered(): of the queue; ready(): resolves when all decisions are sent; done(count, words).
  constructor({ filter, isFiltered, ready, done }) {
    Object.assign(this, { filter, isFiltered, ready, done });
    this.dialog = at("bulk-dialog");
    this.token = null;
    at("bulk-decision").addEventListener("change", () => this.preview());
    at("bulk-label").addEventListener("change", () => this.preview());
    at("bulk-cancel").addEventListener("click", () => this.dialog.close());
    at("bulk-do").addEventListener("click", () => this.decide());
  }

  open() {
    at("bulk-decision").value = "";
    this.preview();
    this.dialog.showModal();
  }

  get asked() {
    const choice = at("bulk-decision").value;
    if (choice === "label") return { decision: "change", label: at("bulk-label").value };
    return { decision: choice, label: null };
  }

  async preview() {
    this.token = null;
    const asked = this.asked;
    at("bulk-label-choice").hidden = at("bulk-decision").value !== "label";
    at("bulk-do").disabled = true;
    at("bulk-do").textContent = "Decide";
    at("bulk-rows").replaceChildren();
    if (!asked.decision) {
      at("bulk-message").textContent = "You will see the rows before anything is decided.";
      return;
    }
    await this.ready();
    const answer = await tell("preview", { ...asked, ...this.filter() });
    if (JSON.stringify(asked) !== JSON.stringify(this.asked)) return;
    if (!answer.value) {
      at("bulk-message").textContent = answer.error || GONE;
      return;
    }
    this.show(answer.value, asked);
  }

  show({ token, total, rows }, asked) {
    const becomes = ({ second_class }) => ({ keep: "stays", change: asked.label || second_class || "nothing suggested", exclude: "excluded", unsure: "unsure" })[asked.decision];
    this.token = token;
    at("bulk-message").textContent = total === 0 ? "No row fits this filter."
      : `${plural(total, "row")}${this.isFiltered() ? "" : ": all that are open, since no filter is set"}.${total > rows.length ? ` The first ${rows.length}:` : ""}`;
    const head = element("tr", {}, ...["row", "given", "becomes", "error probability"].map((name) => element("th", { scope: "col" }, name)));
    const lines = rows.map((queued) => element("tr", {}, ...[
      queued.row, queued.given_label, becomes(queued), inPercent(queued.error_probability),
    ].map((text) => element("td", {}, String(text)))));
    at("bulk-rows").replaceChildren(element("thead", {}, head), element("tbody", {}, ...lines));
    at("bulk-do").disabled = total === 0;
    at("bulk-do").textContent = `Decide on ${plural(total, "row")}`;
  }

  async decide() {
    at("bulk-do").disabled = true;
    const answer = await tell("decide-many", { token: this.token });
    if (!answer.value) {
      at("bulk-message").textContent = answer.error || `${GONE} It may not be saved.`;
      return;
    }
    this.dialog.close();
    this.done(answer.value.new, DONE[this.asked.decision], this.token);
  }
}
