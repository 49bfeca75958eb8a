/** Creates mailing lists and members without HTTP, and recounts the stored member counters. */
import sql, { type Sql } from "sql-template-tag";
import { insertMailingList, lockMailingList } from "#audience/mailing-lists/store.ts";
import { type AddedMembers, insertMembers } from "#audience/subscribers/memberships/add-members.ts";
import type { MembersToAdd } from "#audience/subscribers/memberships/merge-people-to-add.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";

/** Creates a mailing list and returns its id. */
export async function newList(db: Queryable, workspaceId: WorkspaceId, name = "News"): Promise<string> {
  const id = newId();
  const now = new Date();
  await insertMailingList(db, workspaceId, {
    id,
    name,
    description: "",
    from_name: null,
    from_email: null,
    reply_to_email: null,
    language: null,
    opt_in_type: "single",
    enable_open_tracking: true,
    enable_click_tracking: true,
    subscriber_count: 0,
    total_subscribers: 0,
    created_at: now,
    updated_at: now,
  });
  return id;
}

export interface Newcomer {
  readonly email: string;
  readonly first_name?: string | null;
  readonly last_name?: string | null;
  readonly source?: string | null;
  readonly status?: SubscriberStatus | null;
  readonly custom_fields?: Readonly<Record<string, unknown>>;
}

/** People as a SQL relation, in the shape that membership changes read. */
export function relationOf(people: readonly Newcomer[]): Sql {
  const column = (read: (person: Newcomer) => string | null | undefined) =>
    people.map((person) => read(person) ?? null);
  return sql`(
    select * from unnest(${people.map(() => newId())}::uuid[], ${column((p) => p.email)}::text[],
      ${column((p) => p.first_name)}::text[], ${column((p) => p.last_name)}::text[],
      ${column((p) => p.source)}::text[], ${column((p) => p.status)}::text[],
      ${people.map((p) => JSON.stringify(p.custom_fields ?? {}))}::jsonb[])
      as p (id, email, first_name, last_name, source, status, custom_fields))`;
}

/** Adds people to a list in one transaction. */
export function addPeople(
  db: Database,
  workspaceId: WorkspaceId,
  mailingListId: string,
  people: readonly Newcomer[],
  options: Partial<
    Pick<MembersToAdd, "now" | "updateExisting" | "resubscribe" | "isQuiet" | "defaults" | "likelyNew">
  > = {},
): Promise<AddedMembers> {
  return db.transaction(async (tx) => {
    await lockMailingList(tx, workspaceId, mailingListId);
    return insertMembers(tx, workspaceId, {
      mailingListId,
      people: relationOf(people),
      now: new Date(),
      updateExisting: true,
      resubscribe: false,
      ...options,
    });
  });
}

/** Counters that differ from a recount of the rows; empty if all are right. */
export async function findMiscounts(db: Queryable): Promise<unknown[]> {
  const counts = sql`count(*) filter (where status = 'active')::int as active,
    count(*) filter (where status = 'unsubscribed')::int as unsubscribed,
    count(*) filter (where status = 'bounced')::int as bounced,
    count(*) filter (where status = 'complained')::int as complained`;
  const lists = db.rows(sql`
    select 'list' as of, c.*, r.* from list_counters c full join (
      select workspace_id, mailing_list_id, ${counts} from memberships group by 1, 2) r
      using (workspace_id, mailing_list_id)
    where (coalesce(c.active, 0), coalesce(c.unsubscribed, 0), coalesce(c.bounced, 0), coalesce(c.complained, 0))
      <> (coalesce(r.active, 0), coalesce(r.unsubscribed, 0), coalesce(r.bounced, 0), coalesce(r.complained, 0))`);
  const people = db.rows(sql`
    select 'workspace' as of, c.*, r.* from subscriber_counters c full join (
      select workspace_id, ${counts} from subscribers group by 1) r using (workspace_id)
    where (coalesce(c.active, 0), coalesce(c.unsubscribed, 0), coalesce(c.bounced, 0), coalesce(c.complained, 0))
      <> (coalesce(r.active, 0), coalesce(r.unsubscribed, 0), coalesce(r.bounced, 0), coalesce(r.complained, 0))`);
  const persons = db.rows(sql`
    select 'person' as of, s.email, s.status, s.active_lists, m.*
    from subscribers s full join (
      select workspace_id, subscriber_id as id,
        case when bool_or(status = 'complained') then 'complained' when bool_or(status = 'bounced') then 'bounced'
          when bool_or(status = 'active') then 'active' else 'unsubscribed' end as worst,
        coalesce(string_agg(uuid_send(mailing_list_id), '' order by mailing_list_id) filter (where status = 'active'), '')
          as lists
      from memberships group by 1, 2) m using (workspace_id, id)
    where (s.status, s.active_lists) is distinct from (m.worst, m.lists)`);
  const stats = db.rows(sql`
    select 'stats' as of, s.email, t.*
    from subscribers s full join subscriber_stats t on t.workspace_id = s.workspace_id and t.subscriber_id = s.id
    where s.id is null or t.subscriber_id is null or (s.last_opened_at, s.last_clicked_at)
      is distinct from (t.last_opened_at, t.last_clicked_at)`);
  return (await Promise.all([lists, people, persons, stats])).flat();
}
