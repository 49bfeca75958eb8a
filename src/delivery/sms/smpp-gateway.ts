/**
 * The SMPP gateway: a session that is opened at once, for receipts come at any time, and opened again whenever it ends,
 * after a wait that doubles up to a minute.
 */

import { setTimeout as delay } from "node:timers/promises";
import smpp, { type Pdu } from "smpp";
import type { SmsResult } from "#delivery/message/attempt.ts";
import type { Log } from "#platform/log/log.ts";
import { encodeText, MOST_PARTS } from "./alphabet.ts";
import { declined, type ShortMessage, type SmsGateway, type SmsReceipt } from "./gateway.ts";
import type { SmppSettings } from "./gateway-settings.ts";
import { parseReceipt, plainId } from "./receipt.ts";
import { openLink, type SmppLink, SUBMIT_MS } from "./smpp-link.ts";
import { readRefusal } from "./smpp-status.ts";

const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** A session that held for so long was a good one: the next wait is the shortest again. */
const GOOD_MS = 60_000;
/** When messages come back while there is no session. */
const AWAY_SECONDS = 15;
/** SMPP 3.4 section 4.4.1: what a short_message of either alphabet holds without being divided. */
const MOST_SHORT_OCTETS = { 0: 160, 8: 140 } as const;

export function createSmppGateway(
  settings: SmppSettings,
  log: Log,
  /** Resolves when the receipt is kept. */
  onReceipt: (receipt: SmsReceipt) => Promise<void>,
): SmsGateway {
  const { name, host, window, perSecond } = settings;
  const closing = new AbortController();
  /** Why there is no session; null while the first one is being opened. */
  let trouble: string | null = null;
  let opening: Promise<SmppLink | null> = Promise.resolve(null);
  let link: SmppLink | null = null;

  const onDeliver = async (pdu: Pdu) => {
    const receipt = parseReceipt(pdu);
    if (receipt === null || receipt.status === null) return;
    const { status, detail } = receipt;
    const gatewayId = plainId(receipt.gatewayId, settings.isReceiptIdDecimal);
    await onReceipt({ gateway: name, gatewayId, message: null, status, detail });
  };

  const open = () =>
    openLink(settings, onDeliver).catch((error: unknown) => {
      trouble = error instanceof Error ? error.message : String(error);
      log.warn({ gateway: name, reason: trouble }, "the SMS gateway cannot be reached");
      return null;
    });

  const keepOpen = async () => {
    let wait = SHORTEST_WAIT_MS;
    while (!closing.signal.aborted) {
      opening = open();
      link = await opening;
      if (link !== null) {
        const since = performance.now();
        log.info({ gateway: name }, "the SMS gateway is connected");
        trouble = await link.ended;
        link = null;
        if (closing.signal.aborted) return;
        log.warn({ gateway: name, reason: trouble }, "the connection to the SMS gateway ended");
        if (performance.now() - since > GOOD_MS) wait = SHORTEST_WAIT_MS;
      }
      opening = Promise.resolve(null);
      // Workers that lost it together must not come back together.
      await delay(wait * (0.5 + Math.random() / 2), undefined, { signal: closing.signal }).catch(() => {});
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  };
  void keepOpen();

  return {
    name,
    host,
    window,
    perSecond,
    get isAway() {
      return link === null && trouble !== null;
    },
    async submit(message, mayStart): Promise<SmsResult> {
      const text = encodeText(message.text);
      if (text.parts > MOST_PARTS) return declined(`The text takes more than ${MOST_PARTS} SMS`, false);
      const open = link ?? (await opening);
      if (open === null || !open.isOpen) {
        return { outcome: "away", reason: trouble ?? "no connection", seconds: AWAY_SECONDS };
      }
      if (!mayStart()) return { outcome: "withdrawn" };
      const answer = await open.ask(submission(message, settings), SUBMIT_MS);
      if (typeof answer === "string") return declined(`${answer} (the SMS may have been taken)`, true);
      if (answer.command_status !== 0) return readRefusal(answer.command_status);
      const id = answer.message_id ?? "";
      const receiptId = settings.hasReceipts && id !== "" ? plainId(id) : null;
      return { outcome: "taken", receiptId, reason: `taken by the SMS gateway as ${id}` };
    },
    close() {
      closing.abort();
      void link?.close();
    },
  };
}

/** SMPP 3.4 section 4.4.1; what is too long for short_message goes whole into message_payload (section 5.3.2.32). */
function submission({ to, text }: ShortMessage, { source, hasReceipts }: SmppSettings): Pdu {
  const { dataCoding, octets } = encodeText(text);
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

/** Section 5.2.5: letters, a short code of the network's own, or an international number. */
function sourceAddress(source: string) {
  const digits = /^\+?(\d+)$/.exec(source)?.[1];
  if (digits === undefined) return { source_addr: source, source_addr_ton: 5, source_addr_npi: 0 };
  if (digits.length <= 6) return { source_addr: digits, source_addr_ton: 3, source_addr_npi: 0 };
  return { source_addr: digits, source_addr_ton: 1, source_addr_npi: 1 };
}
