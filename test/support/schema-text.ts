/** The schema as readable SQL, from the system catalogue: the embedded PostgreSQL ships no pg_dump. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

interface Table {
  readonly name: string;
  readonly persistence: string;
  readonly columns: string[];
  readonly constraints: string[];
  readonly indexes: string[];
  readonly partition_key: string | null;
}

/**
 * All collations, functions, triggers and tables of the service, the tables with their columns, constraints and indexes,
 * without monthly partitions.
 */
export async function schemaText(db: Queryable): Promise<string> {
  const tables = await db.rows<Table>(sql`
    select c.relname as name,
      case c.relpersistence when 'u' then 'unlogged ' else '' end as persistence,
      pg_get_partkeydef(c.oid) as partition_key,
      array(
        select concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
          case when a.attgenerated = 's' then 'generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
               when d.adbin is not null then 'default ' || pg_get_expr(d.adbin, d.adrelid) end,
          case when a.attnotnull then 'not null' end)
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum) as columns,
      array(
        select pg_get_constraintdef(k.oid) from pg_constraint k
        where k.conrelid = c.oid and k.contype <> 'n' order by k.contype desc, k.conname) as constraints,
      array(
        select pg_get_indexdef(i.indexrelid) from pg_index i
        where i.indrelid = c.oid and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
        order by i.indexrelid::regclass::text) as indexes
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`);
  const others = await db.rows<{ text: string }>(sql`
    select 'create collation ' || collname || ';' as text from pg_collation
    where collnamespace = 'public'::regnamespace
    union all select pg_get_functiondef(oid) || ';' from pg_proc where pronamespace = 'public'::regnamespace
    union all select pg_get_triggerdef(oid) || ';' from pg_trigger where not tgisinternal and tgparentid = 0
    order by 1`);
  return `${others.map(({ text }) => text).join("\n")}\n\n${tables.map(tableText).join("\n")}`;
}

function tableText({ name, persistence, columns, constraints, indexes, partition_key }: Table): string {
  const lines = [...columns, ...constraints].map((line) => `  ${line}`).join(",\n");
  const partitioned = partition_key === null ? "" : ` partition by ${partition_key.toLowerCase()}`;
  const after = indexes.map((index) => `${index.replaceAll("public.", "")};\n`).join("");
  return `create ${persistence}table ${name} (\n${lines}\n)${partitioned};\n${after}`;
}
