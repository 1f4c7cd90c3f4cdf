// Why this one: what the answer is worth, what each answer would change, and who the neighbours are.

import { $, el } from "../core/dom.js";
import { get } from "../core/api.js";
import { latest } from "../core/latest.js";
import { on, state } from "../core/state.js";
import { small, tag, verdict } from "../item.js";
import { chance, count, fine, plural } from "../core/numbers.js";

const shownOutcomes = 10;

const unexplained = {
  classes: "Once there are two classes, the reasons are shown here.",
  labelled: "It has a label, which your answer would change.",
  check: "Drawn at random, like every check: your answer shows how often the predictions are right, and teaches like any other.",
  memory: "The answers cannot be compared in advance: too little memory is free. Questions are still chosen just as well.",
};

function sentence(why) {
  if (state.shown?.reason === "second opinion") return "Someone else answered it; this is to see whether you agree.";
  if (why.missing !== null) return unexplained[why.missing];
  if (why.gain <= 0) return "Your answer may show that other items are less certain than they seem.";
  const items = why.gain * state.session.n_items;
  const fewer = items >= 1 ? ` (${count(Math.round(items))} fewer wrong)` : "";
  const after = fine(why.expected_error - why.gain);
  return `Your answer should lower the expected error from ${fine(why.expected_error)} to about ${after}${fewer}.`;
}

function outcome(one, most) {
  const title = `Expected error after this answer: ${fine(one.expected_error)}`;
  const row = el("li", { data: { test: "why-outcome", label: one.label }, title },
    tag(one.label),
    el("span", { class: "chance" }, chance(one.chance)),
    el("span", { class: "changes" }, el("span", { class: "bar" }),
      el("span", {}, one.changes ? `changes ${count(one.changes)}` : "changes none")));
  row.style.setProperty("--share", most ? one.changes / most : 0);
  return row;
}

function neighbour({ item, weight, words }, ask) {
  const made = el("li", {}, el("button", {
    type: "button", class: "tile", title: `${item.name}: click to label it instead`,
    data: { test: "neighbour", item: item.id }, onclick: () => ask(item.id),
  }, small(item, 60),
    words.length ? el("span", { class: "fine", dir: "auto", data: { test: "shared-words" } }, `both: ${words.join(", ")}`) : null,
    verdict(item)));
  made.style.setProperty("--weight", weight);
  return made;
}

function draw(why, ask) {
  $("why-words").textContent = sentence(why);
  $("why-parts").hidden = state.shown?.blind ?? false;
  const outcomes = [...why.outcomes].sort((a, b) => b.chance - a.chance);
  const most = Math.max(...outcomes.map((one) => one.changes), 0);
  const rows = outcomes.slice(0, shownOutcomes).map((one) => outcome(one, most));
  const left = outcomes.length - shownOutcomes;
  if (left > 0) rows.push(el("li", { class: "fine" }, `and ${plural(left, "less likely class", "less likely classes")}`));
  $("outcomes").replaceChildren(...(rows.length ? rows : [el("li", { class: "fine" }, "Nothing to compare.")]));
  // The neighbour that was asked about is the item now: go there rather than nowhere.
  if ($("neighbours").contains(document.activeElement)) $("view-label").focus({ preventScroll: true });
  const near = why.neighbours.map((one) => neighbour(one, ask));
  $("neighbours").replaceChildren(...(near.length ? near : [el("li", { class: "fine" }, "It has none.")]));
}

export function startWhy(ask) {
  const section = $("why-parts").closest("section");
  const fetchWhy = latest((id) => get(`/api/items/${id}/why`), (why, failure, id) => {
    if (state.question?.item.id !== id) return;
    section.classList.remove("old");
    if (failure) {
      $("why-words").textContent = "The reasons could not be fetched just now.";
      $("why-parts").hidden = true;
    } else draw(why, ask);
  }, 80);

  on("shown", (question) => {
    section.hidden = !question;
    if (!question) return;
    // The old rows stay, paler, so that the page does not jump between questions.
    section.classList.add("old");
    fetchWhy(question.item.id);
  });
  on("classes", () => state.shown && fetchWhy(state.shown.item.id));
}
