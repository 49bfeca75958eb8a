/** The message of a fault, as a command or a finding shows it. */

/** A connection to a host with several addresses fails with an AggregateError without a message: its errors are joined. */
export function sentence(fault: unknown): string {
  if (fault instanceof AggregateError) return fault.errors.map(sentence).join(", ");
  return fault instanceof Error ? fault.message : String(fault);
}
