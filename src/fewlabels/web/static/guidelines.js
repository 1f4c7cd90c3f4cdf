// How to label, as whoever started this wrote it down: one key away.

import { $, el } from "./core/dom.js";
import { get } from "./core/api.js";
import { markdown } from "./core/markdown.js";
import { notice } from "./announce.js";
import { on, state } from "./core/state.js";

export async function showGuidelines() {
  if (!state.session.guidelines) {
    notice("There are no guidelines: they are given with --guidelines FILE.md.", 4000);
    return;
  }
  $("guidelines-text").replaceChildren(el("p", { class: "fine" }, "One moment."));
  $("guidelines-dialog").showModal();
  try {
    $("guidelines-text").replaceChildren(...markdown((await get("/api/guidelines")).text));
  } catch (error) {
    if (error.status === undefined) throw error;
    $("guidelines-text").replaceChildren(el("p", {}, error.message));
  }
  $("guidelines-title").focus();
}

export function startGuidelines() {
  on("session", ({ guidelines }) => { $("guidelines").hidden = !guidelines; });
  $("guidelines").addEventListener("click", showGuidelines);
}
