// A short tour on the first visit; it can be left at once, and is remembered in the browser.

import { $, el, kbd } from "./core/dom.js";
import { on } from "./core/state.js";

const kept = "fewlabels.tour";

const steps = [
  [".item", "One question at a time", "This is the item to label. It was chosen because its answer says most about all the others."],
  [".answers", "Answer with a key", ["Press the key on a button, or ", kbd("Enter"), " for the suggestion. ", kbd("Space"), " skips, ", kbd("⌫"), " takes back. A class is missing? ", kbd("N"), "."]],
  [".standing", "When to stop", "Every answer is saved at once. After some, items drawn at random check how wrong the predictions are; this tells you when you can stop."],
  [".tabs", "Look through everything", ["Review lists all items, the most doubtful first. ", kbd("?"), " shows all keys."]],
];

let place = 0;

const seen = () => { try { return localStorage.getItem(kept) !== null; } catch { return true; } };

function leave() {
  try { localStorage.setItem(kept, "seen"); } catch { /* storage is forbidden: there was no tour */ }
  document.querySelector(".toured")?.classList.remove("toured");
  $("tour").hidden = true;
}

function draw() {
  document.querySelector(".toured")?.classList.remove("toured");
  if (place === steps.length) return leave();
  const [where, title, words] = steps[place];
  const part = document.querySelector(where);
  part.classList.add("toured");
  const last = place === steps.length - 1;
  $("tour").replaceChildren(
    el("h2", {}, title), el("p", {}, words),
    el("div", { class: "actions" },
      el("span", { class: "fine" }, `${place + 1} of ${steps.length}`),
      last ? null : el("button", { type: "button", class: "quiet", data: { test: "tour-skip" }, onclick: leave }, "Skip"),
      el("button", { type: "button", class: "primary", data: { test: "tour-next" }, onclick: () => { place++; draw(); if (place < steps.length) $("tour").querySelector(".primary").focus(); } }, last ? "Start" : "Next")));
}

export function tour() {
  place = 0;
  $("help-dialog").close();
  $("tour").hidden = false;
  draw();
  $("tour").querySelector(".primary").focus();
}

export function startTour() {
  $("tour-again").addEventListener("click", tour);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !$("tour").hidden && !document.querySelector("dialog[open]")) leave(); });
  // Not taken to it by force: whoever knows the page goes on with keys.
  const off = on("shown", () => {
    off();
    if (seen() || $("name-dialog").open) return;
    $("tour").hidden = false;
    draw();
  });
}
