// A grid of items to choose from: click, shift-click, arrows, space.

import { el } from "../core/dom.js";
import { byWhom, small, values, verdict } from "../item.js";

export class Tiles {
  /** `changed` is called when the choice changes, `relabel(item)`, if there is one, when an item is to get another class. */
  constructor(changed, relabel) {
    this.changed = changed;
    this.relabel = relabel;
    this.items = new Map(); // id -> {item, tile, box}
    this.anchor = null; // where a range begins
    this.element = el("ul", { class: "tiles" });
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.element.addEventListener("focusin", (event) => this.#reachable(event.target.closest("li")));
  }

  get ids() { return [...this.items.keys()]; }
  get chosen() { return this.ids.filter((id) => this.items.get(id).box.checked); }
  get focused() {
    const tile = document.activeElement?.closest("li[data-item]");
    return tile && this.element.contains(tile) ? this.items.get(Number(tile.dataset.item)).item : null;
  }

  /** Show these items instead; the focus stays at its place in the list. */
  replace(items) {
    const place = this.focused ? this.ids.indexOf(this.focused.id) : -1;
    this.items.clear();
    this.element.replaceChildren();
    this.anchor = null;
    for (const item of items) this.#addOne(item);
    this.element.classList.toggle("in-rows", Boolean(items.length) && !items[0].thumbnail);
    this.#reachable(this.element.firstElementChild);
    if (place >= 0) this.#focus(Math.min(place, items.length - 1));
    this.changed();
  }

  focusFirst() { this.#focus(0); }

  remove(ids) {
    const focused = this.focused;
    const place = focused ? this.ids.indexOf(focused.id) : -1;
    for (const id of ids) {
      this.items.get(id)?.tile.remove();
      this.items.delete(id);
    }
    // People who use the keyboard go on where the item was.
    if (focused && !this.items.has(focused.id)) this.#focus(Math.min(place, this.items.size - 1));
    else if (!this.element.querySelector("[tabindex='0']")) this.#reachable(this.element.firstElementChild);
    this.changed();
  }

  chooseAll(yes) {
    for (const { box } of this.items.values()) box.checked = yes;
    this.changed();
  }

  #addOne(item) {
    const box = el("input", { type: "checkbox", tabindex: "-1", "aria-label": item.name });
    const tile = el("li", { data: { test: "review-item", item: item.id } },
      el("label", { class: "tile" }, box, item.attributes && !item.thumbnail && !item.text ? values(item) : small(item, 300),
        el("span", { class: "about" }, verdict(item), byWhom(item))),
      this.relabel && el("button", {
        type: "button", class: "quiet", tabindex: "-1", "aria-label": `Change ${item.name}`,
        data: { test: "review-relabel" }, onclick: () => this.relabel(item),
      }, "Change"));
    box.addEventListener("click", (event) => this.#click(item.id, event.shiftKey));
    // The label passes the click on without the shift key; and dragging over text must not select it.
    tile.querySelector("label").addEventListener("click", (event) => {
      if (event.target === box || !event.shiftKey) return;
      event.preventDefault();
      box.checked = !box.checked;
      this.#click(item.id, true);
    });
    this.items.set(item.id, { item, tile, box });
    this.element.append(tile);
  }

  #click(id, range) {
    const ids = this.ids;
    const { box } = this.items.get(id);
    if (range && this.items.has(this.anchor)) {
      const [from, to] = [ids.indexOf(this.anchor), ids.indexOf(id)].sort((a, b) => a - b);
      for (const one of ids.slice(from, to + 1)) this.items.get(one).box.checked = box.checked;
    }
    this.anchor = id;
    this.changed();
  }

  /** Only one tile is in the tab order: with sixty of them, Tab would get nowhere. */
  #reachable(tile) {
    for (const other of this.element.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    for (const control of tile?.querySelectorAll("input, button") ?? []) control.tabIndex = 0;
  }

  #focus(place) {
    this.items.get(this.ids[place])?.box.focus();
  }

  /** How many tiles are in a row, as the browser laid them out. */
  #columns() {
    const tiles = [...this.element.children];
    const below = tiles.findIndex((tile) => tile.offsetTop > tiles[0].offsetTop);
    return below < 0 ? tiles.length : below;
  }

  #onKey(event) {
    const focused = this.focused;
    if (!focused) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.#columns(), ArrowDown: this.#columns(), Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const from = this.ids.indexOf(focused.id);
    const to = Math.min(this.items.size - 1, Math.max(0, from + steps[event.key]));
    if (event.shiftKey) {
      const [low, high] = [from, to].sort((a, b) => a - b);
      for (const one of this.ids.slice(low, high + 1)) this.items.get(one).box.checked = true;
      this.anchor = this.ids[to];
      this.changed();
    }
    this.#focus(to);
  }
}
