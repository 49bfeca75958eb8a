/** Reads responses of `fetch` with a size limit, and tells why a `fetch` failed. */

export interface ResponseText {
  /** The body as UTF-8. */
  readonly text: string;
  /** False if the body is longer than the limit. The rest was not read. */
  readonly isWhole: boolean;
}

/**
 * @param most octets; the text of a longer body ends with the chunk that exceeded the limit
 * @throws when reading the body fails
 */
export async function readResponseText(response: Response, most: number): Promise<ResponseText> {
  const chunks: Uint8Array[] = [];
  let octets = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    octets += chunk.length;
    if (octets > most) break;
  }
  return { text: Buffer.concat(chunks).toString(), isWhole: octets <= most };
}

/** The reason why `fetch` failed: the message of its cause, since its own is always "fetch failed". */
export function fetchFault(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  return fault.cause instanceof Error ? fault.cause.message : fault.message;
}
