/**
 * The statements of the search: one for each kind of resource, several of which run together. Each reads a bounded number of rows, along an index or among
 * the newest of its kind.
 */
import sql, { empty, join, type Sql } from "sql-template-tag";
import { searchedPeople } from "#audience/subscribers/search-conditions.ts";
import { heldSql, logSql } from "#messages/log-filter-store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { inSavepoint } from "#platform/database/savepoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { SearchTerm } from "./search-term.ts";

export const MOST_OF_KIND = 5;
/** Names are compared among this many of the newest resources of a kind. */
export const MOST_NAMES = 5_000;
/** People that a condition finds; the newest of them are shown. */
const MOST_PEOPLE = 200;
/** Messages of each source that wait for their first attempt; the index of recipients does not have them yet. */
const MOST_WAITING = 500;

export interface FoundRow {
  readonly id: string;
  /** The list of a segment or of a suppression entry. */
  readonly parent_id: string | null;
  readonly title: string;
  readonly subtitle: string | null;
  readonly status: string | null;
  readonly is_exact: boolean;
}

/** A statement that selects FoundRows in the order of the answer; undefined if the text cannot find this kind. */
export type FindSql = (workspaceId: WorkspaceId, term: SearchTerm) => Sql | undefined;

/** Runs the statements of several kinds as one. */
export async function findTogether<Kind extends string>(
  db: Queryable,
  statements: ReadonlyMap<Kind, Sql>,
): Promise<ReadonlyMap<Kind, FoundRow[]>> {
  const kinds = [...statements.keys()];
  const found = new Map(kinds.map((kind): [Kind, FoundRow[]] => [kind, []]));
  if (kinds.length === 0) return found;
  const branches = [...statements].map(
    ([kind, statement]) => sql`
      select ${kind}::text as kind, row_number() over () as place, k.* from (${statement}) k`,
  );
  const rows = await db.rows<FoundRow & { readonly kind: Kind }>(sql`
    select kind, id, parent_id, title, subtitle, status, is_exact from (${join(branches, " union all ")}) f
    order by kind, place`);
  for (const { kind, ...row } of rows) found.get(kind)?.push(row);
  return found;
}

/** SQLSTATE query_canceled (by statement_timeout) and lock_not_available. */
const TOO_LATE = new Set<unknown>(["57014", "55P03"]);

/**
 * The result of a look-up; undefined if its statement was cancelled because it took too long. The savepoint keeps the
 * transaction usable then.
 */
export async function lookInTime<Result>(
  tx: Queryable,
  look: () => Promise<Result>,
): Promise<Result | undefined> {
  const onFault = (fault: unknown) => fault instanceof Error && "code" in fault && TOO_LATE.has(fault.code);
  return inSavepoint(tx, look, { onFault });
}

interface NamedTable {
  readonly table: Sql;
  /** Expressions of the row `r`. */
  readonly title: Sql;
  readonly subtitle?: Sql;
  readonly status?: Sql;
  readonly parent?: Sql;
  /** Searched as well as the title. */
  readonly also?: Sql;
  /** Begins with `and`. */
  readonly where?: Sql;
  /** Joins a table to the row `r`. */
  readonly joined?: Sql;
}

const none = sql`null::text`;

/** Resources whose title contains the text in any case; whole titles first, then those that begin with it. */
function findNamed(named: NamedTable): FindSql {
  const { table, title, subtitle = none, status = none, parent = sql`null::uuid` } = named;
  const { also, where = empty, joined = empty } = named;
  const shown = sql`r.id, ${parent} as parent_id, ${title} as title, ${subtitle} as subtitle, ${status} as status`;
  return (workspaceId, { id, text, beginnings }) => {
    if (id !== null) {
      return sql`
        select ${shown}, true as is_exact from ${table} r ${joined}
        where r.workspace_id = ${workspaceId} and r.id = ${id} ${where}`;
    }
    // The A-labels of an internationalised domain, too.
    const wanted = [...new Set([text, ...beginnings])];
    const place = sql`(
      select min(nullif(position(lower(wanted) in lower(${title})), 0)) from unnest(${wanted}::text[]) wanted)`;
    const isAlso =
      also === undefined ? sql`false` : sql`position(lower(${text}) in lower(coalesce(${also}, ''))) > 0`;
    return sql`
      select id, parent_id, title, subtitle, status, is_exact
      from (
        select ${shown}, ${place} as place, ${isAlso} as is_also,
          lower(${title}) = any (select lower(wanted) from unnest(${wanted}::text[]) wanted) as is_exact
        from (
          select * from ${table} r where r.workspace_id = ${workspaceId} ${where}
          order by r.id desc limit ${MOST_NAMES}) r ${joined}) r
      where place is not null or is_also
      order by is_exact desc, place nulls last, id desc limit ${MOST_OF_KIND}`;
  };
}

const activity = sql`case when r.is_active then 'active' else 'inactive' end`;
const onList = sql`join mailing_lists l on l.workspace_id = r.workspace_id and l.id = r.mailing_list_id`;

export const findCampaigns = findNamed({
  table: sql`campaigns`,
  title: sql`r.name`,
  subtitle: sql`nullif(r.subject, '')`,
  status: sql`r.status`,
  also: sql`r.subject`,
  where: sql`and r.deleted_at is null`,
});

export const findMailingLists = findNamed({
  table: sql`mailing_lists`,
  title: sql`r.name`,
  subtitle: sql`nullif(r.description, '')`,
  where: sql`and not r.is_going`,
});

export const findSegments = findNamed({
  table: sql`segments`,
  title: sql`r.name`,
  subtitle: sql`l.name`,
  status: activity,
  parent: sql`r.mailing_list_id`,
  joined: onList,
});

export const findSendingDomains = findNamed({
  table: sql`sending_domains`,
  title: sql`r.domain`,
  status: sql`case when r.is_verified then 'verified' else 'unverified' end`,
});

export const findApiKeys = findNamed({
  table: sql`api_keys`,
  title: sql`r.name`,
  subtitle: sql`r.key_prefix`,
  status: activity,
  also: sql`r.key_prefix`,
});

export const findWebhooks = findNamed({
  table: sql`webhooks`,
  title: sql`r.url`,
  subtitle: sql`nullif(r.description, '')`,
  status: activity,
  also: sql`r.description`,
  where: sql`and r.deleted_at is null`,
});

export const findAutoresponders = findNamed({
  table: sql`autoresponders`,
  title: sql`r.name`,
  subtitle: sql`l.name`,
  status: sql`r.status`,
  joined: sql`left ${onList}`,
});

/** People by id, whole address, beginning of the address, or words of the name, as the list of people finds them. */
export const findPeople: FindSql = (workspaceId, { id, text, address }) => {
  const those = (condition: Sql) =>
    sql`(select * from subscribers s where s.workspace_id = ${workspaceId} and ${condition}) s`;
  const relations =
    id === null
      ? [
          ...(address === null ? [] : [those(sql`s.email = ${address}`)]),
          ...searchedPeople(workspaceId, text),
        ]
      : [those(sql`s.id = ${id}`)];
  if (relations.length === 0) return undefined;
  // Each branch reads all columns: a join with the ids that were found was planned as a walk over all people.
  const branches = relations.map(
    (people) => sql`(
      select s.id, s.email, s.status, s.first_name, s.last_name from ${people}
      where s.workspace_id = ${workspaceId} limit ${MOST_PEOPLE})`,
  );
  return sql`
    select id, null::uuid as parent_id, email as title, nullif(concat_ws(' ', first_name, last_name), '') as subtitle,
      status, coalesce(id::text = ${id} or email = ${address}, false) as is_exact
    from (${join(branches, " union ")}) found
    order by is_exact desc, id desc limit ${MOST_OF_KIND}`;
};

/** Messages by id or Message-ID, or the newest to a whole address. Their subjects and parts of addresses have no index. */
export const findMessagesFor: FindSql = (workspaceId, { messageId, address }) => {
  const columns = sql`m.id, m.localpart, m.domain, m.subject, m.status`;
  const recipient = sql`lower(m.localpart || '@' || m.domain)`;
  const places: Sql[] = [];
  if (messageId !== null) {
    places.push(sql`
      select ${columns}, true as is_exact from messages m
      where m.workspace_id = ${workspaceId} and m.id = ${messageId}`);
  }
  if (address !== null) {
    const waiting = logSql(workspaceId, columns, { statuses: ["queued"], most: MOST_WAITING });
    places.push(
      sql`(
        select ${columns}, true as is_exact from messages m
        where m.workspace_id = ${workspaceId} and m.status <> 'queued'
          and hashtext(${recipient}) = hashtext(lower(${address})) and ${recipient} = lower(${address})
        order by m.id desc limit ${MOST_OF_KIND})`,
      sql`(
        select ${columns}, true as is_exact from ${waiting} where ${recipient} = lower(${address})
        order by m.id desc limit ${MOST_OF_KIND})`,
    );
  }
  if (places.length === 0) return undefined;
  return sql`
    select id, null::uuid as parent_id, subject as title, localpart || '@' || domain as subtitle,
      case when status in ('queued', 'deferred') and id = any (${heldSql(workspaceId)}) then 'sending' else status end
        as status, is_exact
    from (select distinct * from (${join(places, " union all ")}) m) m
    order by id desc limit ${MOST_OF_KIND}`;
};

/** Suppression entries by id, or by the beginning of their address or domain. */
export const findSuppressionEntries: FindSql = (workspaceId, { id, beginnings }) => {
  const columns = sql`e.id, e.suppression_list_id, e.entry_value, e.normalized_value, e.reason`;
  const places =
    id === null
      ? beginnings.map(
          (beginning) => sql`(
            select ${columns} from suppression_entries e
            where e.workspace_id = ${workspaceId} and starts_with(e.normalized_value, ${beginning})
            -- The order of the index, so that no other is read.
            order by e.workspace_id, e.normalized_value, e.suppression_list_id limit ${MOST_OF_KIND})`,
        )
      : [
          sql`
            select ${columns} from suppression_entries e
            where e.workspace_id = ${workspaceId} and e.id = ${id} and e.suppression_list_id = any (array(
              select id from suppression_lists where workspace_id = ${workspaceId}))`,
        ];
  if (places.length === 0) return undefined;
  return sql`
    select e.id, e.suppression_list_id as parent_id, e.entry_value as title, l.name as subtitle, e.reason as status,
      ${id === null ? sql`e.normalized_value = any (${[...beginnings]}::text[])` : sql`true`} as is_exact
    from (select distinct * from (${join(places, " union all ")}) e) e
    join suppression_lists l on l.workspace_id = ${workspaceId} and l.id = e.suppression_list_id
    order by is_exact desc, e.normalized_value, e.id limit ${MOST_OF_KIND}`;
};
