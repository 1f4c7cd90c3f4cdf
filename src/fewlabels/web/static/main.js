// The page begins here: wire the parts, learn the session, ask the first question.

import { $ } from "./dom.js";
import { get } from "./api.js";
import { hideBanner, showBanner, startBanner } from "./announce.js";
import { set, state } from "./state.js";
import { startAhead } from "./ahead.js";
import { accept, answer, ask, startAnswering } from "./answering.js";
import { startClasses } from "./classes.js";
import { startDisagreements } from "./disagreements.js";
import { startKeys } from "./keys.js";
import { startMap } from "./map.js";
import { firstView, show, startViews } from "./views.js";
import { meet } from "./person.js";
import { startQuestion } from "./question.js";
import { startRecent } from "./recent.js";
import { startRefresh } from "./refresh.js";
import { startReview } from "./review.js";
import { startStanding } from "./standing.js";
import { startWhy } from "./why.js";

/** From the map or a neighbour: that item becomes the question, wherever the person was. */
function askAbout(item) {
  show("label");
  ask(item);
}

function wire() {
  startBanner();
  startViews();
  startQuestion();
  startClasses(answer, accept);
  startAnswering();
  startStanding();
  startWhy(askAbout);
  startAhead();
  startRecent();
  startReview();
  startDisagreements();
  startMap(askAbout);
  startRefresh();
  startKeys();
}

async function begin() {
  try {
    set("session", await get("/api/session"));
  } catch (error) {
    showBanner(`${error.message.replace(/\.$/, "")}.`, () => { hideBanner(); begin(); });
    return;
  }
  if (state.session.store) $("store").textContent = `, in ${state.session.store}`;
  set("classes", state.session.classes);
  firstView();
  await meet(() => ask());
  ask();
}

wire();
begin();
