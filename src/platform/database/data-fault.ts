/** Values that PostgreSQL refuses: with them another try would fail alike, and nobody else's may wait for that. */

/** SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation). */
export function isDataFault(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && /^2[23]/.test(String(fault.code));
}

/**
 * Does something about all items together; where PostgreSQL refuses a value of one of them, about one after the other.
 * `onRefused` hears of those that are refused by themselves; whatever else goes wrong is thrown.
 */
export async function togetherOrApart<Item>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<void>,
  onRefused: (item: Item, fault: unknown) => Promise<void> | void,
): Promise<void> {
  try {
    await work(items);
  } catch (fault) {
    if (!isDataFault(fault)) throw fault;
    const [only, ...others] = items;
    if (only !== undefined && others.length === 0) await onRefused(only, fault);
    else for (const item of items) await togetherOrApart([item], work, onRefused);
  }
}
