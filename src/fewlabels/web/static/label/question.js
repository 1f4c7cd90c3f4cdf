// The question: the item, why it came, and what the model would say.

import { $, el, words } from "../core/dom.js";
import { announce } from "../announce.js";
import { on, set, state } from "../core/state.js";
import { itemWords, namedLarge, shorten, loadedImage, tag } from "../item.js";
import { chance } from "../core/numbers.js";
import { refold } from "./fold.js";

const reasons = {
  chosen: "Chosen because the answer teaches the most",
  check: "A check: drawn at random",
  requested: "You picked this one",
  "second opinion": "A second opinion: someone else answered it too",
  again: "Back again for a new answer",
};

const unseen = {
  check: "A check: no suggestion, so that your answer is your own.",
  "second opinion": "No suggestion, so that your opinion is your own.",
};

/** The most likely class of the question, or null while nothing is known. */
export function suggestion(question = state.shown) {
  if (!question) return null;
  const likely = question.chances.reduce((best, one) => (best && best.chance >= one.chance ? best : one), null);
  if (likely) return likely;
  const { prediction, chance: share } = question.item;
  return prediction === null ? null : { name: prediction, chance: share };
}

let shown = 0; // counts questions, so that an image that comes late does not replace a newer one

async function show(question) {
  const mine = ++shown;
  const image = question?.item.image ? await loadedImage(question.item) : null;
  if (mine !== shown) return;
  question ? drawItem(question, image) : drawNothing();
  drawSuggestion(question);
  document.body.dataset.item = question ? question.item.id : "";
  document.body.dataset.reason = question?.reason ?? "";
  set("shown", question);
  speak(question);
}

function drawItem(question, image) {
  const { item } = question;
  $("item-name").replaceChildren(words(item.name));
  // A node with no picture and no text is its name, written large below.
  $("item-name").classList.toggle("unseen", namedLarge(item));
  $("reason").textContent = reasons[question.reason] ?? "";
  const missing = item.image && !image ? [el("p", { class: "empty" }, "The image cannot be shown.")] : [];
  $("item-body").replaceChildren(...(image ? [image] : missing), ...itemWords(item));
  refold();
}

function drawNothing() {
  $("item-name").classList.remove("unseen");
  $("item-name").textContent = "Nothing left to ask";
  $("reason").textContent = "";
  $("item-body").replaceChildren(el("p", { class: "empty" },
    "Every item is answered or put aside. Look through Review, or export the labels."));
  announce("Nothing is left to ask you.");
}

function drawSuggestion(question) {
  const best = suggestion(question);
  const fine = (text) => el("span", { class: "fine" }, text);
  $("suggestion").hidden = !question || !state.classes.length;
  $("accept").hidden = !best;
  if (!question) return;
  const before = question.item.label === null ? [] : [fine("Labelled"), tag(question.item.label), fine("so far.")];
  $("suggestion-words").replaceChildren(...before, ...(best
    ? [fine("Looks like"), tag(best.name, el("span", { class: "chance" }, chance(best.chance)))]
    : [fine(question.blind ? unseen[question.reason] : "No suggestion yet: nothing like it has been labelled.")]));
}

function speak(question) {
  if (!question) return;
  const best = suggestion(question);
  const none = question.blind ? unseen[question.reason] : "No suggestion yet.";
  const said = best ? `Suggestion: ${best.name}, ${chance(best.chance)}.` : none;
  const text = question.item.text ? ` ${shorten(question.item.text, 300)}` : "";
  announce(`Question: ${question.item.name}.${text} ${said}`);
}

export function startQuestion() {
  on("question", show);
  on("classes", () => drawSuggestion(state.shown));
}
