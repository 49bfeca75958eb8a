/** Findings about what a campaign refers to: its sender and its domain, its pictures, route, tracking domain and return path. */
import { maySendAs } from "#identity/may-send-as.ts";
import { findSendingDomainByName } from "#identity/sending-domains/store.ts";
import { domainOf } from "#mail/address.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";
import {
  type CampaignReader,
  requireReturnPath,
  requireRoute,
  requireTrackingDomain,
} from "#sending/campaigns/lifecycle/read-campaign-body.ts";
import { trackingWarnings } from "#sending/content/resolve-tracking-setting.ts";
import { mediaLinksIn } from "#sending/media/media-link.ts";
import { listMediaFiles } from "#sending/media/store.ts";
import type { CheckFinding } from "./campaign-check.ts";
import { faultFinding, htmlFindings, wholeFinding } from "./findings.ts";

export async function checkSettings(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaign: Campaign,
  reader: Pick<CampaignReader, "hasTrackingDomain"> & { readonly hasSmsGateway: boolean },
): Promise<CheckFinding[]> {
  const { from_email, bounce_email, sender_email } = campaign;
  const used = await Promise.all([
    faultOf(requireTrackingDomain(db, workspaceId, campaign, reader)),
    faultOf(requireRoute(db, workspaceId, campaign)),
    faultOf(requireReturnPath(db, workspaceId, sender_email)),
  ]);
  const returns =
    bounce_email === null ? [] : await senderFinding(db, workspaceId, "bounce_email", bounce_email);
  if (campaign.message_type === "sms") {
    const sender = await senderFinding(db, workspaceId, "from_email", from_email);
    return [...used.flat(), ...sender, ...returns, ...smsFindings(campaign, reader.hasSmsGateway)];
  }
  return [
    ...used.flat(),
    ...(await checkSender(db, workspaceId, from_email)),
    ...returns,
    ...trackingWarnings(campaign).map((fault) => faultFinding("warning", "tracking_without_effect", fault)),
  ];
}

/** An SMS needs a gateway, and a field with the numbers. */
function smsFindings({ phone_field_name }: Campaign, hasGateway: boolean): CheckFinding[] {
  const found = (code: string, field: string, message: string, fix: string) =>
    wholeFinding("error", code, field, message, fix);
  return [
    ...(hasGateway
      ? []
      : [
          found(
            "sms_gateway_missing",
            "message_type",
            "No SMS gateway is configured, so that no SMS can be sent.",
            "Ask the operator of this installation for one (SMS_GATEWAY_URL).",
          ),
        ]),
    ...(phone_field_name === null
      ? [
          found(
            "phone_field_missing",
            "phone_field_name",
            "No field with telephone numbers is chosen.",
            "Choose the custom field that holds them.",
          ),
        ]
      : []),
  ];
}

/** Findings about a From address and its domain. */
export async function checkSender(
  db: Queryable,
  workspaceId: WorkspaceId,
  from: string,
): Promise<CheckFinding[]> {
  const sender = await senderFinding(db, workspaceId, "from_email", from);
  return [...sender, ...(await domainFindings(db, workspaceId, from))];
}

/** What a check that throws would refuse. */
async function faultOf(check: Promise<unknown>): Promise<CheckFinding[]> {
  try {
    await check;
    return [];
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    const details = fault.details ?? [{ field: undefined, message: fault.message }];
    return details.map(({ field, message }) =>
      wholeFinding("error", "setting_invalid", field ?? null, message, "Choose another one, or none."),
    );
  }
}

async function senderFinding(
  db: Queryable,
  workspaceId: WorkspaceId,
  field: "from_email" | "bounce_email",
  address: string,
): Promise<CheckFinding[]> {
  if ((await maySendAs(db, workspaceId, address)).allowed) return [];
  const message = `${address} is not verified, so the mail cannot be sent.`;
  const fix = "Verify its domain or the address.";
  return [wholeFinding("error", "sender_not_verified", field, message, fix)];
}

/** The state of the sender's domain, as its last check found it. */
async function domainFindings(
  db: Queryable,
  workspaceId: WorkspaceId,
  from: string,
): Promise<CheckFinding[]> {
  const name = domainOf(from);
  const domain = await findSendingDomainByName(db, workspaceId, name);
  const found = (code: string, message: string, fix: string) =>
    wholeFinding("warning", code, "from_email", message, fix);
  if (domain === undefined) {
    const message = `${name} is no sending domain of this workspace, so its mail is not signed for it (DKIM).`;
    return [found("domain_missing", message, "Add the domain and publish its records.")];
  }
  const fix = "Publish the record that the page of the domain shows, and check it again.";
  return [
    ...(domain.dkim_verified
      ? []
      : [found("dkim_missing", `The DKIM record of ${name} is not verified.`, fix)]),
    ...(domain.spf_verified ? [] : [found("spf_missing", `The SPF record of ${name} is not verified.`, fix)]),
    ...(domain.dmarc_verified
      ? []
      : [
          found(
            "dmarc_missing",
            `${name} has no DMARC record, which Gmail and Yahoo require of bulk mail.`,
            fix,
          ),
        ]),
  ];
}

/**
 * Deleted pictures of the workspace that a mail shows. The service itself is not asked for them.
 * @param html as its author wrote it
 */
export async function checkMedia(
  db: Queryable,
  workspaceId: WorkspaceId,
  html: string,
): Promise<CheckFinding[]> {
  const links = mediaLinksIn(html, workspaceId);
  if (links.length === 0) return [];
  const ids = [...new Set(links.map(({ id }) => id))];
  const stored = new Set((await listMediaFiles(db, workspaceId, ids)).map(({ id }) => id));
  return htmlFindings(
    html,
    links
      .filter(({ id }) => !stored.has(id))
      .map(({ path, at }) => ({
        severity: "error",
        code: "image_missing",
        at,
        message: `The picture ${path} was deleted.`,
        fix: "Choose another picture, or remove the image.",
        url: path,
      })),
  );
}
