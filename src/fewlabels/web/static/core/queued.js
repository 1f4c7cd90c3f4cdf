// A change that did not get through, kept in this tab: it outlives a reload, as after entering a token.

const name = "fewlabels.queued";

export function keep({ path, body, home }) {
  try { sessionStorage.setItem(name, JSON.stringify({ path, body, home })); } catch { /* kept for as long as the page is open */ }
}

export function drop() {
  try { sessionStorage.removeItem(name); } catch { /* nothing was kept */ }
}

/** What was kept for this person, or null. */
export function kept(who) {
  try {
    const found = JSON.parse(sessionStorage.getItem(name));
    return found?.body?.who === who ? found : null;
  } catch {
    return null;
  }
}
