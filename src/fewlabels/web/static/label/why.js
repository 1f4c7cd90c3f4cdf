// Why this one: what the answer is worth, what each answer would change, and who the neighbours are.

import { $, el, words } from "../core/dom.js";
import { get } from "../core/api.js";
import { latest } from "../core/latest.js";
import { paint } from "../core/colours.js";
import { classNumber, on, state } from "../core/state.js";
import { small, tag, verdict } from "../item.js";
import { chance, count, fine, percent, plural } from "../core/numbers.js";

const shownOutcomes = 10;
const worth = 0.1; // items fewer that are expected to be wrong, beneath which an answer hardly changes anything
const pictured = 3; // of these, with pictures of what would change

const unexplained = {
  classes: "Once there are two classes, the reasons are shown here.",
  labelled: "It has a label, which your answer would change.",
  check: "Drawn at random, like every check: your answer shows how often the predictions are right, and teaches like any other.",
};

/** What keeps the item from being certain: the reason to ask where the expected error hardly moves. */
function doubt() {
  const [best, next] = [...(state.shown?.chances ?? [])].sort((a, b) => b.chance - a.chance);
  if (!best) return "no label reaches it yet";
  if (next && best.chance - next.chance < 0.2) return `it is between ${best.name} (${chance(best.chance)}) and ${next.name} (${chance(next.chance)})`;
  if (best.chance < 0.9) return `it is the least certain of what is left: ${best.name} (${chance(best.chance)})`;
  return "what is left is nearly certain, and no other item would teach more";
}

function sentence(why) {
  if (state.shown?.reason === "second opinion") return "Someone else answered it; this is to see whether you agree.";
  if (why.missing !== null) return unexplained[why.missing];
  const left = why.expected_error - why.gain;
  const [now, after] = [fine(why.expected_error), left < 0.0005 ? "less than 0.1%" : fine(left)];
  const items = why.gain * state.session.n_items;
  if (items >= worth && why.expected_error >= 0.0005 && now !== after) {
    const fewer = items >= 1 ? ` (${count(Math.round(items))} fewer wrong)` : "";
    return `Your answer should lower the expected error from ${now} to about ${after}${fewer}.`;
  }
  if (items >= 1) return `Your answer should make about ${plural(Math.round(items), "more prediction")} right, of ${count(state.session.n_items)}.`;
  if (state.shown?.reason === "requested") return `You chose it: your answer hardly changes the expected error, ${percent(why.expected_error)}.`;
  return `Your answer hardly changes the expected error, ${percent(why.expected_error)}: ${doubt()}.`;
}

/** An item to click, small: it becomes the question. */
function picture(item, title, ask, data, ...more) {
  const name = more.length ? null : title; // else its words are its name
  return el("button", { type: "button", class: "tile", title, "aria-label": name, data, onclick: () => ask(item.id) }, small(item, 60), ...more);
}

function outcome(one, most, shown, ask) {
  const row = el("li", { data: { test: "why-outcome", label: one.label }, title: `Expected error after this answer: ${percent(one.expected_error)}` },
    tag(one.label),
    el("span", { class: "chance" }, chance(one.chance)),
    el("span", { class: "changes" }, el("span", { class: "bar" }),
      el("span", {}, one.changes ? `changes ${count(one.changes)}` : "changes none")));
  row.style.setProperty("--share", most ? one.changes / most : 0);
  if (shown && one.examples.length) {
    row.append(el("span", { class: "examples", role: "group", "aria-label": `Would change if it is ${one.label}` },
      one.examples.map(({ item, becomes }) => paint(picture(item, `${item.name}: would become ${becomes}`, ask, { test: "why-example", item: item.id }), classNumber(becomes)))));
  }
  return row;
}

/** What an item has in common with the one asked about, in words. */
function shared({ words: both, values, common, weight }) {
  const parts = [];
  if (both.length) parts.push(el("span", { data: { test: "shared-words" } }, `both: ${both.join(", ")}`));
  for (const [name, here, there] of values) parts.push(el("span", { data: { test: "shared-values" } }, words(name), ` ${here === there ? here : `${here} · ${there}`}`));
  if (common !== null) parts.push(`linked${weight === 1 ? "" : `, weight ${Number(weight.toPrecision(3))}`}${common ? `; ${count(common)} in common` : ""}`);
  return parts.length ? el("span", { class: "fine shared", dir: "auto" }, parts) : null;
}

function neighbour(one, ask) {
  const { item } = one;
  const made = el("li", {}, picture(item, `${item.name}: click to label it instead`, ask, { test: "neighbour", item: item.id }, shared(one), verdict(item)));
  made.style.setProperty("--weight", one.weight);
  return made;
}

function draw(why, ask) {
  $("why-words").textContent = sentence(why);
  $("why-parts").hidden = state.shown?.blind ?? false;
  const outcomes = [...why.outcomes].sort((a, b) => b.chance - a.chance);
  const most = Math.max(...outcomes.map((one) => one.changes), 0);
  const rows = outcomes.slice(0, shownOutcomes).map((one, place) => outcome(one, most, place < pictured, ask));
  const left = outcomes.length - shownOutcomes;
  if (left > 0) rows.push(el("li", { class: "fine" }, `and ${plural(left, "less likely class", "less likely classes")}`));
  // The item that was clicked here is the question now: go there rather than nowhere.
  if ($("why-parts").contains(document.activeElement)) $("view-label").focus({ preventScroll: true });
  $("outcomes").replaceChildren(...(rows.length ? rows : [el("li", { class: "fine" }, "Nothing to compare.")]));
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
