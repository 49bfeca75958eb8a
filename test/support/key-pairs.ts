/** Counts the key pairs that this process makes: nothing outside tells of one that was made in vain. */
import { createHook } from "node:async_hooks";
import { afterAll } from "vitest";

/** Counts for the test file that calls this; says how many were begun during some work. */
export function countKeyPairs(): (work: () => Promise<unknown>) => Promise<number> {
  let begun = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === "KEYPAIRGENREQUEST") begun += 1;
    },
  }).enable();
  afterAll(() => {
    hook.disable();
  });
  return async (work) => {
    const before = begun;
    await work();
    return begun - before;
  };
}
