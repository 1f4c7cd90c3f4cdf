// Keep the predictions as new as the answers, including other people's.

import { get } from "../core/api.js";
import { latest } from "../core/latest.js";
import { on, set, state } from "../core/state.js";
import { reloadClasses } from "../label/answering.js";

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

export function startRefresh() {
  on("standing", (standing) => {
    if (standing.counts.length !== state.classes.length) reloadClasses().catch(() => {});
    if (standing.version !== state.predictions?.version) fetchPredictions();
  });
  setInterval(look, pause);
  document.addEventListener("visibilitychange", look);
}
