/** So many at a time, the others in the order they came. */
export type TakeTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createTurns(atOnce: number): TakeTurn {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // Whoever waits takes over the place; nobody comes in between.
      if (next === undefined) free++;
      else next();
    }
  };
}
