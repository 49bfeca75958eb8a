/**
 * The audit hook: every operation that is not a GET runs with a pending event, which is written in the transaction of its
 * change. Operations that send or only read say so in their declaration (`Operation.unaudited`).
 */

import {
  type AuditActor,
  type AuditEvent,
  auditedAgent,
  type InsertAuditEvent,
} from "#platform/audit/audit-event.ts";
import { changedFields, displayNameOf, idIn, isFields } from "#platform/audit/changed-fields.ts";
import { PendingEvent } from "#platform/audit/pending-event.ts";
import { RefusalLimit } from "#platform/audit/refusal-limit.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { isUuid } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { type Caller, type SignedIn, type Visitor, workspaceCaller } from "./auth/caller.ts";
import { networkOf } from "./auth/source-network.ts";
import type { Client, Endpoint } from "./endpoint.ts";
import { isEmptyChange, knownFields } from "./request/known-fields.ts";
import type { QueryFields } from "./request/query.ts";

/** What the hook reads of a request. */
export interface AuditedRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly caller: Caller | SignedIn | Visitor;
  readonly client: Client;
  readonly requestId: string;
}

export interface AuditDeps {
  /** Without the wrapper of audited-database.ts. */
  readonly database: Database;
  readonly insert: InsertAuditEvent;
  readonly log: Log;
}

/** Audits the operations of one process. */
export class AuditHook {
  readonly #deps: AuditDeps;
  readonly #gets: ReadonlyMap<string, Endpoint>;
  readonly #refusals = new RefusalLimit();

  constructor(endpoints: readonly Endpoint[], deps: AuditDeps) {
    this.#deps = deps;
    this.#gets = new Map(endpoints.filter(({ method }) => method === "GET").map((get) => [get.path, get]));
  }

  static audits({ method, unaudited }: Endpoint): boolean {
    return method !== "GET" && unaudited === undefined;
  }

  /**
   * Runs the handler with its pending event, which is written before the answer at the latest.
   * @param isDone whether the result is a change; that of a dry run is not
   */
  async run(
    endpoint: Endpoint,
    request: AuditedRequest,
    handle: () => Promise<unknown>,
    isDone: (result: unknown) => boolean,
  ): Promise<unknown> {
    const { database, insert, log } = this.#deps;
    const before = await this.#before(endpoint, request);
    const pending = new PendingEvent(
      (result, told) => eventOf(endpoint, request, told ?? before, result),
      insert,
    );
    if (isEmptyUpdate(endpoint, request)) pending.close();
    try {
      const result = await pending.run(handle);
      if (pending.isOpen && isDone(result)) {
        // The change is done, so the caller gets success: after an error it would repeat the change.
        await pending
          .writeIn(database, pending, result)
          .catch((err: unknown) =>
            log.error({ err, event: pending.eventWith(result) }, "audit event is lost"),
          );
      }
      return result;
    } catch (fault) {
      this.noteRefusal(endpoint, request, fault, pending);
      throw fault;
    } finally {
      pending.close();
    }
  }

  /**
   * Writes a refusal for lack of rights, or a failed sign-in, outside of the request. A flood is written in part.
   * @param pending the event of a handler that has begun: it may have named the resource
   */
  noteRefusal(endpoint: Endpoint, request: AuditedRequest, fault: unknown, pending?: PendingEvent): void {
    if (!AuditHook.audits(endpoint) || !(fault instanceof ApiError) || !isRefusal(endpoint, fault)) return;
    const { actor } = request.caller;
    const source = actor === null ? networkOf(request.client.ip) : actor.id;
    // Never the workspace that the path names: the caller has no rights there, and its members would see an act of an unknown person.
    const workspaceId = workspaceCaller(request.caller)?.workspaceId ?? null;
    if (!this.#refusals.mayWrite(`${workspaceId ?? ""} ${source} ${endpoint.id} ${fault.code}`)) return;
    const { database, insert, log } = this.#deps;
    const event = pending?.eventWith(undefined) ?? eventOf(endpoint, request, undefined, undefined);
    insert(database, { ...event, workspaceId, result: "refused", code: fault.code, changes: [] }).catch(
      (err: unknown) => log.warn({ err }, "refusal could not be written to the audit log"),
    );
  }

  /** The resource as its GET operation shows it; undefined for new resources, and where there is no such operation. */
  async #before(endpoint: Endpoint, request: AuditedRequest): Promise<unknown> {
    const get = this.#getOf(endpoint);
    if (get === undefined) return undefined;
    const query = { ...queryDefaults(get.query), ...get.auditQuery };
    const input = { ...request, query, cookies: undefined, idempotency: undefined };
    try {
      return await get.handle(input as never);
    } catch (fault) {
      // The handler gives the error.
      if (fault instanceof ApiError) return undefined;
      throw fault;
    }
  }

  #getOf(endpoint: Endpoint): Endpoint | undefined {
    const { method, path, status } = endpoint;
    // The event of such a deletion has neither values nor a name.
    if (status === 201 || (isDeletion(endpoint) && isPersonal(endpoint))) return undefined;
    const own = this.#gets.get(path) ?? this.#gets.get(path.slice(0, path.lastIndexOf("}") + 1));
    const get = method === "POST" && own?.path === path ? undefined : own;
    return get?.mayTakeLong === undefined && get?.isContinued === undefined ? get : undefined;
  }
}

function queryDefaults(query: QueryFields = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, field]) => [name, field.read(undefined, name)]),
  );
}

/** Whether it is a change of a resource that names none of its fields, and so changes nothing. */
function isEmptyUpdate({ method, body: shape }: Endpoint, { body }: AuditedRequest): boolean {
  const isUpdate = method === "PATCH" || method === "PUT";
  return isUpdate && shape !== undefined && isFields(body) && isEmptyChange(shape, body);
}

function isDeletion({ method, path }: Endpoint): boolean {
  return method === "DELETE" && path.endsWith("}");
}

/** Whether it changes data about recipients. */
function isPersonal({ needs }: Endpoint): boolean {
  return typeof needs !== "string" && needs.resource.isPersonal === true;
}

/** Lack of rights; for visitors, who have none, a sign-in that failed. */
function isRefusal({ needs }: Endpoint, { code }: ApiError): boolean {
  if (code === "INSUFFICIENT_SCOPE" || code === "FORBIDDEN") return true;
  return code === "UNAUTHORIZED" && needs === "public";
}

function eventOf(
  endpoint: Endpoint,
  { params, body, caller, client, requestId }: AuditedRequest,
  before: unknown,
  result: unknown,
): AuditEvent {
  const { path, status } = endpoint;
  const kind = resourceKindOf(endpoint);
  const hidesValues = isPersonal(endpoint);
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => params[name]);
  const created = idIn(result);
  const asked = isFields(body) && endpoint.body ? knownFields(endpoint.body, body) : {};
  const after = isFields(result) ? result : {};
  const [, workspaceParameter] = /(?:^|\/)workspaces\/\{(\w+)\}/.exec(path) ?? [];
  const workspaceId =
    workspaceCaller(caller)?.workspaceId ??
    (workspaceParameter === undefined ? null : (params[workspaceParameter] ?? null));
  return {
    workspaceId: workspaceId !== null && isUuid(workspaceId) ? workspaceId : null,
    actor: actorOf(caller),
    operation: endpoint.id,
    resource: {
      kind,
      id: (status === 201 ? created : (ids.at(-1) ?? created)) ?? null,
      name: hidesValues ? null : displayNameOf(before, result, body),
    },
    result: "done",
    code: null,
    changes: isDeletion(endpoint)
      ? []
      : changedFields(isFields(before) ? before : undefined, asked, after, hidesValues),
    ip: client.ip,
    agent: auditedAgent(client.agent),
    requestId,
  };
}

/** The noun of the permission; for operations of people, the first noun of the path. */
export function resourceKindOf({ needs, path }: Pick<Endpoint, "needs" | "path">): string {
  if (typeof needs !== "string") return needs.resource.name;
  const [first = "", second = ""] = path.split("/").slice(1);
  return (first === "operator" ? second : first).replaceAll("-", "_");
}

function actorOf({ actor }: Caller | SignedIn | Visitor): AuditActor {
  return actor === null
    ? { kind: "visitor", id: null, name: "" }
    : { kind: actor.kind, id: actor.id, name: actor.name };
}
