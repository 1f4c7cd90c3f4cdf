// People: how much each has answered, how fast, and how far they agree with the others and with the model.

import { $, el, words } from "./core/dom.js";
import { get } from "./core/api.js";
import { latest } from "./core/latest.js";
import { on, state } from "./core/state.js";
import { count, percent, when } from "./core/numbers.js";

let table, hint;

const share = ([same, all]) => (all ? el("span", { title: `${count(same)} of ${count(all)}` }, percent(same / all), el("span", { class: "fine" }, ` of ${count(all)}`)) : el("span", { class: "fine" }, "–"));

const pace = (seconds) => (seconds === null ? "–" : seconds < 90 ? `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s` : `${(seconds / 60).toFixed(1)} min`);

const columns = [
  ["Person", (one) => words(one.name)], ["Answers", (one) => count(one.answers)], ["Skipped", (one) => count(one.skipped)],
  ["Unsure", (one) => count(one.unsure)], ["Notes", (one) => count(one.notes)], ["Time per answer", (one) => pace(one.seconds)],
  ["Agrees with others", (one) => share(one.with_others)], ["Agrees with the model", (one) => share(one.with_model)],
  ["… on checks", (one) => share(one.blind)], ["Last", (one) => (one.last ? when(one.last) : "–")],
];

function draw(people) {
  hint.hidden = !people.length;
  table.replaceChildren(
    el("thead", {}, el("tr", {}, columns.map(([name]) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, people.map((one) => el("tr", { data: { test: "person-row", name: one.name } },
      columns.map(([, cell], i) => el(i ? "td" : "th", i ? {} : { scope: "row" }, cell(one)))))));
}

export function startPeople() {
  table = el("table", { class: "people" });
  hint = el("p", { class: "fine" }, "Time per answer is the median, pauses over five minutes left out. “Others” are all pairs of answers to the same item. “The model” is what was predicted before the answer came; on checks the person was not shown it, so that share says more.");
  const empty = "Nobody has answered yet.";
  const box = el("div", { class: "card wide", tabindex: "0", role: "region", "aria-label": "People" }, table);
  $("view-people").append(el("h2", {}, "People"), box, hint);
  const refresh = latest(() => get("/api/people"), (reply, failure) => {
    if (failure || !reply.people.length) table.replaceChildren(el("caption", {}, failure ? failure.message : empty));
    else draw(reply.people);
  });
  let seen = null;
  const show = () => {
    if (state.view !== "people" || !state.session || seen === state.standing?.version) return;
    seen = state.standing?.version ?? null;
    refresh();
  };
  on("view", () => { seen = null; show(); });
  on("standing", show);
}
