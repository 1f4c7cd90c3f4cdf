// Where we stand: labels, expected error, how far there is to go, and whether people can stop.

import { $, el } from "../core/dom.js";
import { announce } from "../announce.js";
import { on, state } from "../core/state.js";
import { curve } from "./curve.js";
import { count, percent, plural } from "../core/numbers.js";

let wasReached = null;

function draw(standing) {
  document.body.dataset.version = standing.version;
  $("standing-labelled").replaceChildren(count(standing.labelled), el("small", {}, ` of ${count(state.session.n_items)}`));
  $("standing-error").textContent = standing.settled ? percent(standing.expected_error) : "too early";
  $("standing-field").textContent = `Learns by: ${state.session.field}.`;
  drawCurve();
  drawStop(standing);
  drawGlance(standing);
  $("standing-notes").textContent = notes(standing).join(" · ");
}

/** Drawn to fit the space, so that its letters stay as large as the rest. */
function drawCurve() {
  const { clientWidth: width, clientHeight: height } = $("curve");
  if (state.standing && width) $("curve").replaceChildren(...[curve(state.standing, width, height)].filter(Boolean));
}

function drawStop({ reached, target, more, labelled }) {
  $("stop").hidden = !reached;
  if (reached) {
    $("stop").replaceChildren(el("strong", {}, "You can stop."),
      ` The target of ${percent(target)} is reached. You may go on: more answers make it better still.`);
    if (wasReached === false) announce("You can stop: the target is reached.");
  }
  wasReached = reached;
  $("more").hidden = reached || target === null;
  const early = labelled
    ? `Too early to say how many answers ${percent(target)} will take.`
    : `The target is ${percent(target)}. The first answers will show how far it is.`;
  const known = more !== null && more !== undefined;
  $("more").textContent = known ? `Estimate: about ${plural(more, "more answer")} to reach ${percent(target)}.` : early;
}

/** The same in a few words, for a phone, where the rest is far below. */
function drawGlance({ reached, settled, expected_error, more, labelled }) {
  const ahead = more ? ` · about ${count(more)} to go` : "";
  const now = settled ? `${percent(expected_error)} error${ahead}` : `${plural(labelled, "answer")}: too early to tell the error`;
  $("glance").textContent = reached ? `${percent(expected_error)}: you can stop` : now;
  $("glance").classList.toggle("reached", reached);
}

function notes(standing) {
  const lines = [];
  if (standing.unreached && standing.labelled) lines.push(`${plural(standing.unreached, "item")} with no label in reach`);
  if (standing.unsure) lines.push(`${count(standing.unsure)} unsure`);
  if (standing.skipped) lines.push(`${count(standing.skipped)} skipped`);
  if (standing.people.length > 1) lines.push(standing.people.map(({ name, answers }) => `${name} ${count(answers)}`).join(", "));
  return lines;
}

export function startStanding() {
  on("standing", draw);
  new ResizeObserver(drawCurve).observe($("curve"));
}
