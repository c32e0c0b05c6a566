"use strict";

// Requests to the review, and decisions that are sent in their order.

// Return {value}, {error} with a sentence, or {gone: true} if there is no answer.
async function requested(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
    const value = await answer.json();
    return answer.ok ? { value } : value; // {error}, and perhaps {conflict}
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

// A name that no other action has.
function newAction() {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const GONE = "The review is not running any more; start it again.";

// Decisions that the review has not acknowledged. They are sent one after the other, and again if
// there was no answer, which is safe: the review knows the name of an action that it has taken.
class Outbox {
  // changed(): something was added, sent or lost; saved(count); refused(decisions, sentence);
  // clashed(decision, conflict): the row was decided on elsewhere.
  constructor({ changed, saved, refused, clashed }) {
    Object.assign(this, { changed, saved, refused, clashed });
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
      } else if (answer.conflict) {
        const [decision] = this.waiting.splice(0, 1);
        this.changed();
        this.clashed(decision, answer.conflict);
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
