// All points on a layer of their own: drawn when something changed, then only copied.
// The discs are blended into a plain array of pixels: for 20,000 of them that is several times
// faster than as many canvas calls.

import { colourNow, isDark, markOf } from "../core/colours.js";

const faint = 0.12; // what is left of other classes where one is looked at alone
const levels = 16; // of paleness; more cannot be told apart

/** Radius of a point in CSS pixels: fewer points are larger, and zooming in makes them grow a little. */
export const pointRadius = (camera, n) =>
  Math.min(7, Math.max(1.5, Math.min(4, 0.3 * Math.sqrt((camera.width * camera.height) / Math.max(n, 1)))) * camera.zoom ** 0.35);

/** Any CSS colour as [red, green, blue]. */
function rgb(colour, pen) {
  pen.fillStyle = colour;
  const number = parseInt(pen.fillStyle.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

/** How much of each pixel a disc covers; one with a mark has a hole, or a gap across, down or aslant. */
function disc(radius, mark = 0) {
  const reach = Math.ceil(radius);
  const side = 2 * reach + 1;
  const cover = new Float32Array(side * side);
  for (let k = 0; k < cover.length; k++) {
    const [x, y] = [(k % side) - reach, Math.floor(k / side) - reach];
    const away = Math.hypot(x, y);
    const gap = mark && Math.abs([0, away, y, x, (x + y) / Math.SQRT2][mark]);
    const inside = mark ? Math.min(1, Math.max(0, gap + 0.5 - radius * (mark === 1 ? 0.5 : 0.28))) : 1;
    cover[k] = Math.min(1, Math.max(0, radius + 0.5 - away)) * inside;
  }
  return { reach, side, cover };
}

/** Blend a disc into the pixels with its middle at (x, y), whole numbers. */
function blend({ data, width, height }, { reach, side, cover }, x, y, [red, green, blue], opacity) {
  const top = Math.max(0, y - reach), bottom = Math.min(height - 1, y + reach);
  const left = Math.max(0, x - reach), right = Math.min(width - 1, x + reach);
  for (let row = top; row <= bottom; row++) {
    let k = (row - y + reach) * side + left - x + reach;
    let at = 4 * (row * width + left);
    for (let column = left; column <= right; column++, k++, at += 4) {
      const share = cover[k] * opacity;
      data[at] += (red - data[at]) * share;
      data[at + 1] += (green - data[at + 1]) * share;
      data[at + 2] += (blue - data[at + 2]) * share;
    }
  }
}

/** How strong a point is: chance 1/classes is the palest, certainty the strongest. */
function strength(percentage, classes) {
  const blind = 100 / Math.max(classes, 2);
  const sure = Math.min(1, Math.max(0, (percentage - blind) / (100 - blind)));
  return 0.16 + 0.8 * (Math.round(sure * levels) / levels);
}

/** A canvas with every point as it stands now, on the colour of the frame; `alone`: a class, the others hardly seen. */
export function pointLayer(positions, predictions, classes, camera, ratio, paper, alone = -1) {
  const layer = document.createElement("canvas");
  layer.width = Math.round(camera.width * ratio);
  layer.height = Math.round(camera.height * ratio);
  const pen = layer.getContext("2d");
  const ground = rgb(paper, pen);
  const pixels = pen.createImageData(layer.width, layer.height);
  // One whole pixel at a time; the bytes of a pixel run from red to opacity.
  new Uint32Array(pixels.data.buffer).fill(new Uint32Array(new Uint8ClampedArray([...ground, 255]).buffer)[0]);

  const n = positions.length / 2;
  const radius = pointRadius(camera, n);
  const ringed = Math.max(radius, 3);
  const ring = [disc((ringed + 2.6) * ratio), disc((ringed + 1.3) * ratio)];
  const unmarked = [disc(radius * ratio), disc(ringed * ratio)];
  const stamps = Array.from({ length: classes }, (_, number) =>
    (markOf(number) ? [disc(radius * ratio, markOf(number)), disc(ringed * ratio, markOf(number))] : unmarked));
  const stampOf = (i) => stamps[predictions?.predicted[i] ?? -1] ?? unmarked;
  const ink = rgb(isDark() ? "#eceff3" : "#171b21", pen);
  const unknown = rgb(colourNow(-1), pen);
  const colours = Array.from({ length: classes }, (_, number) => rgb(colourNow(number), pen));
  const colourOf = (i) => colours[predictions?.predicted[i] ?? -1] ?? unknown;
  // The camera's map from place to screen is linear: two of its places determine it, without an array per point.
  const [left, top] = camera.toScreen(0, 0).map((value) => value * ratio);
  const across = camera.spanX * ratio, down = camera.spanY * ratio;
  const placeX = (i) => Math.round(left + positions[2 * i] * across);
  const placeY = (i) => Math.round(top + positions[2 * i + 1] * down);

  const labelled = predictions?.labelled ?? new Set();
  const apart = (i) => alone >= 0 && predictions?.predicted[i] !== alone;
  for (let i = 0; i < n; i++) {
    if (labelled.has(i)) continue;
    const colour = colourOf(i);
    const opacity = colour === unknown ? 0.55 : strength(predictions.chance[i], classes);
    blend(pixels, stampOf(i)[0], placeX(i), placeY(i), colour, apart(i) ? faint * opacity : opacity);
  }
  for (const i of labelled) { // above the others, or the rings would be covered
    const x = placeX(i), y = placeY(i), opacity = apart(i) ? faint : 1;
    blend(pixels, ring[0], x, y, ink, opacity);
    blend(pixels, ring[1], x, y, ground, opacity);
    blend(pixels, stampOf(i)[1], x, y, colourOf(i), opacity);
  }
  pen.putImageData(pixels, 0, 0);
  return layer;
}
