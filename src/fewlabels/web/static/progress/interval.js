// How wrong it is: the estimate with its interval, as a bar that closes with every check.

import { svg } from "../core/dom.js";
import { percent } from "../core/numbers.js";

const height = 40, side = 10, bar = 9, top = 6;
const ticks = [0, 0.05, 0.2, 0.5, 1];

/** Small errors get more room, as the ticks show. */
const place = (share, width) => side + Math.sqrt(Math.min(1, Math.max(0, share))) * (width - 2 * side);

/** The drawing, this many pixels wide; `shown` is the best guess, or null while there is none. */
export function interval({ low, high, confidence }, shown, target, width) {
  const x = (share) => place(share, width);
  const likely = shown === null ? "" : `; most likely ${percent(shown)}`;
  const words = `Between ${percent(low)} and ${percent(high)} wrong, ${percent(confidence)} sure${likely}. The target is ${percent(target)}.`;
  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", class: "interval", "aria-label": words });
  const rect = (from, to, name) => svg("rect", { x: x(from), y: top, width: Math.max(2, x(to) - x(from)), height: bar, rx: 3, class: name });
  const line = (at, name, longer) => svg("line", { x1: x(at), x2: x(at), y1: top - longer, y2: top + bar + longer, class: name });
  drawing.append(rect(0, 1, "all"), rect(low, high, high <= target ? "range good" : "range"), line(target, "target", 4));
  if (shown !== null) drawing.append(line(shown, "value", 2));
  for (const tick of ticks) {
    const text = svg("text", { x: x(tick), y: height - 6, class: "tick middle" });
    text.textContent = tick === 1 ? "all" : percent(tick);
    drawing.append(text);
  }
  return drawing;
}
