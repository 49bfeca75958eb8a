/** SQL of sending IPs, and of the routing versions of workspaces. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";

export interface SendingIpRow {
  readonly id: string;
  /** In PostgreSQL's spelling, which is that of RFC 5952. */
  readonly ip: string;
  /** EHLO name; null: the machine's. */
  readonly hostname: string | null;
  readonly pool: string | null;
  readonly is_active: boolean;
  /** Null when it is not being warmed up. */
  readonly warm_up_started_at: Date | null;
  readonly created_at: Date;
}

export type SendingIpSettings = Omit<SendingIpRow, "id" | "ip" | "created_at">;

/** Workspaces read in one run; the others follow in the next. */
const MOST_UNRELEASED = 1_000;

const columns = sql`id, host(ip) as ip, hostname, pool, is_active, warm_up_started_at, created_at`;

export const sendingIpRoom: WorkspaceRowLimit = {
  table: sql`sending_ips`,
  what: "sending IPs",
  most: 200,
  code: "CONFLICT",
  way: "delete one that is not needed",
};

/** Newest first. */
export function listSendingIps(db: Queryable, workspaceId: WorkspaceId): Promise<SendingIpRow[]> {
  return db.rows(sql`
    select ${columns} from sending_ips where workspace_id = ${workspaceId} order by created_at desc, id desc`);
}

/** All active addresses of the installation, each once. */
export function listActiveIps(db: Queryable): Promise<Pick<SendingIpRow, "ip" | "hostname">[]> {
  return db.rows(sql`
    select distinct on (ip) host(ip) as ip, hostname from sending_ips where is_active order by ip, created_at`);
}

export function findSendingIp(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<SendingIpRow | undefined> {
  return db.row(sql`select ${columns} from sending_ips where workspace_id = ${workspaceId} and id = ${id}`);
}

export function findSendingIpByAddress(
  db: Queryable,
  workspaceId: WorkspaceId,
  ip: string,
): Promise<SendingIpRow | undefined> {
  return db.row(sql`
    select ${columns} from sending_ips where workspace_id = ${workspaceId} and ip = ${ip}::inet`);
}

/** The new row; undefined when a workspace already has the address. */
export function insertSendingIp(
  db: Queryable,
  workspaceId: WorkspaceId,
  ip: string,
  settings: SendingIpSettings,
  now: Date,
): Promise<SendingIpRow | undefined> {
  const { hostname, pool, is_active, warm_up_started_at } = settings;
  return db.row(sql`
    insert into sending_ips (workspace_id, id, ip, hostname, pool, is_active, warm_up_started_at, created_at)
    values (${workspaceId}, ${newId()}, ${ip}, ${hostname}, ${pool}, ${is_active}, ${warm_up_started_at}, ${now})
    on conflict (ip) do nothing
    returning ${columns}`);
}

export function updateSendingIp(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  { hostname, pool, is_active, warm_up_started_at }: SendingIpSettings,
): Promise<SendingIpRow | undefined> {
  return db.row(sql`
    update sending_ips set hostname = ${hostname}, pool = ${pool}, is_active = ${is_active},
      warm_up_started_at = ${warm_up_started_at}
    where workspace_id = ${workspaceId} and id = ${id}
    returning ${columns}`);
}

export async function removeSendingIp(db: Queryable, workspaceId: WorkspaceId, id: string): Promise<boolean> {
  const removed = await db.run(sql`
    delete from sending_ips where workspace_id = ${workspaceId} and id = ${id}`);
  return removed > 0;
}

export async function raiseRoutingVersion(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`
    insert into routed_workspaces as r (workspace_id, version) values (${workspaceId}, 1)
    on conflict (workspace_id) do update set version = r.version + 1`);
}

/** Locks the workspace's sending IPs and routing rules against changes until the transaction ends. */
export async function lockRouting(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`select from routed_workspaces where workspace_id = ${workspaceId} for share`);
}

/** Workspaces with a version whose held mail is not released yet; in random order, so that none is always last. */
export function listUnreleased(
  db: Queryable,
): Promise<{ readonly workspace_id: WorkspaceId; readonly version: number }[]> {
  return db.rows(sql`
    select workspace_id, version from routed_workspaces where released_version < version
    order by random() limit ${MOST_UNRELEASED}`);
}

export async function markReleased(db: Queryable, workspaceId: WorkspaceId, version: number): Promise<void> {
  await db.run(sql`
    update routed_workspaces set released_version = ${version}
    where workspace_id = ${workspaceId} and released_version < ${version}`);
}
