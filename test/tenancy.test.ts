/** The schema keeps workspaces apart, so that a workspace could be moved to another database (docs/adr/0007). */
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { testDatabase } from "./support/database.ts";

const db = await testDatabase();

const tables = sql`c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;

/** Tables with rows of workspaces. */
const tenantTables = new Set(
  (
    await db.rows<{ name: string }>(sql`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where ${tables} and a.attname = 'workspace_id' and a.atttypid = 'uuid'::regtype and a.attnotnull`)
  ).map(({ name }) => name),
);

/** Names that belong to one workspace of the whole installation, each with the reason. */
const uniqueOverAll: Readonly<Record<string, string>> = {
  domain_claims: "one workspace may use a sending domain",
  sending_ips: "one workspace may claim a source address",
  tracking_domains: "a request to a tracking domain names no workspace",
};

test("whatever is unique in a tenant table is unique within a workspace", async () => {
  const wide = await db.rows<{ table: string }>(sql`
    select c.relname as table from pg_index i join pg_class c on c.oid = i.indrelid
    where ${tables} and i.indisunique and not exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id'
        and a.attnum = any ((i.indkey::smallint[])[0:i.indnkeyatts - 1]))`);
  const found = new Set(wide.map(({ table }) => table).filter((table) => tenantTables.has(table)));
  expect([...found].sort()).toEqual(Object.keys(uniqueOverAll).sort());
});

test("a foreign key between tenant tables carries the workspace", async () => {
  const keys = await db.rows<{ from: string; to: string; columns: string[]; targets: string[] }>(sql`
    select c.relname as "from", k.confrelid::regclass::text as "to",
      array(select attname::text from unnest(k.conkey) with ordinality as u (num, place)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.num order by place) as columns,
      array(select attname::text from unnest(k.confkey) with ordinality as u (num, place)
        join pg_attribute a on a.attrelid = k.confrelid and a.attnum = u.num order by place) as targets
    from pg_constraint k join pg_class c on c.oid = k.conrelid where ${tables} and k.contype = 'f'`);
  const wrong = keys
    .filter(({ from, to }) => tenantTables.has(from) && tenantTables.has(to))
    .filter(({ columns, targets }) => targets[columns.indexOf("workspace_id")] !== "workspace_id");
  expect(wrong).toEqual([]);
});
