// Which point is under the pointer: points in square cells, so that only a few are looked at.

const side = 64;

const cell = (value) => Math.min(side - 1, Math.max(0, Math.floor(value * side)));

export class Grid {
  /** positions: x0, y0, x1, y1, ... in [0, 1]. */
  constructor(positions) {
    this.positions = positions;
    const n = positions.length / 2;
    // Counting sort: start[c] .. start[c + 1] are the points of cell c in `order`.
    this.start = new Uint32Array(side * side + 1);
    this.order = new Uint32Array(n);
    const home = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      home[i] = cell(positions[2 * i + 1]) * side + cell(positions[2 * i]);
      this.start[home[i] + 1]++;
    }
    for (let c = 0; c < side * side; c++) this.start[c + 1] += this.start[c];
    const next = this.start.slice();
    for (let i = 0; i < n; i++) this.order[next[home[i]]++] = i;
  }

  /** The point nearest to (x, y) within the ellipse of half axes rx, ry; -1 where there is none. */
  nearest(x, y, rx, ry) {
    let best = -1;
    let least = 1;
    for (let row = cell(y - ry); row <= cell(y + ry); row++) {
      for (let c = row * side + cell(x - rx); c <= row * side + cell(x + rx); c++) {
        for (let k = this.start[c]; k < this.start[c + 1]; k++) {
          const i = this.order[k];
          const away = ((this.positions[2 * i] - x) / rx) ** 2 + ((this.positions[2 * i + 1] - y) / ry) ** 2;
          if (away < least) [least, best] = [away, i];
        }
      }
    }
    return best;
  }

  /** The nearest point from `from` in the direction (dx, dy), within 45 degrees of it; `from` where there is none. */
  step(from, dx, dy) {
    const [x, y] = [this.positions[2 * from], this.positions[2 * from + 1]];
    let best = from;
    let least = Infinity;
    for (let i = 0; i < this.order.length; i++) {
      const [ax, ay] = [this.positions[2 * i] - x, this.positions[2 * i + 1] - y];
      const along = ax * dx + ay * dy;
      const across = Math.abs(ax * dy) + Math.abs(ay * dx);
      if (along <= 1e-9 || across > along) continue;
      const away = along + 2 * across;
      if (away < least) [least, best] = [away, i];
    }
    return best;
  }
}
