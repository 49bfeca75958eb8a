/**
 * The audit event of the operation that runs now. It is written in the first transaction of the operation that writes
 * something (audited-database.ts), so that a change and its event are committed together.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Queryable } from "#platform/database/pool.ts";
import type { AuditActor, AuditEvent, FieldChange, InsertAuditEvent } from "./audit-event.ts";

/** What a handler knows better than the request says. */
export interface AuditDetails {
  readonly actor?: AuditActor;
  readonly workspaceId?: string;
  readonly resource?: { readonly kind?: string; readonly id: string | null; readonly name: string | null };
  /** The resource before the change, where no GET operation shows it. */
  readonly before?: unknown;
  /** In place of those that the body of the request shows. */
  readonly changes?: readonly FieldChange[];
  readonly reason?: string;
}

const running = new AsyncLocalStorage<PendingEvent>();

export class PendingEvent {
  readonly #eventOf: (result: unknown, before: unknown) => AuditEvent;
  readonly #insert: InsertAuditEvent;
  #details: AuditDetails = {};
  #isOpen = true;
  /** The transaction that writes the event. */
  #writer: object | null = null;

  /**
   * @param eventOf derives the event from the result of the transaction, or of the operation, and from what the handler told
   * as the resource before it
   */
  constructor(eventOf: (result: unknown, before: unknown) => AuditEvent, insert: InsertAuditEvent) {
    this.#eventOf = eventOf;
    this.#insert = insert;
  }

  /** The pending event of the operation that runs now, if it still has to be written. */
  static current(): PendingEvent | undefined {
    const pending = running.getStore();
    return pending?.isOpen ? pending : undefined;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return running.run(this, work);
  }

  describe(details: AuditDetails): void {
    this.#details = { ...this.#details, ...details };
  }

  /** Writes the event, unless another transaction of the operation does. A repeated transaction writes it again. */
  async writeIn(tx: Queryable, writer: object, result: unknown): Promise<void> {
    if (!this.#isOpen || (this.#writer !== null && this.#writer !== writer)) return;
    this.#writer = writer;
    await this.#insert(tx, this.eventWith(result));
  }

  eventWith(result: unknown): AuditEvent {
    const { resource, before, ...details } = this.#details;
    const event = this.#eventOf(result, before);
    return { ...event, ...details, resource: { ...event.resource, ...resource } };
  }

  /** The transaction has ended. */
  settle(writer: object, isCommitted: boolean): void {
    if (this.#writer !== writer) return;
    if (isCommitted) this.#isOpen = false;
    else this.#writer = null;
  }

  /** The operation has ended: what it has started and left running writes no event. */
  close(): void {
    this.#isOpen = false;
  }
}

/** Called by a handler, before or in its transaction, for what the request does not say: who a visitor is. */
export function describeAudit(details: AuditDetails): void {
  PendingEvent.current()?.describe(details);
}

/** Called by a handler before it writes something although it will refuse: a mail about failed sign-ins is no success. */
export function dropAudit(): void {
  PendingEvent.current()?.close();
}
