// Where we stand: labels, how wrong the predictions are, how far there is to go, and whether people can stop.

import { $, el } from "../core/dom.js";
import { announce } from "../announce.js";
import { on, state } from "../core/state.js";
import { curve } from "./curve.js";
import { interval } from "./interval.js";
import { count, percent, plural } from "../core/numbers.js";
import { show } from "../views.js";

let wasReached = null;

function draw(standing) {
  document.body.dataset.version = standing.version;
  $("standing-labelled").replaceChildren(count(standing.labelled), el("small", {}, ` of ${count(state.session.n_items)}`));
  $("standing-error").textContent = standing.shown === null ? "too early" : percent(standing.shown);
  const { by, field } = state.session;
  $("standing-field").textContent = `Learns by: ${field}.${by ? ` Items are ${by}.` : ""}`;
  drawCurve();
  drawChecks(standing);
  drawStop(standing);
  drawGlance(standing);
  $("standing-notes").textContent = notes(standing).join(" · ");
}

/** Drawn to fit the space, so that its letters stay as large as the rest. */
function drawCurve() {
  const { clientWidth: width, clientHeight: height } = $("curve");
  if (state.standing && width) $("curve").replaceChildren(...[curve(state.standing, width, height)].filter(Boolean));
}

/** The bar, the number of checks, and how often the suggestions were right. */
function drawChecks({ estimate, shown, target, state: verdict, suggestions: [right, all] }) {
  $("interval").hidden = verdict === "unchecked";
  $("interval").replaceChildren(interval(estimate, shown, target, $("interval").clientWidth || 280));
  const checks = estimate.checks ? [`${plural(estimate.checks, "check")}, ${estimate.wrong || "none"} wrong`] : [];
  if (estimate.skipped) checks.push(`${count(estimate.skipped)} skipped`);
  if (estimate.waiting) checks.push(`${count(estimate.waiting)} open`);
  if (all) checks.push(`suggestions right ${count(right)} of ${count(all)} times`);
  $("checks").textContent = checks.join(" · ");
}

function drawStop({ reached, state: verdict, verdict: sentence, forecast, more, target, labelled }) {
  $("stop").dataset.state = verdict;
  $("steps").hidden = !reached;
  $("verdict").textContent = sentence;
  if (reached && wasReached === false) announce(sentence);
  wasReached = reached;
  const unchecked = more === null
    ? `Too early to say how many answers an expected ${percent(target)} will take.`
    : `Estimate: about ${plural(more, "more answer")} until ${percent(target)} are expected to be wrong.`;
  $("more").textContent = verdict === "unchecked" ? (labelled ? unchecked : `The target is ${percent(target)}.`) : forecast;
  $("more").hidden = !$("more").textContent;
}

/** The same in a few words, for a phone, where the rest is far below. */
function drawGlance({ reached, shown, estimate: { checks, low, high }, labelled }) {
  const measured = checks ? ` (${percent(low)} to ${percent(high)}) · ${plural(checks, "check")}` : "";
  const now = shown === null ? `${plural(labelled, "answer")}: too early to tell the error` : `about ${percent(shown)} wrong${measured}`;
  $("glance").textContent = reached ? "Checked: you can stop" : now;
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
  $("stop-review").addEventListener("click", () => show("review"));
  new ResizeObserver(() => {
    drawCurve();
    if (state.standing) drawChecks(state.standing);
  }).observe($("curve"));
}
