// Bring one change to the server. Nothing on the page moves on until the server has said yes.

import { freshKey, post } from "./api.js";
import { announce, hideBanner, showBanner, showStore } from "../announce.js";

const patience = 800; // ms until the person is told that the server is slow

let busy = false;
let stuck = null; // the change that did not get through, as it was sent

export const isBusy = () => busy;

const same = (a, b) => JSON.stringify({ ...a, key: "" }) === JSON.stringify({ ...b, key: "" });

/**
 * Send `body` with a fresh key and hand the reply to `done`.
 * If the server is away for now, the banner offers to send the same body with the same key again.
 * If it refuses for good, `refused` gets the error. Returns false when another change is still on its way.
 */
export function deliver(path, body, done, refused = () => {}) {
  if (busy) return false;
  // Pressing the same key again is trying again: the old key keeps it from counting twice.
  const key = stuck && stuck.path === path && same(stuck.body, body) ? stuck.body.key : freshKey();
  stuck?.refused(null);
  attempt({ path, body: { ...body, key }, done, refused });
  return true;
}

async function attempt(change) {
  busy = true;
  const slow = setTimeout(() => showBanner("Waiting for the server. Your answer is on its way."), patience);
  stuck = null;
  document.body.dataset.busy = "";
  try {
    const reply = await post(change.path, change.body);
    clearTimeout(slow);
    settle();
    hideBanner();
    change.done(reply);
  } catch (error) {
    clearTimeout(slow);
    settle();
    if (error.status === undefined) throw error; // a bug in the page, not the server's refusal: let it be seen
    if (error.passing) {
      stuck = change;
      const sentence = error.status === 0 ? "The server cannot be reached: your answer is still here." : error.message;
      const again = () => busy || attempt(change);
      showBanner(sentence, again, remedy(error, again));
    } else {
      showBanner(error.status === 401 ? `${error.message} Reload the page to enter the token.` : error.message);
      change.refused(error);
    }
  }
}

/** The file of answers is gone: have them all written into a new one, then go on. */
export const remedy = (error, then) => (error.offer === "new-store" ? () => writeStore(then) : null);

async function writeStore(then) {
  try {
    const { store } = await post("/api/store", {});
    showStore(store);
    announce(`All answers so far are in the new file ${store}.`);
    then();
  } catch (error) {
    if (error.status === undefined) throw error;
    showBanner(error.message, then, () => writeStore(then));
  }
}

function settle() {
  busy = false;
  delete document.body.dataset.busy;
}

/** Leaving now would lose an answer: let the browser ask. */
addEventListener("beforeunload", (event) => {
  if (stuck) event.preventDefault();
});
