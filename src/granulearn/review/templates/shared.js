"use strict";

// Shared by both pages: theme, decisions in words, the buttons, a list of classes to choose from.
const root = document.documentElement;
root.classList.add("js");
const at = (id) => document.getElementById(id);

// A page opened from a file, or in a private window, may have no storage.
const memory = {
  get(key) {
    try { return localStorage.getItem(key); } catch { return null; }
  },
  set(key, value) {
    try { localStorage.setItem(key, value); return true; } catch { return false; }
  },
};

if (memory.get("granulearn theme")) root.dataset.theme = memory.get("granulearn theme");
at("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  memory.set("granulearn theme", root.dataset.theme);
});

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

function announce(text) {
  at("announcement").textContent = text;
}

function pressed(button, isOn) {
  button.setAttribute("aria-pressed", String(isOn));
}

// No probability of a model is 0 or 1.
function inPercent(probability) {
  if (probability === null) return "–";
  return probability < 0.005 ? "< 1 %" : probability > 0.995 ? "> 99 %" : `${Math.round(100 * probability)} %`;
}

const DONE = { keep: "kept", change: "changed", exclude: "excluded", unsure: "unsure" };

function inWords({ decision, label }, given) {
  return { keep: `${given} kept`, change: `changed to ${label}` }[decision] || DONE[decision];
}

// A change to the given label keeps it.
function asDecision(decision, label, given) {
  return label === given ? { decision: "keep", label: null } : { decision, label };
}

// Labels often differ at their ends: the middle of a long one is left out.
function shortened(label, most = 48) {
  const half = most / 2;
  return label.length > most ? `${label.slice(0, half)}…${label.slice(-half)}` : label;
}

// Where a label differs from another one: the words that both begin with are left out.
function differing(label, other) {
  let same = 0;
  for (let n = 1; n < label.length && other && label[n - 1] === other[n - 1]; n++) if (label[n - 1] === " ") same = n;
  return shortened(same > 8 ? `…${label.slice(same)}` : label);
}

// The class with a number beside it on a card.
function numbered(card, key) {
  const found = Array.from(card.querySelectorAll(".share kbd")).find((kbd) => kbd.textContent === key);
  return found && found.parentElement.dataset.label;
}

// What keys and buttons decide on the card on screen; `card` and `holder` return its facts and its element.
// `add`, if given, is called with a label that is no class yet.
function decidingActions({ card, holder, classes, decide, add }) {
  const take = (label) => label && decide("change", label);
  return {
    keep: () => decide("keep"),
    take: () => (card().second_class ? take(card().second_class) : announce("Nothing is suggested for this row.")),
    exclude: () => decide("exclude"),
    unsure: () => decide("unsure"),
    number: (key) => take(numbered(holder(), key)),
    choose: () => openChooser(classes(), take, add),
  };
}

// Name the buttons after the card on screen; without one they are off.
function nameActions(card, canUndo) {
  const button = (name) => document.querySelector(`#actions [data-action="${name}"]`);
  for (const name of ["keep", "choose", "exclude", "unsure"]) button(name).disabled = !card;
  button("take").disabled = !(card && card.second_class);
  button("undo").disabled = !canUndo;
  const { given_label: given, second_class: second } = card || {};
  const name = (which, begin, label, other, without) => {
    button(which).querySelector(".text").textContent = label ? `${begin} ${differing(label, other)}` : without;
    button(which).setAttribute("aria-label", label ? `${begin} ${label}` : without);
  };
  name("keep", "Keep", given, second, "Keep");
  name("take", "Change to", second, given, "Nothing suggested");
}

// A list of all classes; calls `chosen` with one of them, or `add` with a label that is none.
function openChooser(classes, chosen, add) {
  const [dialog, field, list] = [at("chooser"), at("chooser-find"), at("chooser-list")];
  const most = 50;
  let found = [], current = 0;

  function mark() {
    Array.from(list.querySelectorAll("[role=option]")).forEach((line, index) => {
      line.setAttribute("aria-selected", String(index === current));
      if (index === current) line.scrollIntoView({ block: "nearest" });
    });
    field.setAttribute("aria-activedescendant", found.length ? `class-${current}` : "");
  }
  function fill() {
    const word = field.value.trim().toLowerCase();
    const fitting = classes.filter((label) => label.toLowerCase().includes(word));
    // Classes that begin with the word come first.
    const begins = (label) => !label.toLowerCase().startsWith(word);
    found = fitting.sort((a, b) => begins(a) - begins(b)).slice(0, most);
    current = 0;
    list.replaceChildren(...found.map((label, index) => element("li", { role: "option", id: `class-${index}` }, label)));
    if (add && word && !classes.some((label) => label.toLowerCase() === word)) {
      list.append(element("li", { role: "option", id: `class-${found.length}` }, `New class “${field.value.trim()}” …`));
      found.push(null);
    }
    if (fitting.length > most) list.append(element("li", { class: "note", role: "presentation" }, `and ${fitting.length - most} more: type to find`));
    if (!found.length) list.append(element("li", { class: "note", role: "presentation" }, "No class fits."));
    mark();
  }
  function choose(index) {
    if (index >= found.length) return;
    dialog.close();
    if (found[index] === null) add(field.value.trim());
    else chosen(found[index]);
  }
  field.value = "";
  field.oninput = fill;
  field.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      current = (current + step + found.length) % found.length;
      mark();
    } else if (event.key === "Enter") choose(current);
    else return;
    event.preventDefault();
  };
  list.onclick = (event) => {
    const line = event.target.closest("[role=option]");
    if (line) choose(Array.from(list.querySelectorAll("[role=option]")).indexOf(line));
  };
  dialog.showModal();
  fill();
}
