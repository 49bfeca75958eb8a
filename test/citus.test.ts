/**
 * What a layout by tenant needs of the schema: db/citus.sql names every table, and Citus would take each of them for what
 * it is named there. The rules are those of its documentation; Citus itself is not asked.
 */
import { readFileSync } from "node:fs";
import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { testDatabase } from "./support/database.ts";

const db = await testDatabase();
const layout = readFileSync(new URL("../db/citus.sql", import.meta.url), "utf8");

/** In the order of the file. */
const tablesOf = (statement: RegExp) => [...layout.matchAll(statement)].map(([, table = ""]) => table);
const distributed = tablesOf(/^select create_distributed_table\('(\w+)', 'workspace_id'/gm);
const reference = tablesOf(/^select create_reference_table\('(\w+)'\)/gm);
const local = tablesOf(/^select citus_add_local_table_to_metadata\('(\w+)'\)/gm);

const ours = sql`c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;

test("every table has its place, and one only", async () => {
  const tables = await db.rows<{ name: string }>(sql`select c.relname as name from pg_class c where ${ours}`);
  expect([...distributed, ...reference, ...local].sort()).toEqual(tables.map(({ name }) => name).sort());
});

test("the distributed ones are cut by the same kind of column and lie together", async () => {
  const columns = await db.rows<{ name: string }>(sql`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
    where ${ours} and a.attname = 'workspace_id' and a.atttypid = 'uuid'::regtype and a.attnotnull`);
  const names = new Set(columns.map(({ name }) => name));
  expect(distributed.filter((name) => !names.has(name))).toEqual([]);
  const [first] = distributed;
  const colocated = tablesOf(new RegExp(`^select .*\\('(\\w+)', .*colocate_with => '${first}'\\);$`, "gm"));
  expect([first, ...colocated]).toEqual(distributed);
});

test("what is unique in a distributed table is unique in a workspace", async () => {
  const indexes = await db.rows<{ name: string; tenancy: boolean; table: string }>(sql`
    select i.indexrelid::regclass::text as name, c.relname as table, exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id'
        and a.attnum = any ((i.indkey::smallint[])[0:i.indnkeyatts - 1])) as tenancy
    from pg_index i join pg_class c on c.oid = i.indrelid where ${ours} and i.indisunique`);
  const wide = indexes.filter(({ tenancy }) => !tenancy).filter(({ table }) => distributed.includes(table));
  expect(wide.map(({ name }) => name)).toEqual([]);
});

describe("a foreign key", () => {
  const keys = async () =>
    db.rows<{ from: string; to: string; columns: string[]; targets: string[] }>(sql`
      select c.relname as "from", k.confrelid::regclass::text as "to",
        array(select attname::text from unnest(k.conkey) with ordinality as u (num, place)
          join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.num order by place) as columns,
        array(select attname::text from unnest(k.confkey) with ordinality as u (num, place)
          join pg_attribute a on a.attrelid = k.confrelid and a.attnum = u.num order by place) as targets
      from pg_constraint k join pg_class c on c.oid = k.conrelid where ${ours} and k.contype = 'f'`);

  test("between distributed tables carries the workspace", async () => {
    const wrong = (await keys())
      .filter(({ from, to }) => distributed.includes(from) && distributed.includes(to))
      .filter(({ columns, targets }) => targets[columns.indexOf("workspace_id")] !== "workspace_id");
    expect(wrong).toEqual([]);
  });

  test("leads from a distributed table to no local one, and from any other to reference tables alone", async () => {
    const wrong = (await keys()).filter(({ from, to }) =>
      distributed.includes(from) ? local.includes(to) : !reference.includes(to),
    );
    expect(wrong).toEqual([]);
  });

  test("leads to what is laid out before", async () => {
    const order = [...reference, ...distributed];
    const wrong = (await keys()).filter(({ from, to }) => order.indexOf(from) < order.indexOf(to));
    expect(wrong).toEqual([]);
  });
});

test("nothing else is there that Citus refuses: triggers, exclusions, constraints that wait, small identities", async () => {
  const triggers = await db.rows(sql`
    select t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid where ${ours} and not t.tgisinternal`);
  const constraints = await db.rows(sql`
    select k.conname from pg_constraint k join pg_class c on c.oid = k.conrelid
    where ${ours} and (k.contype = 'x' or k.condeferrable)`);
  const identities = await db.rows(sql`
    select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
    where ${ours} and a.attidentity <> '' and a.atttypid <> 'bigint'::regtype`);
  const partitions = await db.rows(sql`
    select c.relname from pg_class c where c.relispartition and c.relkind = 'p'`);
  expect([...triggers, ...constraints, ...identities, ...partitions]).toEqual([]);
});
