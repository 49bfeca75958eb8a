/**
 * The suppression check: the only relation that determines which recipients are suppressed. Acceptance, campaigns that
 * choose recipients, the delivery process and the test endpoint all use it, so that they agree.
 *
 * An entry counts when its list is active and its scope applies: `global` to every message, `mailing_list` to campaigns
 * and autoresponders for that list, `segment` to campaigns to that segment. The service's own mail (confirmation links)
 * is not marketing: only bounces and complaints on global lists suppress it, not entries that a caller added.
 */
import sql, { empty, type Sql } from "sql-template-tag";
import { domainOf } from "#mail/address.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { invalid, required } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { readEntryValue, wildcardHint } from "./entry-value.ts";

/** The recipient of a message to check. */
export interface Recipient {
  readonly workspaceId: WorkspaceId;
  /** Normalised (addressOf). To check a whole domain, the domain. */
  readonly address: string;
  readonly domain: string;
  /** For a message of a campaign or autoresponder: its mailing list, and the segment of the campaign. */
  readonly mailingListId?: string | null;
  readonly segmentId?: string | null;
  /** Whether it is the service's own mail. */
  readonly isPlatform?: boolean;
}

export const suppressionReasons = ["complaint", "hard_bounce", "manual", "domain"] as const;
/**
 * Why an address is suppressed: the reason of its entry, or that its whole domain is on a list. The worst reason comes
 * first.
 */
export type SuppressionReason = (typeof suppressionReasons)[number];

export interface Suppression {
  readonly suppression_list_id: string;
  readonly suppression_list_name: string;
  readonly reason: SuppressionReason;
  /** A sentence for the log of the message. */
  readonly detail: string;
}

/** The reason of an entry. @param entry the alias of a row of suppression_entries */
export const entryReason = (entry: Sql) =>
  sql`case when ${entry}.entry_type = 'domain' then 'domain' else ${entry}.reason end`;

/** The entries of active lists with the columns of their list. */
const entriesInForce = sql`(
  select e.workspace_id, e.normalized_value, ${entryReason(sql`e`)} as reason, e.reason = 'manual' as is_manual,
    l.id as list_id, l.name as list_name, l.suppression_scope, l.mailing_list_id, l.segment_id
  from suppression_entries e
  -- The limit makes the planner look up the entry first, however few lists there are.
  cross join lateral (
    select * from suppression_lists where workspace_id = e.workspace_id and id = e.suppression_list_id limit 1) l
  where l.is_active)`;

/**
 * A lateral relation with one row (a Suppression) or none for each row of `asked`. It costs two index lookups, whatever
 * the planner believes of the tables; none if entriesFor has looked up all entries before.
 * @param asked the alias of a relation with workspace_id, address, domain, mailing_list_id, segment_id and is_platform
 * @param found the result of entriesFor
 * @param onlyList check this list only
 */
export function suppressionSql(
  asked: Sql,
  { found = entriesInForce, onlyList }: { readonly found?: Sql; readonly onlyList?: string } = {},
): Sql {
  return sql`lateral (
    select list_id as suppression_list_id, list_name as suppression_list_name, reason,
      'Suppressed (' || reason || '): on the list ' || list_name as detail
    from ${found} f
    where f.workspace_id = ${asked}.workspace_id and f.normalized_value in (${asked}.address, ${asked}.domain)
      and (f.suppression_scope = 'global' or f.mailing_list_id = ${asked}.mailing_list_id
        or f.segment_id = ${asked}.segment_id)
      and not (f.is_manual and ${asked}.is_platform)
      ${onlyList === undefined ? empty : sql`and f.list_id = ${onlyList}`}
    order by array_position(${suppressionReasons}::text[], reason), list_id
    limit 1)`;
}

/** No address contains a line break (mail/address.ts). */
const BETWEEN = "\n";

/**
 * A select of the entries in force for the addresses and domains of recipients, for a `with` in front of many checks.
 * Nearly always it finds nothing, and is then the whole cost of a batch: the values of a workspace are sorted and
 * looked up in one index scan, each domain once.
 */
export function entriesFor(recipients: readonly Recipient[]): Sql {
  const values = new Map<WorkspaceId, Set<string>>();
  for (const { workspaceId, address, domain } of recipients) {
    const ofWorkspace = values.get(workspaceId) ?? new Set();
    values.set(workspaceId, ofWorkspace.add(address).add(domain));
  }
  const joined = [...values.values()].map((ofWorkspace) => [...ofWorkspace].join(BETWEEN));
  return sql`
    select entry.* from unnest(${[...values.keys()]}::uuid[], ${joined}::text[]) as asked_for (workspace_id, joined)
    cross join lateral (
      select * from ${entriesInForce} f
      where f.workspace_id = asked_for.workspace_id
        and f.normalized_value = any (string_to_array(asked_for.joined, ${BETWEEN}))
      offset 0) as entry`;
}

/** For each recipient, in the order given: the suppression, or undefined. */
export async function findSuppressions(
  db: Queryable,
  recipients: readonly Recipient[],
): Promise<(Suppression | undefined)[]> {
  const column = <Value>(read: (recipient: Recipient) => Value) => recipients.map(read);
  const rows = await db.rows<Suppression & { readonly position: number }>(
    sql`
    select asked.position, suppression.*
    from unnest(
      ${column((one) => one.workspaceId)}::uuid[], ${column((one) => one.address)}::text[],
      ${column((one) => one.domain)}::text[], ${column((one) => one.mailingListId ?? null)}::uuid[],
      ${column((one) => one.segmentId ?? null)}::uuid[], ${column((one) => one.isPlatform ?? false)}::boolean[])
      with ordinality as asked (workspace_id, address, domain, mailing_list_id, segment_id, is_platform, position)
    cross join ${suppressionSql(sql`asked`)} as suppression`,
    "suppression check",
  );
  const byPosition = new Map(rows.map(({ position, ...suppression }) => [position, suppression]));
  return recipients.map((_, index) => byPosition.get(index + 1));
}

/**
 * Checks a value against one list, as for a message in the scope of that list.
 * @throws ApiError VALIDATION_ERROR for a value that is neither an address nor a domain, NOT_FOUND
 */
export async function testValue(
  db: Queryable,
  { workspaceId, listId }: { readonly workspaceId: WorkspaceId; readonly listId: string },
  text: string,
) {
  const value = readEntryValue(text);
  if (value === undefined) {
    const message = `test_value must be an address or a domain${wildcardHint(text)}`;
    throw invalid({ field: "test_value", message });
  }
  const { normalized: address } = value;
  const found = await db.row<{ readonly list_name: string; readonly reason: SuppressionReason | null }>(sql`
    select asked.name as list_name, suppression.reason
    from (
      select workspace_id, ${address}::text as address, ${domainOf(address)}::text as domain, mailing_list_id,
        segment_id, false as is_platform, name
      from suppression_lists where workspace_id = ${workspaceId} and id = ${listId}) asked
    left join ${suppressionSql(sql`asked`, { onlyList: listId })} as suppression on true`);
  const result = required(found, "Suppression list");
  return { suppressed: result.reason !== null, test_value: text, ...result };
}

/** The normalised form of an address on an envelope: as normalizeAddress, without parsing it again. */
export function addressOf({ localpart, domain }: Envelope): string {
  return `${localpart}@${domain}`.toLowerCase().normalize("NFC");
}

/** As parsed by mail/address.ts. */
interface Envelope {
  readonly localpart: string;
  readonly domain: string;
}
