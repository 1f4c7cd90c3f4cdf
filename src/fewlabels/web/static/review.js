// Review: the predictions of a class, most doubtful first, and what was put aside.

import { $, el } from "./dom.js";
import { announce } from "./announce.js";
import { get } from "./api.js";
import { deliver } from "./deliver.js";
import { on, state } from "./state.js";
import { note } from "./answering.js";
import { classOfKey, singleKeys } from "./keys.js";
import { count, plural } from "./numbers.js";
import { pick } from "./picker.js";
import { tag } from "./item.js";
import { Tiles } from "./tiles.js";
import { show } from "./views.js";

const page = 60;
const atOnce = 1000; // the most the server takes in one request

const aside = { unsure: "Unsure", skipped: "Skipped" };
let list = null; // {label} or {aside}
let total = 0;
let tiles, heading, advice, choices, status, acceptButton, changeButton, allButton, moreButton, emptyWords;

const sameList = (a, b) => a?.label === b?.label && a?.aside === b?.aside;

/** The lists one can look at; their sizes follow every answer. */
function drawChoices() {
  const { to_review: counts, unsure, skipped } = state.standing ?? { to_review: [], unsure: 0, skipped: 0 };
  const entry = (which, name, many) => el("button",
    { type: "button", "aria-pressed": String(sameList(which, list)), onclick: () => open(which) },
    name, el("span", { class: "count" }, count(many ?? 0)));
  const focused = [...choices.children].indexOf(document.activeElement);
  choices.replaceChildren(
    ...state.classes.map(({ name }, i) => entry({ label: name }, tag(name), counts[i])),
    entry({ aside: "unsure" }, aside.unsure, unsure), entry({ aside: "skipped" }, aside.skipped, skipped));
  if (focused >= 0) choices.children[focused]?.focus();
}

async function open(which) {
  list = which;
  tiles.clear();
  total = 0;
  status.replaceChildren();
  drawChoices();
  heading.replaceChildren(...(which.label !== undefined ? ["Predicted as ", tag(which.label)] : [aside[which.aside]]));
  advice.textContent = which.label !== undefined
    ? "Most doubtful first. Select those that are right and accept them; change the others."
    : "They wait for an answer: change one, or select several.";
  await more();
}

async function more() {
  const wanted = list;
  try {
    const reply = wanted.label !== undefined
      ? await get(`/api/review?label=${encodeURIComponent(wanted.label)}&offset=${tiles.items.size}&limit=${page}`)
      : await get("/api/aside");
    if (list !== wanted) return;
    const items = reply.items ?? reply[wanted.aside];
    total = reply.total ?? items.length;
    tiles.add(items);
  } catch (error) {
    if (error.status === undefined) throw error;
    status.textContent = `${error.message.replace(/\.$/, "")}.`;
  }
  update();
}

function update() {
  const chosen = tiles.chosen.length;
  const left = total - tiles.items.size;
  const acceptable = list?.label !== undefined;
  acceptButton.hidden = !acceptable;
  acceptButton.disabled = !chosen;
  acceptButton.replaceChildren(...(chosen && acceptable ? [`Accept ${count(chosen)} as `, tag(list.label)] : ["Accept the selected"]));
  changeButton.hidden = !chosen;
  allButton.hidden = !tiles.items.size;
  allButton.textContent = chosen && chosen === tiles.items.size ? "Select none" : `Select all ${count(tiles.items.size)} shown`;
  moreButton.hidden = left <= 0;
  moreButton.textContent = `Show ${count(Math.min(left, page))} more of ${count(left)}`;
  emptyWords.hidden = tiles.items.size > 0;
}

/** Give `ids` the class `label`; more than the server takes at once go one request after the other. */
function label(ids, name) {
  const [now, later] = [ids.slice(0, atOnce), ids.slice(atOnce)];
  const single = ids.length === 1;
  const body = single
    ? { who: state.person, item: ids[0], label: name, next: false }
    : { who: state.person, answers: now.map((item) => ({ item, label: name })) };
  deliver(single ? "/api/answers" : "/api/accept", body, (reply) => {
    tiles.remove(now);
    total -= now.length;
    const said = `${plural(now.length, "item")} labelled ${name}.`;
    announce(said);
    const back = el("button", { type: "button", class: "quiet", onclick: () => takeBack(reply.event) }, "Undo");
    status.replaceChildren(said, " ", back);
    note(reply);
    if (later.length) label(later, name);
    else if (!tiles.items.size) more();
    else update();
  });
}

function takeBack(event) {
  deliver("/api/undo", { who: state.person, event, whole: true, next: false }, async (reply) => {
    announce("Undone.");
    note(reply); // the question in the Label view stays what it was
    await open(list);
    status.textContent = "Undone.";
  });
}

function changeChosen() {
  const ids = tiles.chosen;
  const { item } = tiles.items.get(ids[0]);
  if (ids.length === 1) relabel(item);
  else pick({ title: `What are these ${count(ids.length)} items, such as`, item, picked: (name) => label(ids, name) });
}

function relabel(item) {
  const current = item.label ?? item.guess?.label ?? null;
  pick({ title: "What is", item, current, picked: (name) => label([item.id], name) });
}

function onKey(event) {
  if (state.view !== "review" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  const key = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && key === "a") {
    tiles.chooseAll(true);
    event.preventDefault();
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const named = singleKeys() ? classOfKey(key) : undefined;
  const meant = tiles.chosen.length ? tiles.chosen : [tiles.focused?.id].filter((id) => id !== undefined);
  if (key === "escape") tiles.chooseAll(false);
  else if (key === "enter" && !event.target.closest("button, a") && !acceptButton.disabled) acceptButton.click();
  else if (named && meant.length) label(meant, named.name);
  else return;
  event.preventDefault();
}

export function startReview() {
  tiles = new Tiles(() => moreButton && update(), relabel);
  heading = el("h2", {});
  choices = el("div", { class: "lists", role: "group", "aria-label": "Lists" });
  status = el("p", { class: "status" });
  const button = (test, act, className = null) => el("button", { type: "button", class: className, data: { test }, onclick: act });
  acceptButton = button("review-accept", () => label(tiles.chosen, list.label), "primary");
  changeButton = button("review-change", changeChosen);
  changeButton.textContent = "Change";
  advice = el("p", { class: "fine" });
  allButton = button("review-select-all", () => tiles.chooseAll(tiles.chosen.length < tiles.items.size));
  moreButton = button("review-more", more);
  emptyWords = el("p", { class: "empty" }, "Nothing here.");
  $("view-review").append(choices,
    el("section", { class: "card", "aria-label": "Items" },
      el("div", { class: "review-head" }, heading, advice,
        el("div", { class: "actions" }, allButton, changeButton, acceptButton), status),
      tiles.element, emptyWords, moreButton));
  update();

  on("view", (view) => {
    if (view !== "review") return;
    if (!state.standing) return;
    open(list ?? (state.classes.length ? { label: state.classes[0].name } : { aside: "unsure" }));
  });
  on("standing", () => {
    drawChoices();
    if (state.view === "review" && !list) show("review");
  });
  on("classes", drawChoices);
  document.addEventListener("keydown", onKey);
}
