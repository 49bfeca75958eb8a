/** An event of the audit log: who did what to which resource. */
import type { Queryable } from "#platform/database/pool.ts";

export const auditActorKinds = ["key", "person", "system", "visitor"] as const;

export interface AuditActor {
  /** `system` is the command line; `visitor` is a caller who is not signed in. */
  readonly kind: (typeof auditActorKinds)[number];
  readonly id: string | null;
  readonly name: string;
}

/** A changed field. Secrets, contents and long values are hidden: both values are null. */
export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly is_hidden: boolean;
}

export interface AuditEvent {
  /** null: the event belongs to the installation. */
  readonly workspaceId: string | null;
  readonly actor: AuditActor;
  readonly operation: string;
  readonly resource: { readonly kind: string; readonly id: string | null; readonly name: string | null };
  readonly result: "done" | "refused";
  /** Error code of the refusal. */
  readonly code: string | null;
  readonly changes: readonly FieldChange[];
  /** Why, in the caller's words. Only of operations that take a reason. */
  readonly reason?: string;
  readonly ip: string | null;
  readonly agent: string | null;
  readonly requestId: string | null;
}

const LONGEST_AGENT = 300;

/** The User-Agent of a client, as an event keeps it. */
export function auditedAgent(agent: string): string {
  return agent.slice(0, LONGEST_AGENT).replaceAll("\0", "").toWellFormed();
}

/** Writes the event in the transaction of the change. */
export type InsertAuditEvent = (db: Queryable, event: AuditEvent) => Promise<void>;
