/** Every endpoint of the API, from the assemblies of the wings. */

import {
  audienceEndpoints,
  audienceJobOutcomes,
  audienceJobs,
  audienceResultsWithoutValues,
} from "#audience/assembly.ts";
import { requireLanguageField } from "#audience/languages/used-by-workspace.ts";
import { openAssemblyThread } from "#delivery/compose/open-assembly-thread.ts";
import { mergeLanes } from "#delivery/lanes/lanes-by-mx-host.ts";
import { createEgressPreview } from "#delivery/routes/preview-egress.ts";
import { listWarmUpHistory } from "#delivery/warm-up/history.ts";
import { listWarmUpProgress } from "#delivery/warm-up/progress.ts";
import { createResolver } from "#dns/network-resolver.ts";
import { type HygieneParts, hygieneEndpoints, hygieneJobOutcomes, hygieneJobs } from "#hygiene/assembly.ts";
import { listedCountOf } from "#hygiene/blacklist/monitor-store.ts";
import { identityEndpoints } from "#identity/assembly.ts";
import { listSendingIps } from "#identity/sending-ips/store.ts";
import { trackingBaseOf } from "#identity/tracking-domains/tracking-base-url.ts";
import { inboundEndpoints } from "#inbound/assembly.ts";
import { removeReports } from "#inbound/retention.ts";
import { listReceivingDomains } from "#inbound/routes/store.ts";
import { messagesEndpoints } from "#messages/assembly.ts";
import { countMessagesByDay } from "#messages/counters/by-time-store.ts";
import { insertOriginName } from "#messages/deleted-origins-store.ts";
import { overviewEndpoints, overviewJobOutcomes, overviewJobs } from "#overview/assembly.ts";
import { removeUnsharedViews } from "#overview/views/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { jobEndpoints } from "#platform/jobs/endpoints.ts";
import type { JobOutcomeShape } from "#platform/jobs/job-shape.ts";
import { reportingEndpoints } from "#reporting/assembly.ts";
import {
  type SendingParts,
  sendingEndpoints,
  sendingJobOutcomes,
  sendingJobs,
  usesOfAudience,
  usesOfIdentity,
} from "#sending/assembly.ts";
import { findIdSpan } from "#sending/campaigns/analytics/store.ts";
import { lockLogoPath } from "#sending/media/logo.ts";
import { createInvitationMailer, createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { webhooksEndpoints } from "#webhooks/assembly.ts";
import {
  announceCampaigns,
  announceSubscriber,
  announceVerification,
  createJobReaction,
} from "#webhooks/events/announce-non-message-events.ts";
import { listKeyPermissions } from "#workspace/api-keys/store.ts";
import { type WorkspaceParts, workspaceEndpoints } from "#workspace/assembly.ts";
import { listMemberPermissions } from "#workspace/people/store.ts";
import { campaignLinks, composing } from "./mail-identity.ts";
import { createReactions } from "./reactions.ts";

/** Values that the endpoints share with the rest of the API's process. */
export interface EndpointParts extends WorkspaceParts, SendingParts, HygieneParts {
  /** Hosts of the service itself: no workspace may use them as its tracking domain. */
  readonly ownHosts: readonly string[];
  /** Empties the authenticator's cache of API keys. */
  readonly forgetKeys: () => void;
}

/** A person waits for the test of routing rules. */
const ROUTE_DNS = { timeoutMs: 4_000, tries: 2 };

const jobTypes = { ...audienceJobs, ...sendingJobs, ...hygieneJobs, ...overviewJobs };

/** What the jobs of each type count and result in. */
export const jobOutcomes = {
  ...audienceJobOutcomes,
  ...sendingJobOutcomes,
  ...hygieneJobOutcomes,
  ...overviewJobOutcomes,
} satisfies Record<keyof typeof jobTypes, JobOutcomeShape>;

/** Keeps the name of a removed API key or teammate at the messages that it sent, and removes the saved views that only it saw. */
async function forgetCaller(
  tx: Queryable,
  workspaceId: WorkspaceId,
  caller: { readonly id: string; readonly name: string },
): Promise<void> {
  await insertOriginName(tx, workspaceId, "api", caller);
  await removeUnsharedViews(tx, workspaceId, caller.id);
}

export function createEndpoints(parts: EndpointParts): readonly Endpoint[] {
  const { config, clock, database: db, forgetKeys, publicUrl } = parts;
  const assemblyThread = openAssemblyThread(new URL("assembly-thread.ts", import.meta.url));
  const sendPlatformMail = createPlatformMail(config.PLATFORM_SENDER, clock);
  const providers = mergeLanes(config.LANES_FILE).map(({ name }) => name);
  const endpoints: Endpoint[] = [
    ...workspaceEndpoints(parts, {
      endpoints: () => endpoints,
      forgetKeys,
      onRemoved: forgetCaller,
      onTeammateRemoved: forgetCaller,
      sendInvitation: createInvitationMailer(sendPlatformMail, clock),
      lockLogoPath,
      mediaBase: (workspaceId) => trackingBaseOf(db, workspaceId, parts.publicUrl()),
      countMessagesByDay,
      requireLanguageField,
    }),
    ...audienceEndpoints(parts, { ...usesOfAudience, onSubscriber: announceSubscriber }),
    ...identityEndpoints(
      { ...parts, providers },
      {
        ...usesOfIdentity,
        removeReports: (workspaceId, domainId) => removeReports(db, workspaceId, domainId),
        receivingDomains: listReceivingDomains,
        sendPlatformMail,
        warmUpsOf: (db, workspaceId, ips, now) => listWarmUpProgress(db, workspaceId, ips, providers, now),
        warmUpHistoryOf: listWarmUpHistory,
        previewEgress: createEgressPreview({
          config,
          resolver: createResolver({ servers: config.DNS_SERVERS, ...ROUTE_DNS }),
        }),
        onVerification: announceVerification,
      },
    ),
    ...inboundEndpoints(parts),
    ...sendingEndpoints(parts, {
      onCampaignEvents: announceCampaigns,
      onMoved: createReactions(clock),
      composing: {
        ...composing(parts, publicUrl),
        assembleAside: (mail) => assemblyThread.assemble(mail),
      },
      ...campaignLinks(parts, publicUrl),
    }),
    ...hygieneEndpoints(parts),
    ...messagesEndpoints(parts, { spanOfOrigin: findIdSpan }),
    ...reportingEndpoints(parts, {
      findListings: listedCountOf,
      hasSendingIp: async (db, workspaceId) =>
        (await listSendingIps(db, workspaceId)).some(({ is_active }) => is_active),
    }),
    ...jobEndpoints({
      db,
      types: jobTypes,
      outcomes: jobOutcomes,
      withoutValues: audienceResultsWithoutValues,
      onEnded: createJobReaction(clock),
    }),
    ...webhooksEndpoints(parts),
    ...overviewEndpoints(parts, {
      jobResources: Object.values(jobTypes),
      historyOf: usesOfAudience.historyOf,
      hasher: parts.people.hasher,
      async readAccess(watchers) {
        const now = clock.now();
        const keys = watchers.flatMap(({ workspaceId, holder: id, userId }) =>
          userId === null ? [{ workspaceId, id }] : [],
        );
        const members = watchers.flatMap(({ workspaceId, holder: sessionId, userId }) =>
          userId === null ? [] : [{ workspaceId, userId, sessionId }],
        );
        const [ofKeys, ofMembers] = await Promise.all([
          keys.length > 0 ? listKeyPermissions(db, keys, now) : [],
          members.length > 0 ? listMemberPermissions(db, members, now) : [],
        ]);
        const [nextKey, nextMember] = [ofKeys.values(), ofMembers.values()];
        return watchers.map(({ userId }) => (userId === null ? nextKey : nextMember).next().value);
      },
    }),
  ];
  return endpoints;
}
