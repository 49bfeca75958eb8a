/** Counts the key pairs that this process generates, because a needless one has no other visible effect. */
import { createHook } from "node:async_hooks";
import { afterAll } from "vitest";

/** Starts counting for the test file. The returned function runs `work` and returns the number of generated key pairs. */
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
