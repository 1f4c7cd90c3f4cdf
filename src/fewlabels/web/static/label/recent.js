// The person's last answers, each of which can be changed or taken back.

import { $, el, keepFocus } from "../core/dom.js";
import { announce } from "../announce.js";
import { get } from "../core/api.js";
import { deliver } from "../core/deliver.js";
import { latest } from "../core/latest.js";
import { on, state } from "../core/state.js";
import { note, undo } from "./answering.js";
import { pick } from "../review/picker.js";
import { small, tag } from "../item.js";

const kept = 20;

const put = { skip: "skipped", unsure: "unsure" };

function change(answer) {
  const decided = answer.do === "decide";
  pick({
    title: decided ? "Change the decision on" : "Change the answer for",
    item: answer.item,
    current: answer.label,
    picked: (label) => {
      if (label === answer.label) return;
      const body = { who: state.person, item: answer.item.id, label };
      deliver(decided ? "/api/decisions" : "/api/answers", decided ? body : { ...body, next: false }, (reply) => {
        announce(`Changed to ${label}.`);
        note(reply);
      });
    },
    extra: [{ name: "Undo this answer", act: () => undo(answer.event) }],
  });
}

function entry(answer) {
  const what = answer.label === null ? el("span", { class: "tag none" }, put[answer.do] ?? answer.do) : tag(answer.label);
  return el("li", { data: { test: "recent", event: answer.event, item: answer.item.id } },
    el("button", { type: "button", class: "tile", title: `${answer.item.name}: change or undo`, onclick: () => change(answer) },
      small(answer.item, 40), what));
}

function draw(answers) {
  const list = $("recent");
  const nothing = el("li", { class: "fine" }, "They will appear here, and each can be changed.");
  keepFocus(list, () => list.replaceChildren(...(answers.length ? answers.map(entry) : [nothing])));
  list.scrollLeft = 0;
}

export function startRecent() {
  const refresh = latest(
    () => get(`/api/answers?limit=${kept}&who=${encodeURIComponent(state.person)}`),
    (reply, failure) => failure || draw(reply.answers),
  );
  let seen = null;
  on("standing", ({ version, labelled, skipped, unsure, disagreements }) => {
    const now = [version, labelled, skipped, unsure, disagreements].join();
    if (now === seen) return; // a check on what others did, and they did nothing
    seen = now;
    refresh();
  });
  on("person", () => { seen = null; });
}
