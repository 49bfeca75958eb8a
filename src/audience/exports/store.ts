/** The SQL of exports: reads the subscribers of a list through a cursor, so that all rows belong to one snapshot. */
import sql, { empty, join, type Sql } from "sql-template-tag";
import { filterConditions } from "#audience/subscribers/filtered-people-store.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import type { PersonFilter } from "#audience/subscribers/person-filter.ts";
import { searchConditions } from "#audience/subscribers/search-conditions.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

export interface ExportedPerson {
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly status: SubscriberStatus;
  readonly source: string | null;
  readonly subscribed_at: Date;
  readonly custom_fields: Readonly<Record<string, unknown>>;
}

/** Which subscribers to export. */
export interface Selection {
  readonly mailingListId: string;
  readonly status: SubscriberStatus | null;
  /** As in the search of subscribers, without its limit of results. */
  readonly search: string | null;
  readonly filter: PersonFilter | null;
  /** A relation with the column id: only its people are exported. */
  readonly segment: Sql | null;
}

/** A `from` and `where` with the memberships `m` and people `s` of a selection. */
function fromPeople(workspaceId: WorkspaceId, selection: Selection): Sql {
  const { mailingListId, status, search, filter, segment } = selection;
  const filtered = filter === null ? [] : filterConditions(filter, sql`m.subscribed_at`);
  return sql`
    from memberships m join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.workspace_id = ${workspaceId} and m.mailing_list_id = ${mailingListId}
      ${status === null ? empty : sql`and m.status = ${status}`}
      ${search === null ? empty : sql`and (${join(searchConditions(workspaceId, search), " or ")})`}
      ${filtered.length === 0 ? empty : sql`and ${join(filtered, " and ")}`}
      ${segment === null ? empty : sql`and s.id in (select id from ${segment} g)`}`;
}

/** Names under which these people have custom field values, in alphabetical order, at most `most`. */
export async function listStoredNames(
  tx: Queryable,
  workspaceId: WorkspaceId,
  selection: Selection,
  most: number,
): Promise<string[]> {
  const rows = await tx.rows<{ name: string }>(sql`
    select distinct k.name from (select s.custom_fields ${fromPeople(workspaceId, selection)}) p
      cross join lateral jsonb_object_keys(p.custom_fields) k (name)
    order by k.name limit ${most}`);
  return rows.map(({ name }) => name);
}

/** Opens the cursor `exported`, newest person first, until the end of the transaction. @returns how many rows it has */
export async function openExport(
  tx: Queryable,
  workspaceId: WorkspaceId,
  selection: Selection,
): Promise<number> {
  const people = fromPeople(workspaceId, selection);
  const row = await tx.row<{ count: number }>(sql`select count(*)::int as count ${people}`);
  // Plan for reading all rows, not the first tenth.
  await tx.run(sql`set local cursor_tuple_fraction = 1`);
  await tx.run(sql`
    declare exported no scroll cursor for
    select s.email, s.first_name, s.last_name, m.status, m.source, m.subscribed_at, s.custom_fields ${people}
    order by m.subscriber_id desc`);
  return row?.count ?? 0;
}

/** The next 500 people of the cursor; empty at its end. A row may have 64 KB of custom fields. */
export function listExported(tx: Queryable): Promise<ExportedPerson[]> {
  return tx.rows(sql`fetch 500 from exported`);
}
