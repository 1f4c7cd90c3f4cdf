// The card beside the pointer: the item, its prediction, its chance.

import { $, el, words } from "../core/dom.js";
import { get } from "../core/api.js";
import { shorten, small, verdict } from "../item.js";
import { on } from "../core/state.js";

const most = 500; // items remembered

const known = new Map();
let wanted = null;
let drawn = null;

async function lookUp(id) {
  if (!known.has(id)) {
    if (known.size >= most) known.delete(known.keys().next().value);
    known.set(id, get(`/api/items/${id}`));
    known.get(id).catch(() => known.delete(id));
  }
  return known.get(id);
}

/** Show the card of an item near (x, y) on the window; `hint` says what a click or tap does. */
export async function showTip(id, x, y, hint) {
  wanted = id;
  // A pointer that only passes by asks the server nothing.
  if (!known.has(id)) await new Promise((go) => setTimeout(go, 50));
  if (wanted !== id) return null;
  let item;
  try {
    item = await lookUp(id);
  } catch {
    return null;
  }
  if (wanted !== id) return null;
  const tip = $("tip");
  if (drawn !== item) {
    const name = el("strong", {}, words(shorten(item.name, 60)));
    tip.replaceChildren(small(item, 160), el("div", {}, name, verdict(item), el("span", { class: "fine" }, hint)));
    drawn = item;
  }
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  // On the side where there is room: never under the finger, never off the window.
  const leftOf = x + 16 + width > innerWidth ? Math.max(8, x - 16 - width) : x + 16;
  const above = y + 16 + height > innerHeight ? Math.max(8, y - 16 - height) : y + 16;
  tip.style.transform = `translate(${leftOf}px, ${above}px)`;
  return item;
}

export function hideTip() {
  wanted = null;
  $("tip").hidden = true;
}

// New predictions make every remembered card out of date.
on("predictions", () => known.clear());
