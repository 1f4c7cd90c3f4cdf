// While the person reads: fetch the pictures that may be next, so that none is waited for.

import { get } from "./api.js";
import { on, state } from "./state.js";

let ahead = []; // held here, or the browser might let go of them

export function startAhead() {
  on("shown", async (question) => {
    if (!question?.item.image) return;
    try {
      const { items } = await get(`/api/items/${question.item.id}/upcoming`);
      if (state.question === question) ahead = items.map(({ image }) => Object.assign(new Image(), { src: image }));
    } catch (error) {
      if (error.status === undefined) throw error; // a fault of the page; a picture not fetched ahead comes later
    }
  });
}
