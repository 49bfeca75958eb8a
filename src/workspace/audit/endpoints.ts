/** The audit log over HTTP. */
import { Readable } from "node:stream";
import { type Static, Type } from "typebox";
import { auditActorKinds } from "#platform/audit/audit-event.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { choiceField, cursorFields, idField, textField, timeField } from "#platform/http/request/query.ts";
import { FileAnswer, fileShape } from "#platform/http/response/file-answer.ts";
import { Continued } from "#platform/http/route-handler.ts";
import { asWorkspaceId, type WorkspaceId } from "#platform/ids.ts";
import { Id, nullable, Timestamp } from "#platform/shapes.ts";
import { auditLines, MOST_EXPORTED } from "./csv.ts";
import { audit } from "./permission.ts";
import { type AuditFilter, type AuditRow, INSTALLATION, listAuditEvents } from "./store.ts";

const text = (description: string) => nullable(Type.String({ description }));

const AuditEventShape = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "Ids sort by time." }),
    at: Type.Unsafe<Date>({ ...Timestamp, description: "When it happened." }),
    actor: Type.Object(
      {
        kind: Type.Enum([...auditActorKinds], {
          description:
            "key: an API key; person: a person in a session; system: the command line; visitor: a caller who is not signed in.",
        }),
        id: nullable({ ...Id, description: "Id of the key or person; null for the others." }),
        name: Type.String({ description: "Their name at that time." }),
      },
      { $id: "AuditActor", description: "The caller that made the change." },
    ),
    operation: Type.String({ description: "Operation id, such as `updateCampaign`." }),
    resource: Type.Object(
      {
        kind: Type.String({ description: "The noun of its permission, such as `campaigns`." }),
        id: nullable({ ...Id, description: "Its id; null if it has none." }),
        name: text("Its name at that time; null for people of the audience."),
      },
      { $id: "AuditResource", description: "What was changed." },
    ),
    result: Type.Enum(["done", "refused"], {
      description: "refused: the caller lacked the right, or a sign-in failed.",
    }),
    code: text("Error code of a refusal."),
    changes: Type.Array(
      Type.Object(
        {
          field: Type.String({ description: "Name of the field." }),
          before: Type.Unknown({ description: "The value before; null for a new resource." }),
          after: Type.Unknown({ description: "The value after." }),
          is_hidden: Type.Boolean({
            description:
              "Whether the values are left out: secrets, contents, data about recipients, long values.",
          }),
        },
        { $id: "AuditChange" },
      ),
      { description: "Changed fields; at most 40." },
    ),
    reason: text("Why, in the caller's words; null if none was given, or the operation takes none."),
    ip: text("Address of the client."),
    agent: text("User-Agent of the client."),
    request_id: text("X-Request-Id of the answer."),
  },
  { $id: "AuditEvent" },
);

const filterFields = {
  actor: idField("Only events of this key or person."),
  operation: textField(100, "Only events of this operation, such as `updateCampaign`."),
  resource: textField(100, "Only events of this kind of resource, such as `campaigns`."),
  resource_id: idField("Only events of the resource with this id."),
  result: choiceField(["done", "refused"], "Only events with this result."),
  from: timeField("Only events at this time or later."),
  to: timeField("Only events before this time."),
};

type GivenFilter = {
  readonly [Name in keyof typeof filterFields]: ReturnType<(typeof filterFields)[Name]["read"]>;
};

const filterOf = ({ actor, resource, resource_id, ...given }: GivenFilter): AuditFilter => ({
  ...given,
  actorId: actor,
  resourceKind: resource,
  resourceId: resource_id,
});

function shown(row: AuditRow): Static<typeof AuditEventShape> {
  const { id, at, operation, result, code, changes, reason, ip, agent, request_id } = row;
  return {
    id,
    at,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    operation,
    resource: { kind: row.resource_kind, id: row.resource_id, name: row.resource_name },
    result,
    code,
    changes: [...changes],
    reason,
    ip,
    agent,
    request_id,
  };
}

const textOf = (value: string | Date | undefined) => (value instanceof Date ? value.toISOString() : value);

/** Operations that are no endpoints: pages. */
const pages = ["finishSingleSignOn"];

interface AuditDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** All endpoints of the API, whose ids are the operations. */
  readonly endpoints: () => readonly Endpoint[];
}

export function auditEndpoints({ db, clock, endpoints }: AuditDeps): Endpoint[] {
  /** @throws ApiError VALIDATION_ERROR, because no event would mean that nothing has happened */
  function requireOperation({ operation }: GivenFilter): void {
    // Commands of the command line are in lower case: "workspace set".
    if (operation === undefined || /^[a-z -]+$/.test(operation) || pages.includes(operation)) return;
    if (endpoints().some(({ id }) => id === operation)) return;
    throw invalid({
      field: "operation",
      message: "operation must be an operation id of the API reference such as updateCampaign, or a command",
    });
  }

  async function page(
    operationId: string,
    workspaceId: WorkspaceId,
    query: GivenFilter & {
      readonly page: number;
      readonly limit: number;
      readonly after: string | undefined;
    },
  ) {
    requireOperation(query);
    const given = Object.keys(filterFields).map((name) => textOf(query[name as keyof GivenFilter]));
    const walk = new ListPage({ ...query, page: 1 }, operationId, workspaceId, ...given);
    const rows = await listAuditEvents(db, workspaceId, filterOf(query), walk.page);
    const part = walk.shown(rows, 0, ({ id }) => id);
    return new Continued(part.rows.map(shown), part.pagination.next_cursor ?? null);
  }

  const { limit, after } = cursorFields();
  return [
    endpoint({
      id: "listAuditEvents",
      method: "GET",
      path: "/audit-events",
      summary: "Who changed what in the workspace within 365 days, newest first",
      description:
        "Each event has its actor, the operation, the resource, and changed fields before and after; secrets and contents are left out. Filter by actor, operation, resource and time, and continue with `next_cursor`.",
      needs: need(audit, "read"),
      query: { limit, after, ...filterFields },
      answer: Type.Array(AuditEventShape),
      isContinued: true,
      message: "Audit events",
      handle: ({ caller, query }) => page("listAuditEvents", caller.workspaceId, { ...query, page: 1 }),
    }),
    endpoint({
      id: "exportAuditEvents",
      method: "GET",
      path: "/audit-events/export",
      summary: `Download audit events as CSV, newest first; at most ${MOST_EXPORTED.toLocaleString("en")} rows`,
      description: "Takes the filters of `listAuditEvents`.",
      needs: need(audit, "read"),
      mayTakeLong: "reading",
      query: filterFields,
      answer: fileShape("text/csv", "One row an event, newest first; `changes` is JSON."),
      async handle({ caller, query }) {
        requireOperation(query);
        const name = `audit-events-${clock.now().toISOString().slice(0, 10)}.csv`;
        return new FileAnswer(name, Readable.from(auditLines(db, caller.workspaceId, filterOf(query))));
      },
    }),
    endpoint({
      id: "listInstallationAuditEvents",
      method: "GET",
      path: "/operator/audit-events",
      summary: "Audit events of the installation, or of any workspace, newest first (operators)",
      description: "Without `workspace_id` these are events that belong to no workspace, such as sign-ins.",
      needs: "operator",
      query: {
        limit,
        after,
        workspace_id: idField(
          "Events of this workspace; without it, those that belong to none: sign-ins, users.",
        ),
        ...filterFields,
      },
      answer: Type.Array(AuditEventShape),
      isContinued: true,
      message: "Audit events",
      handle({ query: { workspace_id, ...query } }) {
        const workspaceId = workspace_id === undefined ? INSTALLATION : asWorkspaceId(workspace_id);
        return page("listInstallationAuditEvents", workspaceId, { ...query, page: 1 });
      },
    }),
  ];
}
