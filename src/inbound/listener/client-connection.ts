import type { Socket } from "node:net";
import type { SMTPServerDataStream, SMTPServerEnvelope } from "smtp-server";
import type { SessionSlot } from "./connection-caps.ts";
import type { Conversation } from "./conversation-interface.ts";
import { type MessageMemory, withMessageData } from "./message-data.ts";
import { answerSoon } from "./smtp-reply.ts";

/** How long a client may take to read the reply that ends its session. */
const FAREWELL_MS = 1_000;

interface ClientOptions {
  readonly socket: Socket;
  /** The key of the client (peerOf). */
  readonly peer: string;
  readonly slot: SessionSlot;
  readonly conversation: Conversation;
  /** Replies 421 if the SMTP session has begun; the reply ends the session. */
  readonly send421: (text: string) => void;
  /** Called with a fault after which the client is served as if nothing had happened. */
  readonly onFault: (fault: unknown) => void;
}

interface DataLimits {
  readonly memory: MessageMemory;
  /** Octets of the largest message. */
  readonly mostBytes: number;
  /** From DATA to the final dot. */
  readonly dataMs: number;
}

/** One client of an SMTP port, from its TCP connection to its end: its conversation, its deadlines and its messages. */
export class ClientConnection {
  readonly socket: Socket;
  readonly peer: string;
  readonly conversation: Conversation;
  readonly #slot: SessionSlot;
  readonly #send421: (text: string) => void;
  readonly #onFault: (fault: unknown) => void;
  #deadline: NodeJS.Timeout | undefined;
  #isReceiving = false;
  #isStopping = false;

  constructor({ socket, peer, slot, conversation, send421, onFault }: ClientOptions) {
    this.socket = socket;
    this.peer = peer;
    this.conversation = conversation;
    this.#slot = slot;
    this.#send421 = send421;
    this.#onFault = onFault;
  }

  /** Ends the connection after `ms`, unless `isExempt` then. */
  endAfter(ms: number, reason: string, isExempt: () => boolean): void {
    this.#deadline = setTimeout(() => {
      if (!isExempt()) endConnection(this.socket, () => this.#send421(reason));
    }, ms).unref();
  }

  /** Ends the session now, or when the message that is being received has its reply. */
  stop(): void {
    this.#isStopping = true;
    if (!this.#isReceiving) this.#sendStopping();
  }

  /** The client has disconnected. */
  release(): void {
    clearTimeout(this.#deadline);
    this.#slot.leave();
  }

  /** A login succeeded, so the session is not idle. */
  noteLogin(): void {
    this.#slot.progress();
  }

  /**
   * Reads the message after DATA and hands it to the conversation.
   * @returns the text of the 250 reply
   * @throws SmtpReply as withMessageData and the conversation do
   */
  async receive(
    stream: SMTPServerDataStream,
    envelope: SMTPServerEnvelope,
    { memory, mostBytes, dataMs }: DataLimits,
  ): Promise<string> {
    const late = setTimeout(() => this.#send421("4.4.2 The message took too long"), dataMs);
    this.#isReceiving = true;
    this.#slot.beginMessage();
    let octets = 0;
    let isFlood = false;
    const limits = {
      memory,
      ...(this.conversation.sizeLimit?.() ?? { most: mostBytes }),
      onOctets: (more: number) => {
        octets += more;
        this.#slot.receive(more);
      },
      onFlood: () => {
        isFlood = true;
      },
    };
    try {
      return await withMessageData(stream, limits, (received) => {
        clearTimeout(late);
        this.#slot.endMessage();
        return this.conversation.message(received, envelope);
      });
    } finally {
      clearTimeout(late);
      this.#slot.progress();
      await answerSoon(Promise.resolve(this.conversation.onOctets?.(octets))).catch(this.#onFault);
      this.#isReceiving = false;
      // After the reply to the message, which smtp-server sends when this promise has settled.
      if (isFlood) setImmediate(() => this.#send421("4.7.0 The message was far too large"));
      if (this.#isStopping) setImmediate(() => this.#sendStopping());
    }
  }

  #sendStopping(): void {
    this.#send421("4.3.2 The service is stopping");
  }
}

/** Calls `sayGoodbye` and closes the socket a second later, whatever the client does. */
export function endConnection(socket: Socket, sayGoodbye: () => void): void {
  sayGoodbye();
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
}

/** A key of a client: its network and port, which both its TCP socket and smtp-server's session have. */
export function peerOf(network: string, port: number | undefined): string {
  return `${network} ${port}`;
}
