// Keep the predictions as new as the answers, including other people's.

import { get } from "../core/api.js";
import { latest } from "../core/latest.js";
import { on, set, state } from "../core/state.js";
import { ask, reloadClasses } from "../label/answering.js";
import { announce, notice } from "../announce.js";

const pause = 5000; // ms between looks at what others did

const fetchPredictions = latest(() => get("/api/predictions"), (reply, failure) => {
  if (failure) return; // the next answer or look brings them
  set("predictions", { ...reply, labelled: new Set(reply.labelled), skipped: new Set(reply.skipped) });
}, 60);

async function look() {
  const several = state.session.several || state.standing?.people.length > 1;
  if (!several || document.hidden) return;
  try {
    set("standing", await get("/api/standing"));
  } catch {
    // Others' news can wait; an answer of our own will say when the server is gone.
  }
}

/** Someone changed the classes: say what, and ask again under the new names. */
async function hearOfClasses() {
  const before = state.classes;
  try {
    await reloadClasses();
  } catch (error) {
    if (error.status === undefined) throw error;
    return; // the next look brings them
  }
  const told = difference(before, state.classes);
  if (!told) return;
  announce(told);
  notice(told);
  if (state.question) ask();
}

/** What has changed between two lists of classes, in a sentence; "" where nothing has that people must know. */
export function difference(before, now) {
  const known = new Map(now.map((one) => [one.id, one]));
  const old = new Map(before.map((one) => [one.id, one]));
  const changed = before.flatMap((one) => {
    const other = known.get(one.id);
    if (!other) return [`“${one.name}” is gone`];
    if (other.name !== one.name) return [`“${one.name}” is now “${other.name}”`];
    return other.key === one.key ? [] : [other.key ? `the key of “${one.name}” is ${other.key.toUpperCase()}` : `“${one.name}” has no key`];
  });
  const added = now.filter(({ id }) => !old.has(id)).map(({ name }) => `“${name}” is new`);
  const all = [...changed, ...added];
  return all.length ? `The classes were changed: ${all.slice(0, 4).join(", ")}${all.length > 4 ? ", and more" : ""}.` : "";
}

export function startRefresh() {
  on("standing", (standing) => {
    if (standing.classes_version !== state.classesVersion) hearOfClasses();
    if (standing.version !== state.predictions?.version) fetchPredictions();
  });
  setInterval(look, pause);
  document.addEventListener("visibilitychange", look);
}
