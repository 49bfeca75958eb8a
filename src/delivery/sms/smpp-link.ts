/**
 * One bound SMPP 3.4 session: every question has a deadline, the other side is asked regularly whether it is there
 * (enquire_link), and whatever goes wrong ends the session with a reason.
 */
import smpp, { type Pdu, type Session } from "smpp";
import { connectionFault } from "#platform/network/connection-fault.ts";
import type { SmppSettings } from "./gateway-settings.ts";

/** For a connection, a bind and each enquire_link. */
const ANSWER_MS = 10_000;
/** For a submit_sm: beyond it nobody knows whether it was taken. */
export const SUBMIT_MS = 30_000;
const ENQUIRE_MS = 30_000;
const UNBIND_MS = 2_000;
/** Receipts that are being stored; while there are more, nothing is read. */
const MOST_RECEIPTS = 1_000;
const VERSION = 0x34;
/** SMPP 3.4 section 5.1.3: the other side delivers it again. */
const ESME_RX_T_APPN = 0x64;

export interface SmppLink {
  /** The answer, or why there is none; then the other side may have it or not. */
  ask(pdu: Pdu, ms: number): Promise<Pdu | string>;
  readonly isOpen: boolean;
  /** Resolves to the reason. */
  readonly ended: Promise<string>;
  /** Unbinds. */
  close(): Promise<void>;
}

/**
 * Connects and binds as transceiver. `onDeliver` is given every deliver_sm and data_sm, which is answered when it has
 * resolved; when it throws the other side is asked to deliver again.
 * @throws an Error with the reason
 */
export async function openLink(
  settings: SmppSettings,
  onDeliver: (pdu: Pdu) => Promise<void>,
): Promise<SmppLink> {
  const { host, port, isTls, systemId, password, systemType } = settings;
  const session = smpp.connect({ host, port, tls: isTls, ...(isTls && { servername: host }) });
  const link = new Link(session, onDeliver);
  const connected = new Promise<true>((resolve) =>
    session.once(isTls ? "secureConnect" : "connect", () => resolve(true)),
  );
  const came = await Promise.race([connected, link.ended, after(ANSWER_MS)]);
  const fail = (reason: string) => {
    link.end(reason);
    return new Error(reason);
  };
  if (came !== true) throw fail(came === undefined ? "no connection in time" : came);
  const bind = { system_id: systemId, password, system_type: systemType, interface_version: VERSION };
  const answer = await link.ask(new smpp.PDU("bind_transceiver", bind), ANSWER_MS);
  if (typeof answer === "string") throw fail(`bind: ${answer}`);
  if (answer.command_status !== 0)
    throw fail(`bind refused with status 0x${answer.command_status.toString(16)}`);
  link.enquire();
  return link;
}

class Link implements SmppLink {
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

  /** Asks from now on whether the other side is there. */
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
