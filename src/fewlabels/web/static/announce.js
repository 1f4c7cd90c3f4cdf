// Tell a screen reader what happened, and everyone what went wrong.

import { $ } from "./core/dom.js";

/** Spoken politely. Sentences that come together are joined, because the later one would cut off the earlier. */
let pending = [];
export function announce(sentence) {
  if (!pending.length) setTimeout(() => { $("announcer").textContent = pending.join(" "); pending = []; }, 60);
  pending.push(sentence);
}

let again = null;

/** The banner: `retry` is what "Try again" does, null where trying again makes no sense. */
export function showBanner(sentence, retry = null) {
  again = retry;
  $("banner-text").textContent = sentence;
  $("retry").hidden = !retry;
  $("banner-close").hidden = Boolean(retry);
  $("banner").hidden = false;
}

export function hideBanner() {
  again = null;
  $("banner").hidden = true;
}

export function startBanner() {
  $("retry").addEventListener("click", () => again?.());
  $("banner-close").addEventListener("click", hideBanner);
}
