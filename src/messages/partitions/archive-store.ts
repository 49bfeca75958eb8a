/** Partitions of the message log and the tablespaces of PostgreSQL that they are stored in. */
import pg from "pg";
import sql, { type Sql } from "sql-template-tag";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { LOCK_TIMEOUT, listPartitions, type Partition } from "./store.ts";

/** Whether the tablespace exists, and the database user may create tables in it. */
export async function hasTablespace(db: Queryable, name: string): Promise<boolean> {
  const row = await db.row(sql`
    select from pg_tablespace where spcname = ${name} and has_tablespace_privilege(oid, 'create')`);
  return row !== undefined;
}

/** A condition: relation `c` is stored in another tablespace. One in the default tablespace of the database has none. */
const isOutside = (tablespace: Sql) => sql`
  c.reltablespace <> (
    select case when t.oid = d.dattablespace then 0 else t.oid end from pg_tablespace t, pg_database d
    where t.spcname = ${tablespace} and d.datname = current_database())`;

/** The relations of a partition `p`: the table and its indexes, of which the table comes first. */
const relationsOf = (partition: Sql) => sql`(
  select ${partition} as oid union all select indexrelid from pg_index where indrelid = ${partition}) relations`;

/** Partitions of which the table or an index is stored in another tablespace, the oldest first. */
export async function listPartitionsOutside(db: Queryable, tablespace: string): Promise<Partition[]> {
  const outside = await db.rows<{ name: string }>(sql`
    select p.relname::text as name from pg_class p
    where p.relispartition and p.relkind = 'r' and exists (
      select from ${relationsOf(sql`p.oid`)} join pg_class c using (oid) where ${isOutside(sql`${tablespace}`)})`);
  const names = new Set(outside.map(({ name }) => name));
  return (await listPartitions(db)).filter(({ name }) => names.has(name));
}

/**
 * Moves the table and each index of a partition by a statement of its own, which locks that one only.
 * @param session without time limits: the larger the file, the longer PostgreSQL copies it
 */
export async function movePartition(
  session: Awaited<ReturnType<Database["openSession"]>>,
  { name }: Partition,
  tablespace: string,
): Promise<void> {
  const { text, values } = sql`
    select c.oid::regclass::text as relation, c.relkind = 'i' as is_index
    from ${relationsOf(sql`${name}::regclass`)} join pg_class c using (oid)
    where ${isOutside(sql`${tablespace}`)} order by is_index, relation`;
  const { rows } = await session.query<{ relation: string; is_index: boolean }>(text, [...values]);
  await session.query(`set statement_timeout = 0; set lock_timeout = '${LOCK_TIMEOUT}'`);
  for (const { relation, is_index } of rows) {
    const kind = is_index ? "index" : "table";
    await session.query(`alter ${kind} ${relation} set tablespace ${pg.escapeIdentifier(tablespace)}`);
  }
}
