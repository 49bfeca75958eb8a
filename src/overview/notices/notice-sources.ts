/** Where notices come from: each source turns the causes of its kinds into notices. */
import { findHold } from "#delivery/hold/store.ts";
import { listDueMail } from "#delivery/queue/due-mail-store.ts";
import { blacklist } from "#hygiene/blacklist/permission.ts";
import { sendingDomains } from "#identity/sending-domains/permission.ts";
import { reports } from "#messages/permission.ts";
import { counted } from "#platform/count-phrase.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type Action, need, permissionOf, type Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { countProcesses } from "#platform/process/running-processes-store.ts";
import { typedCommand } from "#platform/typed-command.ts";
import { autoresponders } from "#sending/autoresponders/autoresponder.ts";
import { campaigns } from "#sending/campaigns/campaign.ts";
import { pauseText } from "#sending/campaigns/progress/describe-progress.ts";
import { findHalted } from "#sending/halted/find-halted.ts";
import { webhooksResource } from "#webhooks/webhook.ts";
import { billing } from "#workspace/billing/permission.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { billingNotices, RATE_DAYS } from "./billing-notices.ts";
import * as causes from "./causes-store.ts";
import { type FoundNotice, type NoticeKind, shownTime } from "./notice.ts";

/** What a source looks for, and where. */
export interface Look {
  readonly db: Queryable;
  readonly plans: Plans;
  readonly workspaceIds: readonly WorkspaceId[];
  /** The most notices of this source for each workspace; of failed jobs, for each of their permissions as well. */
  readonly most: number;
  readonly now: Date;
  /** Permissions of the jobs that are looked at, each once. */
  readonly jobPermissions: readonly string[];
}

export interface NoticeSource {
  readonly kinds: readonly NoticeKind[];
  /** The permission that all its notices need; null if each has its own. */
  readonly permission: string | null;
  find(look: Look): Promise<FoundNotice[]>;
}

type Told = Omit<FoundNotice, "workspaceId" | "permission">;

function source<Row extends { readonly workspace_id: WorkspaceId }>(
  kinds: readonly NoticeKind[],
  [resource, action]: readonly [Resource, Action],
  list: (look: Look) => Promise<Row[]>,
  tell: (row: Row, look: Look) => Told | readonly Told[],
): NoticeSource {
  const permission = permissionOf(need(resource, action));
  return {
    kinds,
    permission,
    async find(look) {
      const rows = await list(look);
      return rows.flatMap((row) =>
        [tell(row, look)].flat().map((told) => ({ ...told, workspaceId: row.workspace_id, permission })),
      );
    },
  };
}

/** A list of the store without further parameters. */
const listed =
  <Row>(list: (db: Queryable, workspaceIds: readonly WorkspaceId[], most: number) => Promise<Row[]>) =>
  ({ db, workspaceIds, most }: Look) =>
    list(db, workspaceIds, most);

/** A state of the whole installation is one of each workspace. */
const ofEachWorkspace =
  <State>(find: (db: Queryable) => Promise<State | undefined>) =>
  async ({ db, workspaceIds }: Look) => {
    const state = await find(db);
    return state === undefined ? [] : workspaceIds.map((workspace_id) => ({ ...state, workspace_id }));
  };

/** Mail that is due is sent within seconds. No alarm for the time in which machines are restarted or exchanged. */
const NO_DELIVERY_MINUTES = 3;

/** Workspaces with mail that is due while no process delivers; none while sending is held, which another notice says. */
async function listUndelivered({ db, workspaceIds }: Look) {
  const { delivery } = await countProcesses(db, ["delivery"]);
  if (delivery !== 0) return [];
  const { isSendingHeld, paused } = await findHalted(db);
  return isSendingHeld ? [] : listDueMail(db, workspaceIds, { paused, minutes: NO_DELIVERY_MINUTES });
}

const resourceOf = (
  kind: Told["resource"]["kind"],
  path: string,
  { id, name }: { id: string; name: string },
) => ({
  kind,
  id,
  name,
  path: `/api/v1/${path}`,
});

/** Pauses that only a new campaign mends. */
const beyondRepair = new Set<string | null>(["audience_missing", "audience_too_costly", "content_invalid"]);

/** A complaint rate above this is reported: from it on, large mailbox providers reject mail. */
const MOST_COMPLAINTS = 0.001;
/** One or two complaints among few messages are not a rate. */
const LEAST_COMPLAINTS = 3;
/** Amazon SES pauses accounts from this rate on. */
const CRITICAL_COMPLAINTS = 0.005;

const stopReasons: Readonly<Record<string, string>> = {
  sender_not_verified: "Its sender is no longer verified. Verify the domain or address, then activate it.",
  content_invalid: "The content of a step can no longer be rendered. Correct it, then activate it.",
};

const checkWords: Readonly<Record<string, string>> = {
  ownership: "the proof of ownership",
  spf: "SPF",
  dkim: "DKIM",
  dmarc: "DMARC",
  return_path: "the return path",
};

export const noticeSources: readonly NoticeSource[] = [
  source(["sending_held"], [reports, "read"], ofEachWorkspace(findHold), ({ held_at, backup_at }) => ({
    kind: "sending_held",
    severity: "critical",
    since: held_at,
    title: "Sending is held",
    message: `${backup_at === null ? "The operator holds all sending" : `The service was restored from a backup of ${shownTime(backup_at)}`}: mail is accepted and waits, and nothing leaves. The operator ends this with the command ${typedCommand("sending release")}.`,
    resource: { kind: "workspace", id: null, name: null, path: "/api/v1/queue" },
    operation: "getQueue",
  })),
  source(["no_delivery_process"], [reports, "read"], listUndelivered, ({ since }) => ({
    kind: "no_delivery_process",
    severity: "critical",
    since,
    title: "No process delivers mail",
    message: `Mail is due since ${shownTime(since)}, and no delivery process runs on any machine: mail is accepted and waits. The operator starts the service, or a machine with the role delivery.`,
    resource: { kind: "workspace", id: null, name: null, path: "/api/v1/queue" },
    operation: "getQueue",
  })),
  source(
    ["workspace_suspended"],
    [reports, "read"],
    ({ db, workspaceIds }) => causes.listSuspended(db, workspaceIds),
    ({ since }) => ({
      kind: "workspace_suspended",
      severity: "critical",
      since,
      title: "The workspace is suspended",
      message: `It can be read, but nothing is sent or changed, and mail that was accepted waits. The operator has suspended it, and ends that with the command ${typedCommand("workspace resume --workspace ID")}.`,
      resource: { kind: "workspace", id: null, name: null, path: "/api/v1/queue" },
      operation: "getQueue",
    }),
  ),
  source(["campaign_paused"], [campaigns, "read"], listed(causes.listPausedCampaigns), (row) => ({
    kind: "campaign_paused",
    severity: row.pause_reason === null ? "info" : "critical",
    since: row.since,
    title: `The campaign ${row.name} is paused`,
    message: pauseText(row.pause_reason),
    resource: resourceOf("campaign", `campaigns/${row.id}`, row),
    operation: beyondRepair.has(row.pause_reason) ? "duplicateCampaign" : "resumeCampaign",
  })),
  source(["campaign_approval_requested"], [campaigns, "send"], listed(causes.listAskedApprovals), (row) => ({
    kind: "campaign_approval_requested",
    severity: "info",
    since: row.since,
    cause: `${row.revision} ${row.since.toISOString()}`,
    title: `${row.asked_by} asks for approval of ${row.name}`,
    message: row.message ?? "The campaign passed the checks of sending. Check it, then send it.",
    resource: resourceOf("campaign", `campaigns/${row.id}`, row),
    operation: "sendCampaign",
  })),
  source(
    ["autoresponder_stopped"],
    [autoresponders, "read"],
    listed(causes.listDeactivatedByService),
    (row) => ({
      kind: "autoresponder_stopped",
      severity: "critical",
      since: row.since,
      title: `The autoresponder ${row.name} was deactivated`,
      message:
        stopReasons[row.deactivation_reason] ?? `The service has deactivated it: ${row.deactivation_reason}.`,
      resource: resourceOf("autoresponder", `autoresponders/${row.id}`, row),
      operation: "activateAutoresponder",
    }),
  ),
  source(["domain_dns_broken"], [sendingDomains, "read"], listed(causes.listBrokenDomains), brokenDomain),
  source(
    ["complaint_rate_high"],
    [reports, "read"],
    ({ db, workspaceIds, now }) =>
      causes.listComplainedAbout(db, workspaceIds, { rate: MOST_COMPLAINTS, least: LEAST_COMPLAINTS, now }),
    ({ delivered, complaints, since }) => {
      const rate = complaints / delivered;
      return {
        kind: "complaint_rate_high",
        severity: rate >= CRITICAL_COMPLAINTS ? "critical" : "warning",
        since,
        title: `${Number((100 * rate).toFixed(2))} % of the recipients complained`,
        message: `${counted(complaints, "complaint")} came in the last ${causes.COMPLAINT_DAYS} days, for ${counted(delivered, "delivered message")}: more than 0.1 %. Write only to people who subscribed, and make unsubscribing easy.`,
        resource: { kind: "workspace", id: null, name: null, path: "/api/v1/stats/health" },
        operation: "getSendingHealth",
      };
    },
  ),
  source(["blacklisted"], [blacklist, "read"], listed(causes.listListedTargets), (row) => ({
    kind: "blacklisted",
    severity: "critical",
    since: row.since,
    title: `${row.name} is on ${counted(row.zones.length, "blacklist")}`,
    message: `${row.target_type === "ip" ? "The IP address" : "The domain"} is listed by ${row.zones.join(", ")}. Find out why before you ask for removal.`,
    resource: resourceOf("blacklist_monitor", `blacklist/monitors/${row.id}`, row),
    operation: "getBlacklistMonitor",
  })),
  source(
    ["webhook_failing", "webhook_disabled"],
    [webhooksResource, "read"],
    listed(causes.listFailingWebhooks),
    (row) => ({
      kind: row.is_active ? "webhook_failing" : "webhook_disabled",
      severity: row.is_active ? "warning" : "critical",
      since: row.since,
      title: row.is_active ? "A webhook fails" : "A webhook was switched off",
      message: row.is_active
        ? `${counted(row.consecutive_failures, "delivery", "deliveries")} to ${row.name} in a row failed after all attempts.`
        : `The service has switched off ${row.name}: ${row.disabled_reason}. Mend the receiver, then switch it on.`,
      resource: resourceOf("webhook", `webhooks/${row.id}`, row),
      operation: row.is_active ? "listWebhookDeliveries" : "updateWebhook",
    }),
  ),
  source(
    ["allowance_nearly_used", "allowance_used_up", "balance_low", "balance_used_up", "subscription_past_due"],
    [billing, "read"],
    ({ db, workspaceIds, now }) => causes.listBillingStates(db, workspaceIds, { days: RATE_DAYS, now }),
    (state, { plans, now }) =>
      billingNotices(state, plans, now).map((told) => ({
        ...told,
        resource: { kind: "billing", id: null, name: null, path: "/api/v1/billing/overview" },
      })),
  ),
  {
    kinds: ["job_failed"],
    permission: null,
    async find({ db, workspaceIds, most, jobPermissions }) {
      const rows = await causes.listFailedJobs(db, workspaceIds, most, jobPermissions);
      return rows.map((row) => ({
        workspaceId: row.workspace_id,
        permission: row.permission,
        kind: "job_failed",
        severity: "warning",
        since: row.since,
        title: `A background job failed: ${row.name.replaceAll("_", " ")}`,
        message: row.error ?? "The job says no more. Start it again.",
        resource: resourceOf("job", `jobs/${row.id}`, row),
        operation: "getJob",
      }));
    },
  },
];

/** A domain whose lost or failing checks change is another notice, so that a dismissal does not cover a new failure. */
function brokenDomain(row: causes.BrokenDomain): Told {
  const checks = Object.entries(row.checks).toSorted(([a], [b]) => a.localeCompare(b));
  const lost = checks.filter(([, { is_lost }]) => is_lost);
  const shown = (some: typeof checks) => some.map(([name]) => checkWords[name] ?? name).join(", ");
  const isCritical = lost.some(([name]) => name === "ownership" || name === "dkim");
  const message =
    lost.length > 0
      ? `Not verified any more: ${shown(lost)}.${isCritical ? " Mail from the domain is refused or not signed." : ""} Correct the records, then check them again.`
      : `The records for ${shown(checks)} are missing or wrong since ${shownTime(row.since)}. If they stay so for a day, the verification is lost.`;
  return {
    kind: "domain_dns_broken",
    severity: isCritical ? "critical" : "warning",
    since: row.since,
    cause: checks
      .map(([name, { since, is_lost }]) => `${name} ${new Date(since).toISOString()} ${is_lost}`)
      .join(),
    title: `The DNS records of ${row.name} are broken`,
    message,
    resource: resourceOf("sending_domain", `sending-domains/${row.id}/dns-status`, row),
    operation: "verifySendingDomain",
  };
}
