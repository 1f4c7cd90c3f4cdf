// Who answers: asked for where several people work, taken as known otherwise.

import { $ } from "./core/dom.js";
import { set, state } from "./core/state.js";

const kept = "fewlabels.name";

function stored() {
  try { return localStorage.getItem(kept) ?? ""; } catch { return ""; }
}

/** Resolves with the name typed; with `must`, the dialog cannot be left without one. */
function askName(must) {
  const dialog = $("name-dialog");
  $("name-input").value = state.person || state.session.person;
  dialog.showModal();
  return new Promise((known) => {
    const refuse = (event) => must && event.preventDefault();
    const given = (event) => {
      event.preventDefault();
      const name = $("name-input").value.trim();
      if (!name) return;
      try { localStorage.setItem(kept, name); } catch { /* asked again next time */ }
      dialog.close(name);
    };
    const closed = () => {
      dialog.removeEventListener("cancel", refuse);
      $("name-form").removeEventListener("submit", given);
      // The browser lets a second Escape through whatever we say; then ask again.
      if (must && !dialog.returnValue) known(askName(true));
      else known(dialog.returnValue || state.person);
    };
    dialog.returnValue = "";
    dialog.addEventListener("cancel", refuse);
    $("name-form").addEventListener("submit", given);
    dialog.addEventListener("close", closed, { once: true });
  });
}

/** Find out who the person is; `changed` is called when another name is given later. */
export async function meet(changed) {
  if (!state.session.several) {
    set("person", state.session.person);
    return;
  }
  if (state.session.named) {
    set("person", state.session.person); // as the link says; without one the server says that it is missing
    return;
  }
  const button = $("person");
  const take = (name) => {
    set("person", name);
    button.textContent = name;
    button.setAttribute("aria-label", `You are ${name}. Change the name`);
    button.hidden = false;
  };
  take(stored() || (await askName(true)));
  button.addEventListener("click", async () => {
    const name = await askName(false);
    if (name === state.person) return;
    take(name);
    changed();
  });
}
