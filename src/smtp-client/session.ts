/**
 * An SMTP client session: one connection, opened once and used for many messages.
 *
 * `openSession` connects, reads the banner, sends EHLO, starts TLS, sends EHLO again and authenticates if needed. Then
 * `send` delivers one message after the other. Concurrent calls are queued. On a server with PIPELINING the next
 * envelope is sent right behind the body of the message before.
 */
import type { SecureContext } from "node:tls";
import { logIn, type SmtpCredentials } from "./auth.ts";
import { SmtpConnection, type TcpTarget } from "./connection.ts";
import { type SmtpDeadlines, standardDeadlines, withOptionalTls } from "./deadlines.ts";
import { dotStuff } from "./dot-stuffing.ts";
import { composeEnvelope, type SmtpTransaction } from "./envelope-commands.ts";
import type { Extensions } from "./extensions.ts";
import { type Greeted, type Greeting, greet, type OpenFailure } from "./greeting.ts";
import type { NotStarted, TransactionResult, Withdrawn } from "./outcome.ts";
import type { TlsDemand, TlsOutcome } from "./tls.ts";
import { runTransaction } from "./transaction.ts";
import type { Transcript } from "./transcript.ts";
import { smtpFailure } from "./unexpected-reply.ts";

/** Where to connect, and how to use TLS and authentication. */
export interface SessionOptions extends TcpTarget, Greeting {
  /** The name of the mail host, as in its MX record. */
  readonly host: string;
  /** The name in its certificate; default `host`. */
  readonly servername?: string | undefined;
  readonly secureContext?: SecureContext | undefined;
  /** What TLS has to prove; goes with the mode "required". */
  readonly demand?: TlsDemand | undefined;
  /** Credentials of a smart host. */
  readonly credentials?: SmtpCredentials | undefined;
  readonly deadlines?: SmtpDeadlines | undefined;
  /** Records the opening. */
  readonly transcript?: Transcript | undefined;
}

export type OpenResult = { readonly outcome: "open"; readonly session: SmtpSession } | OpenFailure;

/**
 * Opens a session, or returns the stage at which that failed. The certificate is verified only if there is a `demand`.
 *
 * @throws Error on an invalid EHLO name
 */
export async function openSession(options: SessionOptions): Promise<OpenResult> {
  if (!/^[\w.:[\]-]+$/.test(options.ehloName)) throw new Error(`not a name for EHLO: ${options.ehloName}`);
  const { host, servername = host, secureContext, demand, transcript } = options;
  const { deadlines = standardDeadlines } = options;
  const isTlsOptional = options.tls === "opportunistic";
  transcript?.note(`connecting to ${host} [${options.address}] on port ${options.port}`);
  const connection = await SmtpConnection.open(
    options,
    isTlsOptional ? withOptionalTls(deadlines) : deadlines,
  );
  if (!(connection instanceof SmtpConnection)) {
    transcript?.note(connection.reason);
    return { ...smtpFailure("connect", connection), tlsFailed: false };
  }
  transcript?.note(`connected from ${connection.localAddress ?? "an unknown address"}`);
  const greeted = await greet(connection, options, { servername, secureContext, demand }, transcript);
  const refused =
    greeted.outcome === "greeted" ? await logIn(connection, greeted, options, transcript) : null;
  const opened = refused ?? greeted;
  if (opened.outcome === "greeted")
    return { outcome: "open", session: new SmtpSession(host, connection, opened) };
  connection.end({ fault: "closed", reason: "no session" });
  return opened;
}

/** Asked while a message is sent, because it may have waited in the queue of the session. */
export interface SendGuards {
  /** Asked right before the first command of the message. */
  readonly mayBegin: () => boolean;
  /** Asked right before the final dot. */
  readonly mayEnd: () => boolean;
}

const noGuards: SendGuards = { mayBegin: () => true, mayEnd: () => true };

/** An open session; create it with openSession. */
export class SmtpSession {
  readonly host: string;
  readonly offers: Extensions;
  /** The TLS session; null in clear text. */
  readonly tls: TlsOutcome | null;
  readonly #connection: SmtpConnection;
  /** Resolves when the next transaction may write. */
  #turn = Promise.resolve();

  constructor(host: string, connection: SmtpConnection, greeted: Greeted) {
    this.host = host;
    this.offers = greeted.offers;
    this.tls = greeted.tls;
    this.#connection = connection;
  }

  /** The local address of the connection. */
  get localAddress(): string | null {
    return this.#connection.localAddress;
  }

  /** False once the connection has ended, from either side; `send` then returns `broken` with `dataSent: false`. */
  get isOpen(): boolean {
    return this.#connection.fault === null;
  }

  /**
   * Sends one message to one recipient. After a rejection the session is usable, except after 421. A broken transaction
   * ends the session, and so does `mayEnd` returning false. If `mayBegin` returns false, nothing was sent.
   *
   * @param transcript records the transaction
   * @throws Error on an address or a message that cannot go over SMTP (see composeEnvelope, dotStuff)
   */
  async send(
    transaction: SmtpTransaction,
    { mayBegin, mayEnd }: SendGuards = noGuards,
    transcript?: Transcript,
  ): Promise<TransactionResult | Withdrawn | NotStarted> {
    const envelope = composeEnvelope(transaction, this.offers);
    if ("outcome" in envelope) {
      transcript?.note(`not sent: ${envelope.text}`);
      return envelope;
    }
    const body = dotStuff(transaction.message);
    const { pipelining } = this.offers;
    const octets = transaction.message.length;
    return this.#inTurn(async (release) =>
      mayBegin()
        ? runTransaction(
            this.#connection,
            { envelope, body, octets, transcript },
            { pipelining, release, isWanted: mayEnd },
          )
        : { outcome: "unbegun" },
    );
  }

  /** Sends QUIT after the pending transactions, waits for the reply and closes; never rejects. */
  quit(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#connection.ask("quit", "QUIT\r\n");
      this.destroy();
    });
  }

  /** Closes at once; pending transactions resolve as broken. */
  destroy(): void {
    this.#connection.end({ fault: "closed", reason: "session closed by us" });
  }

  async #inTurn<Result>(run: (release: () => void) => Promise<Result>): Promise<Result> {
    const turn = this.#turn;
    const { promise, resolve: release } = Promise.withResolvers<void>();
    this.#turn = promise;
    await turn;
    try {
      return await run(release);
    } finally {
      release();
    }
  }
}
