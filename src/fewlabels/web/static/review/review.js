// Review: every item in a list that can be filtered, searched and sorted, a page at a time; accept, change, undo.

import { $, el } from "../core/dom.js";
import { announce } from "../announce.js";
import { get } from "../core/api.js";
import { deliver } from "../core/deliver.js";
import { latest } from "../core/latest.js";
import { on, state } from "../core/state.js";
import { note } from "../label/answering.js";
import { classOfKey, singleKeys } from "../label/keys.js";
import { count, plural } from "../core/numbers.js";
import { acceptAll } from "./accept_all.js";
import { Filters, asked } from "./filters.js";
import { pick } from "./picker.js";
import { Tiles } from "./tiles.js";

const page = 60;
const stays = ["labelled", "checks", "differs"]; // lists that an answer does not take an item out of

class Review {
  constructor(root) {
    this.total = 0;
    this.offset = 0;
    this.opened = false;
    this.tiles = new Tiles(() => this.update(), (item) => this.relabel(item));
    this.filters = new Filters(() => this.open());
    const button = (test, words, act, className = null, key = null) =>
      el("button", { type: "button", class: className, data: { test }, onclick: act, "aria-keyshortcuts": key }, words);
    this.heading = el("h2", { "aria-live": "polite", data: { test: "review-total" } });
    this.status = el("p", { class: "status", data: { test: "review-said" } });
    this.acceptButton = button("review-accept", "", () => this.accept(), "primary", "Enter");
    this.changeButton = button("review-change", "Change", () => this.changeChosen());
    this.allButton = button("review-select-all", "", () => this.tiles.chooseAll(this.tiles.chosen.length < this.tiles.items.size), null, "Control+A");
    this.sureButton = button("review-accept-all", "Accept all above 95%", () => this.acceptSure(), null, "Shift+A");
    this.pagers = [1, 2].map(() => ({
      back: button("review-back", "‹ Back", () => this.turn(-1), "quiet", "["),
      on: button("review-next", "Next ›", () => this.turn(1), "quiet", "]"),
      words: el("span", { class: "count" }),
    }));
    const pager = ({ back, on: forward, words }) => el("div", { class: "pager", role: "group", "aria-label": "Pages" }, back, words, forward);
    this.emptyWords = el("p", { class: "empty" }, "Nothing here.");
    root.append(this.filters.element,
      el("section", { class: "card", "aria-label": "Items" },
        el("div", { class: "review-head" }, this.heading, pager(this.pagers[0]),
          el("div", { class: "actions" }, this.sureButton, this.allButton, this.changeButton, this.acceptButton), this.status),
        this.tiles.element, this.emptyWords, pager(this.pagers[1])));
    this.fetch = latest(() => get(`/api/review?${new URLSearchParams({ ...asked(this.filters.now), offset: this.offset, limit: page })}`),
      (reply, failure) => this.show(reply, failure));
    this.update();
  }

  /** The list from its beginning, or again from where it is. */
  open(offset = 0) {
    this.opened = true;
    this.offset = offset;
    this.fetch();
  }

  show(reply, failure) {
    if (failure) {
      this.status.textContent = `${failure.message.replace(/\.$/, "")}.`;
      return;
    }
    this.total = reply.total;
    if (!reply.items.length && this.offset) return this.open(Math.max(0, Math.ceil(reply.total / page) - 1) * page);
    this.tiles.replace(reply.items);
  }

  turn(by) {
    const to = this.offset + by * page;
    if (to < 0 || to >= this.total) return;
    this.open(to);
    $("view-review").scrollIntoView({ block: "start" });
  }

  /** Of the items selected, those that have a prediction and no label: {id: class}. */
  get acceptable() {
    const items = this.tiles.chosen.map((id) => this.tiles.items.get(id).item);
    return items.filter(({ label, prediction }) => label === null && prediction !== null);
  }

  update() {
    const chosen = this.tiles.chosen.length;
    const shown = this.tiles.items.size;
    const ready = this.acceptable.length;
    this.heading.textContent = plural(this.total, "item");
    this.acceptButton.disabled = !ready;
    this.acceptButton.textContent = ready ? `Accept ${count(ready)} as predicted` : "Accept selected";
    this.changeButton.hidden = !chosen;
    this.allButton.hidden = !shown;
    this.allButton.textContent = chosen && chosen === shown ? "Select none" : `Select all ${count(shown)} shown`;
    this.sureButton.hidden = !shown || state.classes.length < 2;
    this.emptyWords.hidden = shown > 0;
    for (const { back, on: forward, words } of this.pagers) {
      back.disabled = this.offset === 0;
      forward.disabled = this.offset + page >= this.total;
      words.textContent = `${count(Math.min(this.total, this.offset + 1))} to ${count(Math.min(this.total, this.offset + page))}`;
      words.parentElement.hidden = this.total <= page;
    }
  }

  /** Send a change to these items; they leave the list, unless it is one of items that have answers. */
  change(path, body, ids, said) {
    deliver(path, { who: state.person, ...body }, (reply) => {
      announce(said);
      const back = el("button", { type: "button", class: "quiet", data: { test: "review-undo" }, onclick: () => this.takeBack(reply.event) }, "Undo");
      this.status.replaceChildren(said, " ", back);
      note(reply);
      const answered = ids === null || ids.some((id) => this.tiles.items.get(id)?.item.label != null);
      if (answered || stays.includes(this.filters.now.status)) return this.open(this.offset);
      this.tiles.remove(ids);
      if (this.filters.now.status !== "all" || this.filters.now.doubt) this.total -= ids.length;
      if (this.tiles.items.size) this.update();
      else this.open(this.offset);
    });
  }

  label(ids, name) {
    const single = ids.length === 1;
    const body = single ? { item: ids[0], label: name, next: false } : { items: ids, label: name };
    this.change(single ? "/api/answers" : "/api/label-together", body, ids, `${plural(ids.length, "item")} labelled ${name}.`);
  }

  accept() {
    const answers = this.acceptable.map(({ id, prediction }) => ({ item: id, label: prediction }));
    const ids = answers.map(({ item }) => item);
    this.change("/api/accept", { answers }, ids, `${plural(ids.length, "item")} accepted as predicted.`);
  }

  acceptSure() {
    acceptAll(asked(this.filters.now), (wanted, { count: many, checksum }) =>
      this.change("/api/accept-listed", { wanted, checksum }, null, `${plural(many, "item")} accepted as predicted.`));
  }

  takeBack(event = null) {
    deliver("/api/undo", { who: state.person, event, whole: true, next: false }, (reply) => {
      announce("Undone.");
      note(reply); // the question in the Label view stays what it was
      this.status.textContent = "Undone.";
      this.open(this.offset);
    });
  }

  changeChosen() {
    const ids = this.tiles.chosen;
    const { item } = this.tiles.items.get(ids[0]);
    if (ids.length === 1) this.relabel(item);
    else pick({ title: `What are these ${count(ids.length)} items, such as`, item, picked: (name) => this.label(ids, name) });
  }

  relabel(item) {
    const current = item.label ?? item.prediction;
    pick({ title: "What is", item, current, picked: (name) => this.label([item.id], name) });
  }

  onKey(event) {
    if (state.view !== "review" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const typing = event.target.closest("input:not([type=checkbox]), textarea, select");
    const key = event.key.toLowerCase();
    if (typing && key === "escape") this.tiles.focusFirst();
    else if (!typing) {
      if (event.ctrlKey || event.metaKey) {
        if (key === "a") this.tiles.chooseAll(true);
        else if (key === "z" && !event.shiftKey) this.takeBack();
        else return;
      } else if (event.altKey || !this.plainKey(key, event)) return;
    } else return;
    event.preventDefault();
  }

  /** What a key without Ctrl or Alt does; true where it did something. */
  plainKey(key, event) {
    const single = singleKeys();
    const meant = this.tiles.chosen.length ? this.tiles.chosen : [this.tiles.focused?.id].filter((id) => id !== undefined);
    const named = single && !event.shiftKey ? classOfKey(key) : undefined;
    if (key === "escape") this.tiles.chooseAll(false);
    else if (key === "enter" && !event.target.closest("button, a") && !this.acceptButton.disabled) this.accept();
    else if (key === "pagedown" || (single && key === "]")) this.turn(1);
    else if (key === "pageup" || (single && key === "[")) this.turn(-1);
    else if (single && event.shiftKey && key === "a") this.acceptSure();
    else if (single && this.filters.onKey(key, event.shiftKey)) return true;
    else if (named && meant.length) this.label(meant, named.name);
    else if ((key === "arrowdown" || key === "arrowright") && event.target === document.body) this.tiles.focusFirst();
    else return false;
    return true;
  }
}

export function startReview() {
  const review = new Review($("view-review"));
  const begin = (view) => view === "review" && state.standing && review.open(review.offset);
  on("view", begin);
  on("standing", () => { if (!review.opened) begin(state.view); });
  document.addEventListener("keydown", (event) => review.onKey(event));
}
