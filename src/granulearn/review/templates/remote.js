"use strict";

// Requests to the review, and decisions that are sent in their order.

// Return {value}, {error} with a sentence, or {gone: true} if there is no answer.
async function requested(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
    const value = await answer.json();
    return answer.ok ? { value } : { error: value.error };
  } catch {
    // An answer without JSON is not of this review.
    return { gone: true };
  }
}

function ask(path, values = {}) {
  const query = new URLSearchParams(values).toString();
  return requested(query ? `${path}?${query}` : path);
}

function tell(path, body = {}) {
  return requested(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

const GONE = "The review is not running any more; start it again.";

// Decisions that the review has not acknowledged. They are sent one after the other, and again if
// there was no answer, which is safe: the review writes a repeated decision once.
class Outbox {
  // changed(): something was added, sent or lost; saved(count); refused(decisions, sentence).
  constructor({ changed, saved, refused }) {
    Object.assign(this, { changed, saved, refused });
    this.waiting = [];
    this.isGone = false;
    this.empty = Promise.resolve();
  }

  add(decision) {
    this.waiting.push(decision);
    if (this.waiting.length === 1) this.empty = this.send();
    this.changed();
  }

  async send() {
    while (this.waiting.length) {
      const answer = await tell("decide", this.waiting[0].body);
      this.isGone = Boolean(answer.gone);
      if (answer.gone) {
        this.changed();
        await new Promise((later) => setTimeout(later, 1000));
      } else if (answer.error) {
        const unsaved = this.waiting.splice(0);
        this.changed();
        this.refused(unsaved, answer.error);
      } else {
        this.waiting.shift();
        this.changed();
        this.saved(answer.value.new);
      }
    }
  }
}
