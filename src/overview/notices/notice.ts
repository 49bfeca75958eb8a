/** A notice: something in a workspace that needs attention. It is derived from stored states, and ends with its cause. */
import { hash } from "node:crypto";
import { type Static, Type } from "typebox";
import type { Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { Id, NullableTimestamp, nullable } from "#platform/shapes.ts";

export const notices: Resource = {
  name: "notices",
  label: "Notices",
  group: "Account",
  about: "Notices say what needs attention. Reading them needs the permission of what they are about.",
};

export const noticeKinds = [
  "sending_held",
  "no_delivery_process",
  "workspace_suspended",
  "campaign_paused",
  "campaign_approval_requested",
  "autoresponder_stopped",
  "domain_dns_broken",
  "complaint_rate_high",
  "blacklisted",
  "webhook_failing",
  "webhook_disabled",
  "allowance_nearly_used",
  "allowance_used_up",
  "balance_low",
  "balance_used_up",
  "subscription_past_due",
  "job_failed",
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/** The worst first. */
export const noticeSeverities = ["critical", "warning", "info"] as const;
export type NoticeSeverity = (typeof noticeSeverities)[number];

const resourceKinds = [
  "campaign",
  "autoresponder",
  "sending_domain",
  "blacklist_monitor",
  "webhook",
  "job",
  "billing",
  "workspace",
] as const;

/** Operations that mend a cause, or that say more. */
export const noticeOperations = [
  "resumeCampaign",
  "duplicateCampaign",
  "sendCampaign",
  "activateAutoresponder",
  "verifySendingDomain",
  "getSendingHealth",
  "getBlacklistMonitor",
  "listWebhookDeliveries",
  "updateWebhook",
  "subscribe",
  "createTopUp",
  "getJob",
  "getQueue",
] as const;

export const NoticeShape = Type.Object(
  {
    id: Type.Unsafe<string>({
      ...Id,
      description:
        "Id of the notice. It stays the same while the cause lasts; a cause that begins again has another id.",
    }),
    kind: Type.Enum([...noticeKinds], { description: "What needs attention." }),
    severity: Type.Enum([...noticeSeverities], {
      description:
        "`critical`: mail is not sent, or the sender's reputation suffers; `warning`: that may happen; `info`: someone waits.",
    }),
    since: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description:
        "When the cause began, in UTC; of an allowance the beginning of its period; null if that is too long ago to be known.",
    }),
    title: Type.String({ description: "What is the matter, in a few words." }),
    message: Type.String({ description: "What happened, and what to do." }),
    resource: Type.Object(
      {
        kind: Type.Enum([...resourceKinds], { description: "The kind of the resource." }),
        id: nullable(
          Type.Unsafe<string>({ ...Id, description: "Id of the resource; null of the whole workspace." }),
        ),
        name: nullable(
          Type.String({
            description:
              "Name of the resource; of a domain, IP address or webhook the domain, address or URL, of a job its type; null of the whole workspace.",
          }),
        ),
        path: Type.String({ description: "Path of the GET operation that answers the resource." }),
      },
      { $id: "NoticeResource", description: "What the notice is about." },
    ),
    operation: Type.Enum([...noticeOperations], {
      description:
        "Id of the operation that mends the cause, such as `resumeCampaign`, or that says more if no operation can.",
    }),
    dismissed_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description: "When someone dismissed it, in UTC; null if it is not dismissed.",
    }),
    dismissed_by: nullable(
      Type.String({
        description: "Name of the person or API key that dismissed it; null if it is not dismissed.",
      }),
    ),
  },
  { $id: "Notice" },
);
export type Notice = Static<typeof NoticeShape>;

/** A notice as its source finds it. */
export interface FoundNotice extends Omit<Notice, "id" | "dismissed_at" | "dismissed_by"> {
  readonly workspaceId: WorkspaceId;
  /** The permission that callers need to see it. */
  readonly permission: string;
  /** Tells this cause from an earlier one of the same kind and resource; default: its beginning. */
  readonly cause?: string;
}

/** Names kind, resource and cause: a UUID of version 8 (RFC 9562 section 5.8) from a hash of them. */
export function noticeId({ workspaceId, kind, resource, since, cause }: FoundNotice): string {
  const begun = cause ?? since?.toISOString() ?? "";
  const hex = hash("sha256", [workspaceId, kind, resource.id, begun].join("\n"), "hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The beginning of a time, for sentences: "2026-03-01 10:00 UTC". */
export function shownTime(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
