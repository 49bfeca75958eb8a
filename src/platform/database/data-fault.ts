/** Errors for values that PostgreSQL rejects: a retry would fail in the same way, so it must not block other items. */

/** Whether it is an error of SQLSTATE class 22 (data exception) or 23 (integrity constraint violation). */
export function isDataFault(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && /^2[23]/.test(String(fault.code));
}

/**
 * Runs `work` for all items at once, and if PostgreSQL rejects a value, for each item alone.
 * @param onRefused called for each item that is rejected alone
 * @throws any other error
 */
export async function batchOrOneByOne<Item>(
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
    else for (const item of items) await batchOrOneByOne([item], work, onRefused);
  }
}
