/** What backup and restore read from the system catalogue, and how a restore changes the schema for its time. */
import pg from "pg";
import sql, { raw } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

const identifier = pg.escapeIdentifier;

/** A table with rows of its own: an ordinary one, or a partition. */
export interface StoredTable {
  readonly name: string;
  /** Without generated columns, in the order of COPY. */
  readonly columns: readonly string[];
  /** The partitioned table, if it is a partition. */
  readonly partition_of: string | null;
  /** The lowest id of the partition, and the first id above; null for other tables and the default partition. */
  readonly lowest: string | null;
  readonly above: string | null;
}

/** By name. */
export function listTables(db: Queryable): Promise<StoredTable[]> {
  return db.rows(sql`
    select c.relname::text as name, parent.relname::text as partition_of,
      array(
        select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum) as columns,
      substring(bound from 'FROM \\(''([-0-9a-f]{36})''\\)') as lowest,
      substring(bound from 'TO \\(''([-0-9a-f]{36})''\\)') as above
    from pg_class c
    left join pg_inherits i on i.inhrelid = c.oid left join pg_class parent on parent.oid = i.inhparent
    cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    order by name`);
}

/** The first of these tables that exists and has a row. */
export async function findTableWithRows(
  tx: Queryable,
  names: readonly string[],
): Promise<string | undefined> {
  const known = new Set((await listTables(tx)).map(({ name }) => name));
  for (const name of names.filter((one) => known.has(one))) {
    if ((await tx.row(raw(`select from ${identifier(name)} limit 1`))) !== undefined) return name;
  }
  return undefined;
}

export interface Sequence {
  readonly name: string;
  /** Null if it was never used. */
  readonly last: number | null;
}

export function listSequences(db: Queryable): Promise<Sequence[]> {
  return db.rows(sql`
    select sequencename::text as name, last_value as last from pg_sequences
    where schemaname = 'public' order by sequencename`);
}

export async function setSequence(tx: Queryable, { name, last }: Sequence): Promise<void> {
  if (last !== null) await tx.run(sql`select setval(${identifier(name)}::regclass, ${last})`);
}

/** Protects the tables from being dropped or changed; reads and writes go on. Waits ten seconds at most. */
export async function lockTables(tx: Queryable, names: readonly string[]): Promise<void> {
  await tx.run(raw("set local lock_timeout = '10s'"));
  await tx.run(raw(`lock table ${names.map(identifier).join(", ")} in access share mode`));
  await tx.run(raw("set local lock_timeout = 0"));
}

/** The form of values in COPY does not depend on settings of server, database or user. */
export async function useFixedFormats(tx: Queryable): Promise<void> {
  await tx.run(sql`
    select set_config('datestyle', 'ISO, YMD', true), set_config('intervalstyle', 'postgres', true),
      set_config('timezone', 'UTC', true), set_config('extra_float_digits', '1', true),
      set_config('bytea_output', 'hex', true), set_config('client_encoding', 'UTF8', true)`);
}

interface ServerState {
  readonly version: string;
  /** The present moment of the server's clock. */
  readonly time: Date;
}

export async function describeServer(db: Queryable): Promise<ServerState> {
  const server = await db.row<ServerState>(sql`
    select current_setting('server_version') as version, statement_timestamp() as time`);
  if (server === undefined) throw new Error("the database did not describe itself");
  return server;
}

/** The statement that writes or reads all rows of a table as text. */
export function copyStatement(
  { name, columns }: Pick<StoredTable, "name" | "columns">,
  direction: "to stdout" | "from stdin",
): string {
  const list = columns.map(identifier).join(", ");
  // The rows are marked as old: VACUUM and queries need not visit them again to find that out.
  const options = direction === "from stdin" ? " with (freeze)" : "";
  return `copy ${identifier(name)} (${list}) ${direction}${options}`;
}

/** COPY with FREEZE needs a table that was emptied in the same transaction. */
export async function emptyTable(tx: Queryable, name: string): Promise<void> {
  await tx.run(raw(`truncate ${identifier(name)}`));
}

/** Creates a partition of ids from `lowest` to below `above`. Names and ids are escaped. */
export async function createPartition(
  tx: Queryable,
  name: string,
  of: { readonly table: string; readonly lowest: string; readonly above: string },
): Promise<void> {
  const [lowest, above] = [pg.escapeLiteral(of.lowest), pg.escapeLiteral(of.above)];
  const parent = identifier(of.table);
  await tx.run(
    raw(`create table ${identifier(name)} partition of ${parent} for values from (${lowest}) to (${above})`),
  );
}

/** Statements that make dropped indexes and foreign keys again. */
export type Remakes = readonly string[];

/**
 * Drops foreign keys, and indexes that belong to no constraint: a million rows are loaded in a fraction of the time, and in
 * any order of tables.
 * @returns the statements that make them again, indexes first
 */
export async function dropIndexesAndForeignKeys(tx: Queryable): Promise<Remakes> {
  const keys = await tx.rows<{ table: string; name: string; definition: string }>(sql`
    select conrelid::regclass::text as table, conname::text as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0`);
  // An index of a partitioned table includes those of its partitions: "on only" would leave them out.
  const indexes = await tx.rows<{ name: string; definition: string }>(sql`
    select i.indexrelid::regclass::text as name,
      replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as definition
    from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid)`);
  for (const { table, name } of keys) {
    await tx.run(raw(`alter table ${table} drop constraint ${identifier(name)}`));
  }
  for (const { name } of indexes) await tx.run(raw(`drop index ${name}`));
  return [
    ...indexes.map(({ definition }) => definition),
    ...keys.map(
      ({ table, name, definition }) =>
        `alter table ${table} add constraint ${identifier(name)} ${definition}`,
    ),
  ];
}

export async function makeAgain(tx: Queryable, statements: Remakes): Promise<void> {
  await tx.run(sql`select set_config('maintenance_work_mem', '256MB', true)`);
  for (const statement of statements) await tx.run(raw(statement));
}

/** Gathers the planner's statistics of all tables. */
export async function analyzeAll(db: Queryable): Promise<void> {
  await db.run(raw("analyze"));
}
