// What the page knows, and who wants to hear when it changes.

export const state = {
  session: null, // GET /api/session, as it came
  classes: [], // [{name, key}], in the server's order
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

export const classNumber = (label) => state.classes.findIndex((one) => one.name === label);
