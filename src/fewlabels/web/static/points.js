// All points on a layer of their own: drawn when something changed, then only copied.

import { colourNow, isDark } from "./colours.js";

const levels = 7; // of paleness; more cannot be told apart

/** How sure, as a level: chance 1/classes is the palest, certainty the strongest. */
function level(percentage, classes) {
  const blind = 100 / Math.max(classes, 2);
  const sure = Math.max(0, (percentage - blind) / (100 - blind));
  return Math.min(levels - 1, Math.floor(sure * levels));
}

/** A disc drawn once; copying it 20,000 times is cheaper than as many arcs. */
function stamp(colour, opacity, radius, ratio, ring) {
  const reach = ring ? radius + 3 : radius + 0.5;
  const size = Math.ceil(2 * reach * ratio) + 2;
  const made = document.createElement("canvas");
  made.width = made.height = size;
  const pen = made.getContext("2d");
  pen.translate(size / 2, size / 2);
  pen.scale(ratio, ratio);
  if (ring) {
    pen.beginPath();
    pen.arc(0, 0, radius + 1.8, 0, 2 * Math.PI);
    pen.fillStyle = isDark() ? "#14171c" : "#ffffff";
    pen.fill();
    pen.lineWidth = 1.4;
    pen.strokeStyle = isDark() ? "#f2f4f7" : "#14171c";
    pen.stroke();
  }
  pen.globalAlpha = opacity;
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(0, 0, radius, 0, 2 * Math.PI);
  pen.fill();
  return made;
}

export const pointRadius = (camera, n) =>
  Math.min(7, Math.max(1.5, Math.min(4, 0.3 * Math.sqrt((camera.width * camera.height) / Math.max(n, 1)))) * camera.zoom ** 0.35);

/** A canvas with every point as it stands now. */
export function pointLayer(positions, predictions, classes, camera, ratio) {
  const layer = document.createElement("canvas");
  layer.width = Math.round(camera.width * ratio);
  layer.height = Math.round(camera.height * ratio);
  const pen = layer.getContext("2d");
  const n = positions.length / 2;
  const radius = pointRadius(camera, n);
  const stamps = new Map();

  const put = (i, ring) => {
    const [x, y] = camera.toScreen(positions[2 * i], positions[2 * i + 1]);
    if (x < -9 || y < -9 || x > camera.width + 9 || y > camera.height + 9) return;
    const number = predictions ? predictions.predicted[i] : -1;
    const sure = number < 0 ? 3 : level(predictions.chance[i], classes);
    const key = (number * levels + sure) * 2 + (ring ? 1 : 0);
    let disc = stamps.get(key);
    if (!disc) {
      disc = stamp(colourNow(number), ring ? 1 : 0.2 + (0.75 * sure) / (levels - 1), ring ? Math.max(radius, 3) : radius, ratio, ring);
      stamps.set(key, disc);
    }
    pen.drawImage(disc, Math.round(x * ratio - disc.width / 2), Math.round(y * ratio - disc.height / 2));
  };

  const labelled = predictions?.labelled ?? new Set();
  for (let i = 0; i < n; i++) if (!labelled.has(i)) put(i, false);
  for (const i of labelled) put(i, true); // above the others, or the rings would drown
  return layer;
}
