// Bring one change to the server. Nothing on the page moves on until the server has said yes.

import { freshKey, post } from "./api.js";
import { announce, hideBanner, showBanner, showStore } from "../announce.js";
import { stopTrying, tryLater } from "./again.js";
import { drop, keep, kept } from "./queued.js";
import { state } from "./state.js";

const patience = 800; // ms until the person is told that the server is slow

let busy = false;
let stuck = null; // the change that did not get through, as it was sent
let entering = false; // it waits for the token, which a reload asks for

export const isBusy = () => busy;
export const isStuck = () => stuck !== null;

/** What a server labels: an answer that waited goes to no other. Not the path of its store, which a rescue changes. */
const home = ({ fingerprint }) => fingerprint;

const same = (a, b) => JSON.stringify({ ...a, key: "" }) === JSON.stringify({ ...b, key: "" });

/** Whether both say what the same item is: then the later one counts. A note stands beside an answer. */
const replaces = (later, before) => later.body.item !== undefined && later.body.item === before.body.item
  && ![later, before].some(({ path }) => path === "/api/notes");

/**
 * Send `body` with a fresh key and hand the reply to `done`.
 * If the server is away, the same body is sent with the same key until it is back, which counts once.
 * If it refuses for good, `refused` gets the error. Returns false when another change is still on its way.
 */
export function deliver(path, body, done, refused = () => {}) {
  if (busy) return false;
  const before = stuck;
  // Pressing the same key again is trying again: the old key keeps it from counting twice.
  const again = before !== null && before.path === path && same(before.body, body);
  const change = { path, body: { ...body, key: again ? before.body.key : freshKey() }, done, refused };
  stopTrying();
  if (before && !again && !replaces(change, before)) {
    // It is about something else: what waits goes first, and neither is lost.
    keepHere(change);
    const next = () => (busy || stuck ? setTimeout(next, 50) : attempt(change)); // it may have brought on another change
    attempt({
      ...before,
      done: (reply) => { before.done(reply); next(); },
      refused: (error) => { before.refused(error); next(); },
    });
    return true;
  }
  if (before) {
    drop(before);
    before.refused(null);
  }
  attempt(change);
  return true;
}

async function attempt(change) {
  busy = true;
  const slow = setTimeout(() => showBanner("Waiting for the server. Your answer is on its way."), patience);
  stuck = null;
  entering = false;
  document.body.dataset.busy = "";
  try {
    const reply = await post(change.path, change.body);
    clearTimeout(slow);
    settle();
    stopTrying();
    drop(change);
    hideBanner();
    change.done(reply);
  } catch (error) {
    clearTimeout(slow);
    settle();
    if (error.status === undefined) throw error; // a bug in the page, not the server's refusal: let it be seen
    if (error.passing) wait(change, error);
    else if (error.status === 401) enter(change);
    else {
      drop(change);
      showBanner(error.message);
      change.refused(error);
    }
  }
}

const keepHere = (change) => keep({ ...change, home: home(state.session) });

/** It stays here until it can be sent. */
function wait(change, error) {
  stuck = change;
  const away = error.status === 0;
  const again = () => busy || attempt(change);
  keepHere(change);
  showBanner(away ? "The server cannot be reached: your answer is still here, and is sent when it is back." : error.message, again, remedy(error, again));
  if (away) tryLater(again);
}

/** The server was started anew and does not know this browser: what waits is sent once it does. */
function enter(change) {
  stuck = change;
  entering = true;
  keepHere(change);
  const [done, name] = state.session.named ? ["opened your own link again", "Load again"] : ["entered its token", "Enter the token"];
  showBanner(`The server was started anew and asks who you are. Your answer is still here, and is sent once you have ${done}.`,
    () => location.reload(), null, name);
}

/** Send what waited before the page was loaded again, one after the other; true where there is something. */
export function deliverKept(who, done, refused) {
  const found = kept(who);
  const mine = found.filter((one) => one.home === home(state.session));
  if (mine.length < found.length) {
    found.filter((one) => !mine.includes(one)).forEach(drop);
    showBanner("An answer that had been waiting was about other data: it was not sent.");
  }
  const send = ([{ path, body }, ...rest]) => {
    const then = (end) => (reply) => (rest.length ? send(rest) : end(reply));
    attempt({ path, body, done: then(done), refused: then(refused) });
  };
  if (mine.length) send(mine);
  return mine.length > 0;
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
  if (stuck && !entering) event.preventDefault();
});
