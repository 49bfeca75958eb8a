/**
 * What a migration does to programs of the former release, which still run while it is applied and for a while
 * afterwards. PostgreSQL says it: the migration is run, the catalogue before and after is compared, and the locks that it
 * took are read. Nothing is committed.
 */
import type pg from "pg";

interface Relation {
  readonly name: string;
  /** The file of its rows, which another number replaces when the table is rewritten. */
  readonly file: number;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
}

interface Catalogue {
  readonly relations: readonly Relation[];
  readonly columns: ReadonlyMap<string, Column>;
  readonly constraints: ReadonlySet<string>;
}

/** @returns what is wrong with the migration, a sentence each; empty if former programs can work on */
export async function reviewMigration(client: pg.Client, statements: string): Promise<string[]> {
  await client.query("begin");
  try {
    const before = await catalogue(client);
    await client.query(statements);
    const after = await catalogue(client);
    return [...lost(before, after), ...demanded(before, after), ...(await blocked(client, before, after))];
  } finally {
    await client.query("rollback");
  }
}

function lost(before: Catalogue, after: Catalogue): string[] {
  const tables = new Set(after.relations.map(({ name }) => name));
  const dropped = before.relations
    .filter(({ name }) => !tables.has(name))
    .map(({ name }) => `${name} is dropped or renamed`);
  const changed = [...before.columns.values()].flatMap(({ name, type }) => {
    const now = after.columns.get(name);
    if (now === undefined) return [`column ${name} is dropped or renamed`];
    return now.type === type ? [] : [`column ${name} was ${type} and is ${now.type}`];
  });
  return [...dropped, ...changed];
}

/** What writes of the former release would violate. */
function demanded(before: Catalogue, after: Catalogue): string[] {
  const tables = new Set(before.relations.map(({ name }) => name));
  const isOld = (of: string) => tables.has(of.slice(0, of.indexOf(".")));
  const columns = [...after.columns.values()]
    .filter(({ name, isRequired, hasDefault }) => {
      const former = before.columns.get(name);
      return isOld(name) && isRequired && (former === undefined ? !hasDefault : !former.isRequired);
    })
    .map(({ name }) => `column ${name} is required, and former programs do not write it`);
  const constraints = [...after.constraints]
    .filter((name) => isOld(name) && !before.constraints.has(name))
    .map((name) => `constraint ${name} is new on a table that former programs write to`);
  return [...columns, ...constraints];
}

/** What holds up those who write meanwhile. */
async function blocked(client: pg.Client, before: Catalogue, after: Catalogue): Promise<string[]> {
  const files = new Map(after.relations.map(({ name, file }) => [name, file]));
  const rewritten = before.relations
    .filter(({ name, file }) => files.has(name) && files.get(name) !== file)
    .map(({ name }) => `${name} is rewritten, which blocks it for as long as that takes`);
  const { rows: indexed } = await client.query<{ name: string }>(`
    select distinct relation::regclass::text as name from pg_locks
    where pid = pg_backend_pid() and mode = 'ShareLock' and locktype = 'relation'`);
  const old = new Set(before.relations.map(({ name }) => name));
  const built = indexed
    .filter(({ name }) => old.has(name))
    .map(
      ({ name }) =>
        `an index of ${name} is built while its writers wait: use create index concurrently if not exists`,
    );
  return [...rewritten, ...built];
}

async function catalogue(client: pg.Client): Promise<Catalogue> {
  const { rows: relations } = await client.query<Relation>(`
    select relname as name, relfilenode::int as file from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`);
  const { rows: columns } = await client.query<Column>(`
    select c.relname || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      a.attnotnull as "isRequired", a.atthasdef or a.attidentity <> '' as "hasDefault"
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and a.attnum > 0 and not a.attisdropped`);
  const { rows: constraints } = await client.query<{ name: string }>(`
    select c.relname || '.' || k.conname as name from pg_constraint k join pg_class c on c.oid = k.conrelid
    where c.relnamespace = 'public'::regnamespace and k.contype <> 'n'`);
  return {
    relations,
    columns: new Map(columns.map((column) => [column.name, column])),
    constraints: new Set(constraints.map(({ name }) => name)),
  };
}
