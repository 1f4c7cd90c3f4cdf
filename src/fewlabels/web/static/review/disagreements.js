// Disagreements: what different people called the same item, and the decision.

import { $, el, keepFocus, words } from "../core/dom.js";
import { announce } from "../announce.js";
import { get } from "../core/api.js";
import { deliver } from "../core/deliver.js";
import { latest } from "../core/latest.js";
import { classNumber, on, state } from "../core/state.js";
import { note } from "../label/answering.js";
import { itemWords, tag } from "../item.js";
import { paint } from "../core/colours.js";
import { pick } from "./picker.js";
import { plural } from "../core/numbers.js";

let listed, summary;

function decide(item, label) {
  deliver("/api/decisions", { who: state.person, item: item.id, label }, (reply) => {
    announce(`Decided: ${label}.`);
    note(reply);
    refresh();
  });
}

/** The classes someone voted for come as buttons; any other is one step away. */
function entry({ item, votes, decided }) {
  const voted = state.classes.map(({ name }) => name).filter((name) => votes.some((vote) => vote.label === name));
  const choice = (name) => paint(el("button", {
    type: "button", class: "class", "aria-pressed": String(name === decided),
    data: { test: "decide", label: name }, onclick: () => decide(item, name),
  }, el("span", { class: "chip" }), el("span", { class: "name" }, words(name))), classNumber(name));
  const another = () => pick({ title: "Decide on", item, current: decided, picked: (label) => decide(item, label) });
  const image = item.image ? el("img", { class: "item-image", src: item.image, alt: item.name, loading: "lazy" }) : null;
  return el("li", { class: `card quarrel${decided === null ? "" : " settled"}`, data: { test: "disagreement", item: item.id } },
    el("div", { class: "item-body" }, image, itemWords(item)),
    el("div", { class: "votes" },
      el("h3", {}, words(item.name)),
      el("ul", {}, votes.map((vote) => el("li", {}, words(vote.who), el("span", { class: "fine" }, " says "), tag(vote.label)))),
      decided === null ? null : el("p", {}, "Decided: ", tag(decided)),
      el("div", { class: "actions", role: "group", "aria-label": `Decide on ${item.name}` },
        voted.map(choice), el("button", { type: "button", class: "quiet", onclick: another }, "Another class"))));
}

function draw(items) {
  const order = [...items].sort((a, b) => (a.decided !== null) - (b.decided !== null));
  const nothing = el("li", { class: "empty" }, "Nobody disagrees.");
  keepFocus(listed, () => listed.replaceChildren(...(order.length ? order.map(entry) : [nothing])));
}

const refresh = latest(() => get("/api/disagreements"), (reply, failure) => {
  if (failure) listed.replaceChildren(el("li", { class: "empty" }, failure.message));
  else draw(reply.items);
});

function drawSummary({ kappa, shared, disagreements, people }) {
  const tab = document.querySelector("[data-test=tab-disagreements]");
  tab.hidden = !(state.session.several || people.length > 1 || disagreements > 0);
  document.querySelector("[data-test=tab-people]").hidden = tab.hidden;
  $("disagreement-count").textContent = disagreements || "";
  const agreement = kappa === null ? "" : ` Agreement beyond chance (kappa): ${kappa.toFixed(2)}.`;
  summary.textContent = shared ? `${plural(shared, "item")} answered by two or more people.${agreement}` : "No item has been answered by two people yet.";
}

export function startDisagreements() {
  summary = el("p", { data: { test: "agreement" } });
  listed = el("ul", { class: "quarrels" });
  $("view-disagreements").append(el("h2", {}, "Disagreements"), summary, listed);
  let version = null;
  const show = () => {
    if (state.view !== "disagreements" || !state.session || version === state.standing?.version) return;
    version = state.standing?.version ?? null;
    refresh();
  };
  on("standing", (standing) => { drawSummary(standing); show(); });
  on("view", show);
}
