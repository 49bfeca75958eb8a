/**
 * People who are to be added to a list, matched with the people whom the workspace knows: SQL fragments that say which
 * values and which status each of them would have afterwards. add-members.ts writes it, preview-members.ts counts it.
 */
import sql, { type Sql } from "sql-template-tag";
import { badness } from "./membership-changes.ts";
import { personWideStatuses } from "./status.ts";

export interface MembersToAdd {
  readonly mailingListId: string;
  /**
   * A relation (a table, or a select in brackets) with one row a person: id uuid (the id of a person who turns out to be
   * new), email text (normalised, unique), first_name, last_name, source text, status text, custom_fields jsonb. Null
   * means "not given": a name stays as it was, a status is active.
   */
  readonly people: Sql;
  readonly now: Date;
  /**
   * True: names and custom fields given replace those of known people; what is not given stays. False: members keep
   * theirs, and known people who join the list only get the values they lack.
   */
  readonly updateExisting: boolean;
  /**
   * Whether members who unsubscribed become active again when their status here is active. If false, they stay
   * unsubscribed.
   */
  readonly resubscribe: boolean;
  /** Custom fields of people who join the list and have no value yet, neither stored nor given. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Whether no autoresponder starts for the people who join. */
  readonly isQuiet?: boolean;
  /** Expect that all people are new, as in a first import: tries that first, which takes a third less time if it is true. */
  readonly likelyNew?: boolean;
}

/**
 * The join of each person to add, `p`, with the known person of that address, `h`, and that person's membership of the
 * list, `m`, if there is one. With `left join` it also has the people whom the workspace does not know.
 */
export function matchedPeople({ people, mailingListId }: MembersToAdd, join = sql`join`): Sql {
  return sql`
    ${people} p ${join} lateral (
      select ctid as place, id, status as held, first_name, last_name, custom_fields from subscribers
      where workspace_id = p.workspace and email = p.email offset 0) h on h.id <> p.id
    ${joinMembership(sql`p.workspace`, mailingListId, sql`h.id`)}`;
}

/** Joins the membership `m` of a person on the list, if there is one. */
export function joinMembership(workspace: Sql, mailingListId: string, person: Sql): Sql {
  return sql`
    left join lateral (
      select mailing_list_id, status from memberships
      where workspace_id = ${workspace} and mailing_list_id = ${mailingListId} and subscriber_id = ${person} offset 0) m
    on true`;
}

/**
 * Expressions on a row of matchedPeople: the names and custom fields that the known person has afterwards, and whether
 * any of them differs from what is stored.
 */
export function mergedValues(members: MembersToAdd) {
  const { updateExisting } = members;
  const [before, after] = updateExisting ? [sql`h`, sql`p`] : [sql`p`, sql`h`];
  const first_name = sql`coalesce(${after}.first_name, ${before}.first_name)`;
  const last_name = sql`coalesce(${after}.last_name, ${before}.last_name)`;
  const merged = sql`${before}.custom_fields || ${after}.custom_fields`;
  const custom_fields = sql`case when m.status is null then ${withDefaults(merged, members)} else ${merged} end`;
  const isChanged = sql`((m.status is null or ${updateExisting}::boolean)
    and (${first_name}, ${last_name}, ${custom_fields}) is distinct from (h.first_name, h.last_name, h.custom_fields))`;
  return { first_name, last_name, custom_fields, isChanged };
}

/** Custom fields of a person who joins the list: the values over the defaults of the list. */
export function withDefaults(values: Sql, { defaults = {} }: MembersToAdd): Sql {
  return Object.keys(defaults).length === 0 ? values : sql`${JSON.stringify(defaults)}::jsonb || ${values}`;
}

/**
 * Whether a given status changes the membership `m`, or the person. A status only ever becomes worse, except that
 * `resubscribe` makes unsubscribed members active.
 * @param wanted the given status
 * @param held the status of the person
 */
export const changesStatus = (wanted: Sql, held: Sql, resubscribe: boolean) => sql`(
  ${badness(wanted)} > ${badness(sql`m.status`)}
  or ${wanted} = any(${personWideStatuses}::text[]) and ${badness(wanted)} > ${badness(held)}
  or ${resubscribe}::boolean and ${wanted} = 'active' and m.status = 'unsubscribed')`;
