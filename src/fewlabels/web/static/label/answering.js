// Answer, skip, undo, ask about another item: everything that moves the question on.

import { $, el, words } from "../core/dom.js";
import { announce, hideBanner, notice, showBanner } from "../announce.js";
import { stopTrying, tryLater } from "../core/again.js";
import { get, post } from "../core/api.js";
import { deliver, isBusy, isStuck, remedy } from "../core/deliver.js";
import { press, pressButton, release } from "./classes.js";
import { alike, on, set, setClasses, state } from "../core/state.js";
import { suggestion } from "./question.js";

/** The new question first; the rest of the reply waits until the item is on the screen. */
function take({ question, standing }) {
  const off = on("shown", () => {
    off();
    set("standing", standing);
  });
  set("question", question);
}

/** The reply to a change made elsewhere on the page: it brings no question, the present one stays. */
export const note = (reply) => set("standing", reply.standing);

let asked = 0; // counts what may bring a question, so that a slow reply does not replace a newer one

function move(path, body, said) {
  asked++;
  release();
  deliver(path, { who: state.person, ...body }, (reply) => {
    announce(said);
    // An event without an item of its own may be undone without a question; the present one stays.
    reply.question || path !== "/api/undo" ? take(reply) : note(reply);
  }, (error) => {
    release();
    // A refusal may mean that the item is out of date; that there is nothing to undo says nothing about it.
    if (error && (path !== "/api/undo" || !state.question)) ask();
  });
}

/** Nothing is answered before it is on the screen, or twice: a key pressed too early is refused, and that is told. */
function ready() {
  if (isBusy()) return refuse("Your last answer is still on its way");
  if (state.shown !== state.question) return refuse("The next item is still loading");
  return state.shown !== null;
}

function refuse(why) {
  notice(`${why}: this was not taken. Press it again in a moment.`, 2500);
  return false;
}

export function answer(label) {
  if (ready()) answerTo(state.question.item.id, label);
}

function answerTo(item, label) {
  move("/api/answers", { item, label, next: true }, `Saved as ${label}.`);
  press(label);
}

export function accept() {
  const best = suggestion();
  if (best) answer(best.name);
  else if (state.shown) notice("There is no suggestion to accept: choose a class.", 2500);
}

export function skip(unsure = false) {
  if (!ready()) return;
  move("/api/skips", { item: state.question.item.id, unsure }, unsure ? "Kept as unsure." : "Skipped.");
  pressButton($(unsure ? "unsure" : "skip"));
}

/** Take back `event`, or the person's last one. Its item comes back as the question. */
export function undo(event = null) {
  if (isBusy()) return void refuse("Your last answer is still on its way");
  move("/api/undo", { event }, "Undone.");
  pressButton($("undo"));
}

/** Ask the server for a question: its own choice, or about `item`. */
export async function ask(item = null) {
  if (isBusy()) return;
  const mine = ++asked;
  try {
    const reply = await post("/api/question", { who: state.person, item });
    if (mine === asked) {
      if (!isStuck()) stopTrying();
      take(reply);
    }
  } catch (error) {
    if (error.status === undefined) throw error;
    if (mine !== asked || isStuck()) return; // what waits to be sent keeps its banner and its retry
    const again = () => { hideBanner(); ask(item); };
    if (error.status === 401) showBanner("The server was started anew and asks who you are.", () => location.reload(), null, "Enter the token");
    else showBanner(error.status === 0 ? `${error.message}. It is asked again in a moment.` : error.message, again, remedy(error, again));
    if (error.status === 0) tryLater(again);
  }
}

/**
 * Add a class; with `thenAnswer` it is also the answer to the item on the screen now, whatever is there once the class is
 * kept. `sure`: though there is one much like it.
 */
function addClass(name, thenAnswer, added, sure) {
  const known = state.classes.some((one) => one.name === name);
  const meant = thenAnswer ? state.question : null;
  if (isBusy()) return void refuse("Your last answer is still on its way");
  if (meant && !ready()) return;
  const go = () => {
    added();
    if (meant) answerTo(meant.item.id, name);
  };
  if (known) return go();
  deliver("/api/classes", { who: state.person, name, sure }, (reply) => {
    setClasses(reply);
    announce(`New class ${name}.`);
    go();
  });
}

export const reloadClasses = async () => setClasses(await get("/api/classes"));

export function startAnswering() {
  on("shown", (question) => { $("skip").disabled = $("unsure").disabled = !question; });
  $("accept").addEventListener("click", accept);
  $("skip").addEventListener("click", () => skip());
  $("unsure").addEventListener("click", () => skip(true));
  $("undo").addEventListener("click", () => undo());

  startNewClass();
}

/** The field for a new class. A name much like another's is asked back: most often it is a slip. */
function startNewClass() {
  const field = $("new-class-input");
  const asked = $("new-class-alike");
  const done = () => { field.value = ""; $("new-class-choice").hidden = asked.hidden = true; field.blur(); };
  const add = (thenAnswer, sure = false) => {
    const name = field.value.trim();
    const like = sure || state.classes.some((one) => one.name === name) ? undefined : alike(name);
    if (like) meantAnother(name, like.name, thenAnswer);
    else if (name) addClass(name, thenAnswer, done, sure);
  };
  const meantAnother = (name, like, thenAnswer) => {
    const button = (test, act, ...words) => el("button", { type: "button", data: { test }, onclick: act }, ...words);
    asked.replaceChildren(el("p", {}, "There is a class “", words(like), "”: did you mean it?"),
      button("alike-yes", () => { done(); if (thenAnswer) answer(like); }, "Yes, ", words(like)),
      button("alike-no", () => add(thenAnswer, true), "No, add ", words(name)));
    asked.hidden = false;
    $("new-class-choice").hidden = true;
    announce(`There is a class ${like}: did you mean it?`);
    asked.querySelector("button").focus();
  };
  field.addEventListener("input", () => { $("new-class-choice").hidden = !field.value.trim(); asked.hidden = true; });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.blur();
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    add(!event.shiftKey);
  });
  $("new-class").addEventListener("submit", (event) => { event.preventDefault(); add(true); });
  $("new-class-only").addEventListener("click", () => add(false));
  asked.addEventListener("keydown", (event) => { if (event.key === "Escape") { asked.hidden = true; field.focus(); } });
}
