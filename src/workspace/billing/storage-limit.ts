/**
 * Storage limits of plans. They refuse new data only: nothing stored is deleted, even when a smaller plan or a new
 * limit leaves a workspace above them.
 */
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { lockRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, required } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { bytesText } from "#platform/limits/limit-errors.ts";
import { findAccount } from "./account-store.ts";
import { planOf } from "./plan-of-account.ts";
import { type Plan, type Plans, STORED_CONTENTS, type StorageKind } from "./plans.ts";
import { countRows, type MeasuredBytes, measureBytes } from "./storage-store.ts";

export interface StorageUse {
  readonly used: number;
  /** Null is no limit. */
  readonly limit: number | null;
}

export interface StorageDeps {
  readonly plans: Plans;
  readonly clock: Clock;
}

/** Storage used and allowed, by kind. */
export async function storageUsage(
  db: Queryable,
  plan: Plan,
  workspaceId: WorkspaceId,
): Promise<Readonly<Record<StorageKind, StorageUse>>> {
  const rows = await countRows(db, workspaceId);
  const used = { ...rows, bytes: await bytesOf(db, workspaceId) };
  const of = (kind: StorageKind): StorageUse => ({ used: used[kind], limit: plan.storage[kind] });
  return {
    bytes: of("bytes"),
    subscribers: of("subscribers"),
    suppression_entries: of("suppression_entries"),
  };
}

/** Bytes of STORED_CONTENTS. */
async function bytesOf(db: Queryable, workspaceId: WorkspaceId): Promise<number> {
  return sumOf((await measureBytes(db, [workspaceId])).get(workspaceId));
}

function sumOf(measured: MeasuredBytes | undefined): number {
  return Object.values(measured ?? {}).reduce((sum, bytes) => sum + bytes, 0);
}

/** Bytes of contents that each workspace can still store, by its plan; null is no limit. */
export async function listContentRooms(
  db: Queryable,
  plans: ReadonlyMap<WorkspaceId, Plan>,
): Promise<Map<WorkspaceId, number | null>> {
  const limited = [...plans].filter(([, { storage }]) => storage.bytes !== null).map(([id]) => id);
  const measured = limited.length === 0 ? new Map<WorkspaceId, never>() : await measureBytes(db, limited);
  return new Map(
    [...plans].map(
      ([
        id,
        {
          storage: { bytes },
        },
      ]) => [id, bytes === null ? null : Math.max(0, bytes - sumOf(measured.get(id)))],
    ),
  );
}

/**
 * Runs `work`, which stores something. Afterwards the bytes of the workspace must not be above the limit of its plan,
 * unless they did not grow. Calls for one workspace wait for each other until their transactions end.
 * @throws ApiError PLAN_LIMIT_REACHED
 */
export async function withinBytes<Result>(
  deps: StorageDeps,
  tx: Queryable,
  workspaceId: WorkspaceId,
  work: () => Promise<Result>,
): Promise<Result> {
  const { name, limit } = await limitOf(deps, tx, workspaceId, "bytes");
  if (limit === null) return work();
  await lockRowLimit(tx, workspaceId, { what: "stored bytes" });
  const before = await bytesOf(tx, workspaceId);
  const result = await work();
  const after = await bytesOf(tx, workspaceId);
  if (after > limit && after > before) {
    throw storageRefusal("bytes", name, { used: before, added: after - before, limit });
  }
  return result;
}

/**
 * Checks before `added` bytes are stored.
 * @throws ApiError PLAN_LIMIT_REACHED
 */
export async function requireBytes(
  deps: StorageDeps,
  db: Queryable,
  workspaceId: WorkspaceId,
  added: number,
): Promise<void> {
  const { name, limit } = await limitOf(deps, db, workspaceId, "bytes");
  if (limit === null) return;
  const used = await bytesOf(db, workspaceId);
  if (used + added > limit) throw storageRefusal("bytes", name, { used, added, limit });
}

/** The limit of rows of one kind. */
export interface RowLimit {
  readonly kind: Exclude<StorageKind, "bytes">;
  readonly planName: string;
  /** Null is no limit. */
  readonly most: number | null;
}

/**
 * The limit for requireRows. Read this limit before rows are added: afterwards the counter of the rows is locked, and
 * other transactions wait for it.
 */
export async function rowLimit(
  deps: StorageDeps,
  db: Queryable,
  workspaceId: WorkspaceId,
  kind: RowLimit["kind"],
): Promise<RowLimit> {
  const { name, limit } = await limitOf(deps, db, workspaceId, kind);
  return { kind, planName: name, most: limit };
}

/**
 * Checks after rows were added in the same transaction, which holds the lock of their counter.
 * @param added how many rows are new
 * @throws ApiError PLAN_LIMIT_REACHED when there are more than the plan allows
 */
export async function requireRows(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { kind, planName, most }: RowLimit,
  added: number,
): Promise<void> {
  if (added <= 0 || most === null) return;
  const used = (await countRows(tx, workspaceId))[kind];
  if (used > most) throw storageRefusal(kind, planName, { used: used - added, added, limit: most });
}

async function limitOf(
  { plans, clock }: StorageDeps,
  db: Queryable,
  workspaceId: WorkspaceId,
  kind: StorageKind,
): Promise<{ readonly name: string; readonly limit: number | null }> {
  const account = required(await findAccount(db, workspaceId), "Workspace");
  const { name, storage } = planOf(account, plans, clock.now());
  return { name, limit: storage[kind] };
}

const ways: Readonly<Record<StorageKind, string>> = {
  bytes:
    "delete campaigns, autoresponders, templates, pictures and received mail that are not needed, wait until files of background jobs (seven days) and contents of messages (as long as the operator keeps them) are removed, or subscribe to a bigger plan",
  subscribers: "delete subscribers that are not needed, or subscribe to a bigger plan",
  suppression_entries: "delete entries that are not needed, or subscribe to a bigger plan",
};

const nouns: Readonly<Record<StorageKind, string>> = {
  bytes: `of ${STORED_CONTENTS}`,
  subscribers: "subscribers",
  suppression_entries: "suppression entries",
};

/** States the limit, what is used, what was asked for, and how to free storage. */
export function storageRefusal(
  kind: StorageKind,
  planName: string,
  { used, added, limit }: { readonly used: number; readonly added: number; readonly limit: number },
): ApiError {
  const amount = (value: number) => (kind === "bytes" ? bytesText(value) : value.toLocaleString("en"));
  return new ApiError(
    "PLAN_LIMIT_REACHED",
    `The plan ${planName} allows ${amount(limit)} ${nouns[kind]}, and ${amount(used)} are stored; this takes ${amount(added)}: ${ways[kind]}`,
  );
}
