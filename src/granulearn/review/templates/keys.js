"use strict";

// The keys, which are the same on the page of an audit and of a review.
const KEYS = {
  arrowleft: "keep", q: "keep",
  arrowright: "take", w: "take",
  c: "choose", x: "exclude", u: "unsure", z: "undo", n: "note",
  j: "next", k: "previous", t: "texts",
  "/": "search", "?": "help",
};
const REPEATING = new Set(["next", "previous"]);

// Letters of other scripts are known by their position on the keyboard.
function keyOf(event) {
  const key = event.key.toLowerCase();
  return /^[\x20-\x7e]|^arrow/.test(key) || !/^Key[A-Z]$/.test(event.code) ? key : event.code.slice(3).toLowerCase();
}

function isTyping(target) {
  return /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && target.type !== "checkbox";
}

// Arrows scroll a region that has the focus.
function isScrolling(target) {
  return target.matches(".scroll:focus-visible") && target.scrollWidth > target.clientWidth;
}

// Return the action of a key, or the number of a class; null if the key has none.
function actionOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return null;
  if (event.key.startsWith("Arrow") && isScrolling(event.target)) return null;
  if (/^[1-9]$/.test(event.key)) return event.repeat ? null : { name: "number", key: event.key };
  const name = KEYS[keyOf(event)];
  // A key that is held down must not decide on many rows.
  return name && (!event.repeat || REPEATING.has(name)) ? { name } : null;
}

// Call `act` with the action of every key and button.
function listenForActions(act) {
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isTyping(event.target)) event.target.blur();
    if (document.querySelector("dialog[open]")) return;
    const action = actionOf(event);
    if (action && act(action) !== false) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-action]");
    if (button) act({ name: button.dataset.action });
  });
}
