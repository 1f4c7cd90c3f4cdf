// Accept all predictions above a chance: how many there are, and how many of them are expected to be wrong, comes first.

import { $, el } from "../core/dom.js";
import { get } from "../core/api.js";
import { latest } from "../core/latest.js";
import { state } from "../core/state.js";
import { count, percent, plural } from "../core/numbers.js";
import { tag } from "../item.js";

const chances = [0.8, 0.9, 0.95, 0.99];
const first = 0.95;

/** "about 3 of them wrong", never "0" for what is not zero. */
function wrongWords(wrong) {
  if (wrong < 0.05) return "hardly one of them";
  return wrong < 1 ? "less than one of them" : `about ${count(Math.round(wrong))} of them`;
}

/** Ask which chance; `accepted(wanted, found)` gets what the person agreed to. `filter` is what the list shows now. */
export function acceptAll(filter, accepted) {
  const dialog = $("picker");
  let found = null;
  const wanted = () => {
    const { at_least: _, ...rest } = filter;
    return { ...rest, at_least: Number(dialog.querySelector("input:checked").value) };
  };
  const sentence = el("p", { data: { test: "accept-all-words" }, "aria-live": "polite" }, "Counting");
  const classes = el("p", { class: "accept-classes" });
  const go = el("button", { type: "button", class: "primary", disabled: true, data: { test: "accept-all-go" }, onclick: () => {
    const agreed = wanted();
    dialog.close();
    accepted(agreed, found);
  } }, "Accept");
  const look = latest(() => get(`/api/acceptable?${new URLSearchParams(wanted())}`), (reply, failure) => {
    found = reply;
    go.disabled = !reply?.count;
    classes.replaceChildren();
    if (failure) { sentence.textContent = failure.message; return; }
    go.textContent = reply.count ? `Accept ${count(reply.count)}` : "Accept";
    if (!reply.count) { sentence.textContent = "Nothing in this list is predicted with so high a chance."; return; }
    sentence.replaceChildren(`${plural(reply.count, "prediction")} would become labels in your name. `,
      el("strong", {}, `The model expects ${wrongWords(reply.wrong)} to be wrong`), ` (${percent(reply.wrong / reply.count)}). `,
      "One undo takes them all back.");
    classes.append(...reply.counts.flatMap((many, i) => (many ? [tag(state.classes[i]?.name ?? "", el("span", { class: "chance" }, count(many))), " "] : [])));
  });
  const choice = (share) => el("label", { class: "check" },
    el("input", { type: "radio", name: "accept-above", value: share, checked: share === first, onchange: look }), `${percent(share)} and above`);
  dialog.replaceChildren(
    el("h2", { id: "picker-title", tabindex: "-1" }, "Accept all that are sure"),
    el("p", { class: "fine" }, "Of the list as it is filtered now: what is predicted, and nobody has labelled, skipped or doubted."),
    el("div", { class: "radios", role: "radiogroup", "aria-label": "Chance of the prediction" }, chances.map(choice)),
    sentence, classes,
    el("div", { class: "stop", data: { state: state.standing?.reached ? "checked" : "above", test: "accept-all-warning" } },
      el("p", {}, state.standing?.verdict ?? ""),
      el("p", {}, "From then on they count as right in every estimate, as if you had looked at each: accept them when you are done, not before.")),
    el("div", { class: "actions" }, el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"), go));
  dialog.onkeydown = null;
  dialog.showModal();
  dialog.querySelector("input:checked").focus();
  look();
}
