// The page starts here: wire the parts, fetch the session, ask the first question.

import { get } from "./core/api.js";
import { hideBanner, notice, showBanner, showStore, startBanner } from "./announce.js";
import { stopTrying, tryLater } from "./core/again.js";
import { deliverKept } from "./core/deliver.js";
import { set, setClasses, state } from "./core/state.js";
import { startPrefetch } from "./label/prefetch.js";
import { accept, answer, ask, startAnswering } from "./label/answering.js";
import { startFolding } from "./label/fold.js";
import { startClasses } from "./label/classes.js";
import { startDisagreements } from "./review/disagreements.js";
import { startKeys } from "./label/keys.js";
import { startManaging } from "./label/manage.js";
import { startMap } from "./map/map.js";
import { firstView, show, startViews } from "./views.js";
import { meet } from "./person.js";
import { startQuestion } from "./label/question.js";
import { startRecent } from "./label/recent.js";
import { startRefresh } from "./progress/refresh.js";
import { startReview } from "./review/review.js";
import { startStanding } from "./progress/standing.js";
import { startWhy } from "./label/why.js";
import { startExport } from "./export.js";
import { startLeaving } from "./leave.js";
import { startGuidelines } from "./guidelines.js";
import { startNotes } from "./label/notes.js";
import { startPeople } from "./people.js";
import { startTour } from "./tour.js";

/** From the map or a neighbour: that item becomes the question, wherever the person was. */
function askAbout(item) {
  show("label");
  ask(item);
}

function wire() {
  startBanner();
  startViews();
  startQuestion();
  startFolding();
  startClasses(answer, accept);
  startAnswering();
  startStanding();
  startWhy(askAbout);
  startPrefetch();
  startRecent();
  startReview();
  startDisagreements();
  startMap(askAbout);
  startRefresh();
  startKeys();
  startManaging();
  startNotes();
  startPeople();
  startGuidelines();
  startTour();
  startLeaving();
  startExport();
}

async function begin() {
  try {
    set("session", await get("/api/session"));
  } catch (error) {
    const again = () => { hideBanner(); begin(); };
    showBanner(`${error.message.replace(/\.$/, "")}.`, again);
    if (error.status === 0) tryLater(again);
    return;
  }
  stopTrying();
  if (state.session.store) showStore(state.session.store);
  setClasses({ classes: state.session.classes, version: state.session.classes_version });
  firstView();
  await meet(() => ask());
  if (!deliverKept(state.person, () => { notice("The answer that had been waiting is saved."); ask(); }, () => ask())) ask();
}

wire();
begin();
