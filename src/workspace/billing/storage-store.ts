/** The SQL of what a workspace stores: counters where there are any, and otherwise sums over few rows. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { StorageKind } from "./plans.ts";

/** Notes contents that the meter has read; the account is locked. */
export async function addContents(
  tx: Queryable,
  workspaceId: WorkspaceId,
  contents: readonly { readonly time: Date; readonly bytes: number }[],
): Promise<void> {
  const some = contents.filter(({ bytes }) => bytes !== 0);
  if (some.length === 0) return;
  await tx.run(sql`
    insert into content_months as c (workspace_id, month, bytes)
    select ${workspaceId}, date_trunc('month', time at time zone 'UTC')::date, sum(bytes)
    from unnest(${some.map(({ time }) => time)}::timestamptz[], ${some.map(({ bytes }) => bytes)}::bigint[])
      as n (time, bytes)
    group by 2
    on conflict (workspace_id, month) do update set bytes = c.bytes + excluded.bytes`);
}

/**
 * Bytes by what they belong to. Sizes of texts, files and attachments are read from their headers; nothing large is
 * opened, and the rows are bounded: campaigns and autoresponders in number, parts of files by their size.
 */
export async function measureBytes(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<Readonly<Record<"messages" | "drafts" | "files", number>>> {
  const row = await db.row<Record<"messages" | "drafts" | "files", number>>(sql`
    select
      ((select coalesce(sum(bytes), 0) from content_months where workspace_id = ${workspaceId})
        + (select coalesce(sum(bytes), 0) from meter_entries where workspace_id = ${workspaceId}))::bigint as messages,
      ((select coalesce(sum(coalesce(octet_length(html_content), 0) + coalesce(octet_length(text_content), 0)
          + coalesce(pg_column_size(attachments), 0)), 0) from campaigns where workspace_id = ${workspaceId})
        + (select coalesce(sum(coalesce(octet_length(html_content), 0) + coalesce(octet_length(text_content), 0)), 0)
          from autoresponder_contents where workspace_id = ${workspaceId}))::bigint as drafts,
      (select coalesce(sum(octet_length(octets)), 0)
        from job_file_parts where workspace_id = ${workspaceId})::bigint as files`);
  return row ?? { messages: 0, drafts: 0, files: 0 };
}

/** Rows that the tables' own counters say. */
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

/** Forgets months whose contents the retention has dropped: those before `now` that have no partition. */
export async function removeDroppedMonths(db: Queryable, now: Date): Promise<number> {
  return db.run(sql`
    delete from content_months
    where month < date_trunc('month', ${now}::timestamptz at time zone 'UTC')::date
      and to_regclass('message_contents_' || to_char(month, 'YYYY_MM')) is null`);
}
