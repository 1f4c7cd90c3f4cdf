// The answers stay in sight: the item gets the room they leave, scrolls in it, and unfolds on request.

import { $ } from "../core/dom.js";

const least = 130; // px for the item, however many classes there are
const margin = 10; // px below the answers

let unfolded = false;

/** How high the item may be so that the buttons below it are on the screen. */
function room() {
  const body = $("item-body").getBoundingClientRect();
  const below = document.querySelector(".answers").getBoundingClientRect().bottom - body.bottom;
  return Math.max(least, innerHeight - (body.top + scrollY) - below - margin);
}

export function fit() {
  const body = $("item-body");
  if (document.body.dataset.view !== "label" || !body.clientWidth) return;
  body.style.setProperty("--room", unfolded ? "none" : `${Math.floor(room())}px`);
  const hidden = !unfolded && body.scrollHeight > body.clientHeight + 2;
  body.classList.toggle("folded", hidden);
  hidden ? body.setAttribute("tabindex", "0") : body.removeAttribute("tabindex"); // so that keys can scroll it
  $("unfold").hidden = !hidden && !unfolded;
  $("unfold").textContent = unfolded ? "Show less" : "Show all";
  $("unfold").setAttribute("aria-expanded", String(unfolded));
}

/** Another item: folded again, and from its top. */
export function refold() {
  unfolded = false;
  $("item-body").scrollTop = 0;
  fit();
}

export function startFolding() {
  $("unfold").addEventListener("click", () => { unfolded = !unfolded; fit(); });
  const watch = new ResizeObserver(() => fit());
  for (const part of [document.querySelector(".answers"), $("suggestion"), document.querySelector(".top")]) watch.observe(part);
  addEventListener("resize", fit);
}
