/**
 * One bound SMPP 3.4 session. Every request has a deadline, enquire_link checks the connection regularly, and any fault ends
 * the session with a reason.
 */
import smpp, { type Pdu, type Session } from "smpp";
import { connectionFault } from "#platform/network/explain-connection-fault.ts";
import type { SmppSettings } from "./gateway-settings.ts";

/** The deadline for the connection, the bind and each enquire_link. */
const ANSWER_MS = 10_000;
/** The deadline for a submit_sm. After this deadline it is unknown whether the service centre accepted the SMS. */
export const SUBMIT_MS = 30_000;
const ENQUIRE_MS = 30_000;
const UNBIND_MS = 2_000;
/** While this many receipts are being stored, reading from the connection is paused. */
const MOST_RECEIPTS = 1_000;
const VERSION = 0x34;
/** "Temporary application error": the service centre delivers the receipt again (SMPP 3.4 section 5.1.3). */
const ESME_RX_T_APPN = 0x64;

export interface SmppSession {
  /** Resolves to the answer, or to the reason why there is none; then it is unknown whether the request was processed. */
  ask(pdu: Pdu, ms: number): Promise<Pdu | string>;
  readonly isOpen: boolean;
  /** Resolves to the reason when the session has ended. */
  readonly ended: Promise<string>;
  /** Unbinds. */
  close(): Promise<void>;
}

/**
 * Connects and binds as transceiver. `onDeliver` is called with every deliver_sm and data_sm, which is answered when it resolves;
 * when it rejects, the service centre is asked to deliver again.
 *
 * @throws an Error with the reason
 */
export async function openSmppSession(
  settings: SmppSettings,
  onDeliver: (pdu: Pdu) => Promise<void>,
): Promise<SmppSession> {
  const { host, port, isTls, systemId, password, systemType } = settings;
  const session = smpp.connect({ host, port, tls: isTls, ...(isTls && { servername: host }) });
  const bound = new BoundSession(session, onDeliver);
  const connected = new Promise<true>((resolve) =>
    session.once(isTls ? "secureConnect" : "connect", () => resolve(true)),
  );
  const came = await Promise.race([connected, bound.ended, after(ANSWER_MS)]);
  const fail = (reason: string) => {
    bound.end(reason);
    return new Error(reason);
  };
  if (came !== true) throw fail(came === undefined ? "no connection in time" : came);
  const bind = { system_id: systemId, password, system_type: systemType, interface_version: VERSION };
  const answer = await bound.ask(new smpp.PDU("bind_transceiver", bind), ANSWER_MS);
  if (typeof answer === "string") throw fail(`bind: ${answer}`);
  if (answer.command_status !== 0)
    throw fail(`bind refused with status 0x${answer.command_status.toString(16)}`);
  bound.enquire();
  return bound;
}

class BoundSession implements SmppSession {
  readonly #session: Session;
  readonly #ended = Promise.withResolvers<string>();
  readonly #onDeliver: (pdu: Pdu) => Promise<void>;
  #storing = 0;
  #timer: NodeJS.Timeout | undefined;
  isOpen = true;

  constructor(session: Session, onDeliver: (pdu: Pdu) => Promise<void>) {
    this.#session = session;
    this.#onDeliver = onDeliver;
    session.on("error", (error: Error) => this.end(connectionFault(error)));
    session.on("close", () => this.end("the connection was closed"));
    session.on("pdu", (pdu: Pdu) => this.#answer(pdu));
  }

  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  async ask(pdu: Pdu, ms: number): Promise<Pdu | string> {
    const answered = Promise.withResolvers<Pdu>();
    if (!this.isOpen || !this.#session.send(pdu, answered.resolve)) return "the connection was closed";
    const answer = await Promise.race([answered.promise, this.ended, after(ms)]);
    if (answer === undefined) this.end(`no answer to ${pdu.command} in time`);
    return answer ?? `no answer to ${pdu.command} in time`;
  }

  /** Starts the regular enquire_link. */
  enquire(): void {
    this.#timer = setInterval(
      () => void this.ask(new smpp.PDU("enquire_link"), ANSWER_MS),
      ENQUIRE_MS,
    ).unref();
  }

  end(reason: string): void {
    this.isOpen = false;
    clearInterval(this.#timer);
    this.#ended.resolve(reason);
    this.#session.destroy();
  }

  async close(): Promise<void> {
    if (this.isOpen) await this.ask(new smpp.PDU("unbind"), UNBIND_MS);
    this.end("closed by us");
  }

  #answer(pdu: Pdu): void {
    if (pdu.isResponse()) return;
    if (pdu.command === "deliver_sm" || pdu.command === "data_sm") void this.#deliver(pdu);
    else this.#session.send(pdu.response());
    if (pdu.command === "unbind") this.end("the service centre unbound");
  }

  async #deliver(pdu: Pdu): Promise<void> {
    this.#storing += 1;
    if (this.#storing === MOST_RECEIPTS) this.#session.pause();
    const status = await this.#onDeliver(pdu).then(
      () => 0,
      () => ESME_RX_T_APPN,
    );
    this.#storing -= 1;
    if (this.#storing === MOST_RECEIPTS / 2) this.#session.resume();
    this.#session.send(pdu.response({ command_status: status }));
  }
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}
