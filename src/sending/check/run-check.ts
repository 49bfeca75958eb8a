/**
 * Checks a mail: its content in a thread, its settings and audience in the database, and then its links, images and spam score
 * by asking other servers, all within ten seconds.
 */
import type { Clock } from "#platform/clock.ts";
import { createKeyedLimiter } from "#platform/concurrency.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { missingPermissions } from "#platform/http/authenticate.ts";
import { need, permissionOf } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { takeQuota, useOf } from "#platform/limits/quota-store.ts";
import type { AddressSearch } from "#platform/network/find-public-addresses.ts";
import { type AudienceCount, countAudience } from "#sending/campaigns/audience/count-audience.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";
import type { CampaignReader } from "#sending/campaigns/lifecycle/read-campaign-body.ts";
import { samplePerson } from "#sending/mail/choose-person.ts";
import { SAMPLE_SENDER } from "#sending/mail/new-mail.ts";
import type { LoadedMail } from "#sending/preview/load-mail.ts";
import { type MailComposing, prepareMail } from "#sending/preview/prepare-mail.ts";
import { type AskAside, createMailThread } from "#sending/preview/render-in-thread.ts";
import { withMergeData } from "#sending/templates/merge-data.ts";
import type { ContentDeps } from "#sending/templates/take-content.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import { billing } from "#workspace/billing/permission.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import type { AskedKind } from "./ask-server.ts";
import { TargetServers } from "./ask-servers.ts";
import { askSpamd, type SpamAnswer, type SpamdServer, type SpamReport } from "./ask-spamd.ts";
import type { AudienceBeforeSending, CampaignCheck, CheckFinding, CheckPart } from "./campaign-check.ts";
import type { MailCheck, MailToCheck } from "./check-mail.ts";
import { checkMedia, checkSender, checkSettings } from "./check-settings.ts";
import type { ChosenTargets } from "./choose-targets.ts";
import { costOf, durationOf } from "./cost-and-duration.ts";
import { sortFindings, wholeFinding } from "./findings.ts";
import { readTargets, type TargetReading } from "./target-findings.ts";

export interface CampaignCheckDeps
  extends MailComposing,
    Pick<CampaignReader, "hasTrackingDomain">,
    Pick<ContentDeps, "compiler"> {
  readonly clock: Clock;
  readonly plans: Plans;
  readonly servers: AddressSearch;
  /** Null without a spam scanner. */
  readonly spamd: SpamdServer | null;
  readonly hasSmsGateway: boolean;
}

/** Nothing outside is waited for after this time, so that the check ends within ten seconds. */
const OUTSIDE_MS = 9_000;
/** What is left for others at least, when a busy machine has taken long to render the mail. */
const LEAST_OUTSIDE_MS = 3_000;
/** A rule with this many points is worth a change of the mail. */
const MANY_POINTS = 1;
const READ_BILLING = permissionOf(need(billing, "read"));
const kinds = { link: "links", image: "images" } as const satisfies Record<AskedKind, CheckPart>;
const noReading: TargetReading = {
  findings: [],
  counts: { link: { checked: 0, bytes: 0 }, image: { checked: 0, bytes: 0 } },
  unchecked: [],
};

export class MailChecker {
  readonly #deps: CampaignCheckDeps;
  readonly #readContent: AskAside<MailCheck, MailToCheck>;
  readonly #servers: TargetServers;
  /** A scanner works on few mails at a time. */
  readonly #takeTurnToScan = createKeyedLimiter<WorkspaceId>(1);

  constructor(deps: CampaignCheckDeps) {
    this.#deps = deps;
    this.#readContent = createMailThread<MailCheck, MailToCheck>(new URL("check-thread.ts", import.meta.url));
    this.#servers = new TargetServers(deps.servers);
  }

  async check(
    caller: Caller,
    loaded: LoadedMail,
    without: ReadonlySet<CheckPart> = new Set(),
  ): Promise<CampaignCheck> {
    const { db, clock, smsCountry } = this.#deps;
    const { workspaceId } = caller;
    const begin = performance.now();
    const now = clock.now();
    const [content, media, settings, audience] = await Promise.all([
      this.#checkContent(workspaceId, loaded, without, { now, begin }),
      checkMedia(db, workspaceId, loaded.campaign.html_content ?? ""),
      this.#checkSettings(workspaceId, loaded),
      loaded.stored === null || without.has("audience")
        ? null
        : countAudience(db, workspaceId, loaded.stored, { now, smsCountry }),
    ]);
    const counted = audience?.outcome === "counted" ? audience.audience : null;
    // An SMS takes nothing from plan and balance, and gateways have a speed of their own.
    const isSms = loaded.campaign.message_type === "sms";
    const { cost, duration } = await this.#priceAndTime(caller, isSms ? null : counted, now);
    const findings = [
      ...content.findings,
      ...media,
      ...settings,
      ...audienceFindings(audience, loaded.campaign),
      ...costFindings(cost),
    ];
    const uncounted =
      audience?.outcome === "failed" ? [{ part: "audience" as const, reason: audience.reason }] : [];
    return {
      ...sortFindings(findings),
      audience: counted,
      cost,
      duration,
      ...content.shown,
      unchecked: [...uncounted, ...content.unchecked],
      checked_at: now,
    };
  }

  /** The content as its author wrote it, and what its links, its images and a spam scanner answer. */
  async #checkContent(
    workspaceId: WorkspaceId,
    loaded: LoadedMail,
    without: ReadonlySet<CheckPart>,
    { now, begin }: { readonly now: Date; readonly begin: number },
  ) {
    const sample = await samplePerson(this.#deps.db, workspaceId, loaded.listId, now);
    const person = withMergeData(sample, loaded.data, false);
    const prepared = await prepareMail(this.#deps, loaded, { person, now, showsFiles: false });
    const isSms = loaded.campaign.message_type === "sms";
    const isScanned = this.#deps.spamd !== null && !without.has("spam_score") && !isSms;
    const mail = await this.#readContent(workspaceId, { ...prepared, isScanned });
    const deadline = Math.max(begin + OUTSIDE_MS, performance.now() + LEAST_OUTSIDE_MS);
    const [reading, spam] = await Promise.all([
      this.#askServers(workspaceId, mail.outside, without, { now, deadline }),
      isScanned ? this.#scan(workspaceId, mail, deadline) : null,
    ]);
    const { counts } = reading;
    const countOf = (kind: AskedKind) => {
      const leftOut = mail.outside.leftOut[kind];
      const total = mail.outside.targets.filter((target) => target.kind === kind).length + leftOut;
      return { total, checked: counts[kind].checked, left_out: leftOut };
    };
    const scored = spam?.outcome === "scored" ? spam : null;
    const unscored = spam?.outcome === "failed" ? [{ part: "spam_score" as const, reason: spam.reason }] : [];
    return {
      findings: [...mail.findings, ...reading.findings, ...(scored === null ? [] : spamFindings(scored))],
      unchecked: [...reading.unchecked, ...unscored],
      shown: {
        subject: mail.subject,
        preview_text: mail.previewText,
        size: mail.size,
        html_size: mail.htmlSize,
        sms: mail.sms,
        links: isSms || without.has("links") ? null : countOf("link"),
        images: isSms || without.has("images") ? null : { ...countOf("image"), bytes: counts.image.bytes },
        spam: scored && {
          score: scored.score,
          threshold: scored.threshold,
          is_spam: scored.isSpam,
          rules: [...scored.rules],
        },
      },
    };
  }

  async #askServers(
    workspaceId: WorkspaceId,
    { targets: all }: ChosenTargets,
    without: ReadonlySet<CheckPart>,
    { now, deadline }: { readonly now: Date; readonly deadline: number },
  ): Promise<TargetReading> {
    const targets = all.filter(({ kind }) => !without.has(kinds[kind]));
    const amount = this.#servers.unknown(targets);
    const use = { ...useOf("addressesAsked", workspaceId), amount };
    const ends = amount === 0 ? null : await takeQuota(this.#deps.db, use, now);
    if (ends === null) return readTargets(targets, await this.#servers.ask(workspaceId, targets, deadline));
    const reason = `The workspace may have ${use.quota.most} addresses asked in an hour, and this mail has more than are left: check again after ${ends.toISOString()}.`;
    const parts = new Set(targets.map(({ kind }) => kinds[kind]));
    return { ...noReading, unchecked: [...parts].map((part) => ({ part, reason })) };
  }

  async #scan(
    workspaceId: WorkspaceId,
    { message, size }: MailCheck,
    deadline: number,
  ): Promise<SpamAnswer | null> {
    const { spamd } = this.#deps;
    if (spamd === null || size === null) return null;
    if (message === null) return { outcome: "failed", reason: "The mail is too large for a spam scanner." };
    const answer = await this.#takeTurnToScan(workspaceId, async () => {
      const left = Math.floor(deadline - performance.now());
      if (left <= 0) return { outcome: "failed", reason: "there was no time left" } as const;
      return askSpamd(spamd, message, AbortSignal.timeout(left));
    });
    if (answer.outcome === "scored") return answer;
    return { ...answer, reason: `The spam scanner gave no score: ${answer.reason}.` };
  }

  async #checkSettings(workspaceId: WorkspaceId, { campaign, stored }: LoadedMail): Promise<CheckFinding[]> {
    const { db } = this.#deps;
    if (stored !== null) return checkSettings(db, workspaceId, stored, this.#deps);
    return campaign.from_email === SAMPLE_SENDER ? [] : checkSender(db, workspaceId, campaign.from_email);
  }

  /** The cost only for those who may see the balance. */
  async #priceAndTime(
    { workspaceId, permissions }: Caller,
    audience: AudienceBeforeSending | null,
    now: Date,
  ): Promise<Pick<CampaignCheck, "cost" | "duration">> {
    if (audience === null) return { cost: null, duration: null };
    const { db, plans } = this.#deps;
    const reading = await getMeterReading(db, plans, workspaceId, now);
    const duration = await durationOf(db, workspaceId, reading, audience.will_send, now);
    const maySee = missingPermissions(permissions, [READ_BILLING]).length === 0;
    return { cost: maySee ? costOf(reading, audience.will_send) : null, duration };
  }
}

function audienceFindings(
  counted: AudienceCount | null,
  { message_type, phone_field_name }: Pick<Campaign, "message_type" | "phone_field_name">,
): CheckFinding[] {
  const found = (code: string, message: string, fix: string) =>
    wholeFinding("error", code, "recipient_type", message, fix);
  if (counted?.outcome === "missing") {
    const message = "The campaign has no audience: its list or segment is not given or was deleted.";
    return [found("audience_missing", message, "Choose a mailing list, a segment or conditions.")];
  }
  if (counted?.outcome !== "counted" || counted.audience.will_send > 0) return [];
  const others =
    message_type === "sms" && phone_field_name !== null
      ? `, or have no valid telephone number in ${phone_field_name}`
      : "";
  const what = message_type === "sms" ? "SMS" : "mail";
  const message = `No one in the audience can get the ${what}: it is empty, or all are inactive or suppressed${others}.`;
  return [found("audience_empty", message, "Choose another audience, or add people to it.")];
}

function costFindings(cost: CampaignCheck["cost"]): CheckFinding[] {
  if (cost === null || cost.uncovered === 0) return [];
  const message = `Plan and balance do not cover ${cost.uncovered} of the messages: the campaign would pause before them.`;
  const fix = "Top up the balance, change the plan, or send to fewer people.";
  return [wholeFinding("warning", "messages_not_covered", null, message, fix)];
}

/** The score if it is too high, and each rule that adds to it. */
function spamFindings({ score, threshold, isSpam, rules }: SpamReport): CheckFinding[] {
  const high = wholeFinding(
    "warning",
    "spam_score_high",
    null,
    `SpamAssassin gives the mail ${score} points, and takes mail with ${threshold} or more for spam.`,
    "Change what the findings with the code `spam_rule` name.",
  );
  const adding = rules.filter(({ points }) => points > 0);
  return [
    ...(isSpam ? [high] : []),
    ...adding.map(({ name, points, description }) =>
      wholeFinding(
        points >= MANY_POINTS ? "warning" : "info",
        "spam_rule",
        null,
        `SpamAssassin adds ${points} points by its rule ${name}${description === "" ? "" : `: ${description}`}.`,
        null,
      ),
    ),
  ];
}
