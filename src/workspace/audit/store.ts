/** SQL of the audit log. Events are inserted and deleted, never changed: a trigger refuses it. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { AuditActor, AuditEvent, FieldChange } from "#platform/audit/audit-event.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { asWorkspaceId, firstIdAt, newId, nilId, timeOfId, type WorkspaceId } from "#platform/ids.ts";

/** The workspace of events that belong to the installation. */
export const INSTALLATION = asWorkspaceId(nilId);

/** Implements InsertAuditEvent of platform/audit. */
export async function insertAuditEvent(db: Queryable, event: AuditEvent): Promise<void> {
  const { actor, resource } = event;
  await db.rows(
    sql`
    insert into audit_events (workspace_id, id, actor_kind, actor_id, actor_name, operation, resource_kind, resource_id,
      resource_name, result, code, changes, reason, ip, agent, request_id)
    values (${event.workspaceId ?? INSTALLATION}, ${newId()}, ${actor.kind}, ${actor.id}, ${actor.name},
      ${event.operation}, ${resource.kind}, ${resource.id}, ${resource.name}, ${event.result}, ${event.code},
      ${JSON.stringify(event.changes)}::jsonb, ${event.reason ?? null}, ${event.ip}, ${event.agent},
      ${event.requestId})`,
    "insert audit event",
  );
}

export interface AuditRow {
  readonly id: string;
  readonly actor_kind: AuditActor["kind"];
  readonly actor_id: string | null;
  readonly actor_name: string;
  readonly operation: string;
  readonly resource_kind: string;
  readonly resource_id: string | null;
  readonly resource_name: string | null;
  readonly result: AuditEvent["result"];
  readonly code: string | null;
  readonly changes: readonly FieldChange[];
  readonly reason: string | null;
  readonly ip: string | null;
  readonly agent: string | null;
  readonly request_id: string | null;
  readonly at: Date;
}

export interface AuditFilter {
  readonly actorId: string | undefined;
  readonly operation: string | undefined;
  readonly resourceKind: string | undefined;
  readonly resourceId: string | undefined;
  readonly result: AuditEvent["result"] | undefined;
  /** Events at this time or later. */
  readonly from: Date | undefined;
  /** Events before this time. */
  readonly to: Date | undefined;
}

/** Newest first. @param after the id of the last event of the page before */
export async function listAuditEvents(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: AuditFilter,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<AuditRow[]> {
  const rows = await db.rows<Omit<AuditRow, "at">>(sql`
    select id, actor_kind, actor_id, actor_name, operation, resource_kind, resource_id, resource_name, result, code,
      changes, reason, ip, agent, request_id
    from audit_events
    where workspace_id = ${workspaceId} ${matching(filter)} ${after === undefined ? empty : sql`and id < ${after}`}
    order by id desc limit ${limit}`);
  return rows.map((row) => ({ ...row, at: timeOfId(row.id) }));
}

/** A hundred events of the installation after the one with the id `after`, of some operations, oldest first. */
export function listInstallationEvents(
  db: Queryable,
  operations: readonly string[],
  after: string,
): Promise<Pick<AuditRow, "id" | "operation" | "actor_name">[]> {
  return db.rows(sql`
    select id, operation, actor_name from audit_events
    where workspace_id = ${INSTALLATION} and operation = any(${operations}) and id > ${after}
    order by id limit 100`);
}

/** When the operation was last recorded; null if it is in no event. */
export async function timeOfLastEvent(
  db: Queryable,
  workspaceId: WorkspaceId,
  operation: string,
): Promise<Date | null> {
  const last = await db.row<{ id: string }>(sql`
    select id from audit_events where workspace_id = ${workspaceId} and operation = ${operation}
    order by id desc limit 1`);
  return last === undefined ? null : timeOfId(last.id);
}

function matching({ actorId, operation, resourceKind, resourceId, result, from, to }: AuditFilter): Sql {
  const given: [unknown, Sql][] = [
    [actorId, sql`and actor_id = ${actorId}`],
    [operation, sql`and operation = ${operation}`],
    [resourceKind, sql`and resource_kind = ${resourceKind}`],
    [resourceId, sql`and resource_id = ${resourceId}`],
    [result, sql`and result = ${result}`],
    [from, sql`and id >= ${from && firstIdAt(from)}`],
    [to, sql`and id < ${to && firstIdAt(to)}`],
  ];
  return given
    .filter(([value]) => value !== undefined)
    .reduce((all, [, condition]) => sql`${all} ${condition}`, empty);
}

/** Audit events are kept for a year. */
export const AUDIT_DAYS = 365;

/** Of all workspaces. */
export function removeOldAuditEvents(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from audit_events where (workspace_id, id) in (
      select workspace_id, id from audit_events where id < ${firstIdAt(before)} order by id limit ${most})`);
}
