/**
 * The SMPP gateway. Its session is opened at the start, because receipts arrive at any time, and opened again whenever it
 * ends, after a wait that doubles up to a minute.
 */

import { setTimeout as delay } from "node:timers/promises";
import smpp, { type Pdu } from "smpp";
import type { SmsResult } from "#delivery/message/attempt.ts";
import type { Log } from "#platform/log/log.ts";
import { declined, type ShortMessage, type SmsGateway, type SmsReceipt } from "./gateway.ts";
import type { SmppSettings } from "./gateway-settings.ts";
import { parseReceipt, plainId } from "./smpp-receipt.ts";
import { openSmppSession, type SmppSession, SUBMIT_MS } from "./smpp-session.ts";
import { encodeSmsText, MOST_PARTS } from "./sms-encoding.ts";

const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** After a session that lasted longer than this, the next wait is the shortest again. */
const STABLE_MS = 60_000;
/** The delay before messages are tried again while there is no session. */
const AWAY_SECONDS = 15;
/** SMPP 3.4 section 4.4.1: what a short_message of either alphabet holds without being divided. */
const MOST_SHORT_OCTETS = { 0: 160, 8: 140 } as const;

export class SmppGateway implements SmsGateway {
  readonly #settings: SmppSettings;
  readonly #log: Log;
  readonly #onReceipt: (receipt: SmsReceipt) => Promise<void>;
  readonly #closing = new AbortController();
  /** Why there is no session; null while the first one is being opened. */
  #fault: string | null = null;
  #opening: Promise<SmppSession | null> = Promise.resolve(null);
  #session: SmppSession | null = null;

  /** @param onReceipt resolves when the receipt is stored */
  constructor(settings: SmppSettings, log: Log, onReceipt: (receipt: SmsReceipt) => Promise<void>) {
    this.#settings = settings;
    this.#log = log;
    this.#onReceipt = onReceipt;
    void this.#keepOpen();
  }

  get name(): string {
    return this.#settings.name;
  }

  get host(): string {
    return this.#settings.host;
  }

  get window(): number {
    return this.#settings.window;
  }

  get perSecond(): number | null {
    return this.#settings.perSecond;
  }

  get isAway(): boolean {
    return this.#session === null && this.#fault !== null;
  }

  async submit(message: ShortMessage, mayStart: () => boolean): Promise<SmsResult> {
    const text = encodeSmsText(message.text);
    if (text.parts > MOST_PARTS) return declined(`The text needs more than ${MOST_PARTS} SMS`, false);
    const session = this.#session ?? (await this.#opening);
    if (session === null || !session.isOpen) {
      return { outcome: "unreachable", reason: this.#fault ?? "no connection", seconds: AWAY_SECONDS };
    }
    if (!mayStart()) return { outcome: "withdrawn" };
    const answer = await session.ask(submission(message, this.#settings), SUBMIT_MS);
    if (typeof answer === "string") return declined(`${answer} (the SMS may have been accepted)`, true);
    if (answer.command_status !== 0) return readRefusal(answer.command_status);
    const id = answer.message_id ?? "";
    const receiptId = this.#settings.hasReceipts && id !== "" ? plainId(id) : null;
    return { outcome: "accepted", receiptId, reason: `accepted by the SMS gateway as ${id}` };
  }

  close(): void {
    this.#closing.abort();
    void this.#session?.close();
  }

  async #keepOpen(): Promise<void> {
    const { signal } = this.#closing;
    let wait = SHORTEST_WAIT_MS;
    while (!signal.aborted) {
      this.#opening = this.#open();
      this.#session = await this.#opening;
      if (this.#session !== null) {
        const since = performance.now();
        this.#log.info({ gateway: this.name }, "SMS gateway connected");
        this.#fault = await this.#session.ended;
        this.#session = null;
        if (signal.aborted) return;
        this.#log.warn({ gateway: this.name, reason: this.#fault }, "SMS gateway disconnected");
        if (performance.now() - since > STABLE_MS) wait = SHORTEST_WAIT_MS;
      }
      this.#opening = Promise.resolve(null);
      // With jitter: workers that lost the gateway at the same time should not reconnect at the same time.
      await delay(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  async #open(): Promise<SmppSession | null> {
    try {
      return await openSmppSession(this.#settings, (pdu) => this.#onDeliver(pdu));
    } catch (error) {
      this.#fault = error instanceof Error ? error.message : String(error);
      this.#log.warn({ gateway: this.name, reason: this.#fault }, "SMS gateway cannot be reached");
      return null;
    }
  }

  async #onDeliver(pdu: Pdu): Promise<void> {
    const receipt = parseReceipt(pdu);
    if (receipt === null || receipt.status === null) return;
    const { status, detail } = receipt;
    const gatewayId = plainId(receipt.gatewayId, this.#settings.isReceiptIdDecimal);
    await this.#onReceipt({ gateway: this.name, gatewayId, message: null, status, detail });
  }
}

/** SMPP 3.4 section 4.4.1; a text too long for short_message goes whole into message_payload (section 5.3.2.32). */
function submission({ to, text }: ShortMessage, { source, hasReceipts }: SmppSettings): Pdu {
  const { dataCoding, octets } = encodeSmsText(text);
  const isShort = octets.length <= MOST_SHORT_OCTETS[dataCoding];
  return new smpp.PDU("submit_sm", {
    ...sourceAddress(source),
    destination_addr: to.replace("+", ""),
    // International, of the telephone numbering plan (E.164).
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    registered_delivery: hasReceipts ? 1 : 0,
    data_coding: dataCoding,
    ...(isShort ? { short_message: octets } : { short_message: Buffer.alloc(0), message_payload: octets }),
  });
}

/** Section 5.2.5: letters, a network's short code, or an international number. */
function sourceAddress(source: string) {
  const digits = /^\+?(\d+)$/.exec(source)?.[1];
  if (digits === undefined) return { source_addr: source, source_addr_ton: 5, source_addr_npi: 0 };
  if (digits.length <= 6) return { source_addr: digits, source_addr_ton: 3, source_addr_npi: 0 };
  return { source_addr: digits, source_addr_ton: 1, source_addr_npi: 1 };
}

const statusNames: ReadonlyMap<number, string> = new Map(
  Object.entries(smpp.errors).map(([name, status]) => [status, name]),
);
/** The gateway throttles us. */
const throttled: ReadonlySet<string> = new Set(["ESME_RTHROTTLED", "ESME_RMSGQFUL"]);
/** Faults of the service centre or of the connection, which are temporary. */
const temporary: ReadonlySet<string> = new Set([
  "ESME_RSYSERR",
  "ESME_RINVBNDSTS",
  "ESME_RALYBND",
  "ESME_RSUBMITFAIL",
  "ESME_RX_T_APPN",
  "ESME_RUNKNOWNERR",
]);

/** Reads the command_status of a submit_sm_resp that is not 0 (SMPP 3.4 section 5.1.3); unknown ones are permanent. */
function readRefusal(status: number): SmsResult {
  const name = statusNames.get(status);
  const number = `0x${status.toString(16).padStart(8, "0")}`;
  const reason = name === undefined ? `status ${number}` : `${name} (${number})`;
  if (name !== undefined && throttled.has(name)) return declined(reason, true, { isThrottled: true });
  return declined(reason, name !== undefined && temporary.has(name));
}
