/** SQL of the warm-up table: how much of the day's quota each source address has reserved and used for each lane. */
import sql from "sql-template-tag";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { LaneWarmUp } from "./schedule.ts";

export interface WarmUpKey {
  readonly sendingIpId: string;
  readonly lane: string;
}

const columns = sql`started_at, day::text as day, step, reserved, sent, deferred`;

/** Locks the row until the transaction ends; inserts `fresh` if there is none. */
export async function lockWarmUp(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { sendingIpId, lane }: WarmUpKey,
  fresh: LaneWarmUp,
): Promise<LaneWarmUp> {
  const { started_at, day, step, reserved, sent, deferred } = fresh;
  await tx.run(sql`
    insert into warm_up_lanes (workspace_id, sending_ip_id, lane, started_at, day, step, reserved, sent, deferred)
    values (${workspaceId}, ${sendingIpId}, ${lane}, ${started_at}, ${day}, ${step}, ${reserved}, ${sent}, ${deferred})
    on conflict (workspace_id, sending_ip_id, lane) do nothing`);
  const row = await tx.row<LaneWarmUp>(sql`
    select ${columns} from warm_up_lanes
    where workspace_id = ${workspaceId} and sending_ip_id = ${sendingIpId} and lane = ${lane} for update`);
  return row ?? fresh;
}

export async function updateWarmUp(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { sendingIpId, lane }: WarmUpKey,
  { started_at, day, step, reserved, sent, deferred }: LaneWarmUp,
): Promise<void> {
  await tx.run(sql`
    update warm_up_lanes
    set started_at = ${started_at}, day = ${day}, step = ${step}, reserved = ${reserved}, sent = ${sent},
      deferred = ${deferred}
    where workspace_id = ${workspaceId} and sending_ip_id = ${sendingIpId} and lane = ${lane}`);
}

/** Used and returned quota. */
export interface WarmUpUsage extends WarmUpKey {
  readonly workspaceId: WorkspaceId;
  readonly startedAt: Date;
  readonly day: string;
  readonly sent: number;
  readonly deferred: number;
  /** Reserved slots that are not used. */
  readonly returned: number;
}

/** Adds usage to the counts of its day; usage of earlier days is ignored. */
export async function addWarmUpUsage(db: Queryable, usage: readonly WarmUpUsage[]): Promise<void> {
  const column = <Value>(read: (one: WarmUpUsage) => Value) => usage.map(read);
  // Locked in a fixed order, to avoid deadlocks between machines.
  await db.run(sql`
    with usage as materialized (
      select * from unnest(
        ${column((one) => one.workspaceId)}::uuid[], ${column((one) => one.sendingIpId)}::uuid[],
        ${column((one) => one.lane)}::text[], ${column((one) => one.startedAt)}::timestamptz[],
        ${column((one) => one.day)}::date[], ${column((one) => one.sent)}::integer[],
        ${column((one) => one.deferred)}::integer[], ${column((one) => one.returned)}::integer[])
        as n (workspace_id, sending_ip_id, lane, started_at, day, sent, deferred, returned)
    ), locked as materialized (
      select w.workspace_id, w.sending_ip_id, w.lane from warm_up_lanes w
      where exists (select from usage n
        where n.workspace_id = w.workspace_id and n.sending_ip_id = w.sending_ip_id and n.lane = w.lane)
      order by w.sending_ip_id, w.lane for update
    ), history as (
      insert into warm_up_days as h (workspace_id, sending_ip_id, day, lane, step, sent, deferred)
      select workspace_id, sending_ip_id, w.day, lane, w.step, n.sent, n.deferred
      from usage n join locked l using (workspace_id, sending_ip_id, lane)
      join warm_up_lanes w using (workspace_id, sending_ip_id, lane)
      where w.day = n.day and w.started_at = n.started_at and (n.sent > 0 or n.deferred > 0)
      on conflict (workspace_id, sending_ip_id, day, lane) do update
      set step = excluded.step, sent = h.sent + excluded.sent, deferred = h.deferred + excluded.deferred
    )
    update warm_up_lanes w
    set sent = w.sent + n.sent, deferred = w.deferred + n.deferred, reserved = greatest(0, w.reserved - n.returned)
    from usage n join locked l using (workspace_id, sending_ip_id, lane)
    where w.workspace_id = n.workspace_id and w.sending_ip_id = n.sending_ip_id and w.lane = n.lane
      and w.day = n.day and w.started_at = n.started_at`);
}

export interface WarmUpDay {
  /** In UTC, `YYYY-MM-DD`. */
  readonly date: string;
  /** Name of the lane. */
  readonly provider: string;
  readonly step: number;
  readonly sent: number;
  readonly deferred: number;
}

/** The days on which a sending IP in warm-up sent mail, newest first, and how many there are. */
export async function listWarmUpDays(
  db: Queryable,
  workspaceId: WorkspaceId,
  sendingIpId: string,
  { limit, offset }: Page,
): Promise<{ readonly rows: readonly WarmUpDay[]; readonly total: number }> {
  const ofIp = sql`from warm_up_days where workspace_id = ${workspaceId} and sending_ip_id = ${sendingIpId}`;
  const [rows, counted] = await Promise.all([
    db.rows<WarmUpDay>(sql`
      select day::text as date, lane as provider, step, sent, deferred ${ofIp}
      order by day desc, lane limit ${limit} offset ${offset}`),
    db.row<{ total: number }>(sql`select count(*)::int as total ${ofIp}`),
  ]);
  return { rows, total: counted?.total ?? 0 };
}

/** Removes up to `most` days before a time, in all workspaces. @returns how many */
export function removeOldWarmUpDays(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from warm_up_days where ctid = any (array(
      select ctid from warm_up_days where day < ${before}::timestamptz::date limit ${most}))`);
}

/** The warm-up rows of all sending IPs of a workspace. */
export function listWarmUps(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<(LaneWarmUp & { readonly sending_ip_id: string; readonly lane: string })[]> {
  return db.rows(sql`
    select sending_ip_id, lane, ${columns} from warm_up_lanes where workspace_id = ${workspaceId} order by lane`);
}
