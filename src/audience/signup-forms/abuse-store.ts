/** The table of refused sign-ups, and the mark of abuse on their form. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** Whose limit was reached. */
export type SignupLimit = "network" | "list" | "workspace";

const STRETCH_MS = 300_000;

interface RefusedSignup {
  readonly workspaceId: WorkspaceId;
  readonly mailingListId: string;
  readonly reason: SignupLimit;
  readonly network: string;
  readonly now: Date;
}

/** Nothing where the form is gone. */
export async function insertRefusedSignup(tx: Queryable, refusal: RefusedSignup): Promise<void> {
  const { workspaceId, mailingListId, reason, network, now } = refusal;
  const at = new Date(Math.floor(now.getTime() / STRETCH_MS) * STRETCH_MS);
  await tx.run(sql`
    insert into signup_refusals as r (workspace_id, mailing_list_id, at, reason, network, refused)
    select workspace_id, mailing_list_id, ${at}::timestamptz, ${reason}::text, ${network}::text, 1 from signup_forms
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}
    on conflict (workspace_id, mailing_list_id, at, reason, network) do update set refused = r.refused + 1`);
}

/** How many there were in the stretches that began after `since`, and from how many networks beyond their own limit. */
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
 * Marks the form as abused now; an abuse whose mark is not older than `freshSince` goes on.
 * @returns when it began; undefined where the form is gone
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

/** The abuse that was last seen after `freshSince`. */
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

/** Of all workspaces. */
export async function removeOldRefusedSignups(db: Queryable, before: Date): Promise<void> {
  await db.run(sql`delete from signup_refusals where at <= ${before}`);
}
