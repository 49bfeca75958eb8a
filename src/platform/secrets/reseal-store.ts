/**
 * Encrypted ("sealed") columns of the database: counts the values by secret key, and encrypts them again with the first
 * key of the ring. The owner of a column describes it (SealedColumn). The statements process all workspaces in batches,
 * in the order of the primary keys.
 */
import sql, { raw } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { nilId } from "#platform/ids.ts";
import type { Secrets } from "./secrets.ts";

export interface SealedColumn {
  /** Plural name of the values, for operators. */
  readonly what: string;
  /** Its primary key is (workspace_id, id), or only id. */
  readonly table: string;
  /** The rows belong to no workspace: the primary key is id. */
  readonly isInstallationWide?: true;
  readonly column: string;
  /** The authenticated context of the value in the row with this id. */
  readonly contextOf: (id: string) => string;
}

export interface SealedCount {
  /** Number of values by the position of their key in the ring. */
  readonly byPosition: readonly number[];
  /** Number of values that no key of the ring decrypts. */
  readonly unopened: number;
}

interface SealedValue {
  readonly workspace_id: string;
  readonly id: string;
  readonly sealed: Buffer;
}

const BATCH = 500;

export async function countSealed(
  db: Queryable,
  secrets: Secrets,
  columns: readonly SealedColumn[],
): Promise<SealedCount> {
  const byPosition = secrets.fingerprints.map(() => 0);
  let unopened = 0;
  for (const column of columns) {
    for await (const batch of batchesOf(db, column, BATCH)) {
      for (const { id, sealed } of batch) {
        const opened = secrets.openWith(sealed, column.contextOf(id));
        if (opened === null) unopened += 1;
        else byPosition[opened.position] = (byPosition[opened.position] ?? 0) + 1;
      }
    }
  }
  return { byPosition, unopened };
}

/**
 * Encrypts values of other keys of the ring again with the first key. Values that change meanwhile, and those that no key
 * decrypts, are left unchanged. It can be interrupted and repeated.
 * @returns the number of changed values
 */
export async function resealAll(
  db: Queryable,
  secrets: Secrets,
  columns: readonly SealedColumn[],
  batchSize = BATCH,
): Promise<number> {
  let resealed = 0;
  for (const column of columns) {
    for await (const batch of batchesOf(db, column, batchSize)) {
      const changes = batch.flatMap((value) => {
        const context = column.contextOf(value.id);
        const opened = secrets.openWith(value.sealed, context);
        if (opened === null || opened.position === 0) return [];
        return [{ ...value, resealed: secrets.seal(opened.plain, context) }];
      });
      if (changes.length > 0) resealed += await replaceSealed(db, column, changes);
    }
  }
  return resealed;
}

async function* batchesOf(
  db: Queryable,
  { table, column, isInstallationWide }: SealedColumn,
  size: number,
): AsyncGenerator<SealedValue[]> {
  const workspaceId = isInstallationWide ? sql`${nilId}::uuid` : sql`workspace_id`;
  let after: Pick<SealedValue, "workspace_id" | "id"> = { workspace_id: nilId, id: nilId };
  for (;;) {
    const batch = await db.rows<SealedValue>(sql`
      select ${workspaceId} as workspace_id, id, ${raw(column)} as sealed from ${raw(table)}
      where (${workspaceId}, id) > (${after.workspace_id}, ${after.id}) and ${raw(column)} is not null
      order by 1, id limit ${size}`);
    yield batch;
    const last = batch.at(-1);
    if (last === undefined || batch.length < size) return;
    after = last;
  }
}

function replaceSealed(
  db: Queryable,
  { table, column, isInstallationWide }: SealedColumn,
  changes: readonly (SealedValue & { readonly resealed: Buffer })[],
): Promise<number> {
  return db.run(sql`
    update ${raw(table)} t set ${raw(column)} = changed.resealed
    from unnest(${changes.map(({ workspace_id }) => workspace_id)}::uuid[], ${changes.map(({ id }) => id)}::uuid[],
      ${changes.map(({ sealed }) => sealed)}::bytea[], ${changes.map(({ resealed }) => resealed)}::bytea[])
      as changed (workspace_id, id, sealed, resealed)
    where ${isInstallationWide ? sql`true` : sql`t.workspace_id = changed.workspace_id`} and t.id = changed.id
      and t.${raw(column)} = changed.sealed`);
}
