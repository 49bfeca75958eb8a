/** The fingerprint of the SECRET_KEY that the database belongs to. */
import sql from "sql-template-tag";
import type { Queryable } from "./database/pool.ts";

/** The one kept; undefined in a database that no machine has started on since there are fingerprints. */
export async function findFingerprint(db: Queryable): Promise<Buffer | undefined> {
  const row = await db.row<{ fingerprint: Buffer }>(sql`select fingerprint from secret_key_fingerprint`);
  return row?.fingerprint;
}

/** Keeps it where none is kept yet: of machines that start at once one is the first. */
export async function insertFingerprint(db: Queryable, fingerprint: Buffer): Promise<void> {
  await db.run(sql`
    insert into secret_key_fingerprint (fingerprint) values (${fingerprint}) on conflict do nothing`);
}

/** Keeps it whatever was kept before. */
export async function replaceFingerprint(db: Queryable, fingerprint: Buffer): Promise<void> {
  await db.run(sql`
    insert into secret_key_fingerprint (fingerprint) values (${fingerprint})
    on conflict (only_row) do update set fingerprint = excluded.fingerprint`);
}
