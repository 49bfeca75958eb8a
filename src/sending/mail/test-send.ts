/**
 * Sends a mail of a campaign, an autoresponder or a template to a few addresses as a test. It is made and routed as that
 * mail, with the priority of transactional mail. A subscriber gets their own values, any other address sample values. Nothing is tracked: links
 * keep their targets, the unsubscribe link and the web view lead to pages that explain the test, and there is no
 * List-Unsubscribe.
 */

import type { Static } from "typebox";
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
import { withMergeData } from "#sending/templates/merge-data.ts";
import { testLinks } from "#tracking/link-tokens.ts";
import { samplePerson } from "./choose-person.ts";
import { findRecipientValues } from "./find-sent-mail-store.ts";
import { commonHeaders, draftToSend, type StoredMail, tryMail } from "./mail-content.ts";
import type { CampaignToSend } from "./presend-store.ts";
import type { TestSent } from "./test-order.ts";
import { mailValues } from "./web-view-values.ts";

export interface TestDeps {
  readonly acceptor: Acceptor;
  /** PUBLIC_URL, or the address that the service listens on; without a trailing slash. */
  readonly publicUrl: () => string;
}

/** Who asks for a test, and who gets it. */
export interface TestRequest {
  readonly caller: Caller;
  readonly requestId: string;
  readonly recipients: readonly TestRecipient[];
}

type TestRecipient = ReturnType<typeof readTestRecipient>;

type SentTest = Static<typeof TestSent>;

/** A mail to test, with what its list, its domain and its route decide. */
export interface MailToTest {
  readonly draft: CampaignToSend;
  readonly files: Campaign["attachments"];
  /** What the mail names; by default nothing. */
  readonly route?: ReturnType<typeof routeChoice>;
  readonly returnPathHost?: string | null;
  readonly listId: string | null;
  /** Whether a body without an unsubscribe link gets one; by default it does. */
  readonly addsFooter?: boolean;
  /** Values of merge tags beside those of the person. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Whether from_email is the platform's address, about which no sender is asked; by default it is not. */
  readonly isOfPlatform?: boolean;
}

/**
 * Sends a test of a campaign. Either all messages are accepted or none.
 * @throws ApiError NOT_FOUND, BAD_REQUEST for an sms, and what sendTest throws
 */
export async function sendCampaignTest(
  deps: CampaignDeps & TestDeps,
  request: TestRequest,
  id: string,
): Promise<SentTest> {
  const { db, hasSmsGateway } = deps;
  const { caller } = request;
  const { workspaceId } = caller;
  const campaign = await requireCampaign(db, workspaceId, id);
  requireGateway(campaign, hasSmsGateway);
  if (campaign.message_type === "sms") {
    const advice = "send a duplicate of it to a list of your own numbers";
    throw new ApiError("BAD_REQUEST", `A test is sent by email, and this campaign is an SMS: ${advice}`);
  }
  return sendTest(deps, request, {
    ...mailToTest(campaign, await findList(db, workspaceId, campaign), caller),
    route: routeChoice(await requireRoute(db, workspaceId, campaign)),
    returnPathHost: await requireReturnPath(db, workspaceId, campaign.sender_email),
  });
}

/** The test of stored mail without a route of its own. @param list undefined for the whole workspace */
export function mailToTest(mail: StoredMail, list: MailingList | undefined, caller: Caller): MailToTest {
  return {
    draft: draftToSend(mail, list, caller),
    files: mail.attachments,
    listId: list?.id ?? null,
  };
}

/**
 * Either all messages are accepted or none.
 * @throws ApiError VALIDATION_ERROR, EMAIL_NOT_VERIFIED, PLAN_LIMIT_REACHED or INSUFFICIENT_BALANCE
 */
export async function sendTest(
  { db, clock, acceptor, publicUrl }: Pick<CampaignDeps, "db" | "clock"> & TestDeps,
  { caller, requestId, recipients }: TestRequest,
  {
    draft: tracked,
    files,
    listId,
    route: { ip, ruleId } = { ip: null, ruleId: null },
    returnPathHost = null,
    addsFooter = true,
    data = {},
    isOfPlatform = false,
  }: MailToTest,
): Promise<SentTest> {
  const { workspaceId, timezone } = caller;
  if (!isOfPlatform) await requireSender(db, workspaceId, tracked.from_email);
  const draft = { ...tracked, tracks_opens: false, tracks_clicks: false };
  const { content } = await requireCompiled(db, workspaceId, draft, { listId, timezone, addsFooter });
  const headers = commonHeaders(draft);
  const ready = { campaign: draft, content, headers };
  const fromEmail = draft.from_email;
  const sender = isOfPlatform ? null : senderOf(workspaceId, fromEmail);
  const particulars = {
    // Without List-Unsubscribe: a test unsubscribes no one.
    headers,
    return_path_host: returnPathHost,
    sending_ip: ip,
    routing_rule_id: ruleId,
  };
  const links = testLinks(publicUrl());
  const sample = await samplePerson(db, workspaceId, listId, clock.now());
  const drafts: Draft[] = [];
  for (const to of recipients) {
    const known = await findRecipientValues(db, workspaceId, to.address.toLowerCase());
    const person = withMergeData({ ...sample, ...known }, data, known !== undefined);
    const values = mailValues(draft, { ...person, email: to.address }, clock.now());
    const written = tryMail(ready, values, links, { attachments: [], returnPathHost });
    if (!written.ok) throw invalid(written.fault);
    const mail = written.content;
    drafts.push({
      priority: 0,
      retryHours: caller.retryHours,
      sender,
      message: {
        workspaceId,
        id: newId(),
        source: "api",
        originId: caller.actor.id,
        originName: caller.actor.name,
        fromEmail,
        fromName: mail.fromName,
        toName: null,
        localpart: to.local,
        domain: to.domain,
        subject: `[Test] ${mail.subject}`.slice(0, LONGEST_SUBJECT).toWellFormed(),
        html: String(mail.html ?? htmlFromText(String(mail.text ?? ""))),
        text: mail.text === null ? null : String(mail.text),
        attachments: files,
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

/** The addresses that get a test; one that is given twice gets one message. @throws ApiError VALIDATION_ERROR */
export function readTestRecipients(emails: readonly string[]): TestRecipient[] {
  return [...new Map(emails.map(readTestRecipient).map((to) => [`${to.local}@${to.domain}`, to])).values()];
}

function readTestRecipient(text: string, index: number) {
  const field = `emails[${index}]`;
  const parsed = parseAddress(text);
  if (!parsed.ok) throw invalid({ field, message: `${field}: ${parsed.message}` });
  return parsed;
}

function senderOf(workspaceId: WorkspaceId, fromEmail: string): Draft["sender"] {
  const from = parseAddress(fromEmail);
  if (!from.ok) throw new Error("the from_email of a mail is an address");
  return { workspaceId, address: from.address, domain: from.domain };
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
