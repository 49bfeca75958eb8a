/** SQL of storage in use: counters where they exist, otherwise sums over few rows. */
import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { StorageKind } from "./plans.ts";

/** Adds contents whose entries the meter has applied. The caller has locked the account. */
export async function addContents(
  tx: Queryable,
  workspaceId: WorkspaceId,
  contents: readonly { readonly time: Date; readonly bytes: number }[],
): Promise<void> {
  const some = contents.filter(({ bytes }) => bytes !== 0);
  if (some.length === 0) return;
  await tx.run(sql`
    insert into content_days as c (workspace_id, day, bytes)
    select ${workspaceId}, (time at time zone 'UTC')::date, sum(bytes)
    from unnest(${some.map(({ time }) => time)}::timestamptz[], ${some.map(({ bytes }) => bytes)}::bigint[])
      as n (time, bytes)
    group by 2
    on conflict (workspace_id, day) do update set bytes = c.bytes + excluded.bytes`);
}

type StoredKind = "messages" | "received" | "drafts" | "pictures" | "files";

/**
 * Bytes by kind. PostgreSQL reads the sizes of texts, files and attachments from their headers, without loading them;
 * the rows are few: campaigns, autoresponders, versions of templates and pictures are limited in number, parts of files in size.
 */
export async function measureBytes(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<Readonly<Record<StoredKind, number>>> {
  const row = await db.row<Record<StoredKind, number>>(sql`
    select
      ((select coalesce(sum(bytes), 0) from content_days where workspace_id = ${workspaceId})
        + (select coalesce(sum(bytes), 0) from meter_entries where workspace_id = ${workspaceId}))::bigint as messages,
      coalesce((select bytes from received_storage where workspace_id = ${workspaceId}), 0) as received,
      ((select coalesce(sum(coalesce(octet_length(html_content), 0) + coalesce(octet_length(text_content), 0)
          + coalesce(octet_length(mjml), 0) + coalesce(pg_column_size(design), 0)
          + coalesce(pg_column_size(attachments), 0)), 0) from campaigns where workspace_id = ${workspaceId})
        + (select coalesce(sum(coalesce(octet_length(html_content), 0) + coalesce(octet_length(text_content), 0)
            + coalesce(octet_length(mjml), 0) + coalesce(pg_column_size(design), 0)), 0)
          from autoresponder_contents where workspace_id = ${workspaceId})
        + (select coalesce(sum(octet_length(compiled_html) + coalesce(octet_length(html_content), 0)
            + coalesce(octet_length(mjml), 0) + coalesce(pg_column_size(design), 0)
            + coalesce(octet_length(text_content), 0)), 0)
          from template_versions where workspace_id = ${workspaceId}))::bigint as drafts,
      (select coalesce(sum(bytes), 0) from media where workspace_id = ${workspaceId})::bigint as pictures,
      (select coalesce(sum(octet_length(octets)), 0)
        from job_file_parts where workspace_id = ${workspaceId})::bigint as files`);
  return row ?? { messages: 0, received: 0, drafts: 0, pictures: 0, files: 0 };
}

/** Rows by kind, from the counters of their tables. */
export async function countRows(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<Readonly<Record<Exclude<StorageKind, "bytes">, number>>> {
  const row = await db.row<{ subscribers: number; suppression_entries: number }>(sql`
    select
      coalesce((select active::bigint + unsubscribed + bounced + complained
        from subscriber_counters where workspace_id = ${workspaceId}), 0) as subscribers,
      (select coalesce(sum(entry_count), 0)::bigint
        from suppression_lists where workspace_id = ${workspaceId}) as suppression_entries`);
  return row ?? { subscribers: 0, suppression_entries: 0 };
}

/**
 * Deletes the days before `now` whose contents retention has removed: their partition is dropped, and the default partition
 * has none of them. Contents of a day without a partition are there.
 */
export async function removeDroppedDays(db: Queryable, now: Date): Promise<number> {
  return db.run(sql`
    delete from content_days d
    where day < (${now}::timestamptz at time zone 'UTC')::date
      and to_regclass('message_contents_' || to_char(day, 'YYYY_MM_DD')) is null
      and not exists (
        select from message_contents_default c
        where c.workspace_id = d.workspace_id
          and c.message_id >= ${firstIdOfDaySql(sql`d.day`)}
          and c.message_id < ${firstIdOfDaySql(sql`d.day + 1`)})`);
}

/** The lowest id of version 7 of a date of UTC: milliseconds since 1970 in its first 48 bits. */
const firstIdOfDaySql = (day: Sql): Sql => sql`
  rpad(lpad(to_hex((extract(epoch from ${day}) * 1000)::bigint), 12, '0'), 32, '0')::uuid`;
