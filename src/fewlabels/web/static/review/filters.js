// Which items the review lists: by class, by what is known of them, by doubt, by who said so, by words; and the order.

import { el } from "../core/dom.js";
import { on, state } from "../core/state.js";
import { count } from "../core/numbers.js";
import { tag } from "../item.js";

const statuses = [
  ["all", "Everything"], ["predicted", "Predicted"], ["labelled", "Answers given"], ["unknown", "Not known yet"],
  ["unsure", "Unsure"], ["skipped", "Skipped"], ["disputed", "Disputed"], ["checks", "Checks answered"], ["differs", "Model differs"],
];
const doubts = [["", "Any chance"], ["below=0.5", "Below 50%"], ["below=0.8", "Below 80%"], ["below=0.95", "Below 95%"], ["at_least=0.95", "95% and above"]];
const orders = [["doubt", "Most doubtful first"], ["sure", "Surest first"], ["newest", "Newest answer first"], ["given", "As in the data"]];
const pause = 200; // ms without a key before the search begins

export const anything = { label: null, status: "all", doubt: "", who: "", search: "", order: "doubt" };

/** A filter as the server reads it; what says nothing is left out. */
export function asked({ label, status, doubt, who, search, order }) {
  const found = {};
  if (label !== null) found.label = label;
  if (status !== "all") found.status = status;
  if (who) found.who = who;
  if (search.trim()) found.search = search.trim();
  if (order !== "doubt") found.order = order;
  if (doubt) found[doubt.split("=")[0]] = Number(doubt.split("=")[1]);
  return found;
}

export class Filters {
  /** `changed(filter)` is called when the person wants another list. */
  constructor(changed) {
    this.now = { ...anything };
    this.changed = changed;
    const select = (name, label, key, choices) => {
      const box = el("select", { "aria-label": label, title: `${label} (⇧ ${key})`, "aria-keyshortcuts": `Shift+${key}`, data: { test: `review-${name}` } });
      this.#fill(box, choices);
      box.addEventListener("change", () => this.set({ [name]: box.value }));
      return box;
    };
    this.boxes = {
      status: select("status", "What is shown", "F", statuses),
      doubt: select("doubt", "Chance of the prediction", "D", doubts),
      who: select("who", "Who answered", "W", [["", "By anyone"]]),
      order: select("order", "Order", "S", orders),
    };
    const words = "Search";
    this.search = el("input", { type: "search", placeholder: words, "aria-label": words, autocomplete: "off", maxlength: "200", "aria-keyshortcuts": "/", data: { test: "review-search" } });
    let waiting = null;
    this.search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.set({ search: this.search.value }), pause);
    });
    this.clear = el("button", { type: "button", class: "quiet", data: { test: "review-clear" }, onclick: () => this.set(anything) }, "Show everything");
    this.chips = el("div", { class: "lists", role: "group", "aria-label": "Classes" });
    this.element = el("div", { class: "review-filters", role: "search" }, this.chips,
      el("div", { class: "filter-row" }, this.search, Object.values(this.boxes), this.clear));
    on("standing", () => this.draw());
    on("classes", () => {
      if (this.now.label !== null && !state.classes.some(({ name }) => name === this.now.label)) this.set({ label: null });
      else this.draw();
    });
    on("session", () => this.draw());
  }

  /** The keys of the filters; true where one was meant. */
  onKey(key, shift) {
    const boxes = { f: "status", d: "doubt", w: "who", s: "order" };
    if (key === "/") this.search.focus();
    else if (shift && boxes[key]) this.boxes[boxes[key]].focus();
    else return false;
    return true;
  }

  set(part) {
    const answers = part.status === "labelled" && this.now.status !== "labelled" ? { order: "newest" } : {};
    this.now = { ...this.now, ...answers, ...part };
    this.draw();
    this.changed(this.now);
  }

  /** The controls as they stand; counts of classes follow every answer. */
  draw() {
    const { now, boxes } = this;
    const people = state.standing?.people.map(({ name }) => name) ?? [];
    this.#fill(boxes.who, [["", "By anyone"], ...people.map((name) => [name, `By ${name}`])]);
    boxes.who.hidden = people.length < 2 && !now.who;
    this.#fill(boxes.status, statuses.filter(([name]) => name !== "differs" || state.session?.opinions));
    for (const [name, box] of Object.entries(boxes)) box.value = now[name];
    if (document.activeElement !== this.search) this.search.value = now.search;
    this.clear.hidden = JSON.stringify(asked(now)) === "{}";
    const many = state.standing?.counts ?? [];
    const chip = (label, name, number) => el("button",
      { type: "button", "aria-pressed": String(now.label === label), data: { test: "review-class", label }, onclick: () => this.set({ label }) },
      name, number === null ? null : el("span", { class: "count" }, count(number ?? 0)));
    const focused = [...this.chips.children].indexOf(document.activeElement);
    this.chips.replaceChildren(chip(null, "All classes", null), ...state.classes.map(({ name }, i) => chip(name, tag(name), many[i])));
    if (focused >= 0) this.chips.children[focused]?.focus();
  }

  #fill(box, choices) {
    const wanted = JSON.stringify(choices);
    if (box.dataset.choices === wanted) return;
    box.dataset.choices = wanted;
    box.replaceChildren(...choices.map(([value, words]) => el("option", { value }, words)));
  }
}
