// The classes under the map: one is looked at alone, close up.

import { $, el } from "../core/dom.js";
import { on, state } from "../core/state.js";
import { tag } from "../item.js";

const rare = 0.02; // share of a class's points at each end that may lie far off: they do not count for the frame

/** Where the points of a class lie, without a few stragglers: [left, top, right, bottom]; null where there are none. */
export function extent(positions, predicted, number) {
  const xs = [], ys = [];
  for (let i = 0; i < predicted.length; i++) {
    if (predicted[i] !== number) continue;
    xs.push(positions[2 * i]);
    ys.push(positions[2 * i + 1]);
  }
  if (!xs.length) return null;
  const ends = (values) => {
    values.sort((a, b) => a - b);
    const off = Math.floor(rare * values.length);
    return [values[off], values[values.length - 1 - off]];
  };
  const [[left, right], [top, bottom]] = [ends(xs), ends(ys)];
  return [left, top, right, bottom];
}

/** `chosen(number)` is called with the class to look at, -1 for all. */
export function startLegend(chosen) {
  let alone = null, looked = -1; // its name, and its number
  const draw = () => {
    const counts = state.standing?.counts ?? [];
    const focused = [...$("map-classes").children].indexOf(document.activeElement);
    $("map-classes").replaceChildren(...state.classes.map(({ name }, number) => el("button", {
      type: "button", class: "quiet", "aria-pressed": String(name === alone), disabled: !counts[number], title: `Look at ${name} alone`,
      data: { test: "map-class", label: name }, onclick: () => look(name === alone ? null : name),
    }, tag(name))));
    if (focused >= 0) $("map-classes").children[focused]?.focus();
  };
  const look = (name) => {
    alone = name;
    looked = name === null ? -1 : state.classes.findIndex((one) => one.name === name);
    draw();
    chosen(looked);
  };
  on("classes", () => (alone !== null && state.classes[looked]?.name !== alone ? look(null) : draw()));
  on("standing", draw);
  return { all: () => { if (alone !== null) { alone = null; draw(); } } };
}
