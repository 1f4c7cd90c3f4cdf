// Review: the predictions of a class, least certain first, and what was put aside.

import { $, el } from "../core/dom.js";
import { announce } from "../announce.js";
import { get } from "../core/api.js";
import { deliver } from "../core/deliver.js";
import { on, state } from "../core/state.js";
import { note } from "../label/answering.js";
import { classOfKey, singleKeys } from "../label/keys.js";
import { count, plural } from "../core/numbers.js";
import { pick } from "./picker.js";
import { tag } from "../item.js";
import { Tiles } from "./tiles.js";
import { show } from "../views.js";

const page = 60;

const aside = { unsure: "Unsure", skipped: "Skipped" };

const sameList = (a, b) => a?.prediction === b?.prediction && a?.aside === b?.aside;

class Review {
  constructor(root) {
    this.list = null; // {prediction} or {aside}
    this.total = 0;
    this.tiles = new Tiles(() => this.update(), (item) => this.relabel(item));
    const button = (test, act, className = null) => el("button", { type: "button", class: className, data: { test }, onclick: act });
    this.heading = el("h2", {});
    this.advice = el("p", { class: "fine" });
    this.choices = el("div", { class: "lists", role: "group", "aria-label": "Lists" });
    this.status = el("p", { class: "status" });
    this.acceptButton = button("review-accept", () => this.label(this.tiles.chosen, this.list.prediction), "primary");
    this.changeButton = button("review-change", () => this.changeChosen());
    this.changeButton.textContent = "Change";
    this.allButton = button("review-select-all", () => this.tiles.chooseAll(this.tiles.chosen.length < this.tiles.items.size));
    this.moreButton = button("review-more", () => this.more());
    this.emptyWords = el("p", { class: "empty" }, "Nothing here.");
    root.append(this.choices,
      el("section", { class: "card", "aria-label": "Items" },
        el("div", { class: "review-head" }, this.heading, this.advice,
          el("div", { class: "actions" }, this.allButton, this.changeButton, this.acceptButton), this.status),
        this.tiles.element, this.emptyWords, this.moreButton));
    this.update();
  }

  /** The lists to choose from; their sizes follow every answer. */
  drawChoices() {
    const { to_review: counts, unsure, skipped } = state.standing ?? { to_review: [], unsure: 0, skipped: 0 };
    const entry = (which, name, many) => el("button",
      { type: "button", "aria-pressed": String(sameList(which, this.list)), onclick: () => this.open(which) },
      name, el("span", { class: "count" }, count(many ?? 0)));
    const focused = [...this.choices.children].indexOf(document.activeElement);
    this.choices.replaceChildren(
      ...state.classes.map(({ name }, i) => entry({ prediction: name }, tag(name), counts[i])),
      entry({ aside: "unsure" }, aside.unsure, unsure), entry({ aside: "skipped" }, aside.skipped, skipped));
    if (focused >= 0) this.choices.children[focused]?.focus();
  }

  async open(which) {
    this.list = which;
    this.tiles.clear();
    this.total = 0;
    this.status.replaceChildren();
    this.drawChoices();
    const predicted = which.prediction !== undefined;
    this.heading.replaceChildren(...(predicted ? ["Predicted as ", tag(which.prediction)] : [aside[which.aside]]));
    this.advice.textContent = predicted
      ? "Least certain first. Select those that are right and accept them; change the others."
      : "These are waiting for an answer: change one, or select several.";
    await this.more();
  }

  /** The list the person was in, or the first there is. */
  openFirst() {
    this.open(this.list ?? (state.classes.length ? { prediction: state.classes[0].name } : { aside: "unsure" }));
  }

  async more() {
    const wanted = this.list;
    try {
      const reply = wanted.prediction !== undefined
        ? await get(`/api/review?prediction=${encodeURIComponent(wanted.prediction)}&offset=${this.tiles.items.size}&limit=${page}`)
        : await get("/api/aside");
      if (this.list !== wanted) return;
      const items = reply.items ?? reply[wanted.aside];
      this.total = reply.total ?? items.length;
      this.tiles.add(items);
    } catch (error) {
      if (error.status === undefined) throw error;
      this.status.textContent = `${error.message.replace(/\.$/, "")}.`;
    }
    this.update();
  }

  update() {
    const chosen = this.tiles.chosen.length;
    const shown = this.tiles.items.size;
    const left = this.total - shown;
    const acceptable = this.list?.prediction !== undefined;
    this.acceptButton.hidden = !acceptable;
    this.acceptButton.disabled = !chosen;
    this.acceptButton.replaceChildren(...(chosen && acceptable ? [`Accept ${count(chosen)} as `, tag(this.list.prediction)] : ["Accept selected"]));
    this.changeButton.hidden = !chosen;
    this.allButton.hidden = !shown;
    this.allButton.textContent = chosen && chosen === shown ? "Select none" : `Select all ${count(shown)} shown`;
    this.moreButton.hidden = left <= 0;
    this.moreButton.textContent = `Show ${count(Math.min(left, page))} more of ${count(left)}`;
    this.emptyWords.hidden = shown > 0;
  }

  /** Give `ids` the class `name`; more than the server takes at once are sent in several requests. */
  label(ids, name) {
    const [now, later] = [ids.slice(0, state.session.limits.answers), ids.slice(state.session.limits.answers)];
    const single = ids.length === 1;
    const body = single
      ? { who: state.person, item: ids[0], label: name, next: false }
      : { who: state.person, answers: now.map((item) => ({ item, label: name })) };
    deliver(single ? "/api/answers" : "/api/accept", body, (reply) => {
      this.tiles.remove(now);
      this.total -= now.length;
      const said = `${plural(now.length, "item")} labelled ${name}.`;
      announce(said);
      const back = el("button", { type: "button", class: "quiet", onclick: () => this.takeBack(reply.event) }, "Undo");
      this.status.replaceChildren(said, " ", back);
      note(reply);
      if (later.length) this.label(later, name);
      else if (!this.tiles.items.size) this.more();
      else this.update();
    });
  }

  takeBack(event) {
    deliver("/api/undo", { who: state.person, event, whole: true, next: false }, async (reply) => {
      announce("Undone.");
      note(reply); // the question in the Label view stays what it was
      await this.open(this.list);
      this.status.textContent = "Undone.";
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
    if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "a") {
      this.tiles.chooseAll(true);
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const named = singleKeys() ? classOfKey(key) : undefined;
    const meant = this.tiles.chosen.length ? this.tiles.chosen : [this.tiles.focused?.id].filter((id) => id !== undefined);
    if (key === "escape") this.tiles.chooseAll(false);
    else if (key === "enter" && !event.target.closest("button, a") && !this.acceptButton.disabled) this.acceptButton.click();
    else if (named && meant.length) this.label(meant, named.name);
    else return;
    event.preventDefault();
  }
}

export function startReview() {
  const review = new Review($("view-review"));
  on("view", (view) => {
    if (view === "review" && state.standing) review.openFirst();
  });
  on("standing", () => {
    review.drawChoices();
    if (state.view === "review" && !review.list) show("review");
  });
  on("classes", () => review.drawChoices());
  document.addEventListener("keydown", (event) => review.onKey(event));
}
