/** How many connections there may be: from one network, and in all. One object is shared by the ports of a purpose. */
export interface ConnectionCaps {
  /** Counts a connection in and gives what counts it out again, once; null when there are enough. */
  admit(network: string): (() => void) | null;
}

export function createConnectionCaps(most: {
  readonly perNetwork: number;
  readonly all: number;
}): ConnectionCaps {
  const counts = new Map<string, number>();
  let all = 0;
  return {
    admit(network) {
      const count = counts.get(network) ?? 0;
      if (all >= most.all || count >= most.perNetwork) return null;
      all += 1;
      counts.set(network, count + 1);
      let isOut = false;
      return () => {
        if (isOut) return;
        isOut = true;
        all -= 1;
        const left = (counts.get(network) ?? 1) - 1;
        if (left === 0) counts.delete(network);
        else counts.set(network, left);
      };
    },
  };
}
