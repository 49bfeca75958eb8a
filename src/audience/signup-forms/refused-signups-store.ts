/** The table of refused sign-ups, and the abuse flag of their form. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** The holder of the rate limit that was reached. */
export type SignupLimit = "network" | "list" | "workspace";

const STRETCH_MS = 300_000;

interface RefusedSignup {
  readonly workspaceId: WorkspaceId;
  readonly mailingListId: string;
  readonly reason: SignupLimit;
  readonly network: string;
  readonly now: Date;
}

/** Counts a refused sign-up in five-minute buckets; does nothing if the form was deleted. */
export async function insertRefusedSignup(tx: Queryable, refusal: RefusedSignup): Promise<void> {
  const { workspaceId, mailingListId, reason, network, now } = refusal;
  const at = new Date(Math.floor(now.getTime() / STRETCH_MS) * STRETCH_MS);
  await tx.run(sql`
    insert into signup_refusals as r (workspace_id, mailing_list_id, at, reason, network, refused)
    select workspace_id, mailing_list_id, ${at}::timestamptz, ${reason}::text, ${network}::text, 1 from signup_forms
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}
    on conflict (workspace_id, mailing_list_id, at, reason, network) do update set refused = r.refused + 1`);
}

/**
 * Refused sign-ups in the buckets that start after `since`, and the number of networks that reached their own limit.
 */
export async function countRefusedSignups(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  since: Date,
): Promise<{ readonly refused: number; readonly networks: number }> {
  const found = await db.row<{ refused: number; networks: number }>(sql`
    select coalesce(sum(refused), 0)::int as refused,
      (count(distinct network) filter (where reason = 'network'))::int as networks
    from signup_refusals
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId} and at > ${since}`);
  return found ?? { refused: 0, networks: 0 };
}

/**
 * Flags the form as abused now. If it was flagged after `freshSince`, the same abuse continues.
 * @returns when the abuse began; undefined if the form was deleted
 */
export async function flagAbuse(
  tx: Queryable,
  { workspaceId, mailingListId, reason, now, freshSince }: RefusedSignup & { readonly freshSince: Date },
): Promise<Date | undefined> {
  const row = await tx.row<{ abused_since: Date }>(sql`
    update signup_forms set abused_at = ${now}, abuse_reason = ${reason},
      abused_since = case when abused_at > ${freshSince} then abused_since else ${now} end
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}
    returning abused_since`);
  return row?.abused_since;
}

/** The abuse that was flagged after `freshSince`. */
export function findAbuse(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  freshSince: Date,
): Promise<{ readonly since: Date; readonly reason: SignupLimit } | undefined> {
  return db.row(sql`
    select abused_since as since, abuse_reason as reason from signup_forms
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId} and abused_at > ${freshSince}`);
}

/** Deletes at most `most` buckets of all workspaces that began at this time or earlier. @returns how many */
export function removeOldRefusedSignups(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from signup_refusals where ctid = any (array(
      select ctid from signup_refusals where at <= ${before} order by at limit ${most}))`);
}
