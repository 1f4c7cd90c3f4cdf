// Label, Review, People, Disagreements: one at a time, the address says which.

import { $ } from "./core/dom.js";
import { set, state } from "./core/state.js";

const names = ["label", "review", "people", "disagreements"];

export function show(name) {
  for (const one of names) $(`view-${one}`).hidden = one !== name;
  for (const tab of document.querySelectorAll(".tabs button")) {
    tab.dataset.view === name ? tab.setAttribute("aria-current", "page") : tab.removeAttribute("aria-current");
  }
  document.body.dataset.view = name;
  history.replaceState(null, "", name === "label" ? location.pathname : `#${name}`);
  scrollTo(0, 0);
  // Keys go to what is on the page now, not to a button in a view that is hidden.
  if (document.activeElement?.closest(".view[hidden]")) document.activeElement.blur();
  set("view", name);
}

/** A side taller than the window scrolls along until its end is seen, and stays there: the map is never out of reach. */
function keepSide() {
  const side = document.querySelector(".side");
  const margin = 14;
  const place = () => side.style.setProperty("--side-top", `${Math.min(margin, innerHeight - side.offsetHeight - margin)}px`);
  new ResizeObserver(place).observe(side);
  addEventListener("resize", place);
}

export function startViews() {
  keepSide();
  for (const tab of document.querySelectorAll(".tabs button")) tab.addEventListener("click", () => show(tab.dataset.view));
}

/** Show the view that the address names, or else the current one. */
export function firstView() {
  const named = location.hash.slice(1);
  show(names.includes(named) ? named : state.view);
}
