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

/** What of a message is taken. */
export interface MessageRoom {
  /** Octets of the largest message. */
  readonly most: number;
  /** Octets of its beginning that are kept; all when it does not say. */
  readonly kept?: number;
}

export interface ReceivedMessage {
  /** As much of it as is kept. */
  readonly message: Buffer;
  /** Octets of the whole message. */
  readonly octets: number;
}

/** Octets that are read of a message behind the size at which it is refused: so a client that is nearly done hears why. */
const MOST_DISCARDED = 4 * 1024 * 1024;

/**
 * Hands the message, dots unstuffed, to `use` and holds its memory until that is done. A message that is too large is
 * not kept. It is read to its end, for most clients hear nothing before; `onFlood` is called where that is too far away.
 * @throws SmtpReply 552 when it is larger than `most`, 452 when there is no memory for it, 451 when it breaks off
 */
export async function withMessageData<Result>(
  stream: SMTPServerDataStream,
  {
    most,
    kept = most,
    memory,
    onOctets = () => {},
    onFlood = () => {},
  }: MessageRoom & {
    readonly memory: MessageMemory;
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
        // To leave the loop ends the stream, and the library discards the rest without a further look.
        if (received.octets > most + MOST_DISCARDED) {
          onFlood();
          break;
        }
      }
    } catch (cause) {
      throw new SmtpReply(451, "4.4.2", "The message broke off", { cause });
    }
    return await use({ message: received.whole(), octets: received.octets });
  } finally {
    received.forget();
  }
}

class ReceivedOctets {
  readonly #most: number;
  readonly #kept: number;
  readonly #memory: MessageMemory;
  #buffer = Buffer.alloc(0);
  #length = 0;
  #octets = 0;
  #refusal: SmtpReply | null = null;

  constructor(most: number, kept: number, memory: MessageMemory) {
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
    const size = Math.min(Math.max(length, this.#buffer.length * 2, FIRST_BYTES), this.#kept);
    if (!this.#memory.take(size - this.#buffer.length)) return false;
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
    return true;
  }
}
