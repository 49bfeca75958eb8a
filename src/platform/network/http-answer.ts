/** Answers to our own HTTP requests: no more of one is read than anybody needs. */

/** What was read of an answer, as UTF-8. */
export interface AnswerText {
  readonly text: string;
  /** False: it is longer than it may be. The rest was not read. */
  readonly isWhole: boolean;
}

/** @param most octets; of a longer answer the text ends with the piece that went beyond it. Throws as reading does. */
export async function readText(response: Response, most: number): Promise<AnswerText> {
  const chunks: Uint8Array[] = [];
  let octets = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    octets += chunk.length;
    if (octets > most) break;
  }
  return { text: Buffer.concat(chunks).toString(), isWhole: octets <= most };
}

/** Why there is no answer: fetch says what went wrong in the cause of its error. */
export function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  return fault.cause instanceof Error ? fault.cause.message : fault.message;
}
