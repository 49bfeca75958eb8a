/** Tells the owner of a form that it is abused: a flag on the form, an event, and a log line. */
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { takeQuota, useOf } from "#platform/limits/quota-store.ts";
import type { Log } from "#platform/log/log.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import {
  countRefusedSignups,
  findAbuse,
  flagAbuse,
  insertRefusedSignup,
  type SignupLimit,
} from "./refused-signups-store.ts";

export type { SignupLimit };

/** How long the flag stays after the last refused sign-up that set it. */
const MARK_MS = 24 * HOUR_MS;
/** A single network over its limit may be an office, or a person who tries again. */
const MANY_NETWORKS = 3;
const MANY_REFUSALS = 100;

/** `network`: several networks reached their limit, or one did again and again. */
export interface FormAbuse {
  readonly since: Date;
  readonly reason: SignupLimit;
  readonly refused_last_hour: number;
}

/** Called at most once an hour while the abuse lasts. */
export type OnFormAbused = (
  tx: Queryable,
  abuse: FormAbuse & {
    readonly workspaceId: WorkspaceId;
    readonly mailingListId: string;
    readonly time: Date;
  },
) => Promise<void>;

interface AbuseDeps {
  readonly db: Database;
  readonly log: Log;
  readonly onFormAbused: OnFormAbused;
}

export async function recordRefusedSignup(
  { db, log, onFormAbused }: AbuseDeps,
  refusal: {
    readonly workspaceId: WorkspaceId;
    readonly mailingListId: string;
    readonly reason: SignupLimit;
    readonly network: string;
    readonly now: Date;
  },
): Promise<void> {
  const { workspaceId, mailingListId, reason, now } = refusal;
  await db.transaction(async (tx) => {
    await insertRefusedSignup(tx, refusal);
    const { networks, refused } = await countRefusedSignups(tx, workspaceId, mailingListId, hourBefore(now));
    if (reason === "network" && networks < MANY_NETWORKS && refused < MANY_REFUSALS) return;
    const since = await flagAbuse(tx, { ...refusal, freshSince: new Date(now.getTime() - MARK_MS) });
    if (since === undefined) return;
    const notice = useOf("formAbuseNotices", `${workspaceId} ${mailingListId}`);
    if ((await takeQuota(tx, notice, now)) !== null) return;
    const about = { workspace_id: workspaceId, mailing_list_id: mailingListId, reason, refused, networks };
    log.warn(about, "sign-up form abused");
    await onFormAbused(tx, {
      workspaceId,
      mailingListId,
      reason,
      since,
      refused_last_hour: refused,
      time: now,
    });
  });
}

/** The abuse as the API shows it; null if none was flagged within a day. */
export async function findFormAbuse(
  { db, clock }: { readonly db: Queryable; readonly clock: Clock },
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<FormAbuse | null> {
  const now = clock.now();
  const abuse = await findAbuse(db, workspaceId, mailingListId, new Date(now.getTime() - MARK_MS));
  if (abuse === undefined) return null;
  const { refused } = await countRefusedSignups(db, workspaceId, mailingListId, hourBefore(now));
  return { ...abuse, refused_last_hour: refused };
}

function hourBefore(now: Date): Date {
  return new Date(now.getTime() - HOUR_MS);
}
