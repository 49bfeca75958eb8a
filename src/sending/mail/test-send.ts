/**
 * Sends a campaign's mail to a few addresses as a test. It is made and routed as the campaign's mail, with the priority of
 * transactional mail. A subscriber gets their own values, any other address sample values. Nothing is tracked: links keep
 * their targets, the unsubscribe link and the web view lead to pages that explain the test, and there is no
 * List-Unsubscribe.
 */

import type { MailingList } from "#audience/mailing-lists/mailing-list.ts";
import { findMailingList } from "#audience/mailing-lists/store.ts";
import { findSegment } from "#audience/segments/store.ts";
import { routeChoice } from "#identity/routing-rules/load-routing.ts";
import { parseAddress } from "#mail/address.ts";
import { htmlFromText } from "#mail/html/body-conversion.ts";
import { LONGEST_SUBJECT } from "#mail/message/encode-header.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { Draft } from "#sending/acceptance/accept-messages-statement.ts";
import type { Acceptor } from "#sending/acceptance/acceptor.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";
import { type CampaignDeps, requireCampaign } from "#sending/campaigns/lifecycle/lifecycle.ts";
import { requireReturnPath, requireRoute } from "#sending/campaigns/lifecycle/read-campaign-body.ts";
import { requireGateway, requireSender } from "#sending/campaigns/lifecycle/send-checks.ts";
import { requireCompiled } from "#sending/content/compile-for-workspace.ts";
import { renderContent, sampleValues } from "#sending/content/render.ts";
import { testLinks } from "#tracking/link-tokens.ts";
import { findRecipientValues } from "./find-sent-mail-store.ts";
import { commonHeaders } from "./mail-content.ts";

export const MOST_TEST_RECIPIENTS = 5;

export interface TestDeps {
  readonly acceptor: Acceptor;
  /** PUBLIC_URL, or the address that the service listens on; without a trailing slash. */
  readonly publicUrl: () => string;
}

/**
 * Either all messages are accepted or none.
 * @throws ApiError NOT_FOUND, VALIDATION_ERROR, BAD_REQUEST for an sms, EMAIL_NOT_VERIFIED, PLAN_LIMIT_REACHED or
 * INSUFFICIENT_BALANCE
 */
export async function sendTest(
  { db, clock, acceptor, publicUrl, hasSmsGateway }: CampaignDeps & TestDeps,
  { caller, requestId }: { readonly caller: Caller; readonly requestId: string },
  id: string,
  emails: readonly string[],
): Promise<{ messages: { id: string; to: string }[] }> {
  const { workspaceId, timezone } = caller;
  const campaign = await requireCampaign(db, workspaceId, id);
  requireGateway(campaign, hasSmsGateway);
  if (campaign.message_type === "sms") {
    const advice = "send a duplicate of it to a list of your own numbers";
    throw new ApiError("BAD_REQUEST", `A test is sent by email, and this campaign is an SMS: ${advice}`);
  }
  // An address that is given twice gets one message.
  const recipients = new Map(
    emails.map(readRecipient).map((to) => [`${to.local}@${to.domain}`, to]),
  ).values();
  await requireSender(db, workspaceId, campaign.from_email);
  const { ip, ruleId } = routeChoice(await requireRoute(db, workspaceId, campaign));
  const returnPathHost = await requireReturnPath(db, workspaceId, campaign.sender_email);
  const list = await findList(db, workspaceId, campaign);
  const listId = list?.id ?? null;
  const tracks = { tracks_opens: false, tracks_clicks: false };
  const { content } = await requireCompiled(
    db,
    workspaceId,
    { ...campaign, ...tracks },
    { listId, timezone },
  );
  const from = parseAddress(campaign.from_email);
  if (!from.ok) throw new Error("a campaign's from_email is an address");
  const particulars = {
    headers: commonHeaders({
      ...campaign,
      reply_to: campaign.reply_to ?? list?.reply_to_email ?? null,
      workspace_id: workspaceId,
      audience_list_id: listId,
    }),
    return_path_host: returnPathHost,
    sending_ip: ip,
    routing_rule_id: ruleId,
  };
  const links = testLinks(publicUrl());
  const drafts: Draft[] = [];
  for (const to of recipients) {
    const person = await findRecipientValues(db, workspaceId, to.address.toLowerCase());
    const values = {
      ...sampleValues,
      ...person,
      email: to.address,
      list_name: list?.name ?? sampleValues.list_name,
      campaign_name: campaign.name,
    };
    const mail = renderContent(content, values, links);
    if (!mail.ok) throw invalid(mail.fault);
    drafts.push({
      priority: 0,
      retryHours: caller.retryHours,
      sender: { workspaceId, address: from.address, domain: from.domain },
      message: {
        workspaceId,
        id: newId(),
        source: "api",
        originId: caller.actor.id,
        originName: caller.actor.name,
        fromEmail: from.address,
        fromName: campaign.from_name ?? list?.from_name ?? null,
        toName: null,
        localpart: to.local,
        domain: to.domain,
        subject: `[Test] ${mail.subject}`.slice(0, LONGEST_SUBJECT).toWellFormed(),
        html: mail.html ?? htmlFromText(mail.text ?? ""),
        text: mail.text,
        attachments: campaign.attachments,
        particulars,
        bounceEmail: null,
        requestId,
        createdAt: clock.now(),
      },
    });
  }
  await acceptor.acceptTogether(drafts);
  return {
    messages: drafts.map(({ message: { id, localpart, domain } }) => ({ id, to: `${localpart}@${domain}` })),
  };
}

function readRecipient(text: string, index: number) {
  const field = `emails[${index}]`;
  const parsed = parseAddress(text);
  if (!parsed.ok) throw invalid({ field, message: `${field}: ${parsed.message}` });
  return parsed;
}

/** The list whose members get the campaign; undefined for the whole workspace, and if the list does not exist. */
async function findList(
  db: Queryable,
  workspaceId: WorkspaceId,
  { recipient_type, segment_id, mailing_list_id }: Campaign,
): Promise<MailingList | undefined> {
  const isSegment = recipient_type === "segment" && segment_id !== null;
  const segment = isSegment ? await findSegment(db, workspaceId, undefined, segment_id) : undefined;
  const id = recipient_type === "segment" ? segment?.mailing_list_id : mailing_list_id;
  return id == null ? undefined : findMailingList(db, workspaceId, id);
}
