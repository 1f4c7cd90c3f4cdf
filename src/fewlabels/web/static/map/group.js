// Many items to get one class: a look at them, a choice, and a count to confirm.

import { $, el, kbd, words } from "../core/dom.js";
import { announce, notice, showBanner } from "../announce.js";
import { post } from "../core/api.js";
import { paint } from "../core/colours.js";
import { deliver, isBusy } from "../core/deliver.js";
import { state } from "../core/state.js";
import { count, plural } from "../core/numbers.js";
import { note } from "../label/answering.js";
import { classOfKey, singleKeys } from "../label/keys.js";
import { tag } from "../item.js";
import { Tiles } from "../review/tiles.js";

const page = 48;

/** Those of the classes that are rare among them first: what does not belong is seen at once. */
function oddFirst(items) {
  const predicted = state.predictions?.predicted ?? [];
  const many = new Map();
  for (const item of items) many.set(predicted[item], (many.get(predicted[item]) ?? 0) + 1);
  return [...items].sort((a, b) => many.get(predicted[a]) - many.get(predicted[b]) || predicted[a] - predicted[b] || a - b);
}

class Group {
  constructor() {
    this.tiles = new Tiles(() => this.ticked(), null);
    $("group-items").append(this.tiles.element);
    $("group-back").addEventListener("click", () => this.turn(-1));
    $("group-next").addEventListener("click", () => this.turn(1));
    $("group-labelled").addEventListener("change", () => this.update());
    $("group-go").addEventListener("click", () => this.confirm());
    $("group-close").addEventListener("click", () => $("group-dialog").close());
    $("group-dialog").addEventListener("keydown", (event) => this.onKey(event));
  }

  /** Look at these items; nothing is labelled before the person has said so. */
  async open(items) {
    const { together } = state.session.limits;
    if (items.length > together) {
      announce(`${count(items.length)} items are too many.`);
      showBanner(`${count(items.length)} items: at most ${count(together)} can be labelled together. Draw around fewer.`);
      return;
    }
    try {
      const reply = await post("/api/look", { items: oddFirst(items), limit: page });
      this.ids = reply.ids;
      this.known = new Set(reply.labelled);
      this.checks = reply.checks;
      this.without = new Set(); // unticked
      this.label = null;
      this.offset = 0;
      $("group-labelled").checked = false;
      this.drawClasses();
      this.show(reply.items);
      $("group-dialog").showModal();
      $("group-title").focus();
    } catch (error) {
      if (error.status === undefined) throw error;
      showBanner(error.message);
    }
  }

  drawClasses() {
    $("group-classes").replaceChildren(...state.classes.map(({ name, key }, number) => paint(el("button", {
      type: "button", class: "class", "aria-pressed": String(name === this.label), data: { test: "group-class", label: name },
      onclick: () => this.choose(name),
    }, kbd(key), el("span", { class: "chip" }), el("span", { class: "name" }, words(name))), number)));
  }

  choose(name) {
    this.label = name;
    for (const button of $("group-classes").children) button.setAttribute("aria-pressed", String(button.dataset.label === name));
    this.update();
  }

  show(items) {
    this.showing = true; // the boxes are being set, not ticked
    this.tiles.replace(items);
    for (const [id, { box }] of this.tiles.items) box.checked = !this.without.has(id);
    this.showing = false;
    this.update();
  }

  ticked() {
    if (this.showing) return;
    for (const [id, { box }] of this.tiles.items) box.checked ? this.without.delete(id) : this.without.add(id);
    this.update();
  }

  async turn(by) {
    const to = this.offset + by * page;
    if (to < 0 || to >= this.ids.length) return;
    let reply;
    try {
      reply = await post("/api/look", { items: this.ids.slice(to, to + page), limit: page });
    } catch (error) {
      if (error.status === undefined) throw error;
      showBanner(error.message);
      return;
    }
    this.offset = to;
    this.show(reply.items);
  }

  get meant() {
    const also = $("group-labelled").checked;
    return this.ids.filter((id) => !this.without.has(id) && (also || !this.known.has(id)));
  }

  update() {
    const [known, meant] = [this.known.size, this.meant.length];
    $("group-title").textContent = plural(this.ids.length, "item");
    $("group-labelled").parentElement.hidden = !known;
    $("group-labelled-words").textContent = `Change ${plural(known, "item that has", "items that have")} a label, too`;
    const checks = this.checks ? `Left out: ${plural(this.checks, "check that waits", "checks that wait")} for an answer. ` : "";
    $("group-words").textContent = `${checks}Those predicted otherwise than most come first: untick what does not belong.`;
    $("group-go").disabled = !meant || this.label === null;
    $("group-go").replaceChildren(...(this.label === null ? ["Choose a class"] : [`Label ${plural(meant, "item")} as `, tag(this.label)]));
    $("group-pager").hidden = this.ids.length <= page;
    $("group-back").disabled = this.offset === 0;
    $("group-next").disabled = this.offset + page >= this.ids.length;
    $("group-place").textContent = `${count(this.offset + 1)} to ${count(Math.min(this.ids.length, this.offset + page))}`;
  }

  confirm() {
    if (isBusy()) {
      notice("Your last answer is still on its way: press it again in a moment.", 2500);
      return;
    }
    const [items, label] = [this.meant, this.label];
    $("group-dialog").close();
    deliver("/api/label-together", { who: state.person, items, label }, (reply) => {
      note(reply);
      this.say(`${plural(items.length, "item")} labelled ${label}.`, reply.event);
    });
  }

  /** Beneath the map, with a way back. */
  say(sentence, event) {
    announce(sentence);
    const back = () => deliver("/api/undo", { who: state.person, event, whole: true, next: false }, (reply) => {
      note(reply);
      $("map-said").replaceChildren("Undone.");
      announce("Undone.");
    });
    $("map-said").replaceChildren(sentence, " ", el("button", { type: "button", class: "quiet", data: { test: "group-undo" }, onclick: back }, "Undo"));
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !singleKeys()) return;
    const named = classOfKey(event.key);
    if (event.key === "Enter" && !event.target.closest("button")) { if (!$("group-go").disabled) this.confirm(); }
    else if (event.key === "[") this.turn(-1);
    else if (event.key === "]") this.turn(1);
    else if (named) this.choose(named.name);
    else return;
    event.preventDefault();
  }
}

let group = null;

/** Open the dialog for these items. */
export function label(items) {
  group ??= new Group();
  group.open(items);
}
