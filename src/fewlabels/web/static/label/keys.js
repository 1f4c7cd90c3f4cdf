// The keys of the label view, and those that work everywhere.

import { $, el, kbd } from "../core/dom.js";
import { on, state } from "../core/state.js";
import { tag } from "../item.js";
import { accept, answer, skip, undo } from "./answering.js";
import { openExport } from "../export.js";
import { manage } from "./manage.js";
import { writeNote } from "./notes.js";
import { showGuidelines } from "../guidelines.js";
import { notice } from "../announce.js";
import { show } from "../views.js";

const typing = (element) => element.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;
const pressable = (element) => element.closest("button, a, summary, input, canvas") !== null;

export const singleKeys = () => $("single-keys").checked;

/** The class that has this key, or undefined. */
export const classOfKey = (key) => state.classes.find((one) => one.key !== null && one.key.toLowerCase() === key.toLowerCase());

const help = () => $("help-dialog").showModal();
const everywhere = { h: help, "?": help, g: () => showGuidelines(), r: () => show(state.view === "review" ? "label" : "review") };

const labelling = {
  u: () => skip(true),
  n: () => $("new-class-input").focus(),
  c: () => manage(),
  m: () => writeNote(),
  "/": () => ($("filter-row").hidden ? null : $("filter").focus()),
  backspace: () => undo(),
};

function onKey(event) {
  const target = event.target instanceof Element ? event.target : document.body;
  if (event.defaultPrevented || event.isComposing || typing(target) || document.querySelector("dialog[open]")) return;
  const key = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && key === "z" && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    undo();
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || !singleKeys()) return;
  const action = (event.shiftKey && key === "e" ? openExport : everywhere[key]) ?? (state.view === "label" ? labelKey(key, target, event) : null);
  if (!action && state.view === "label" && state.classes.length && /^[a-z0-9]$/.test(key)) notice(`No class has the key ${key.toUpperCase()}.`, 2000);
  if (!action) return;
  event.preventDefault();
  action();
}

/** Where digits need Shift, as on French keyboards, the key in their place counts. */
const digitOf = (event) => (event.shiftKey ? undefined : /^Digit(\d)$/.exec(event.code)?.[1]);

function labelKey(key, target, event) {
  // A focused button answers to Enter and Space itself.
  if (key === "enter") return pressable(target) ? null : accept;
  if (key === " ") return pressable(target) ? null : () => skip();
  const named = classOfKey(key) ?? classOfKey(digitOf(event) ?? key);
  return labelling[key] ?? (named ? () => answer(named.name) : null);
}

/** The keys in force: those of the classes, and only what there is. */
function listKeys(classes) {
  $("class-keys").replaceChildren(...classes.filter(({ key }) => key !== null).map(({ key, name, description }) =>
    el("li", {}, kbd(key), tag(name), description ? el("span", { class: "fine" }, description) : null)));
  $("key-filter").hidden = $("filter-row").hidden;
  $("key-guidelines").hidden = !state.session?.guidelines;
}

export function startKeys() {
  on("classes", listKeys);
  document.addEventListener("keydown", onKey);
  // A button clicked with the mouse would keep the focus, and then Enter would press it again instead of accepting.
  document.addEventListener("mousedown", (event) => {
    if (!event.target.closest("button, canvas") || event.target.closest("dialog")) return;
    event.preventDefault();
    if (typing(document.activeElement)) document.activeElement.blur();
  });
  $("help").addEventListener("click", everywhere.h);
  const kept = "fewlabels.single-keys";
  try { $("single-keys").checked = localStorage.getItem(kept) !== "off"; } catch { /* storage is forbidden */ }
  $("single-keys").addEventListener("change", () => {
    try { localStorage.setItem(kept, singleKeys() ? "on" : "off"); } catch { /* kept for this visit only */ }
  });
}
