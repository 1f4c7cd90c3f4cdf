// Tell a screen reader what happened, and everyone what went wrong.

import { $ } from "./core/dom.js";

/** Spoken politely. Sentences that come together are joined, because the later one would cut off the earlier. */
let pending = [];
export function announce(sentence) {
  if (!pending.length) setTimeout(() => { $("announcer").textContent = pending.join(" "); pending = []; }, 60);
  pending.push(sentence);
}

let again = null;
let rescue = null;

/**
 * The banner: `retry` is what "Try again" (or `name`) does, null where trying again makes no sense; `save` what "Write a new
 * file" does, where the file of answers is gone.
 */
export function showBanner(sentence, retry = null, save = null, name = "Try again") {
  again = retry;
  rescue = save;
  $("banner-text").textContent = sentence;
  $("retry").hidden = !retry;
  $("retry").textContent = name;
  $("rescue").hidden = !save;
  $("banner-close").hidden = Boolean(retry);
  // What lies behind an open dialog cannot be reached.
  document.querySelector("dialog[open]")?.prepend($("banner"));
  $("banner").hidden = false;
}

export function hideBanner() {
  again = rescue = null;
  $("banner").hidden = true;
  putBack();
}

const putBack = () => { if ($("banner").closest("dialog")) $("announcer").before($("banner")); };

let fading = null;

/** A short message that goes away by itself: what others changed, what a key did. */
export function notice(sentence, stay = 6000) {
  clearTimeout(fading);
  $("notice").textContent = sentence;
  $("notice").hidden = false;
  fading = setTimeout(() => { $("notice").hidden = true; }, stay);
}

/** Where the answers are kept. */
export const showStore = (path) => { $("store").textContent = `, in ${path}`; };

export function startBanner() {
  $("rescue").addEventListener("click", () => rescue?.());
  document.addEventListener("keydown", (event) => {
    if (!rescue || event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    rescue();
  });
  document.addEventListener("close", putBack, true);
  $("retry").addEventListener("click", () => again?.());
  $("banner-close").addEventListener("click", hideBanner);
}
