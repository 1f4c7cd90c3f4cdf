// One item, drawn large or small.

import { el, words } from "./core/dom.js";
import { classNumber, state } from "./core/state.js";
import { paint } from "./core/colours.js";
import { chance, when } from "./core/numbers.js";

const patience = 3000; // ms for a slow image; then it is shown while it still loads

/** The image of an item once it can be painted without a flash; null where it cannot be shown. */
export async function loadedImage(item) {
  const image = el("img", { class: "item-image", alt: `The item ${item.name}`, data: { test: "item-image" } });
  image.src = item.image;
  try {
    await Promise.race([image.decode(), new Promise((go) => setTimeout(go, patience))]);
    return image;
  } catch {
    return null;
  }
}

export const namedLarge = (item) => state.session.kind === "node" && item.text === null && !item.image;

/** Everything about an item except its image. */
export function itemWords(item) {
  const parts = [];
  if (item.text !== null) {
    const length = item.text.length;
    const size = length < 120 ? "short" : length < 500 ? "middling" : "long";
    // Focusable, so that a long text can be scrolled by keyboard.
    parts.push(el("div", { class: `item-text ${size}`, dir: "auto", tabindex: length < 500 ? null : "0", data: { test: "item-text" } }, item.text.trim() ? item.text : "(empty)"));
  }
  if (namedLarge(item)) {
    parts.push(el("p", { class: "item-node", dir: "auto" }, item.name));
  }
  const rows = Object.entries(item.attributes ?? {});
  if (rows.length) parts.push(attributes(rows, item.unusual ?? []));
  return parts;
}

/** The columns of a row: of many, those with unusual values first. */
function attributes(rows, unusual) {
  const row = ([name, value]) => el("tr", {}, el("th", { scope: "row" }, words(name)), el("td", { dir: "auto" }, value));
  const group = (title, some) => el("tbody", {}, title ? el("tr", {}, el("th", { scope: "rowgroup", colspan: 2, class: "fine" }, title)) : null, some.map(row));
  if (!unusual.length) return el("table", { class: "attributes" }, group("", rows));
  const known = new Map(rows);
  return el("table", { class: "attributes" },
    group("Most unusual here", unusual.map((name) => [name, known.get(name)])),
    group(`The other ${rows.length - unusual.length} columns`, rows.filter(([name]) => !unusual.includes(name))));
}

export const shorten = (text, length) => (text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text);

/** A few words that tell the item from others, where there is no image. */
export function brief(item, length = 90) {
  if (item.text) return shorten(item.text, length);
  const rows = Object.entries(item.attributes ?? {});
  const named = rows.map(([name, value]) => `${name} ${value}`).join(", ");
  // Where there is no room for the columns' names, the values tell more without them.
  if (rows.length) return named.length <= length ? named : shorten(rows.map(([, value]) => value).join(" · "), length);
  return shorten(item.name, length);
}

/** The thumbnail, or short text in its place. */
export function small(item, length = 90) {
  if (item.thumbnail) return el("img", { class: "thumb", src: item.thumbnail, alt: item.name, loading: "lazy", decoding: "async" });
  return el("span", { class: "snippet", dir: "auto" }, brief(item, length));
}

/** The values of a row, each under its column's name. */
export function values(item) {
  const rows = Object.entries(item.attributes ?? {});
  if (!rows.length) return small(item);
  return el("span", { class: "values" }, rows.map(([name, value]) =>
    el("span", {}, el("span", { class: "fine" }, words(name)), " ", el("bdi", {}, value))));
}

/** Who gave the label and when; what it was set aside as; whether it was a check; what a model thinks. */
export function byWhom(item) {
  const parts = [];
  if (item.label !== null) parts.push(item.who ? el("span", {}, words(item.who), `, ${when(item.at)}`) : "came with the data");
  if (item.aside) parts.push(item.aside);
  if (item.check) parts.push("a check");
  if (item.model_label && item.model_label !== (item.label ?? item.prediction)) parts.push(el("span", {}, "model: ", words(item.model_label)));
  for (const { who, text } of item.notes ?? []) parts.push(el("span", { class: "noted", dir: "auto" }, words(who), ": ", text));
  return parts.length ? el("span", { class: "fine" }, parts.flatMap((part, i) => (i ? [" · ", part] : [part]))) : null;
}

/** A class by name with its colour. */
export function tag(label, more = "") {
  return paint(el("span", { class: "tag" }, el("span", { class: "chip" }), words(label), more), classNumber(label));
}

/** What is known about an item: its label, its prediction, or nothing yet. */
export function verdict(item) {
  if (item.label !== null) {
    const made = tag(item.label);
    made.classList.add("known");
    made.append(el("span", { class: "unseen" }, " (labelled)"));
    return made;
  }
  if (item.prediction !== null) return tag(item.prediction, el("span", { class: "chance" }, chance(item.chance)));
  return el("span", { class: "tag none" }, "not known yet");
}
