/** Octets of an unpacked file or a download; a million people take some hundred megabytes. */
const MOST_OCTETS = 20 * 1024 ** 3;

/** Ends a stream that brings more than a disk should take. */
export class OctetBudget {
  readonly #subject: string;
  readonly #most: number;
  #octets = 0;

  /** @param subject of a sentence that goes on with the number of octets, such as "a.zip unpacks to" */
  constructor(subject: string, most = MOST_OCTETS) {
    this.#subject = subject;
    this.#most = most;
  }

  /** @throws Error with a sentence, also if several streams together bring too much */
  async *pass(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.#octets += chunk.length;
      if (this.#octets > this.#most) throw new Error(`${this.#subject} more than ${this.#most} octets`);
      yield chunk;
    }
  }
}
