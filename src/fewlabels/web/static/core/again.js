// Try again until the server is back: soon at first, then more rarely, and at once when the network returns.

const soonest = 700, latest = 8000; // ms

let timer = null;
let wait = soonest;
let act = null;

/** Call `next` in a while; the same call again waits longer. */
export function tryLater(next) {
  clearTimeout(timer);
  act = next;
  timer = setTimeout(now, wait);
  wait = Math.min(latest, wait * 1.6);
}

function now() {
  clearTimeout(timer);
  const next = act;
  act = null;
  next?.();
}

/** It worked, or something else is tried. */
export function stopTrying() {
  clearTimeout(timer);
  act = null;
  wait = soonest;
}

addEventListener("online", now);
document.addEventListener("visibilitychange", () => document.hidden || now());
