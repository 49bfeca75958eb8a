/**
 * The last question about leased mail of campaigns and autoresponders: whether each recipient may still be written to, and
 * if so, what the mail says. One statement a batch.
 */

import type { CountryCode } from "libphonenumber-js";
import { addressOf } from "../../../audience/suppression-lists/judge.ts";
import type { Finding } from "../../../delivery/examination.ts";
import type { LeasedMessage } from "../../../delivery/queue/lease-store.ts";
import type { Attachment } from "../../../mail/message/mime.ts";
import type { MailLinks } from "../../../tracking/tokens.ts";
import type { Origin } from "../../origins.ts";
import { phoneIn } from "../../sms/phone-number.ts";
import { writeSms } from "../../sms/short-message.ts";
import type { CampaignMailDeps } from "./leased-mail.ts";
import {
  type CampaignStanding,
  listRecipients,
  type RecipientQuestion,
  type RecipientRow,
} from "./leased-store.ts";
import { type PreparedCampaign, writeMail } from "./mail-content.ts";

/** The parts of a mail that may change while it is sent. */
export interface Place {
  readonly base: string;
  readonly returnPathHost: string | null;
}

/** What all messages of one content in a batch are written with. */
export interface Outfit {
  readonly ready: PreparedCampaign;
  readonly audience: Pick<CampaignStanding, "audience_list_id" | "segment_id">;
  readonly place: Place;
  readonly attachments: readonly Attachment[];
}

/** A message that is sent unless its recipient keeps it from that. */
export interface Outfitted {
  readonly message: LeasedMessage;
  readonly outfit: Outfit;
}

/** Adds what becomes of each message to `findings`. */
export async function examineRecipients(
  deps: CampaignMailDeps,
  origin: Origin,
  going: readonly Outfitted[],
  findings: Map<string, Finding>,
): Promise<void> {
  if (going.length === 0) return;
  const rows = await listRecipients(deps.db, origin, going.map(questionOf));
  const byMessage = new Map(rows.map((row) => [row.message_id, row]));
  for (const one of going) {
    const { message_id: id } = one.message;
    const recipient = judge(byMessage.get(id));
    findings.set(
      id,
      typeof recipient === "string"
        ? { kind: "over", status: "suppressed", detail: recipient }
        : mailTo(recipient, one, deps),
    );
  }
}

function mailTo(
  recipient: Recipient,
  { message, outfit: { ready, place, attachments } }: Outfitted,
  { linksOf, smsCountry = null }: CampaignMailDeps,
): Finding {
  const mail = { workspaceId: message.workspace_id, messageId: message.message_id };
  if (ready.campaign.message_type === "sms") {
    return smsTo(ready, recipient, linksOf(mail, place.base), smsCountry);
  }
  return {
    kind: "write",
    content: () =>
      writeMail(ready, recipient, linksOf(mail, place.base), {
        attachments,
        returnPathHost: place.returnPathHost,
      }),
  };
}

function questionOf({ message, outfit: { ready, audience } }: Outfitted): RecipientQuestion {
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
  { campaign, content }: PreparedCampaign,
  recipient: Recipient,
  links: MailLinks,
  country: CountryCode | null,
): Finding {
  const to = phoneIn(recipient.custom_fields, campaign.phone_field_name ?? "", country);
  if (to === null) {
    const detail = "The subscriber has no valid telephone number any more";
    return { kind: "over", status: "suppressed", detail };
  }
  const values = { ...recipient, list_name: campaign.mailing_list_name, campaign_name: campaign.name };
  return { kind: "text", sms: () => writeSms(content, to, values, links) };
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
