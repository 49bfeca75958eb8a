/**
 * Reads what follows DATA. It comes in pieces of any size (a line of one dot is a piece of its own), so it is copied
 * into one growing buffer, and what all connections hold at once is bounded.
 */
import type { SMTPServerDataStream } from "smtp-server";
import { SmtpReply } from "./smtp-reply.ts";

const FIRST_BYTES = 16 * 1024;

/** The memory for messages that are being received, shared by all connections of the process. */
export class MessageMemory {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get held(): number {
    return this.#held;
  }

  /** Says whether there was so much left, and takes it then. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#most) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/**
 * Hands the message, dots unstuffed, to `use` and holds its memory until that is done. A message that is too large is
 * read to its end all the same, for the client hears nothing before, but is not kept.
 * @throws SmtpReply 552 when it is larger than `most`, 452 when there is no memory for it, 451 when it breaks off
 */
export async function withMessageData<Result>(
  stream: SMTPServerDataStream,
  {
    most,
    memory,
    onOctets = () => {},
  }: {
    readonly most: number;
    readonly memory: MessageMemory;
    readonly onOctets?: (octets: number) => void;
  },
  use: (message: Buffer) => Promise<Result>,
): Promise<Result> {
  const received = new ReceivedOctets(most, memory);
  try {
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        onOctets(chunk.length);
        received.add(chunk);
      }
    } catch (cause) {
      throw new SmtpReply(451, "4.4.2", "The message broke off", { cause });
    }
    return await use(received.whole());
  } finally {
    received.forget();
  }
}

class ReceivedOctets {
  readonly #most: number;
  readonly #memory: MessageMemory;
  #buffer = Buffer.alloc(0);
  #length = 0;
  #refusal: SmtpReply | null = null;

  constructor(most: number, memory: MessageMemory) {
    this.#most = most;
    this.#memory = memory;
  }

  add(chunk: Buffer): void {
    if (this.#refusal !== null) return;
    const length = this.#length + chunk.length;
    if (length > this.#most) {
      this.#refuse(new SmtpReply(552, "5.3.4", `The message is larger than ${this.#most} octets`));
    } else if (!this.#holds(length)) {
      this.#refuse(
        new SmtpReply(452, "4.3.1", "Too much mail is being received at this moment: retry shortly"),
      );
    } else {
      chunk.copy(this.#buffer, this.#length);
      this.#length = length;
    }
  }

  /** @throws SmtpReply when it was not kept */
  whole(): Buffer {
    if (this.#refusal !== null) throw this.#refusal;
    return this.#buffer.subarray(0, this.#length);
  }

  forget(): void {
    this.#memory.give(this.#buffer.length);
    this.#buffer = Buffer.alloc(0);
  }

  #refuse(refusal: SmtpReply): void {
    this.#refusal = refusal;
    this.forget();
  }

  /** Grows to twice the size, so that no octet is copied more than twice. */
  #holds(length: number): boolean {
    if (length <= this.#buffer.length) return true;
    const size = Math.min(Math.max(length, this.#buffer.length * 2, FIRST_BYTES), this.#most);
    if (!this.#memory.take(size - this.#buffer.length)) return false;
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
    return true;
  }
}
