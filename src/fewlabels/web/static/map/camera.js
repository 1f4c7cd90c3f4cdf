// Where in the frame a place on the map is: zoom and pan.

const margin = 12; // px around the outermost points
const closest = 40;
const close = 8; // where the frame is fitted to some points

export class Camera {
  constructor() {
    this.width = this.height = 1;
    this.reset();
  }

  reset() {
    this.zoom = 1;
    this.x = this.y = 0; // px the map is shifted by
  }

  get spanX() { return (this.width - 2 * margin) * this.zoom; }
  get spanY() { return (this.height - 2 * margin) * this.zoom; }

  toScreen(x, y) { return [margin + this.x + x * this.spanX, margin + this.y + y * this.spanY]; }
  toMap(x, y) { return [(x - margin - this.x) / this.spanX, (y - margin - this.y) / this.spanY]; }

  /** Zoom by `factor` so that the place under (x, y) stays there. */
  zoomAt(x, y, factor) {
    const place = this.toMap(x, y);
    this.zoom = Math.min(closest, Math.max(1, this.zoom * factor));
    const moved = this.toScreen(...place);
    this.pan(x - moved[0], y - moved[1]);
  }

  /** Show the places from (left, top) to (right, bottom), with some room around them. */
  fit(left, top, right, bottom) {
    this.zoom = Math.min(close, Math.max(1, 0.8 / Math.max(right - left, bottom - top, 1e-6)));
    this.x = this.width / 2 - margin - ((left + right) / 2) * this.spanX;
    this.y = this.height / 2 - margin - ((top + bottom) / 2) * this.spanY;
    this.pan(0, 0);
  }

  /** Never so far that the map leaves the frame. */
  pan(dx, dy) {
    const within = (shift, size) => Math.min(0, Math.max((size - 2 * margin) * (1 - this.zoom), shift));
    this.x = within(this.x + dx, this.width);
    this.y = within(this.y + dy, this.height);
  }
}
