/** The requests of API keys over HTTP. */
import { type Static, Type } from "typebox";
import type { Database } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import {
  cursorFields,
  idField,
  type QueryField,
  textField,
  timeField,
} from "#platform/http/request/query.ts";
import { Continued } from "#platform/http/route-handler.ts";
import { Id, nullable, Timestamp } from "#platform/shapes.ts";
import { apiKeysResource } from "#workspace/api-keys/api-key.ts";
import { listRequests, REQUEST_DAYS } from "./store.ts";

const ApiRequest = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "Ids sort by time." }),
    at: Type.Unsafe<Date>({ ...Timestamp, description: "When it was answered, in UTC." }),
    key_id: Type.Unsafe<string>({ ...Id, description: "Id of the API key." }),
    key_name: nullable(Type.String({ description: "Its name; null if the key was deleted." })),
    operation: nullable(
      Type.String({ description: "Operation id, such as `sendEmail`; null for a path that does not exist." }),
    ),
    status: Type.Integer({ description: "HTTP status of the answer." }),
    ms: Type.Integer({ description: "Milliseconds until the answer was sent." }),
    request_id: Type.String({ description: "X-Request-Id of the answer." }),
    left_out: Type.Integer({
      description:
        "How many requests of this key were not recorded since its previous row of the same kind, because there were too many. The kinds are successes and failures (status 400 or more).",
    }),
  },
  { $id: "ApiRequest", description: "A request of an API key that was answered." },
);

/** A status, or all that begin with a digit, as [lowest, highest]. */
const statusField: QueryField<readonly [number, number] | undefined> = {
  schema: Type.String({
    maxLength: 3,
    description: "Only answers with this status, such as `403`, or of this class, such as `4xx`.",
  }),
  read(text, name) {
    const status = text?.trim().toLowerCase();
    if (!status) return undefined;
    if (!/^[1-5](?:xx|\d\d)$/.test(status)) {
      throw invalid({ field: name, message: `${name} must be a status such as 403, or a class such as 4xx` });
    }
    return [Number(status.replace("xx", "00")), Number(status.replace("xx", "99"))];
  },
};

interface Dependencies {
  readonly db: Database;
  /** All endpoints of the API, whose ids are the operations. */
  readonly endpoints: () => readonly Endpoint[];
}

export function apiRequestEndpoints({ db, endpoints }: Dependencies): Endpoint[] {
  const { limit, after } = cursorFields();
  /** @throws ApiError VALIDATION_ERROR, because no row would mean that no key has called it */
  function requireOperation(operation: string | undefined): void {
    if (operation === undefined || endpoints().some(({ id }) => id === operation)) return;
    const message = "operation must be an operation id of the API reference, such as sendEmail";
    throw invalid({ field: "operation", message });
  }

  return [
    endpoint({
      id: "listApiRequests",
      method: "GET",
      path: "/api-keys/requests",
      mayTakeLong: "reading",
      summary: `Requests of the API keys in the last ${REQUEST_DAYS} days, newest first`,
      description:
        "Use it to see what a key does and why its calls fail: `request_id` finds the same request in your own log. Requests appear some seconds after their answer. Those of people in the console, and those without a valid key, are not in it. Of a key with very many requests only a part is recorded, failures apart from successes, and `left_out` counts the others.",
      needs: need(apiKeysResource, "read"),
      query: {
        limit,
        after,
        key_id: idField("Only requests of this API key."),
        operation: textField(100, "Only requests of this operation, such as `sendEmail`."),
        status: statusField,
        from: timeField("Only requests at this time or later."),
        to: timeField("Only requests before this time."),
      },
      answer: Type.Array(ApiRequest),
      isContinued: true,
      message: "Requests",
      async handle({ caller: { workspaceId }, query }) {
        const { key_id: keyId, operation, status, from, to } = query;
        requireOperation(operation);
        const walk = new ListPage(
          { ...query, page: 1 },
          "listApiRequests",
          workspaceId,
          keyId,
          operation,
          status?.join(),
          from?.toISOString(),
          to?.toISOString(),
        );
        const rows: Static<typeof ApiRequest>[] = await listRequests(
          db,
          workspaceId,
          { keyId, operation, status, from, to },
          walk.page,
        );
        const part = walk.shown(rows, 0, ({ id }) => id);
        return new Continued(part.rows, part.pagination.next_cursor ?? null);
      },
    }),
  ];
}
