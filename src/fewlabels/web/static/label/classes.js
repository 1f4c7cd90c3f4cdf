// The class buttons: key, colour, name, and the chance as a bar; a filter where there are many.

import { $, el, kbd, words } from "../core/dom.js";
import { on, state } from "../core/state.js";
import { paint } from "../core/colours.js";
import { chance } from "../core/numbers.js";
import { suggestion } from "./question.js";

const buttons = new Map(); // class name -> its button
let letters = 0; // px the longest name needs

function build(classes) {
  buttons.clear();
  classes.forEach(({ name, key, description }, number) => {
    const button = el("button", {
      type: "button", class: "class", title: description ? `${name}: ${description}` : name, "aria-description": description || null, "aria-keyshortcuts": key?.toUpperCase(),
      data: { test: "class-button", label: name },
    }, el("span", { class: "bar" }), kbd(key), el("span", { class: "chip" }),
      el("span", { class: "name" }, words(name)), el("span", { class: "chance" }));
    buttons.set(name, paint(button, number));
  });
  const longest = Math.max(0, ...classes.map(({ name }) => name.length));
  // A very long name goes on two lines rather than making all the others wide.
  letters = 9 * Math.min(longest, 17);
  $("classes").replaceChildren(...buttons.values());
  $("no-classes").hidden = classes.length > 0;
  $("filter-row").hidden = classes.length <= state.session.limits.keys;
  narrow();
  arrange();
  update(state.shown);
}

/** As few rows as fit, then as few columns: ten classes become five and five, not six and four. */
function arrange() {
  const room = $("classes").clientWidth;
  if (!room || !state.classes.length) return;
  const beside = room < 600 ? 82 : 104; // chip, chance, padding; a phone shows no key
  const most = Math.max(1, Math.floor((room + 8) / (Math.min(beside + letters, room) + 8)));
  const rows = Math.ceil(state.classes.length / most);
  $("classes").style.setProperty("--columns", Math.ceil(state.classes.length / rows));
}

/** The same buttons stay for every question, so that the focus stays too. */
function update(question) {
  const best = suggestion(question)?.name;
  const chances = new Map((question?.chances ?? []).map((one) => [one.name, one.chance]));
  for (const [name, button] of buttons) {
    const share = chances.get(name);
    button.style.setProperty("--chance", share ?? 0);
    button.querySelector(".chance").textContent = share === undefined ? "" : chance(share);
    button.classList.toggle("best", name === best);
    button.disabled = !question;
  }
  release();
}

/** Show which button was pressed until the server has said yes. */
export function press(label) {
  release();
  buttons.get(label)?.classList.add("pressed");
}

/** The same for a button beside them. */
export function pressButton(button) {
  release();
  button.classList.add("pressed");
}

export function release() {
  for (const button of document.querySelectorAll(".answers .pressed")) button.classList.remove("pressed");
}

/** Names that begin with what was typed come first; the order of the buttons is otherwise left alone. */
function matching(text) {
  const sought = text.trim().toLocaleLowerCase();
  const found = state.classes.map(({ name }) => name).filter((name) => name.toLocaleLowerCase().includes(sought));
  const begins = (name) => (name.toLocaleLowerCase().startsWith(sought) ? 0 : 1);
  return sought ? found.sort((a, b) => begins(a) - begins(b)) : found;
}

function narrow() {
  const found = matching($("filter").value);
  $("classes").replaceChildren(...found.map((name) => buttons.get(name)));
  if (found.length || !state.classes.length) return;
  $("classes").append(el("p", { class: "empty" }, "No class name contains this. You can add a new class below."));
}

export function startClasses(answer, accept) {
  on("classes", build);
  on("shown", update);
  $("classes").addEventListener("click", (event) => {
    const button = event.target.closest("button.class");
    if (button) answer(button.dataset.label);
  });
  new ResizeObserver(arrange).observe($("classes"));
  const filter = $("filter");
  const clear = () => { filter.value = ""; narrow(); filter.blur(); };
  filter.addEventListener("input", narrow);
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Escape") clear();
    if (event.key !== "Enter") return;
    event.preventDefault();
    const first = matching(filter.value)[0];
    // Nothing typed: Enter means what it means everywhere else.
    if (!filter.value.trim()) accept();
    else if (first) answer(first);
    else return;
    clear();
  });
}
