// Sign out: this browser, or all of them.

import { $ } from "./core/dom.js";
import { post } from "./core/api.js";
import { showBanner } from "./announce.js";
import { on } from "./core/state.js";

async function leave(everyone) {
  try {
    await post("/api/sign-out", { everyone });
    location.reload();
  } catch (error) {
    showBanner(error.message);
  }
}

export function startLeaving() {
  on("session", ({ signed_in }) => { $("leave").hidden = !signed_in; });
  $("sign-out").addEventListener("click", () => leave(false));
  $("sign-out-all").addEventListener("click", () => leave(true));
}
