/** What a person did, and what happened to the mail for them, as the API shows it. */
import { type Static, Type } from "typebox";
import { messageSources } from "#messages/message/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { Id, nullable, Timestamp } from "#platform/shapes.ts";
import {
  type ActivityKind,
  activityKinds,
  listPersonActivities,
  type PersonActivityRow,
} from "./activities-store.ts";
import { mayReadPart, permissionForKind, readableKinds } from "./readable-parts.ts";

const text = (description: string) => nullable(Type.String({ description }));

export const PersonActivity = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "Id of the activity." }),
    kind: Type.Enum([...activityKinds], {
      description:
        "`joined` and `left`: a list; `sent`: a message was accepted for this person; `delivered`, `bounced`, `failed`, `suppressed`: how the message ended; `changed`: an API key or a member of the workspace changed the person.",
    }),
    timestamp: Type.Unsafe<Date>({ ...Timestamp, description: "When it happened." }),
    times: Type.Integer({
      description: "Number of times, if the person opened or clicked several times at the same moment.",
    }),
    is_machine: Type.Boolean({
      description: "Whether a program opened or clicked, such as a scanner or a privacy proxy.",
    }),
    detail: text("What the other server said, or why the message was not sent; null if nothing is known."),
    url: text("Where the clicked link led; null for other kinds."),
    smtp_code: nullable(
      Type.Integer({ description: "Reply code of the other server, such as 550; null without a reply." }),
    ),
    enhanced_code: text("Enhanced status code of the reply, such as `5.1.1`; null without one."),
    mx_host: text("The mail server that replied; null without a reply."),
    message: nullable(
      Type.Object(
        {
          id: Type.Unsafe<string>({ ...Id, description: "Id of the message, for GET /messages/{id}." }),
          subject: Type.String({ description: "Subject of the message." }),
          source: Type.Enum([...messageSources], { description: "What sent the message." }),
          origin_id: nullable({
            ...Id,
            description: "Id of the campaign, autoresponder or API key that sent it; null if unknown.",
          }),
          origin_name: Type.String({ description: "Name of the campaign, autoresponder or API key." }),
        },
        {
          $id: "ActivityMessage",
          description: "The message that it is about; null for other kinds, and without `reports:read`.",
        },
      ),
    ),
    mailing_list: nullable(
      Type.Object(
        {
          id: Type.Unsafe<string>({ ...Id, description: "Id of the list." }),
          name: Type.String({ description: "Name of the list." }),
        },
        {
          $id: "ActivityList",
          description: "The list that the person joined or left; null for other kinds.",
        },
      ),
    ),
    joined_from: text("Where a membership came from, such as `api` or `form`; null for other kinds."),
    operation: text("The operation that changed the person, such as `updateMember`; null for other kinds."),
    actor_name: text("Name of the API key or person who made the change; null for other kinds."),
    changed_fields: Type.Array(Type.String(), {
      description: "Names of the changed fields, without their values; empty for other kinds.",
    }),
  },
  { $id: "PersonActivity" },
);
export type PersonActivity = Static<typeof PersonActivity>;

/** The kinds in a list with commas. @throws ApiError VALIDATION_ERROR */
export function readKinds(given: string | undefined): ActivityKind[] {
  const words = (given ?? "").split(",").map((word) => word.trim());
  return words
    .filter((word) => word !== "")
    .map((word) => {
      const kind = activityKinds.find((one) => one === word);
      if (kind !== undefined) return kind;
      throw invalid({ field: "kinds", message: `kinds must be among ${activityKinds.join(", ")}` });
    });
}

/**
 * A page of activities, newest first.
 * Without kinds in the query, all that the caller may read.
 * @throws ApiError VALIDATION_ERROR for a cursor of another list, INSUFFICIENT_SCOPE for kinds that the caller may not read
 */
export async function activityPage(
  db: Queryable,
  caller: Caller,
  person: { readonly id: string; readonly email: string },
  query: { readonly limit: number; readonly after: string | undefined; readonly kinds: string | undefined },
): Promise<{ readonly activities: PersonActivity[]; readonly next: string | null }> {
  const { workspaceId, permissions } = caller;
  const kinds = readKinds(query.kinds);
  requirePermissions(
    caller,
    kinds.flatMap((kind) => permissionForKind(kind) ?? []),
  );
  const filter = [...new Set(kinds)].toSorted().join();
  const walk = new ListPage(
    { ...query, page: 1 },
    "listSubscriberActivities",
    workspaceId,
    person.id,
    filter,
  );
  const { after: id, afterKey: place = "", limit } = walk.page;
  if (id !== undefined && !/^\d{1,17}$/.test(place)) {
    throw invalid({ field: "after", message: "after is not a cursor of this list" });
  }
  const after = id === undefined ? undefined : { id, place };
  const rows = await listPersonActivities(
    db,
    workspaceId,
    person,
    kinds.length === 0 ? readableKinds(permissions) : kinds,
    { limit, after },
  );
  const part = walk.shown(rows, 0, (row) => row.id, { keyOf: (row) => row.place });
  return {
    activities: part.rows.map((row) => shownActivity(row, permissions)),
    next: part.pagination.next_cursor ?? null,
  };
}

/** An activity without its message, if these permissions do not allow to read messages. */
export function shownActivity(row: PersonActivityRow, permissions: readonly string[]): PersonActivity {
  const { id, kind, times, is_machine, detail, url, smtp_code, enhanced_code, mx_host, joined_from } = row;
  const { message_id, subject, message_source, origin_id, origin_name } = row;
  const { mailing_list_id, mailing_list_name, operation, actor_name, changed_fields } = row;
  const source = messageSources.find((one) => one === message_source);
  return {
    id,
    kind,
    timestamp: row.time,
    times,
    is_machine,
    detail,
    url,
    smtp_code,
    enhanced_code,
    mx_host,
    message:
      message_id === null || source === undefined || !mayReadPart("messages", permissions)
        ? null
        : { id: message_id, subject: subject ?? "", source, origin_id, origin_name: origin_name ?? "" },
    mailing_list: mailing_list_id === null ? null : { id: mailing_list_id, name: mailing_list_name ?? "" },
    joined_from,
    operation,
    actor_name,
    changed_fields: [...changed_fields],
  };
}
