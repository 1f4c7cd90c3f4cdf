// Requests that only matter if they are the newest: at most one on its way, at most one waiting.

/** Wrap `fetcher(...args)` so that a burst of calls ends in one request for the last of them. */
export function latest(fetcher, show, delay = 0) {
  let waiting = null;
  let running = false;

  /** The newest call, once none has come for `delay` ms. */
  async function calm() {
    let newest = null;
    while (delay && newest !== waiting) {
      newest = waiting;
      await new Promise((go) => setTimeout(go, delay));
    }
    return waiting;
  }

  async function run() {
    running = true;
    try {
      while (waiting) {
        // People who answer quickly do not wait for what they will not look at.
        const args = await calm();
        waiting = null;
        let result = null;
        let failure = null;
        try {
          result = await fetcher(...args);
        } catch (error) {
          failure = error;
        }
        if (!waiting) show(result, failure, ...args);
      }
    } finally {
      running = false;
    }
  }

  return (...args) => {
    waiting = args;
    if (!running) run();
  };
}
