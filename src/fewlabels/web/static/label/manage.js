// The dialog in which classes are renamed, merged, removed, moved, painted and described.

import { $, el, words } from "../core/dom.js";
import { announce, hideBanner } from "../announce.js";
import { get } from "../core/api.js";
import { paint, paintWith } from "../core/colours.js";
import { deliver } from "../core/deliver.js";
import { on, setClasses, state } from "../core/state.js";
import { ask, reloadClasses } from "./answering.js";
import { small } from "../item.js";
import { count, plural } from "../core/numbers.js";

const swatches = 12;

let open = null; // the class whose settings are shown, by its id
let changes = 0; // made in this dialog, and not taken back

function say(sentence) {
  $("manage-said").textContent = sentence;
}

/** Make one change; `said` is the sentence when it is done, `focus` what gets the focus then. */
function change(one, what, value, said, focus = null) {
  deliver("/api/classes/change", { who: state.person, do: what, name: one.name, value }, (reply) => {
    changes++;
    setClasses(reply);
    say(said);
    document.querySelector(focus ?? "#manage-none")?.focus();
    ask(); // the question under the new names
  }, refused);
}

async function refused(error) {
  if (!error) return;
  hideBanner();
  say(error.message);
  await reloadClasses().catch(() => {}); // someone else may have changed them
}

function undoLast() {
  deliver("/api/undo", { who: state.person, event: null, next: false }, async () => {
    changes--;
    await reloadClasses();
    say("Taken back.");
    $("manage-undo").disabled = !changes;
    if (!changes) $("manage-title").focus();
    ask();
  }, refused);
}

function move(one, by) {
  const names = state.classes.map(({ name }) => name);
  const place = names.indexOf(one.name);
  const before = by < 0 ? names[place - 1] : names[place + 2] ?? null;
  change(one, "move", before, `“${one.name}” has moved.`, `[data-class="${one.id}"] [data-move="${by}"]`);
}

function row(one, place) {
  const last = state.classes.length - 1;
  const arrow = (by, sign, word) => el("button", {
    type: "button", class: "quiet icon", "aria-label": `Move ${one.name} ${word}`, data: { move: by },
    disabled: by < 0 ? place === 0 : place === last, onclick: () => move(one, by),
  }, el("span", { "aria-hidden": "true" }, sign));
  const shown = open === one.id;
  const edit = el("button", {
    type: "button", class: "quiet", "aria-expanded": String(shown), "aria-label": `Change ${one.name}`,
    data: { test: "manage-edit", label: one.name }, onclick: () => { open = shown ? null : one.id; draw(); focusOn(one, shown ? "[data-test=manage-edit]" : "input"); },
  }, shown ? "Less" : "Change");
  return paint(el("li", { data: { class: one.id } },
    el("div", { class: "manage-row" },
      el("kbd", {}, one.key?.toUpperCase() ?? "–"), el("span", { class: "chip" }),
      el("span", { class: "manage-name" }, words(one.name), one.description ? el("span", { class: "fine" }, one.description) : null),
      arrow(-1, "↑", "up"), arrow(1, "↓", "down"), edit),
    shown ? settings(one) : null), place);
}

const focusOn = (one, what) => document.querySelector(`[data-class="${one.id}"] ${what}`)?.focus();

/** A field whose value is kept with Enter, or when it is left. */
function field(one, name, what, value, more, said) {
  const input = el("input", { value, "aria-label": `${name} of ${one.name}`, autocomplete: "off", data: { test: `manage-${what}` }, ...more });
  const keep = () => {
    const now = input.value.trim();
    if (now === value) return;
    if (what === "rename" && !now) { input.value = value; return; }
    const other = what === "rename" && state.classes.find((each) => each.id !== one.id && each.name === now);
    if (other) merge(one, other);
    else change(one, what, now, said(now), `[data-class="${one.id}"] [data-test="manage-${what}"]`);
  };
  input.addEventListener("change", keep);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || input.value === value) return;
    event.preventDefault(); // what was typed goes, the dialog stays
    input.value = value;
  });
  return el("label", {}, el("span", {}, name), input);
}

function settings(one) {
  const others = state.classes.filter(({ id }) => id !== one.id);
  const colours = el("div", { class: "swatches", role: "group", "aria-label": `Colour of ${one.name}` },
    Array.from({ length: swatches }, (_, number) => paintWith(el("button", {
      type: "button", class: "swatch", "aria-pressed": String(number === one.colour), "aria-label": `Colour ${number + 1}`, data: { colour: number },
      onclick: () => change(one, "colour", String(number), `“${one.name}” has another colour.`, `[data-class="${one.id}"] [data-colour="${number}"]`),
    }), number)));
  const into = el("select", { "aria-label": `Merge ${one.name} into`, data: { test: "manage-merge" }, disabled: !others.length },
    el("option", { value: "" }, "Merge into …"), others.map(({ id, name }) => el("option", { value: id }, name)));
  into.addEventListener("change", () => into.value && merge(one, others.find(({ id }) => id === Number(into.value))));
  return el("div", { class: "manage-settings" },
    field(one, "Name", "rename", one.name, { maxlength: state.session.limits.class_name }, (now) => `“${one.name}” is now “${now}”.`),
    field(one, "Key", "key", one.key ?? "", { maxlength: 1, class: "one-key" }, (now) => (now ? `“${one.name}” has the key ${now.toUpperCase()}.` : `“${one.name}” has no key.`)),
    field(one, "Description", "describe", one.description, { maxlength: state.session.limits.description, placeholder: "What belongs to it; shown on hover" }, () => "The description is kept."),
    colours,
    el("div", { class: "actions" }, into,
      el("button", { type: "button", data: { test: "manage-remove" }, onclick: () => remove(one) }, "Remove …")),
    el("div", { class: "manage-ask" }));
}

/** What the class has been given to, shown before anything happens to it. */
async function consider(one, sentence, action, test, act) {
  if (open !== one.id) return;
  let reply;
  try {
    reply = await get(`/api/classes/answers?name=${encodeURIComponent(one.name)}`);
  } catch (error) {
    if (error.status === undefined) throw error;
    say(error.message);
    return;
  }
  const place = document.querySelector(`[data-class="${one.id}"] .manage-ask`);
  if (!place) return;
  const who = reply.people.map(({ name, answers }) => `${name === "table" ? "the data" : name} ${count(answers)}`).join(", ");
  const left = reply.total - reply.items.length;
  place.replaceChildren(
    el("p", {}, sentence(reply.total), reply.total ? el("span", { class: "fine" }, ` (${who})`) : ""),
    el("ul", { class: "manage-items" }, reply.items.map((item) => el("li", { data: { test: "manage-item" } }, small(item, 60))),
      left > 0 ? el("li", { class: "fine" }, `and ${count(left)} more`) : null),
    el("div", { class: "actions" },
      el("button", { type: "button", class: "quiet", onclick: () => { place.replaceChildren(); focusOn(one, "[data-test=manage-edit]"); } }, "Keep it"),
      el("button", { type: "button", class: "primary", data: { test }, onclick: act }, action)));
  place.querySelector(".primary").focus();
  place.scrollIntoView({ block: "nearest" });
  announce(place.querySelector("p").textContent);
}

function merge(one, other) {
  consider(one,
    (many) => (many
      ? [plural(many, "item"), " called “", words(one.name), "”, and all to come, are ", words(other.name), " from now on."]
      : ["“", words(one.name), "” is ", words(other.name), " from now on."]),
    "Merge", "manage-merge-yes",
    () => change(one, "merge", other.name, `“${one.name}” is “${other.name}” now.`, `[data-class="${other.id}"] [data-test=manage-edit]`));
}

function remove(one) {
  consider(one,
    (many) => (many ? ["Without “", words(one.name), `” ${plural(many, "item loses", "items lose")} an answer; what has no other is asked again:`] : ["Nothing has been called “", words(one.name), "”."]),
    "Remove", "manage-remove-yes",
    () => change(one, "remove", null, `“${one.name}” is removed.`, "#manage-title"));
}

function draw() {
  if (!$("manage-dialog").open) return;
  const nothing = el("li", { class: "empty" }, "There are no classes yet.");
  $("manage-list").replaceChildren(...(state.classes.length ? state.classes.map(row) : [nothing]));
  $("manage-undo").disabled = !changes;
}

export function manage() {
  changes = 0;
  open = null;
  say("");
  $("manage-dialog").showModal();
  draw();
  $("manage-title").focus();
}

export function startManaging() {
  $("manage").addEventListener("click", manage);
  $("manage-close").addEventListener("click", () => $("manage-dialog").close());
  $("manage-undo").addEventListener("click", undoLast);
  on("classes", draw);
}
