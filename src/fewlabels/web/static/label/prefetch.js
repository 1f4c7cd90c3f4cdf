// While the person reads: fetch the pictures that may be next, so that nobody waits for them.

import { get } from "../core/api.js";
import { on, state } from "../core/state.js";

let fetched = []; // held here, or the browser might let go of them

export function startPrefetch() {
  on("shown", async (question) => {
    if (!question?.item.image) return;
    try {
      const { items } = await get(`/api/items/${question.item.id}/upcoming`);
      if (state.question === question) fetched = items.map(({ image }) => Object.assign(new Image(), { src: image }));
    } catch (error) {
      if (error.status === undefined) throw error; // a bug in the page; a picture not fetched ahead comes later
    }
  });
}
