/** Reads the states of watched topics: each source reads all subjects of its kind in one statement. */
import { Temporal } from "temporal-polyfill";
import { type Static, type TSchema, Type } from "typebox";
import { listDomainStandings } from "#identity/sending-domains/store.ts";
import { listCountsSince } from "#messages/counters/by-time-store.ts";
import { storedStatuses } from "#messages/message/status.ts";
import type { Notice, NoticeSeverity } from "#overview/notices/notice.ts";
import {
  byAge,
  type GuardedNotice,
  type NoticeDeps,
  noticesSeenBy,
  type RankedNotice,
  readNotices,
} from "#overview/notices/read-notices.ts";
import type { Clock } from "#platform/clock.ts";
import { startOfDay } from "#platform/http/request/day-parameters.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { jobIdentityFields } from "#platform/jobs/job-identity.ts";
import { jobStatuses, progressPercent } from "#platform/jobs/job-record-store.ts";
import { visibleJobs } from "#platform/jobs/visible-jobs.ts";
import { listWatchedJobs, WATCHED_MINUTES, type WatchedJob } from "#platform/jobs/watched-jobs-store.ts";
import { Id, NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";
import { CampaignLive, liveProgress } from "#sending/campaigns/progress/describe-progress.ts";
import { listProgress } from "#sending/campaigns/progress/store.ts";
import type { TopicKind } from "./topics.ts";

/** What a topic is about, in one workspace. */
export interface Subject {
  readonly workspaceId: WorkspaceId;
  readonly timezone: string;
  /** Of a campaign; null for topics about the whole workspace. */
  readonly id: string | null;
}

export interface TopicSource {
  /** The least time between two reads. */
  readonly everyMs: number;
  /** The states in the order of the subjects; null where the subject does not exist (any more). */
  read(subjects: readonly Subject[]): Promise<readonly unknown[]>;
  /** What a caller with these permissions sees of a state; by default all. */
  readonly show?: (state: unknown, permissions: readonly string[]) => unknown;
}

/** At most one message a second and topic. */
export const TICK_MS = 1_000;
/** Notices have more statements than other topics, and need no haste. */
const NOTICES_MS = 5_000;
const MOST_JOBS = 50;
const MOST_DOMAINS = 200;

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Flag = (description: string) => Type.Boolean({ description });

const JobsLive = Type.Object(
  {
    jobs: Type.Array(
      Type.Object({
        id: Id,
        type: Type.String({ description: "The type of the job." }),
        ...jobIdentityFields,
        status: Type.Enum([...jobStatuses], { description: "The status of the job." }),
        progress: Type.Integer({ minimum: 0, maximum: 100, description: "Percentage." }),
        total: nullable(Type.Integer({ description: "Items to process; null while unknown." })),
        processed: Count("Items that were processed."),
        succeeded: Count("Items that succeeded."),
        failed: Count("Items that failed."),
        skipped: Count("Items that were skipped."),
        completed_at: NullableTimestamp,
      }),
      {
        description: `Jobs that wait or run, and those that ended in the last ${WATCHED_MINUTES} minutes, newest first; at most ${MOST_JOBS} of each. Only jobs that the caller may see.`,
      },
    ),
  },
  { $id: "JobsLive" },
);

const MessagesLive = Type.Object(
  {
    since: Type.Unsafe<Date>({
      ...Timestamp,
      description: "The beginning of the day in the workspace's time zone.",
    }),
    accepted: Count("Messages that were accepted since then; the sum of `counts`."),
    counts: Type.Object(
      Object.fromEntries(storedStatuses.map((status) => [status, Count(`Messages that are ${status} now.`)])),
      { description: "These messages by their status now. Messages being sent count as queued or deferred." },
    ),
  },
  { $id: "MessagesLive" },
);

const DomainsLive = Type.Object(
  {
    total: Count("All sending domains of the workspace."),
    domains: Type.Array(
      Type.Object({
        id: Id,
        domain: Type.String({ description: "The domain." }),
        is_verified: Flag("Ownership is proved."),
        spf_verified: Flag("The SPF record is right."),
        dkim_verified: Flag("The DKIM record is right."),
        dmarc_verified: Flag("There is a DMARC record."),
        return_path_verified: Flag("The record of the domain's own return path is right."),
        is_active: Flag("False when the operator switched the domain off."),
      }),
      { description: `The newest ${MOST_DOMAINS} domains, newest first.` },
    ),
  },
  { $id: "DomainsLive" },
);

const NoticesLive = Type.Object(
  {
    total: Count("Notices of GET /notices that are not dismissed."),
    critical: Count("Those with the severity `critical`."),
    warning: Count("Those with the severity `warning`."),
    info: Count("Those with the severity `info`."),
    newest_id: nullable({
      ...Id,
      description: "Id of the one whose cause began last; null without notices.",
    }),
  },
  { $id: "NoticesLive" },
);

const stateShapes: Readonly<Record<TopicKind, TSchema>> = {
  campaign: CampaignLive,
  jobs: JobsLive,
  messages: MessagesLive,
  domains: DomainsLive,
  notices: NoticesLive,
};

/** The data of the events, by the kind of their topic, which is the name of the event. */
export const eventShapes = Object.fromEntries(
  Object.entries(stateShapes).map(([kind, state]) => [
    kind,
    Type.Object({
      topic: Type.String({
        description: "The topic as it was asked for, such as `jobs` or `campaign:<id>`.",
      }),
      at: Type.Unsafe<Date>({ ...Timestamp, description: "When the state was read." }),
      state: nullable({ ...state, description: "The whole state now; null when the resource was deleted." }),
    }),
  ]),
);

interface Dependencies extends NoticeDeps {
  readonly clock: Clock;
}

export function topicSources(deps: Dependencies): Readonly<Record<TopicKind, TopicSource>> {
  const { db, clock } = deps;
  return {
    campaign: {
      everyMs: TICK_MS,
      async read(subjects) {
        const now = clock.now();
        const refs = subjects.map(({ workspaceId, id }) => ({ workspaceId, id: id ?? "" }));
        const rows = await listProgress(db, refs, now);
        const byId = new Map(rows.map((row) => [`${row.workspace_id} ${row.id}`, row]));
        return refs.map(({ workspaceId, id }) => {
          const row = byId.get(`${workspaceId} ${id}`);
          return row === undefined ? null : liveProgress(row, now);
        });
      },
    },
    jobs: {
      everyMs: TICK_MS,
      async read(subjects) {
        const rows = await listWatchedJobs(db, workspacesOf(subjects), MOST_JOBS);
        const byWorkspace = Map.groupBy(rows, ({ workspace_id }) => workspace_id);
        return subjects.map(({ workspaceId }) => byWorkspace.get(workspaceId) ?? []);
      },
      show(state, permissions) {
        const visible = visibleJobs(permissions);
        const shown = (state as WatchedJob[]).filter(
          ({ permission }) => visible === null || visible.includes(permission),
        );
        return { jobs: shown.map(jobLive) } satisfies Static<typeof JobsLive>;
      },
    },
    messages: {
      everyMs: TICK_MS,
      async read(subjects) {
        const now = clock.now();
        const spans = subjects.map(({ workspaceId, timezone }) => ({
          workspaceId,
          since: startOfToday(now, timezone),
        }));
        const rows = await listCountsSince(db, spans);
        const byWorkspace = new Map(rows.map(({ workspace_id, ...counts }) => [workspace_id, counts]));
        return spans.map(({ workspaceId, since }): Static<typeof MessagesLive> => {
          const counts = byWorkspace.get(workspaceId) ?? {};
          const accepted = Object.values<number>(counts).reduce((sum, one) => sum + one, 0);
          return { since, accepted, counts };
        });
      },
    },
    domains: {
      everyMs: TICK_MS,
      async read(subjects) {
        const rows = await listDomainStandings(db, workspacesOf(subjects), MOST_DOMAINS);
        const byWorkspace = Map.groupBy(rows, ({ workspace_id }) => workspace_id);
        return subjects.map(({ workspaceId }): Static<typeof DomainsLive> => {
          const ofWorkspace = byWorkspace.get(workspaceId) ?? [];
          return {
            total: ofWorkspace[0]?.total ?? 0,
            domains: ofWorkspace.map((row) => {
              const { workspace_id: _, total: _all, ...domain } = row;
              return domain;
            }),
          };
        });
      },
    },
    notices: {
      everyMs: NOTICES_MS,
      async read(subjects) {
        const found = await readNotices(deps, workspacesOf(subjects), clock.now());
        return subjects.map(({ workspaceId }) => found.get(workspaceId)?.map(countedNotice) ?? []);
      },
      show(state, permissions) {
        const { notices } = noticesSeenBy(permissions, state as CountedNotice[]);
        const seen = notices.filter(({ notice }) => notice.dismissed_at === null);
        const count = (severity: NoticeSeverity) =>
          seen.filter(({ notice }) => notice.severity === severity).length;
        const [newest] = seen.toSorted(byAge);
        return {
          total: seen.length,
          critical: count("critical"),
          warning: count("warning"),
          info: count("info"),
          newest_id: newest?.notice.id ?? null,
        } satisfies Static<typeof NoticesLive>;
      },
    },
  };
}

/** What the topic needs of a notice, to count it for each caller. */
interface CountedNotice extends RankedNotice {
  readonly notice: Pick<Notice, "id" | "kind" | "severity" | "since" | "dismissed_at">;
}

function countedNotice({ permission, notice }: GuardedNotice): CountedNotice {
  const { id, kind, severity, since, dismissed_at } = notice;
  return { permission, notice: { id, kind, severity, since, dismissed_at } };
}

const workspacesOf = (subjects: readonly Subject[]) => subjects.map(({ workspaceId }) => workspaceId);

function jobLive(job: WatchedJob): Static<typeof JobsLive>["jobs"][number] {
  const { workspace_id: _, permission: _permission, ...shown } = job;
  return { ...shown, progress: progressPercent(job) };
}

function startOfToday(now: Date, timezone: string): Date {
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timezone);
  return startOfDay(local.toPlainDate(), timezone);
}
