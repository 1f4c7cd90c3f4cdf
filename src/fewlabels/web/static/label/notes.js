// Notes on the item: what people wrote, and a field for one's own.

import { $, el, words } from "../core/dom.js";
import { announce } from "../announce.js";
import { deliver } from "../core/deliver.js";
import { on, state } from "../core/state.js";
import { when } from "../core/numbers.js";
import { fit } from "./fold.js";

const mine = () => state.shown?.item.notes.find(({ who }) => who === state.person)?.text ?? "";

function draw() {
  const notes = state.shown?.item.notes ?? [];
  $("notes").hidden = !notes.length;
  $("notes").replaceChildren(...notes.map(({ who, text, at }) => el("li", { data: { test: "note" }, title: when(at) },
    el("span", { class: "fine" }, words(who), ": "), el("span", { dir: "auto" }, text))));
  $("note-button").disabled = !state.shown;
  fit();
}

/** Open the field for a note on the item on the screen. */
export function writeNote() {
  if (!state.shown) return;
  $("note-form").hidden = false;
  $("note-input").value = mine();
  $("note-input").focus();
  fit();
}

function close() {
  $("note-form").hidden = true;
  $("note-input").blur();
  fit();
}

function keep() {
  const { item } = state.shown;
  const text = $("note-input").value.trim();
  if (text === mine()) return close();
  deliver("/api/notes", { who: state.person, item: item.id, text }, (reply) => {
    if (state.shown?.item.id === item.id) {
      const mineOnly = ({ who }) => who === state.person;
      state.shown.item.notes = state.shown.blind ? reply.item.notes.filter(mineOnly) : reply.item.notes;
    }
    announce(text ? "The note is kept." : "The note is removed.");
    close();
    draw();
  });
}

export function startNotes() {
  on("shown", () => { close(); draw(); });
  on("session", ({ limits }) => { $("note-input").maxLength = limits.note; });
  $("note-button").addEventListener("click", writeNote);
  $("note-form").addEventListener("submit", (event) => { event.preventDefault(); keep(); });
  $("note-cancel").addEventListener("click", close);
  $("note-input").addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    keep();
  });
}
