/**
 * The last question about leased mail of campaigns and autoresponders: whether each recipient may still be written to, and
 * if so, what the mail says. One statement a batch.
 */

import type { CountryCode } from "libphonenumber-js";
import { addressOf } from "#audience/suppression-lists/suppression-check.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Decision } from "#delivery/message/presend-check.ts";
import type { Attachment } from "#mail/message/mime.ts";
import { type ShownValues, saveShownValues } from "#messages/store.ts";
import type { BulkOrigin } from "#sending/bulk-origin-store.ts";
import type { RecipientValues } from "#sending/content/render.ts";
import { phoneIn } from "#sending/sms/phone-number.ts";
import { fitsView, type MailLinks } from "#tracking/link-tokens.ts";
import type { CampaignMailDeps } from "./deps.ts";
import { type PreparedCampaign, writeMail, writeSms } from "./mail-content.ts";
import {
  type LeasedCampaign,
  listRecipients,
  type RecipientQuestion,
  type RecipientRow,
} from "./presend-store.ts";
import { mailValues, shownValues } from "./shown-values.ts";

/** The parts of a mail that may change while it is sent. */
export interface MailOrigin {
  readonly base: string;
  readonly returnPathHost: string | null;
}

/** What all messages of one content in a batch are written with. */
export interface MailContext {
  readonly ready: PreparedCampaign;
  readonly audience: Pick<LeasedCampaign, "audience_list_id" | "segment_id">;
  readonly place: MailOrigin;
  readonly attachments: readonly Attachment[];
}

/** A message that is sent unless its recipient keeps it from that. */
export interface MessageInContext {
  readonly message: LeasedMessage;
  readonly outfit: MailContext;
}

/** Adds what becomes of each message to `findings`. */
export async function checkRecipients(
  deps: CampaignMailDeps,
  origin: BulkOrigin,
  going: readonly MessageInContext[],
  findings: Map<string, Decision>,
): Promise<void> {
  if (going.length === 0) return;
  const rows = await listRecipients(deps.db, origin, going.map(questionOf));
  const byMessage = new Map(rows.map((row) => [row.message_id, row]));
  const kept: ShownValues[] = [];
  for (const one of going) {
    const { message_id: id } = one.message;
    const recipient = judge(byMessage.get(id));
    const finding: Decision =
      typeof recipient === "string"
        ? { kind: "end", status: "suppressed", detail: recipient }
        : mailTo(recipient, one, deps, kept);
    findings.set(id, finding);
  }
  await saveShownValues(deps.db, kept);
}

/** @param kept takes the values that the web view of the mail needs and its address does not carry */
function mailTo(
  recipient: Recipient,
  { message, outfit: { ready, place, attachments } }: MessageInContext,
  { clock, linksOf, smsCountry = null }: CampaignMailDeps,
  kept: ShownValues[],
): Decision {
  const { campaign, content } = ready;
  const isSms = campaign.message_type === "sms";
  const { workspace_id: workspaceId, message_id: messageId } = message;
  const values = mailValues(campaign, recipient, message.first_attempt_at ?? clock.now());
  const address = `${message.localpart}@${message.domain}`;
  const shown = shownValues(content.facts, values, { address, timezone: campaign.timezone });
  // In an SMS each character of an address counts.
  const carried = shown !== null && !isSms && fitsView(shown) ? shown : null;
  if (shown !== null && carried === null) kept.push({ workspaceId, messageId, values: shown });
  const links = () => {
    const plain = linksOf({ workspaceId, messageId }, place.base);
    return carried === null ? plain : { ...plain, view: plain.viewWith(carried) };
  };
  if (isSms) return smsTo(ready, values, links(), smsCountry);
  const rest = { attachments, returnPathHost: place.returnPathHost };
  return { kind: "email", content: () => writeMail(ready, values, links(), rest) };
}

function questionOf({ message, outfit: { ready, audience } }: MessageInContext): RecipientQuestion {
  const { campaign, content } = ready;
  const { fields } = content.facts;
  return {
    workspaceId: message.workspace_id,
    messageId: message.message_id,
    address: addressOf(message),
    domain: message.domain,
    mailingListId: audience.audience_list_id,
    segmentId: audience.segment_id,
    needsFields: fields === null || fields.length > 0 || campaign.message_type === "sms",
  };
}

/** The number may have changed since the audience was looked at. */
function smsTo(
  ready: PreparedCampaign,
  values: RecipientValues,
  links: MailLinks,
  country: CountryCode | null,
): Decision {
  const to = phoneIn(values.custom_fields, ready.campaign.phone_field_name ?? "", country);
  if (to === null) {
    const detail = "The subscriber has no valid telephone number any more";
    return { kind: "end", status: "suppressed", detail };
  }
  return { kind: "sms", sms: () => writeSms(ready, to, values, links) };
}

type Recipient = Exclude<ReturnType<typeof judge>, string>;

/** The values of a recipient, or a sentence that says why nothing is sent to them. */
function judge(row: RecipientRow | undefined) {
  if (row === undefined || row.email === null) return "The subscriber was deleted";
  if (row.status === null) return "The subscriber is not on the list any more";
  if (row.status !== "active") return `The subscriber is ${row.status}`;
  if (row.suppressed !== null) return row.suppressed;
  const { email, first_name, last_name, custom_fields } = row;
  return { email, first_name, last_name, custom_fields: custom_fields ?? {} };
}
