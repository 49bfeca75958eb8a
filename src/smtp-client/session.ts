/**
 * An SMTP client session: one connection, opened once and used for many messages.
 *
 * `openSession` connects, reads the banner, says EHLO, turns on TLS, says EHLO again and logs in where it must. Then `send` carries
 * one message after the other. Calls that come while one is under way queue up, and on a pipelining server their
 * envelopes travel right behind the body of the message before.
 */
import type { SecureContext } from "node:tls";
import { logIn, type SmtpCredentials } from "./auth.ts";
import { SmtpConnection, type TcpTarget } from "./connection.ts";
import { type SmtpDeadlines, standardDeadlines, withOptionalTls } from "./deadlines.ts";
import { dotStuff } from "./dot-stuffing.ts";
import { composeEnvelope, type SmtpTransaction } from "./envelope.ts";
import { smtpFailure } from "./expected-reply.ts";
import type { Extensions } from "./extensions.ts";
import { type Greeted, type Greeting, greet, type OpenFailure } from "./greeting.ts";
import type { NotStarted, TransactionResult, Withdrawn } from "./outcome.ts";
import type { TlsDemand, TlsOutcome } from "./tls.ts";
import { runTransaction } from "./transaction.ts";

export interface SessionOptions extends TcpTarget, Greeting {
  /** The name of the mail host, as in its MX record. */
  readonly host: string;
  /** The name its certificate should bear; default `host`. */
  readonly servername?: string | undefined;
  readonly secureContext?: SecureContext | undefined;
  /** What TLS has to prove; it belongs to the wish "required". */
  readonly demand?: TlsDemand | undefined;
  /** To log in with, at a smart host. */
  readonly credentials?: SmtpCredentials | undefined;
  readonly deadlines?: SmtpDeadlines | undefined;
}

export type OpenResult = { readonly outcome: "open"; readonly session: SmtpSession } | OpenFailure;

/**
 * Opens a session, or says at which stage that failed. Only `demand` asks for a certificate that can be verified.
 *
 * @throws a programmer's error on an EHLO name that is no name
 */
export async function openSession(options: SessionOptions): Promise<OpenResult> {
  if (!/^[\w.:[\]-]+$/.test(options.ehloName)) throw new Error(`not a name for EHLO: ${options.ehloName}`);
  const { host, servername = host, secureContext, demand } = options;
  const { deadlines = standardDeadlines } = options;
  const isTlsOptional = options.tls === "opportunistic";
  const connection = await SmtpConnection.open(
    options,
    isTlsOptional ? withOptionalTls(deadlines) : deadlines,
  );
  if (!(connection instanceof SmtpConnection))
    return { ...smtpFailure("connect", connection), tlsFailed: false };
  const greeted = await greet(connection, options, { servername, secureContext, demand });
  const refused = greeted.outcome === "greeted" ? await logIn(connection, greeted, options) : null;
  const opened = refused ?? greeted;
  if (opened.outcome === "greeted")
    return { outcome: "open", session: new SmtpSession(host, connection, opened) };
  connection.end({ fault: "closed", reason: "no session" });
  return opened;
}

/** Asked on the way of a message, which may have had to wait for those before it. */
export interface SendGuards {
  /** Right before anything of it is said. */
  readonly mayBegin: () => boolean;
  /** Right before its final dot. */
  readonly mayEnd: () => boolean;
}

const noGuards: SendGuards = { mayBegin: () => true, mayEnd: () => true };

export class SmtpSession {
  readonly host: string;
  readonly offers: Extensions;
  /** What protects this session; null in clear text. */
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

  /** The address of ours that it goes out from. */
  get localAddress(): string | null {
    return this.#connection.localAddress;
  }

  /** False once the connection has ended, whoever ended it; `send` then answers `broken` with nothing sent. */
  get isOpen(): boolean {
    return this.#connection.fault === null;
  }

  /**
   * Sends one message to one recipient. Refusals leave the session usable, but for 421; a broken transaction ends it,
   * and so does one that may not end. One that may not begin costs nothing.
   *
   * @throws a programmer's error on an address or a message that cannot go over SMTP (see composeEnvelope, dotStuff)
   */
  async send(
    transaction: SmtpTransaction,
    { mayBegin, mayEnd }: SendGuards = noGuards,
  ): Promise<TransactionResult | Withdrawn | NotStarted> {
    const envelope = composeEnvelope(transaction, this.offers);
    if ("outcome" in envelope) return envelope;
    const body = dotStuff(transaction.message);
    const { pipelining } = this.offers;
    return this.#inTurn(async (release) =>
      mayBegin()
        ? runTransaction(this.#connection, envelope, body, { pipelining, release, isWanted: mayEnd })
        : { outcome: "unbegun" },
    );
  }

  /** Says QUIT after the transactions under way, waits for the answer and closes; never rejects. */
  quit(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#connection.ask("quit", "QUIT\r\n");
      this.destroy();
    });
  }

  /** Closes at once; transactions under way resolve as broken. */
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
