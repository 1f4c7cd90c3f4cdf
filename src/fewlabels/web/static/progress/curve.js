// What the model itself expects to be wrong, over the labels given, as a small drawing.

import { svg } from "../core/dom.js";
import { percent } from "../core/numbers.js";

const left = 34, right = 8, top = 8, bottom = 20;
const letter = 6.2; // px, about, in the size of the ticks

/** A round step, about `wanted` of which cover `most`. */
function step(most, wanted) {
  const raw = most / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw - 1e-12);
}

/** Where a word of this length may stand by the line at this height so that the curve is furthest from it. */
function freeSpot(points, length, line, width, height) {
  const heightAt = (x) => {
    const next = points.findIndex(([px]) => px >= x);
    if (next < 0) return null; // beyond its end
    if (next === 0) return points[0][1];
    const [[x0, y0], [x1, y1]] = [points[next - 1], points[next]];
    return y0 + ((x - x0) / (x1 - x0 || 1)) * (y1 - y0);
  };
  const distance = ({ x, y }) => Math.min(60, ...Array.from({ length: 12 }, (_, i) => heightAt(x - 3 + (i / 11) * (length + 6)))
    .filter((found) => found !== null).map((found) => Math.abs(found - (y - 4))));
  const last = width - right - length;
  const spots = [left + 4, (left + 4 + last) / 2, last].flatMap((x) => [line - 4, line + 12].map((y) => ({ x, y })));
  const possible = spots.filter(({ y }) => y > top + 6 && y < height - bottom - 2);
  return (possible.length ? possible : spots).reduce((best, one) => (distance(one) > distance(best) + 1 ? one : best));
}

/** The drawing, this many pixels wide and high, or null if there is nothing to draw yet. */
export function curve({ curve: points, target, more, labelled, reached }, width, height) {
  const known = points.filter(([, error]) => Number.isFinite(error));
  if (!known.length) return null;
  const last = known.at(-1);
  // The way to the target is drawn only if it is no longer than the way so far: beyond that it is a mere guess.
  const ahead = more && !reached && target !== null && more <= Math.max(labelled, 10) ? [last[0] + more, target] : null;
  const mostX = Math.max(ahead?.[0] ?? 0, last[0], 5);
  const mostY = Math.max(...known.map(([, error]) => error), target ?? 0, 0.01);
  const x = (labels) => left + (labels / mostX) * (width - left - right);
  const y = (error) => height - bottom - (error / mostY) * (height - top - bottom);

  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", class: "curve", "aria-label": inWords(known, target) });
  const text = (words, at, className) => { const made = svg("text", { ...at, class: className }); made.textContent = words; return made; };

  const stepY = step(mostY, 4);
  for (let error = 0; error <= mostY * 1.001; error += stepY) {
    drawing.append(svg("line", { x1: left, x2: width - right, y1: y(error), y2: y(error), class: "grid" }),
      text(percent(error), { x: left - 6, y: y(error) + 4 }, "tick end"));
  }
  const stepX = Math.max(1, step(mostX, 4));
  for (let labels = 0; labels <= mostX; labels += stepX) {
    const words = String(labels);
    // The last one ends at the edge rather than beyond it.
    const clipped = x(labels) + (words.length * letter) / 2 > width;
    drawing.append(text(words, { x: clipped ? width - 1 : x(labels), y: height - 5 }, clipped ? "tick end" : "tick middle"));
  }

  if (target !== null) {
    const words = `target ${percent(target)}`;
    const drawn = [...known, ...(ahead ? [ahead] : [])].map(([labels, error]) => [x(labels), y(error)]);
    const at = freeSpot(drawn, words.length * letter, y(target), width, height);
    drawing.append(svg("line", { x1: left, x2: width - right, y1: y(target), y2: y(target), class: "target" }),
      text(words, at, "tick target-word"));
  }
  const path = known.map(([labels, error], i) => `${i ? "L" : "M"}${x(labels).toFixed(1)} ${y(error).toFixed(1)}`).join("");
  if (ahead) drawing.append(svg("line", { x1: x(last[0]), y1: y(last[1]), x2: x(ahead[0]), y2: y(ahead[1]), class: "ahead" }));
  drawing.append(svg("path", { d: path, class: "line" }), svg("circle", { cx: x(last[0]), cy: y(last[1]), r: 3.5, class: "now" }));
  return drawing;
}

function inWords(points, target) {
  const [from, to] = [points[0], points.at(-1)];
  const aim = target === null ? "" : ` The target is ${percent(target)}.`;
  return `Expected error: ${percent(from[1])} with ${from[0]} labels, ${percent(to[1])} with ${to[0]} labels.${aim}`;
}
