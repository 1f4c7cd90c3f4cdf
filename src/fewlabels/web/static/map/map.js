// The map: all items, the present question, and what the pointer and the keys do on it.

import { $ } from "../core/dom.js";
import { announce, showBanner, hideBanner } from "../announce.js";
import { get } from "../core/api.js";
import { on, state } from "../core/state.js";
import { Camera } from "./camera.js";
import { Grid } from "./grid.js";
import { label } from "./group.js";
import { inside, Lasso } from "./lasso.js";
import { extent, startLegend } from "./legend.js";
import { pointLayer, pointRadius } from "./points.js";
import { count, plural } from "../core/numbers.js";
import { followPointer } from "./pointer.js";
import { hideTip, showTip } from "./tip.js";

const fading = 450; // ms from the old colours to the new
const still = matchMedia("(prefers-reduced-motion: reduce)");

const camera = new Camera();
let grid = null;
let layer = null;
let before = null; // the layer that fades away
let faded = 0;
let planned = false;
let cursor = -1; // the point the arrow keys are on
let alone = -1; // the class looked at alone
let lasso = null;
let legend = null;

/** Redraw the points at the next frame; `fade` lets the old colours fade out. */
function redraw(fade = false) {
  if (!grid || !camera.width) return;
  const begun = performance.now();
  before = fade && layer && !still.matches ? layer : null;
  layer = pointLayer(grid.positions, state.predictions, state.classes.length, camera, devicePixelRatio, getComputedStyle($("map-frame")).backgroundColor, alone);
  performance.measure("map layer", { start: begun });
  faded = performance.now();
  plan();
}

function plan() {
  if (!planned) requestAnimationFrame(frame);
  planned = true;
}

function frame(now) {
  planned = false;
  const pen = $("map").getContext("2d");
  const share = before ? Math.min(1, Math.max(0, now - faded) / fading) : 1;
  if (share < 1) pen.drawImage(before, 0, 0);
  else before = null;
  pen.globalAlpha = share;
  pen.drawImage(layer, 0, 0);
  pen.globalAlpha = 1;
  if (before) plan();
}

let moved = false;
/** After a zoom or a pan: many in one frame are one redraw. */
function onMove() {
  if (moved) return;
  moved = true;
  requestAnimationFrame(() => {
    moved = false;
    redraw();
    mark();
  });
}

/** The two marks are elements above the canvas, so that a pulse costs no drawing. */
function mark() {
  place($("map-here"), state.shown && !state.shown.blind ? state.shown.item.id : -1); // what lies beside it would be a hint
  place($("map-cursor"), cursor);
}

function place(element, i) {
  element.hidden = i < 0 || !grid;
  if (element.hidden) return;
  const [x, y] = camera.toScreen(grid.positions[2 * i], grid.positions[2 * i + 1]);
  element.hidden = x < 0 || y < 0 || x > camera.width || y > camera.height;
  element.style.translate = `${x}px ${y}px`;
}

/** The point at (x, y) on the frame, or -1. */
function pointAt(x, y, slack) {
  if (!grid) return -1;
  const reach = pointRadius(camera, grid.order.length) + slack;
  return grid.nearest(...camera.toMap(x, y), reach / camera.spanX, reach / camera.spanY);
}

function resize() {
  const { width, height } = $("map-frame").getBoundingClientRect();
  if (!width) return;
  [camera.width, camera.height] = [width, height];
  $("map").width = Math.round(width * devicePixelRatio);
  $("map").height = Math.round(height * devicePixelRatio);
  camera.pan(0, 0);
  redraw();
  mark();
}

function describe() {
  if (!state.session || !state.predictions) return;
  const counts = state.standing.counts.map((many, i) => [many, state.classes[i]?.name]).filter(([many, name]) => many && name);
  const shown = counts.sort((a, b) => b[0] - a[0]).slice(0, 12).map(([many, name]) => `${count(many)} as ${name}`).join(", ");
  $("map-words").textContent = `${plural(state.session.n_items, "item")}; similar items lie close together. `
    + `${plural(state.predictions.labelled.size, "item is", "items are")} labelled. Labelled or predicted: ${shown || "nothing yet"}. `
    + "Arrow keys go from point to point, Enter asks about the point, V labels all that are in view, together.";
}

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function onKey(event, ask) {
  if (event.ctrlKey || event.altKey || event.metaKey || !grid) return;
  const zooms = { "+": 1.5, "=": 1.5, "-": 1 / 1.5 };
  if (arrows[event.key]) {
    cursor = grid.step(cursor < 0 ? (state.shown?.blind ? 0 : state.shown?.item.id ?? 0) : cursor, ...arrows[event.key]);
    mark();
    const frameBox = $("map-frame").getBoundingClientRect();
    const [x, y] = camera.toScreen(grid.positions[2 * cursor], grid.positions[2 * cursor + 1]);
    showTip(cursor, frameBox.left + x, frameBox.top + y, "Enter asks about it").then((item) => {
      if (item) announce(`${item.name}, ${item.label ?? item.prediction ?? "not known yet"}.`);
    });
  } else if (event.key === "Enter" && cursor >= 0) {
    hideTip();
    ask(cursor);
  } else if (zooms[event.key]) zoom(zooms[event.key]);
  else if (event.key === "0" && (camera.zoom > 1 || alone >= 0)) reset();
  else if (event.key.toLowerCase() === "l") lasso.toggle();
  else if (event.key.toLowerCase() === "v") together([[0, 0], [camera.width, 0], [camera.width, camera.height], [0, camera.height]]);
  else if (event.key === "Escape" && (lasso.on || lasso.busy)) lasso.toggle(false);
  else return;
  event.preventDefault();
}

function zoom(factor) {
  camera.zoomAt(camera.width / 2, camera.height / 2, factor);
  onMove();
}

function reset() {
  camera.reset();
  alone = -1;
  legend.all();
  onMove();
}

/** Look at one class alone, close up; -1 is all of them. */
function lookAt(number) {
  const place = number < 0 || !grid || !state.predictions ? null : extent(grid.positions, state.predictions.predicted, number);
  if (!place) return reset();
  alone = number;
  camera.fit(...place);
  $("map").style.touchAction = "none";
  onMove();
}

/** Label what a line was drawn around; of one class, if it is looked at alone. */
function together(corners) {
  if (!grid) return;
  const [left, top] = camera.toScreen(0, 0);
  const x = (i) => left + grid.positions[2 * i] * camera.spanX;
  const y = (i) => top + grid.positions[2 * i + 1] * camera.spanY;
  const found = inside(corners, x, y, grid.order.length).filter((i) => alone < 0 || state.predictions?.predicted[i] === alone);
  lasso.toggle(false);
  if (found.length) label(found);
  else announce("No point is inside the line.");
}

async function load() {
  try {
    grid = new Grid((await get("/api/map")).positions);
    resize();
  } catch (error) {
    if (error.status === undefined) throw error;
    showBanner("The map could not be fetched.", () => { hideBanner(); load(); });
  }
}

export function startMap(ask) {
  const canvas = $("map");
  lasso = new Lasso(together);
  legend = startLegend(lookAt);
  followPointer(canvas, { camera, pointAt, ask, onMove, reset, lasso });
  canvas.addEventListener("keydown", (event) => onKey(event, ask));
  canvas.addEventListener("blur", () => { cursor = -1; hideTip(); mark(); });
  $("map-in").addEventListener("click", () => zoom(1.6));
  $("map-out").addEventListener("click", () => zoom(1 / 1.6));
  $("map-reset").addEventListener("click", reset);
  new ResizeObserver(resize).observe($("map-frame"));
  addEventListener("themechange", () => redraw());
  on("predictions", () => { redraw(true); describe(); });
  on("classes", () => redraw());
  on("shown", mark);
  on("session", load);
}
