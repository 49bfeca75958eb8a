/**
 * One TCP (later TLS) connection to an SMTP server: octets out, replies in.
 *
 * SMTP answers in order, so each command written puts an entry at the end of a line of awaited replies; the next
 * reply belongs to the first of them. That is all it takes to pipeline. Nothing here rejects: an awaited reply
 * resolves to the Reply or, when the connection has ended for whatever cause, to the Fault that ended it.
 */
import { connect as connectTcp, type Socket } from "node:net";
import { connectionFault } from "#platform/network/connection-fault.ts";
import type { SmtpDeadlines } from "./deadlines.ts";
import type { SmtpFault } from "./outcome.ts";
import { quoteReply, ReplyReader, type ServerReply } from "./reply-reader.ts";
import { handshakeFault, type TlsOutcome, type TlsTarget, tlsHandshake } from "./tls.ts";

type Step = Exclude<keyof SmtpDeadlines, "connect" | "block">;

interface Awaited {
  readonly step: Step;
  readonly resolve: (reply: ServerReply | SmtpFault) => void;
}

export interface TcpTarget {
  /** An IP address: whoever connects has already judged which addresses may be talked to. */
  readonly address: string;
  readonly port: number;
  /** The source address, when this machine has several. */
  readonly localAddress?: string | undefined;
}

export class SmtpConnection {
  readonly #deadlines: SmtpDeadlines;
  readonly #awaited: Awaited[] = [];
  /** The address of ours that it goes out from. */
  readonly localAddress: string | null;
  #socket: Socket;
  #reader = new ReplyReader();
  #fault: SmtpFault | null = null;
  #corked = false;
  #dueAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  private constructor(socket: Socket, deadlines: SmtpDeadlines) {
    this.#socket = socket;
    this.localAddress = socket.localAddress ?? null;
    this.#deadlines = deadlines;
    this.#listen();
  }

  static open(target: TcpTarget, deadlines: SmtpDeadlines): Promise<SmtpConnection | SmtpFault> {
    const { address, port, localAddress } = target;
    const socket = connectTcp({
      host: address,
      port,
      noDelay: true,
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    return new Promise((resolve) => {
      const fail = (fault: SmtpFault["fault"], reason: string) => {
        clearTimeout(timer);
        socket.destroy();
        resolve({ fault, reason });
      };
      const timer = setTimeout(
        () => fail("timeout", `no connection to ${address} within ${deadlines.connect} ms`),
        deadlines.connect,
      );
      const onError = (error: NodeJS.ErrnoException) =>
        fail(error.code === "ETIMEDOUT" ? "timeout" : "unreachable", error.message);
      socket.once("error", onError);
      socket.once("connect", () => {
        clearTimeout(timer);
        socket.off("error", onError);
        resolve(new SmtpConnection(socket, deadlines));
      });
    });
  }

  /** Why the connection has ended; null while it lives. */
  get fault(): SmtpFault | null {
    return this.#fault;
  }

  /** Whether a reply is still owed to us. */
  get isOwedReply(): boolean {
    return this.#awaited.length > 0;
  }

  /** Puts octets on the wire; everything written in one turn of the event loop leaves as one segment. */
  write(octets: Buffer | string): void {
    if (this.#fault !== null) return;
    const socket = this.#socket;
    if (!this.#corked) {
      this.#corked = true;
      socket.cork();
      process.nextTick(() => {
        this.#corked = false;
        socket.uncork();
      });
    }
    socket.write(octets);
  }

  /** Writes one block of a large body and waits until the kernel has taken it, or never will. */
  writeBlock(block: Buffer): Promise<void> {
    if (this.#fault !== null) return Promise.resolve();
    this.allow("block");
    return new Promise((resolve) => {
      this.#socket.write(block, () => resolve());
    });
  }

  /** The reply to the command just written, or about to be written in this turn. */
  expect(step: Step): Promise<ServerReply | SmtpFault> {
    if (this.#fault !== null) return Promise.resolve(this.#fault);
    return new Promise((resolve) => {
      this.#awaited.push({ step, resolve });
      if (this.#awaited.length === 1) this.allow(step);
    });
  }

  /** Writes one command and waits for its reply. */
  ask(step: Step, command: string): Promise<ServerReply | SmtpFault> {
    this.write(command);
    return this.expect(step);
  }

  /** Starts the deadline of the reply being waited for afresh. */
  allow(step: keyof SmtpDeadlines): void {
    if (this.#fault !== null) return;
    this.#dueAt = performance.now() + this.#deadlines[step];
    if (this.#dueAt < this.#timerAt) this.#setTimer();
  }

  /**
   * Turns the connection into a TLS one: after STARTTLS, or first of all where TLS is implicit. Whatever the server
   * sent in the clear behind its reply to STARTTLS has been dropped unread (see #receive), so that nobody on the path
   * can plant replies in the encrypted session.
   */
  async secure(target: TlsTarget): Promise<TlsOutcome | SmtpFault> {
    if (this.#fault !== null) return handshakeFault("tls", this.#fault.reason);
    this.#socket.off("data", this.#receive);
    const result = await tlsHandshake(this.#socket, target, this.#deadlines.starttls);
    if ("fault" in result) {
      this.end(result);
      return result;
    }
    this.#socket = result.socket;
    this.#reader = new ReplyReader();
    this.#listen();
    return result.tls;
  }

  /** Ends the connection at once; everything awaited resolves to the fault. The first fault stays. */
  end(fault: SmtpFault): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    clearTimeout(this.#timer);
    this.#socket.destroy();
    for (const { resolve } of this.#awaited.splice(0)) resolve(fault);
  }

  #listen(): void {
    const closed = (reason: string) => this.end({ fault: "closed", reason });
    this.#socket.on("data", this.#receive);
    this.#socket.on("error", (error) => closed(connectionFault(error)));
    this.#socket.on("end", () => closed("the server closed the connection"));
    this.#socket.on("close", () => closed("the server closed the connection"));
  }

  #receive = (chunk: Buffer): void => {
    const { replies, violation } = this.#reader.read(chunk);
    for (const reply of replies) {
      const first = this.#awaited.shift();
      first?.resolve(reply);
      if (first?.step === "starttls") {
        this.#socket.off("data", this.#receive);
        this.#dueAt = Number.POSITIVE_INFINITY;
        return;
      }
      // RFC 5321 section 3.8: 421 may come at any time, asked or not, and the server is gone after it.
      if (reply.code === 421 || first === undefined) {
        this.end({ fault: reply.code === 421 ? "closed" : "protocol", reason: `"${quoteReply(reply)}"` });
        return;
      }
    }
    if (violation !== null) this.end({ fault: "protocol", reason: violation });
    else if (replies.length > 0) this.#awaitNext();
  };

  #awaitNext(): void {
    const next = this.#awaited[0];
    if (next === undefined) this.#dueAt = Number.POSITIVE_INFINITY;
    else this.allow(next.step);
  }

  /**
   * One timer serves all deadlines: it is moved only when the new deadline is earlier, and when it fires too early
   * it goes to sleep for the rest. Setting one for each reply would cost more than parsing it.
   */
  #setTimer(): void {
    clearTimeout(this.#timer);
    this.#timerAt = this.#dueAt;
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        if (this.#dueAt === Number.POSITIVE_INFINITY) return;
        if (performance.now() < this.#dueAt) this.#setTimer();
        else this.end({ fault: "timeout", reason: `no reply to ${this.#awaited[0]?.step} in time` });
      },
      Math.ceil(this.#dueAt - performance.now()),
    );
  }
}
