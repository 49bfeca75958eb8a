/**
 * The last part of the pre-send check for mail of campaigns and autoresponders: whether each recipient may still get mail,
 * and if so, the content of the message. One statement for each batch.
 */

import type { CountryCode } from "libphonenumber-js";
import { addressOf } from "#audience/suppression-lists/suppression-check.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Decision } from "#delivery/message/presend-decision.ts";
import type { Attachment } from "#mail/message/compose-message.ts";
import { type ShownValues, saveShownValues } from "#messages/store.ts";
import type { BulkOrigin } from "#sending/bulk-origin-tables-store.ts";
import type { RecipientValues } from "#sending/content/render.ts";
import { phoneIn } from "#sending/sms/phone-number.ts";
import type { MailLinks } from "#tracking/link-tokens.ts";
import type { CampaignMailDeps } from "./deps.ts";
import { type PreparedCampaign, viewValues, withCarried, writeMail, writeSms } from "./mail-content.ts";
import {
  type LeasedCampaign,
  listRecipients,
  type RecipientQuestion,
  type RecipientRow,
} from "./presend-store.ts";
import { mailValues, type PersonalValues } from "./web-view-values.ts";

/** Properties of a campaign's mail that depend on the DNS of the workspace's domains. */
export interface MailOrigin {
  /** The base URL of links. */
  readonly base: string;
  /** The host of the envelope sender; null for the default. */
  readonly returnPathHost: string | null;
}

/** What all messages of one campaign or step in a batch share. */
export interface MailContext {
  readonly ready: PreparedCampaign;
  readonly audience: Pick<LeasedCampaign, "audience_list_id" | "segment_id">;
  readonly mailOrigin: MailOrigin;
  readonly attachments: readonly Attachment[];
}

/** A message that is sent if its recipient may get mail. */
export interface MessageInContext {
  readonly message: LeasedMessage;
  readonly context: MailContext;
}

/** Adds the decision for each message to `decisions`. */
export async function checkRecipients(
  deps: CampaignMailDeps,
  origin: BulkOrigin,
  messages: readonly MessageInContext[],
  decisions: Map<string, Decision>,
): Promise<void> {
  if (messages.length === 0) return;
  const rows = await listRecipients(deps.db, origin, messages.map(questionOf));
  const byMessage = new Map(rows.map((row) => [row.message_id, row]));
  const kept: ShownValues[] = [];
  for (const one of messages) {
    const { message_id: id } = one.message;
    const recipient = checkRecipient(byMessage.get(id));
    const decision: Decision =
      typeof recipient === "string"
        ? { kind: "end", status: "suppressed", detail: recipient }
        : mailTo(recipient, one, deps, kept);
    decisions.set(id, decision);
  }
  await saveShownValues(deps.db, kept);
}

/**
 * The mail or SMS to a recipient.
 * @param kept collects the values that the web view needs and that do not fit into its link
 */
export function mailTo(
  recipient: PersonalValues,
  {
    message,
    context: { ready, mailOrigin, attachments },
  }: {
    readonly message: Pick<
      LeasedMessage,
      "workspace_id" | "message_id" | "localpart" | "domain" | "first_attempt_at"
    >;
    readonly context: Pick<MailContext, "ready" | "mailOrigin" | "attachments">;
  },
  { clock, linksOf, smsCountry = null }: CampaignMailDeps,
  kept: ShownValues[],
): Decision {
  const { campaign } = ready;
  const isSms = campaign.message_type === "sms";
  const { workspace_id: workspaceId, message_id: messageId } = message;
  const values = mailValues(campaign, recipient, message.first_attempt_at ?? clock.now());
  const address = `${message.localpart}@${message.domain}`;
  const { shown, carried } = viewValues(ready, values, address);
  if (shown !== null && carried === null) kept.push({ workspaceId, messageId, values: shown });
  const links = () => withCarried(linksOf({ workspaceId, messageId }, mailOrigin.base), carried);
  if (isSms) return smsTo(ready, values, links(), smsCountry);
  const rest = { attachments, returnPathHost: mailOrigin.returnPathHost };
  return { kind: "email", content: () => writeMail(ready, values, links(), rest) };
}

function questionOf({ message, context: { ready, audience } }: MessageInContext): RecipientQuestion {
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

/** Reads the telephone number again, because it may have changed since the message was queued. */
function smsTo(
  ready: PreparedCampaign,
  values: RecipientValues,
  links: MailLinks,
  country: CountryCode | null,
): Decision {
  const to = phoneIn(values.custom_fields, ready.campaign.phone_field_name ?? "", country);
  if (to === null) {
    const detail = "The subscriber no longer has a valid telephone number";
    return { kind: "end", status: "suppressed", detail };
  }
  return { kind: "sms", sms: () => writeSms(ready, to, values, links) };
}

/** The values of a recipient, or the reason why they get no mail. */
function checkRecipient(row: RecipientRow | undefined): PersonalValues | string {
  if (row === undefined || row.email === null) return "The subscriber was deleted";
  if (row.status === null) return "The subscriber is no longer on the list";
  if (row.status !== "active") return `The subscriber is ${row.status}`;
  if (row.suppressed !== null) return row.suppressed;
  const { email, first_name, last_name, custom_fields } = row;
  return { email, first_name, last_name, custom_fields: custom_fields ?? {} };
}
