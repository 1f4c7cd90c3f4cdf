// Mouse, pen and fingers on the map: hover, click, drag, wheel, pinch.

import { hideTip, showTip } from "./tip.js";

const shake = 5; // px a press may move and still be a click

export function followPointer(canvas, { camera, pointAt, ask, onMove, reset, lasso }) {
  const down = new Map(); // pointers that are pressed: id -> last place
  let travelled = 0;
  let tapped = -1; // the point a finger touched first; the second tap asks

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  function hover(event) {
    const point = pointAt(...at(event), 5);
    canvas.classList.toggle("on-point", point >= 0);
    point < 0 ? hideTip() : showTip(point, event.clientX, event.clientY, "Click to label it");
  }

  function drag(event) {
    const [fromX, fromY] = down.get(event.pointerId);
    const [x, y] = at(event);
    const others = [...down].filter(([id]) => id !== event.pointerId);
    if (others.length) {
      const [otherX, otherY] = others[0][1];
      const spread = Math.hypot(x - otherX, y - otherY) / Math.max(1, Math.hypot(fromX - otherX, fromY - otherY));
      camera.zoomAt((x + otherX) / 2, (y + otherY) / 2, spread);
    } else camera.pan(x - fromX, y - fromY);
    travelled += Math.hypot(x - fromX, y - fromY);
    down.set(event.pointerId, [x, y]);
    settle();
  }

  /** A finger scrolls the page past the whole map, and moves a map that is zoomed in. */
  function settle() {
    canvas.style.touchAction = camera.zoom > 1 || lasso.on ? "none" : "pan-y";
    if (travelled > shake) hideTip();
    onMove();
  }

  function press(event) {
    const finger = event.pointerType === "touch";
    const point = pointAt(...at(event), finger ? 14 : 5);
    if (point < 0) return hideTip();
    if (finger && point !== tapped) {
      tapped = point;
      showTip(point, event.clientX, event.clientY, "Tap again to label it");
      return;
    }
    tapped = -1;
    hideTip();
    ask(point);
  }

  canvas.style.touchAction = "pan-y";
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || lasso.busy) return;
    if (!down.size && lasso.wants(event)) {
      hideTip();
      lasso.begin(at(event));
      canvas.setPointerCapture(event.pointerId);
      return;
    }
    if (!down.size) travelled = 0;
    down.set(event.pointerId, at(event));
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (lasso.busy) lasso.extend(at(event));
    else if (down.has(event.pointerId)) drag(event);
    else if (event.pointerType !== "touch") hover(event);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (lasso.busy) return lasso.end();
    if (down.delete(event.pointerId) && !down.size && travelled <= shake) press(event);
  });
  canvas.addEventListener("pointercancel", (event) => { lasso.cancel(); down.delete(event.pointerId); });
  canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && hideTip());
  canvas.addEventListener("dblclick", () => { reset(); settle(); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoomAt(...at(event), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)));
    hideTip();
    settle();
  }, { passive: false });
}
