// Requests that only matter if they are the newest: at most one on its way, at most one waiting.

/** Wrap `fetcher(...args)` so that a burst of calls ends in one request for the last of them. */
export function latest(fetcher, show, delay = 0) {
  let waiting = null;
  let running = false;

  async function run() {
    running = true;
    while (waiting) {
      // The pause lets the next answer go first when someone answers quickly.
      if (delay) await new Promise((go) => setTimeout(go, delay));
      const args = waiting;
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
    running = false;
  }

  return (...args) => {
    waiting = args;
    if (!running) run();
  };
}
