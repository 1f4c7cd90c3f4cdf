// Changes that did not get through, kept in this tab in their order: they outlive a reload, as after entering a token.

const name = "fewlabels.queued";

function all() {
  try { return [].concat(JSON.parse(sessionStorage.getItem(name)) ?? []); } catch { return []; }
}

function write(changes) {
  try { sessionStorage.setItem(name, JSON.stringify(changes)); } catch { /* kept for as long as the page is open */ }
}

export function keep({ path, body, home }) {
  const before = all();
  if (!before.some((one) => one.body.key === body.key)) write([...before, { path, body, home }]);
}

export function drop({ body }) {
  write(all().filter((one) => one.body.key !== body.key));
}

/** What was kept for this person. */
export const kept = (who) => all().filter(({ body }) => body.who === who);
