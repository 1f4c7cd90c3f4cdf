// A line drawn around points with mouse, pen or finger.

import { $ } from "../core/dom.js";

const step = 3; // px between two corners of the line

/** Which points lie inside the polygon: corners and the places of points in pixels, by the rule of odd crossings. */
export function inside(corners, placeX, placeY, n) {
  const xs = corners.map(([x]) => x), ys = corners.map(([, y]) => y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const found = [];
  for (let i = 0; i < n; i++) {
    const x = placeX(i), y = placeY(i);
    if (x < left || x > right || y < top || y > bottom) continue;
    let odd = false;
    for (let a = 0, b = corners.length - 1; a < corners.length; b = a++) {
      if (ys[a] > y !== ys[b] > y && x < ((xs[b] - xs[a]) * (y - ys[a])) / (ys[b] - ys[a]) + xs[a]) odd = !odd;
    }
    if (odd) found.push(i);
  }
  return found;
}

/** The line while it is drawn; `drawn(corners)` gets it when the pointer is lifted. */
export class Lasso {
  constructor(drawn) {
    this.drawn = drawn;
    this.on = false; // whether drawing is what a drag does, without Shift, too
    this.corners = null;
    $("map-lasso-button").addEventListener("click", () => this.toggle());
  }

  toggle(on = !this.on) {
    this.on = on;
    this.cancel();
    $("map-lasso-button").setAttribute("aria-pressed", String(on));
    $("map").classList.toggle("drawing", on);
    $("map").style.touchAction = on ? "none" : "pan-y";
    $("map-hint").textContent = on ? "Draw around points" : "Click to label";
  }

  wants(event) { return this.on || event.shiftKey; }
  get busy() { return this.corners !== null; }

  begin(place) {
    this.corners = [place];
    this.#show();
  }

  extend(place) {
    const [x, y] = this.corners.at(-1);
    if (Math.hypot(place[0] - x, place[1] - y) < step) return;
    this.corners.push(place);
    this.#show();
  }

  end() {
    const corners = this.corners;
    this.cancel();
    if (corners.length > 2) this.drawn(corners);
  }

  cancel() {
    this.corners = null;
    this.#show();
  }

  #show() {
    $("map-lasso").toggleAttribute("hidden", !this.corners);
    $("map-lasso").firstElementChild.setAttribute("points", (this.corners ?? []).map((place) => place.join()).join(" "));
  }
}
