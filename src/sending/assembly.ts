/** Assembles the sending wing: transactional mail, campaigns, autoresponders, and what lower wings ask about them. */

import type { FastifyInstance } from "fastify";
import { exportOutcome } from "#audience/exports/export-result.ts";
import type { ListCampaigns } from "#audience/mailing-lists/stats-from-daily-counters.ts";
import type { KeepSegmentName } from "#audience/segments/save-segment.ts";
import type { HistoryOf } from "#audience/subscribers/subscriber-detail.ts";
import { listSuppressionsOf } from "#audience/suppression-lists/entry-store.ts";
import type { CausesOf } from "#audience/suppression-lists/explain-suppressions.ts";
import { skipWhileHeld } from "#delivery/hold/skip-while-held.ts";
import { notifyWorkers } from "#delivery/queue/notify-workers.ts";
import { readGateway } from "#delivery/sms/gateway-settings.ts";
import { createResolver } from "#dns/network-resolver.ts";
import { lockTrackingDomain } from "#identity/tracking-domains/store.ts";
import { listTrackingBases, trackingBaseOf } from "#identity/tracking-domains/tracking-base-url.ts";
import { listFinalFaults } from "#messages/final-faults-store.ts";
import type { OnMoved } from "#messages/message/outcome.ts";
import type { Config } from "#platform/config/config.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { JobHandlers } from "#platform/jobs/runner.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_SECONDS } from "#platform/time-units.ts";
import type { RenderMail } from "#tracking/tracking-deps.ts";
import type { OnLimit } from "#workspace/billing/log-reached-limits.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import type { Acceptor } from "./acceptance/acceptor.ts";
import { requireOneMore } from "./acceptance/take-allowance.ts";
import { advanceAutoresponders } from "./autoresponders/advance.ts";
import { autoresponders } from "./autoresponders/autoresponder.ts";
import { autoresponderEndpoints } from "./autoresponders/endpoints.ts";
import { mediaUsedByAutoresponders } from "./autoresponders/in-use-store.ts";
import { findContentToSend, findSentAutoresponderMail } from "./autoresponders/presend-store.ts";
import { autoresponderProgressEndpoints } from "./autoresponders/progress/endpoints.ts";
import { autoresponderPurge } from "./autoresponders/purge.ts";
import { campaignAnalyticsEndpoints } from "./campaigns/analytics/endpoints.ts";
import { subscriberHistory } from "./campaigns/analytics/subscriber-history-store.ts";
import { forgetRemovedPeople } from "./campaigns/audience/purge-removal-records.ts";
import { campaigns } from "./campaigns/campaign.ts";
import { campaignClientEndpoints } from "./campaigns/clients/endpoints.ts";
import { engagementScoreRefresh } from "./campaigns/counters/refresh-engagement-scores.ts";
import { campaignEndpoints } from "./campaigns/endpoints.ts";
import {
  campaignWithList,
  campaignWithRoute,
  campaignWithSender,
  campaignWithTrackingDomain,
  mediaUsedByCampaigns,
  segmentUsedByCampaigns,
  updateListName,
  updateSegmentNames,
} from "./campaigns/in-use-store.ts";
import { advanceCampaigns } from "./campaigns/lifecycle/advance.ts";
import { autoPauseLimitsOf } from "./campaigns/lifecycle/auto-pause.ts";
import { campaignLinkEndpoints } from "./campaigns/links/endpoints.ts";
import { campaignProgressEndpoints } from "./campaigns/progress/endpoints.ts";
import { purgeDeletedCampaigns } from "./campaigns/purge-deleted-store.ts";
import { campaignRecipientEndpoints } from "./campaigns/recipients/endpoints.ts";
import { RECIPIENT_EXPORT_JOB, recipientExportHandler } from "./campaigns/recipients/recipient-export-job.ts";
import { listLastCampaigns } from "./campaigns/store.ts";
import { readSpamdUrl } from "./check/ask-spamd.ts";
import { campaignCheckEndpoints } from "./check/endpoints.ts";
import { findDesignBrand } from "./designs/find-design-brand.ts";
import { emailEndpoints } from "./emails/endpoints.ts";
import { emailToManyEndpoints } from "./emails/to-many/endpoints.ts";
import { fieldUsesOf, findAutoresponderOfList, templateUsesOf } from "./in-use-store.ts";
import { createWebView, ofCampaigns, type SentMails } from "./mail/web-view.ts";
import { mediaEndpoints } from "./media/endpoints.ts";
import { mediaUsedByBrand } from "./media/logo.ts";
import { registerMedia } from "./media/media-page.ts";
import { mergeTagEndpoints } from "./merge-tags/endpoints.ts";
import { type MessageContentDeps, messageContentEndpoints } from "./message-content/endpoints.ts";
import { sentMessageParser } from "./message-content/parse-sent-message.ts";
import { createPlatformMail, createSignupMailer, excuseSignupMail } from "./platform-mail/platform-mail.ts";
import { previewEndpoints } from "./preview/endpoints.ts";
import { previewKeys, registerPreviews } from "./preview/preview-page.ts";
import { removeEndedPreviews } from "./preview/store.ts";
import { receiptKeys } from "./sms/receipt-link.ts";
import { registerSmsReceipts } from "./sms/receive-delivery-receipts.ts";
import { ContentCompiler } from "./templates/compile/compile-in-thread.ts";
import { templateEndpoints } from "./templates/endpoints.ts";
import { mediaUsedByTemplates } from "./templates/in-use-store.ts";
import { TemplateRenderer } from "./templates/rendering/template-renderer.ts";
import { templates } from "./templates/template.ts";
import { templateTestEndpoints } from "./templates/tests/endpoints.ts";
import { waitingMessageEndpoints } from "./waiting-messages/endpoints.ts";

export interface SendingParts extends ProcessContext {
  readonly plans: Plans;
  readonly acceptor: Acceptor;
  readonly publicUrl: () => string;
  readonly hasSmsGateway: boolean;
  readonly onLimit: OnLimit;
}

/** Within the time of one link. */
const DNS_OF_LINKS = { timeoutMs: 3_000, tries: 2 };

type CampaignHooks = Pick<Parameters<typeof campaignEndpoints>[0], "onCampaignEvents">;

/** How mail is composed, to preview mail and to show sent messages. */
export type MailComposition = Pick<MessageContentDeps, "composing" | "linkBase" | "linksOf">;

export function sendingEndpoints(
  parts: SendingParts,
  { onCampaignEvents, onMoved, ...composition }: CampaignHooks & MailComposition & { onMoved: OnMoved },
): Endpoint[] {
  const { database: db, clock, config, log, plans, acceptor, publicUrl, hasSmsGateway, onLimit } = parts;
  const mailComposing = {
    db,
    publicUrl,
    findIdentity: composition.composing.findIdentity,
    linkBase: composition.linkBase,
    bounceDomain: config.INBOUND_PORT === null ? null : config.BOUNCE_DOMAIN,
    smsCountry: config.SMS_DEFAULT_COUNTRY,
  };
  const mediaBase = (workspaceId: WorkspaceId) => trackingBaseOf(db, workspaceId, publicUrl());
  const compiler = new ContentCompiler(async (workspaceId) =>
    findDesignBrand(db, workspaceId, await mediaBase(workspaceId)),
  );
  return [
    ...templateEndpoints({
      db,
      clock,
      plans,
      compiler,
      uses: templateUsesOf({ campaigns, autoresponders, templates }),
    }),
    ...templateTestEndpoints({
      db,
      clock,
      compiler,
      acceptor,
      publicUrl,
      platformFrom: config.DEFAULT_SENDER,
    }),
    ...campaignEndpoints({
      db,
      clock,
      plans,
      compiler,
      acceptor,
      publicUrl,
      notifyWorkers,
      onCampaignEvents,
      hasSmsGateway,
      smsCountry: config.SMS_DEFAULT_COUNTRY,
      hasTrackingDomain: lockTrackingDomain,
      requireAllowance: (workspaceId) => requireOneMore(db, plans, workspaceId, clock.now(), onLimit),
    }),
    ...campaignAnalyticsEndpoints({ db }),
    ...campaignClientEndpoints({ db }),
    ...campaignLinkEndpoints({ db, clock }),
    ...campaignRecipientEndpoints({ db, clock, plans }),
    ...previewEndpoints({ ...mailComposing, compiler, clock, keys: previewKeys(parts.secrets) }),
    ...mergeTagEndpoints({ db }),
    ...mediaEndpoints({
      db,
      clock,
      plans,
      mediaBase,
      uses: [mediaUsedByCampaigns, mediaUsedByAutoresponders, mediaUsedByTemplates, mediaUsedByBrand],
    }),
    ...campaignCheckEndpoints({
      ...mailComposing,
      compiler,
      hasSmsGateway,
      clock,
      plans,
      hasTrackingDomain: lockTrackingDomain,
      servers: {
        resolver: createResolver({ servers: config.DNS_SERVERS, ...DNS_OF_LINKS }),
        allowPrivate: config.ALLOW_PRIVATE_LINKS,
      },
      spamd: config.SPAMD_URL && readSpamdUrl(config.SPAMD_URL),
    }),
    ...campaignProgressEndpoints({ db, clock }),
    ...autoresponderEndpoints({ db, clock, plans, compiler, notifyWorkers }),
    ...autoresponderProgressEndpoints({ db, clock, plans, compiler, notifyWorkers, acceptor, publicUrl }),
    ...emailEndpoints({ acceptor, clock, platformFrom: config.DEFAULT_SENDER }),
    ...emailToManyEndpoints({
      db,
      acceptor,
      templates: new TemplateRenderer(db),
      clock,
      platformFrom: config.DEFAULT_SENDER,
      onMoved,
    }),
    ...waitingMessageEndpoints({ db, clock, notifyWorkers, onMoved }),
    ...messageContentEndpoints({
      ...composition,
      db,
      clock,
      log,
      contentDays: config.MESSAGE_CONTENT_DAYS,
      bulkMails: { campaign: ofCampaigns, autoresponder: ofAutoresponders },
      parse: sentMessageParser(),
    }),
  ];
}

/** The nouns that this wing's jobs belong to, by job type. */
export const sendingJobs = { [RECIPIENT_EXPORT_JOB]: campaigns };

/** What this wing's jobs count and result in, by job type. */
export const sendingJobOutcomes = {
  [RECIPIENT_EXPORT_JOB]: {
    ...exportOutcome,
    name: "CampaignRecipientExportJob",
    about: "An export of the recipients of a campaign.",
  },
};

/** Types of this wing's jobs that run to their end without giving their slot to a waiting job. */
export const uninterruptedExports: readonly string[] = [RECIPIENT_EXPORT_JOB];

export function sendingHandlers({
  database: db,
  clock,
}: Pick<SendingParts, "database" | "clock">): JobHandlers {
  return { [RECIPIENT_EXPORT_JOB]: recipientExportHandler({ db, clock }) };
}

type SendingJobs = Pick<SendingParts, "database" | "clock" | "config" | "plans" | "onLimit">;

export function sendingRecurring(parts: SendingJobs, { onCampaignEvents }: CampaignHooks): Recurring[] {
  const { database: db, clock, config, plans, onLimit } = parts;
  const smsCountry = config.SMS_DEFAULT_COUNTRY;
  return [
    skipWhileHeld(
      db,
      advanceCampaigns({
        db,
        clock,
        plans,
        onLimit,
        smsCountry,
        autoPause: autoPauseLimitsOf(config),
        onCampaignEvents,
      }),
    ),
    skipWhileHeld(db, advanceAutoresponders({ db, clock, plans, onLimit })),
    forgetRemovedPeople(db),
    {
      name: "remove-ended-previews",
      seconds: 300,
      run: () => removeEndedPreviews(db, clock.now()),
    },
    autoresponderPurge({ db, clock }),
    {
      name: "remove-traces-of-deleted-campaigns",
      seconds: DAY_SECONDS,
      run: ({ signal }) => purgeDeletedCampaigns({ db, clock }, signal),
    },
    engagementScoreRefresh({ db, clock }),
  ];
}

/** The mailer of sign-up forms, and the reason that explains to a workspace why such a mail was not sent. */
export function signupMail({ config, clock }: ProcessContext) {
  const mailer = createSignupMailer(createPlatformMail(config.PLATFORM_SENDER, clock), clock);
  return { mailer, excuseMail: excuseSignupMail };
}

type Gateway = ReturnType<typeof readGateway>;

/** The SMS gateway of the configuration, null if there is none. */
export const smsGatewayOf = ({ SMS_GATEWAY_URL: url }: Config): Gateway | null => url && readGateway(url);

/** Registers the pages of previews, and the one that an HTTP gateway calls with delivery receipts of SMS. */
export function registerSendingPages(
  pages: FastifyInstance,
  { database: db, clock, secrets, publicUrl }: ProcessContext & Pick<SendingParts, "publicUrl">,
  gateway: Gateway | null,
): void {
  registerPreviews(pages, {
    db,
    clock,
    keys: previewKeys(secrets),
    mediaBases: (workspaceId) => listTrackingBases(db, workspaceId, publicUrl()),
  });
  registerMedia(pages, db);
  if (gateway?.kind !== "http") return;
  registerSmsReceipts(pages, { db, clock, keys: receiptKeys(secrets), gateway: gateway.name });
}

const ofAutoresponders: SentMails = {
  findSentMail: findSentAutoresponderMail,
  findContent: findContentToSend,
  findTargets: async () => new Map(),
};

/** Renders a sent mail of a campaign or an autoresponder again, for its "view in browser" page. */
export function renderSentMail(deps: Parameters<typeof createWebView>[0]): RenderMail {
  const ofCampaign = createWebView(deps);
  const ofAutoresponder = createWebView(deps, ofAutoresponders);
  return async (...mail) => (await ofCampaign(...mail)) ?? ofAutoresponder(...mail);
}

/** The campaigns and autoresponders that use an object of the audience wing. */
export const usesOfAudience = {
  fieldUses: fieldUsesOf({ campaigns, autoresponders }),
  segmentUses: [segmentUsedByCampaigns],
  keepSegmentName: ((tx, workspaceId, segmentId) =>
    updateSegmentNames(tx, workspaceId, { segmentId })) satisfies KeepSegmentName,
  campaigns: {
    latest: listLastCampaigns,
    async keepName(tx, workspaceId, mailingListId) {
      await updateListName(tx, workspaceId, mailingListId);
      await updateSegmentNames(tx, workspaceId, { mailingListId });
    },
    async userOf(db, workspaceId, id) {
      const campaign = await campaignWithList(db, workspaceId, id);
      if (campaign !== undefined) return `${campaign} uses this list: cancel it first`;
      const autoresponder = await findAutoresponderOfList(db, workspaceId, id);
      return autoresponder && `The autoresponder "${autoresponder}" writes to this list: deactivate it first`;
    },
  } satisfies ListCampaigns,
  historyOf: (async (db, workspaceId, { id, email }) => ({
    ...(await subscriberHistory(db, workspaceId, id)),
    suppressions: await listSuppressionsOf(db, workspaceId, email),
  })) satisfies HistoryOf,
  causesOf: listFinalFaults satisfies CausesOf,
};

/** The campaigns that use an object of the identity wing: each names one, or returns undefined. */
export const usesOfIdentity = {
  campaignWithDomain: (tx: Queryable, workspaceId: WorkspaceId, domain: string) =>
    campaignWithSender(tx, workspaceId, { domain }),
  campaignWithSender: (tx: Queryable, workspaceId: WorkspaceId, email: string) =>
    campaignWithSender(tx, workspaceId, { email }),
  campaignWithTrackingDomain,
  campaignWithIp: (db: Queryable, workspaceId: WorkspaceId, { ip }: { readonly ip: string }) =>
    campaignWithRoute(db, workspaceId, { ip }),
  campaignWithRule: (db: Queryable, workspaceId: WorkspaceId, ruleId: string) =>
    campaignWithRoute(db, workspaceId, { ruleId }),
};
