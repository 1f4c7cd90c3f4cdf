// A dialog to choose a class for one item: from the last answers, the review, the disagreements.

import { $, el, kbd, words } from "../core/dom.js";
import { state } from "../core/state.js";
import { paint } from "../core/colours.js";
import { itemWords, shorten } from "../item.js";

/**
 * Choose a class for `item`. `picked(label)` is called with the choice, `extra` is [{name, act}]: further buttons.
 * The dialog closes itself, and the browser gives the focus back to where it was.
 */
export function pick({ title, item, current = null, note = null, picked, extra = [] }) {
  const dialog = $("picker");
  const choose = (act) => { dialog.close(); act(); };
  const buttons = state.classes.map(({ name, key }, number) => paint(
    el("button", {
      type: "button", class: "class", "aria-pressed": String(name === current),
      data: { test: "picker-class", label: name }, onclick: () => choose(() => picked(name)),
    }, kbd(key), el("span", { class: "chip" }), el("span", { class: "name" }, words(name))), number));
  const filter = "Filter the classes";
  const sought = el("input", { type: "search", placeholder: filter, "aria-label": filter, autocomplete: "off" });
  sought.addEventListener("input", () => {
    const text = sought.value.trim().toLocaleLowerCase();
    for (const button of buttons) button.hidden = !button.dataset.label.toLocaleLowerCase().includes(text);
  });

  dialog.replaceChildren(
    el("h2", { id: "picker-title", tabindex: "-1" }, title, " ", words(shorten(item.name, 80))),
    el("div", { class: "item-body" },
      item.image ? el("img", { class: "item-image", src: item.image, alt: item.name }) : null, itemWords(item)),
    note ?? "",
    state.classes.length > state.session.limits.keys ? sought : "",
    state.classes.length
      ? el("div", { class: "classes" }, buttons)
      : el("p", { class: "empty" }, "There are no classes yet. Add one in the Label view with N."),
    el("div", { class: "actions" },
      extra.map(({ name, act }) =>
        el("button", { type: "button", data: { test: "picker-extra" }, onclick: () => choose(act) }, name)),
      el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel")));

  dialog.onkeydown = (event) => {
    if (event.target === sought || event.ctrlKey || event.altKey || event.metaKey || !$("single-keys").checked) return;
    const named = state.classes.find(({ key }) => key?.toLowerCase() === event.key.toLowerCase());
    if (!named) return;
    event.preventDefault();
    choose(() => picked(named.name));
  };
  dialog.showModal();
  // Not on the first class, where a second Enter would choose it unseen.
  (dialog.querySelector("[aria-pressed=true]") ?? $("picker-title")).focus();
}
