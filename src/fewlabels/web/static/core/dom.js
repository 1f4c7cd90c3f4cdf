// Elements from data. Only textContent and attributes: names and texts are other people's input.

export const $ = (id) => document.getElementById(id);

/** An element with properties and children; strings become text, null is left out. */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "data") Object.assign(made.dataset, value);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Someone else's words in ours: a right-to-left name must not turn the sentence round. */
export const words = (text) => el("bdi", {}, text);

export const kbd = (key) => (key ? el("kbd", { "aria-hidden": "true" }, key.toUpperCase()) : null);

/** Redraw a list of [data-item] entries; the focus stays on the same control of the same entry. */
export function keepFocus(list, redraw) {
  const controls = (entry) => [...(entry?.querySelectorAll("button, input") ?? [])];
  const entry = list.contains(document.activeElement) ? document.activeElement.closest("[data-item]") : null;
  const place = controls(entry).indexOf(document.activeElement);
  redraw();
  if (place < 0) return;
  const now = controls([...list.children].find((one) => one.dataset.item === entry.dataset.item));
  now[Math.min(place, now.length - 1)]?.focus();
}
