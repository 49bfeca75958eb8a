/**
 * Reads the message after DATA. It arrives in chunks of any size, so it is copied into one growing buffer. The buffers of
 * all connections together are bounded.
 */
import type { SMTPServerDataStream } from "smtp-server";
import { SmtpReply } from "./smtp-reply.ts";

const FIRST_BYTES = 16 * 1024;

/** Memory for messages that are being received, in bytes. */
export interface MemoryBudget {
  /** Reserves the bytes; false when fewer are left. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
}

/** The memory for messages that are being received, shared by all connections of a purpose. */
export class MessageMemory implements MemoryBudget {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get held(): number {
    return this.#held;
  }

  reserve(bytes: number): boolean {
    if (this.#held + bytes > this.#most) return false;
    this.#held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}

export interface MessageSizeLimit {
  /** Octets of the largest message. */
  readonly most: number;
  /** Octets of its beginning that are kept. Default: all. */
  readonly kept?: number;
  /** The memory for it. Default: the port's. */
  readonly memory?: MemoryBudget;
}

export interface ReceivedMessage {
  /** The octets that are kept. */
  readonly message: Buffer;
  /** Octets of the whole message. */
  readonly octets: number;
}

/** Octets read beyond the largest size, so that a client that is nearly done reads why its message is refused. */
const MOST_DISCARDED = 4 * 1024 * 1024;

/**
 * Gives the message, dots unstuffed, to `use`, and releases its memory after that. A message that is too large is
 * discarded but read to its end, because most clients read no reply earlier. `onFlood` is called when its end is too far
 * away; the rest is not read.
 * @throws SmtpReply 552 when it is larger than `most`, 452 when there is no memory for it, 451 when the connection breaks
 */
export async function withMessageData<Result>(
  stream: SMTPServerDataStream,
  {
    most,
    kept = most,
    memory,
    onOctets = () => {},
    onFlood = () => {},
  }: MessageSizeLimit & {
    readonly memory: MemoryBudget;
    readonly onOctets?: (octets: number) => void;
    readonly onFlood?: () => void;
  },
  use: (received: ReceivedMessage) => Promise<Result>,
): Promise<Result> {
  const received = new ReceivedOctets(most, kept, memory);
  try {
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        onOctets(chunk.length);
        received.add(chunk);
        // Leaving the loop ends the stream; smtp-server discards the rest.
        if (received.octets > most + MOST_DISCARDED) {
          onFlood();
          break;
        }
      }
    } catch (cause) {
      throw new SmtpReply(451, "4.4.2", "The connection broke during the message", { cause });
    }
    return await use({ message: received.whole(), octets: received.octets });
  } finally {
    received.discard();
  }
}

class ReceivedOctets {
  readonly #most: number;
  readonly #kept: number;
  readonly #memory: MemoryBudget;
  #buffer = Buffer.alloc(0);
  #length = 0;
  #octets = 0;
  #refusal: SmtpReply | null = null;

  constructor(most: number, kept: number, memory: MemoryBudget) {
    this.#most = most;
    this.#kept = Math.min(kept, most);
    this.#memory = memory;
  }

  get octets(): number {
    return this.#octets;
  }

  add(chunk: Buffer): void {
    this.#octets += chunk.length;
    if (this.#refusal !== null) return;
    const length = Math.min(this.#length + chunk.length, this.#kept);
    if (this.#octets > this.#most) {
      this.#refuse(new SmtpReply(552, "5.3.4", `The message is larger than ${this.#most} octets`));
    } else if (!this.#grow(length)) {
      this.#refuse(new SmtpReply(452, "4.3.1", "Too much mail is being received: retry shortly"));
    } else {
      chunk.copy(this.#buffer, this.#length);
      this.#length = length;
    }
  }

  /** @throws SmtpReply when the message was discarded */
  whole(): Buffer {
    if (this.#refusal !== null) throw this.#refusal;
    return this.#buffer.subarray(0, this.#length);
  }

  /** Releases the memory. */
  discard(): void {
    this.#memory.release(this.#buffer.length);
    this.#buffer = Buffer.alloc(0);
  }

  #refuse(refusal: SmtpReply): void {
    this.#refusal = refusal;
    this.discard();
  }

  /** Grows the buffer to at least `length` octets, by doubling; false when there is no memory. */
  #grow(length: number): boolean {
    if (length <= this.#buffer.length) return true;
    const size = Math.min(Math.max(length, this.#buffer.length * 2, FIRST_BYTES), this.#kept);
    if (!this.#memory.reserve(size - this.#buffer.length)) return false;
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
    return true;
  }
}
