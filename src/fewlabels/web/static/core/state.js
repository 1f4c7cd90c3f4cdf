// What the page knows, and who wants to hear when it changes.

import { setColours } from "./colours.js";

export const state = {
  session: null, // GET /api/session, as it came
  classes: [], // [{id, name, colour, key, description}], in the server's order
  classesVersion: null, // another one in the standing: they have changed
  person: "",
  question: null, // what the server asks
  shown: null, // the question on the screen: a moment behind, while its image loads
  standing: null,
  predictions: null, // {version, predicted, chance, labelled: Set, skipped: Set}
  view: "label",
};

const listeners = new Map();

/** Call `listener` after state[name] was set by `set`. Returns a function that ends this. */
export function on(name, listener) {
  if (!listeners.has(name)) listeners.set(name, new Set());
  listeners.get(name).add(listener);
  return () => listeners.get(name).delete(listener);
}

export function set(name, value) {
  state[name] = value;
  for (const listener of listeners.get(name) ?? []) listener(value);
}

/** Take in the classes as the server sent them. */
export function setClasses({ classes, version }) {
  setColours(classes.map(({ colour }) => colour));
  state.classesVersion = version;
  set("classes", classes);
}

/** A class whose name differs from this one in nothing but case, spaces, - and _; or undefined. */
export function alike(name) {
  const plain = (text) => text.normalize("NFKC").toLocaleLowerCase().replace(/[\s_-]+/g, "");
  return state.classes.find((one) => one.name !== name && plain(one.name) === plain(name));
}

export const classNumber = (label) => state.classes.findIndex((one) => one.name === label);
