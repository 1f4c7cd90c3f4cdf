// Where we stand: labels, expected error, how far it is, and whether one may stop.

import { $, el } from "./dom.js";
import { announce } from "./announce.js";
import { on, state } from "./state.js";
import { curve } from "./curve.js";
import { count, percent, plural } from "./numbers.js";

let wasReached = null;

function draw(standing) {
  document.body.dataset.version = standing.version;
  $("standing-labelled").replaceChildren(count(standing.labelled), el("small", {}, ` of ${count(state.session.n_items)}`));
  $("standing-error").textContent = percent(standing.expected_error);
  $("curve").replaceChildren(...[curve(standing)].filter(Boolean));
  drawStop(standing);
  $("standing-notes").textContent = notes(standing).join(" · ");
}

function drawStop({ reached, target, more, labelled }) {
  $("stop").hidden = !reached;
  if (reached) {
    $("stop").replaceChildren(el("strong", {}, "You can stop."), ` The target of ${percent(target)} is reached. You may go on: more answers make it better still.`);
    if (wasReached === false) announce("You can stop: the target is reached.");
  }
  wasReached = reached;
  $("more").hidden = reached || target === null;
  $("more").textContent = more === null || more === undefined
    ? (labelled ? `Too early to say how many answers ${percent(target)} will take.` : `The target is ${percent(target)}. The first answers will show the way.`)
    : `About ${plural(more, "more answer")} to the target of ${percent(target)}. An estimate.`;
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
}
