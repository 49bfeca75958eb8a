/**
 * Adds people whom the workspace does not know yet, with their first membership.
 */
import sql, { type Sql } from "sql-template-tag";
import { isDuplicate, type Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type PeopleTally, runPeopleTally, tallyPeopleSql } from "./counters.ts";
import { withWorkspace } from "./planner-hints.ts";

export interface MembersToAdd {
  readonly mailingListId: string;
  /**
   * A relation (a table, or a select in brackets) with one row a person: id uuid (for whoever turns out to be new),
   * email text (normalised, no two the same), first_name, last_name, source text, status text, custom_fields jsonb.
   * Null is "not said": a name stays as it was, a status is active.
   */
  readonly people: Sql;
  readonly now: Date;
  /**
   * Whether the names and custom fields given replace those of people who are known already; others stay. Off: those
   * of members stay, and who joins the list is given what they lack.
   */
  readonly updateExisting: boolean;
  /** Whether members who unsubscribed become active again where that is their status here. Off: nobody is woken. */
  readonly resubscribe: boolean;
  /** Custom fields of those who join the list, known or not, where neither they nor the arrival has a value. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Whether no autoresponder begins for those who join. */
  readonly isQuiet?: boolean;
  /** The workspace may know nobody of them, as in a first import: that is tried first, for a third less time. */
  readonly likelyNew?: boolean;
}

/** Writes those who are new, with their memberships, and locks the others. */
export async function insertNew(
  tx: Queryable,
  workspaceId: WorkspaceId,
  arrivals: MembersToAdd,
  given: number,
): Promise<PeopleTally> {
  const all = arrivals.likelyNew ? await insertAllNew(tx, workspaceId, arrivals) : undefined;
  if (all !== undefined) return all;
  let tally: PeopleTally = { active: 0, unsubscribed: 0, bounced: 0, complained: 0, changed: 0 };
  for (;;) {
    tally = sumOfPeople(tally, await insertUnknown(tx, workspaceId, arrivals));
    if (tally.changed === given) return tally;
    const known = await lockKnown(tx, workspaceId, arrivals.people);
    // Somebody who stood in the way of the insert may be deleted before we lock them, and is then new after all.
    if (tally.changed + known === given) return tally;
  }
}

/** All as new people; undefined, and nothing written, when the workspace knows one of them. */
async function insertAllNew(
  tx: Queryable,
  workspaceId: WorkspaceId,
  arrivals: MembersToAdd,
): Promise<PeopleTally | undefined> {
  const { people } = arrivals;
  await tx.run(sql`savepoint all_new`);
  let areNew = true;
  try {
    await tx.run(insertingPeople(workspaceId, arrivals));
  } catch (fault) {
    if (!isDuplicate(fault)) throw fault;
    await tx.run(sql`rollback to savepoint all_new`);
    areNew = false;
  }
  // Or what follows would be written by the savepoint's own sub-transaction, where countChanged would not know it.
  await tx.run(sql`release savepoint all_new`);
  if (!areNew) return undefined;
  const joining = sql`(select id, coalesce(status, 'active') as status, source from ${people} p)`;
  await tx.run(insertingMemberships(workspaceId, arrivals, joining));
  return runPeopleTally(
    tx,
    tallyPeopleSql(sql`(select null as old_status, status as new_status from ${joining} j) w`),
  );
}

/**
 * Those whom the workspace does not know; waits for transactions that are about to write one of them. To look for people
 * first would be twice as quick where they are known; but while the table is small the planner reads all of it for each of
 * them, with what this very statement has written by then.
 */
function insertUnknown(
  tx: Queryable,
  workspaceId: WorkspaceId,
  arrivals: MembersToAdd,
): Promise<PeopleTally> {
  return runPeopleTally(
    tx,
    sql`
    with written as (
      ${insertingPeople(workspaceId, arrivals)} on conflict (workspace_id, email) do nothing
      returning id, status, source
    ), joined as (
      -- Nobody can have made these already: no other transaction knows the person yet.
      ${insertingMemberships(workspaceId, arrivals, sql`written`)}
    ) ${tallyPeopleSql(sql`(select null as old_status, status as new_status from written) w`)}`,
  );
}

/** The custom fields of somebody who joins. */
export function withDefaults(values: Sql, { defaults = {} }: MembersToAdd): Sql {
  return Object.keys(defaults).length === 0 ? values : sql`${JSON.stringify(defaults)}::jsonb || ${values}`;
}

function insertingPeople(workspaceId: WorkspaceId, arrivals: MembersToAdd): Sql {
  const { mailingListId, people, now } = arrivals;
  return sql`
    insert into subscribers (workspace_id, id, email, first_name, last_name, source, custom_fields, status,
      active_lists, created_at, updated_at)
    select ${workspaceId}, id, email, first_name, last_name, source, ${withDefaults(sql`custom_fields`, arrivals)},
      coalesce(status, 'active'),
      case when coalesce(status, 'active') = 'active' then uuid_send(${mailingListId}) else '' end, ${now}, ${now}
    from ${people} p order by email`;
}

/** `joining` is a relation with the columns id, status and source. */
function insertingMemberships(
  workspaceId: WorkspaceId,
  { mailingListId, now, isQuiet = false }: MembersToAdd,
  joining: Sql,
): Sql {
  return sql`
    insert into memberships (workspace_id, mailing_list_id, subscriber_id, status, source, subscribed_at,
      unsubscribed_at, created_at, updated_at, is_quiet)
    select ${workspaceId}, ${mailingListId}, id, status, source, ${now}::timestamptz,
      case when status = 'unsubscribed' then ${now}::timestamptz end, ${now}, ${now}, ${isQuiet}
    from ${joining} j`;
}

/** Everybody of the people whom the workspace knew before. @returns how many */
async function lockKnown(tx: Queryable, workspaceId: WorkspaceId, people: Sql): Promise<number> {
  const row = await tx.row<{ count: number }>(sql`
    select count(*)::int as count from (
      select from (${withWorkspace(workspaceId, sql`(select id, email from ${people} p order by email) p`)}) p
      cross join lateral (
        select from subscribers s where workspace_id = p.workspace and email = p.email and s.id <> p.id
        for update) s) l`);
  return row?.count ?? 0;
}

function sumOfPeople(one: PeopleTally, other: PeopleTally): PeopleTally {
  return {
    active: one.active + other.active,
    unsubscribed: one.unsubscribed + other.unsubscribed,
    bounced: one.bounced + other.bounced,
    complained: one.complained + other.complained,
    changed: one.changed + other.changed,
  };
}
