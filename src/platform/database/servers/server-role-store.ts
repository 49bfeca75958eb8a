/** Asks a server whether it can be written to. */
import type pg from "pg";
import sql from "sql-template-tag";

export type ServerRole =
  | { readonly kind: "read-only" }
  | {
      readonly kind: "writable";
      /** Raised by each promotion; 0 if the server does not tell. */
      readonly timeline: number;
    };

export async function findServerRole(client: pg.Client): Promise<ServerRole> {
  // In recovery, transactions are read-only as well; a server may also be told to be read-only.
  const { rows } = await client.query<{ isReadOnly: boolean }>(sql`
    select current_setting('transaction_read_only')::boolean as "isReadOnly"`);
  if (rows[0]?.isReadOnly) return { kind: "read-only" };
  return { kind: "writable", timeline: await findTimeline(client) };
}

/** The first eight digits of the name of a WAL file are the timeline. Servers with another kind of WAL refuse the function. */
async function findTimeline(client: pg.Client): Promise<number> {
  const { rows } = await client
    .query<{ file: string }>(sql`select pg_walfile_name(pg_current_wal_lsn()) as file`)
    .catch(() => ({ rows: [] }));
  return Number.parseInt(rows[0]?.file.slice(0, 8) ?? "0", 16);
}
