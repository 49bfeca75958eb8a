/**
 * One TCP (later TLS) connection to an SMTP server: octets out, replies in.
 *
 * SMTP servers answer in order. Each command that is written appends an entry to the queue of awaited replies, and the
 * next reply belongs to the first entry; this is all that pipelining needs. No method rejects: an awaited reply
 * resolves to the ServerReply, or to the SmtpFault that ended the connection.
 */
import { connect as connectTcp, type Socket } from "node:net";
import { connectionFault } from "#platform/network/explain-connection-fault.ts";
import type { SmtpDeadlines } from "./deadlines.ts";
import type { SmtpFault } from "./outcome.ts";
import { quoteReply, ReplyReader, type ServerReply } from "./reply-reader.ts";
import { handshakeFault, type TlsOutcome, type TlsTarget, tlsHandshake } from "./tls.ts";
import type { Transcript } from "./transcript.ts";

type Step = Exclude<keyof SmtpDeadlines, "connect" | "block">;

interface Awaited {
  readonly step: Step;
  readonly resolve: (reply: ServerReply | SmtpFault) => void;
  readonly transcript: Transcript | undefined;
}

/** What a step waits for, as a transcript names it. */
const WAITED_FOR: Record<keyof SmtpDeadlines, string> = {
  connect: "connection",
  banner: "greeting of the server",
  ehlo: "reply to EHLO",
  starttls: "reply to STARTTLS",
  ehloUnderTls: "reply to EHLO under TLS",
  auth: "reply to AUTH",
  mail: "reply to MAIL FROM",
  rcpt: "reply to RCPT TO",
  data: "reply to DATA",
  block: "acknowledgement of the next part of the message",
  dot: "reply to the message",
  reset: "reply to RSET",
  quit: "reply to QUIT",
};

/** The address, port and source address of a connection. */
export interface TcpTarget {
  /** An IP address. The caller has already checked that it may be connected to. */
  readonly address: string;
  readonly port: number;
  /** The source address, for a machine with several. */
  readonly localAddress?: string | undefined;
}

/** An open connection; see the head of this file. */
export class SmtpConnection {
  readonly #deadlines: SmtpDeadlines;
  readonly #awaited: Awaited[] = [];
  /** The local address of the connection. */
  readonly localAddress: string | null;
  #socket: Socket;
  #reader = new ReplyReader();
  #fault: SmtpFault | null = null;
  #corked = false;
  #dueAt = Number.POSITIVE_INFINITY;
  /** The step that the deadline belongs to. */
  #dueStep: keyof SmtpDeadlines = "banner";
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

  /** Why the connection has ended; null while it is open. */
  get fault(): SmtpFault | null {
    return this.#fault;
  }

  /** Whether a reply is still awaited. */
  get isOwedReply(): boolean {
    return this.#awaited.length > 0;
  }

  /** Writes octets; all writes within one turn of the event loop are sent as one segment. */
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

  /** Writes one block of a large body. Resolves when the kernel has taken it, or when the connection has ended. */
  writeBlock(block: Buffer): Promise<void> {
    if (this.#fault !== null) return Promise.resolve();
    this.allow("block");
    return new Promise((resolve) => {
      this.#socket.write(block, () => resolve());
    });
  }

  /**
   * Awaits the reply to the command that was just written, or that is written later in this turn.
   *
   * @param transcript records the reply
   */
  expect(step: Step, transcript?: Transcript): Promise<ServerReply | SmtpFault> {
    if (this.#fault !== null) {
      transcript?.note(this.#fault.reason);
      return Promise.resolve(this.#fault);
    }
    return new Promise((resolve) => {
      this.#awaited.push({ step, resolve, transcript });
      if (this.#awaited.length === 1) this.allow(step);
    });
  }

  /**
   * Writes one command and waits for its reply.
   *
   * @param shown the command as the transcript shows it, where it has credentials
   */
  ask(
    step: Step,
    command: string,
    transcript?: Transcript,
    shown: string = command.trimEnd(),
  ): Promise<ServerReply | SmtpFault> {
    if (this.#fault === null) transcript?.client(shown);
    this.write(command);
    return this.expect(step, transcript);
  }

  /** Restarts the deadline of the awaited reply. */
  allow(step: keyof SmtpDeadlines): void {
    if (this.#fault !== null) return;
    this.#dueAt = performance.now() + this.#deadlines[step];
    this.#dueStep = step;
    if (this.#dueAt < this.#timerAt) this.#setTimer();
  }

  /**
   * Starts TLS: after STARTTLS, or at once for implicit TLS. Anything the server sent in clear text after its reply to
   * STARTTLS has been dropped unread (see #receive), so an attacker on the path cannot inject replies into the TLS
   * session.
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

  /**
   * Ends the connection at once; every awaited reply resolves to the fault. Only the first fault is kept.
   *
   * @param noted the fault as transcripts show it
   */
  end(fault: SmtpFault, noted: string = fault.reason): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    clearTimeout(this.#timer);
    this.#socket.destroy();
    const partial = this.#reader.unfinished;
    if (partial !== null) this.#awaited[0]?.transcript?.unfinished(partial);
    for (const { resolve, transcript } of this.#awaited.splice(0)) {
      transcript?.note(noted);
      resolve(fault);
    }
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
      first?.transcript?.server(reply);
      first?.resolve(reply);
      if (first?.step === "starttls") {
        this.#socket.off("data", this.#receive);
        this.#dueAt = Number.POSITIVE_INFINITY;
        return;
      }
      // RFC 5321 section 3.8: a server may send 421 at any time, even unasked, and closes the connection after it.
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

  #endOverdue(): void {
    const seconds = (this.#deadlines[this.#dueStep] / 1_000).toLocaleString("en-US");
    const reason = `no reply to ${this.#awaited[0]?.step} in time`;
    this.end({ fault: "timeout", reason }, `no ${WAITED_FOR[this.#dueStep]} within ${seconds} seconds`);
  }

  /**
   * One timer serves all deadlines. It is moved only if the new deadline is earlier; if it fires too early, it is set
   * again for the rest. A timer for each reply would cost more than parsing the reply.
   */
  #setTimer(): void {
    clearTimeout(this.#timer);
    this.#timerAt = this.#dueAt;
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        if (this.#dueAt === Number.POSITIVE_INFINITY) return;
        if (performance.now() < this.#dueAt) this.#setTimer();
        else this.#endOverdue();
      },
      Math.ceil(this.#dueAt - performance.now()),
    );
  }
}
