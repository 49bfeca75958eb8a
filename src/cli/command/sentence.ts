/** What a command says of what went wrong. */

/** A host with several addresses fails with one error for each, and no words of its own. */
export function sentence(fault: unknown): string {
  if (fault instanceof AggregateError) return fault.errors.map(sentence).join(", ");
  return fault instanceof Error ? fault.message : String(fault);
}
