/** Everything about one person, of all wings: their history, a copy of their data, and its erasure. */
import { Readable } from "node:stream";
import { Type } from "typebox";
import { subscribers } from "#audience/subscribers/permission.ts";
import { findSubscriber, type SubscriberRow } from "#audience/subscribers/store.ts";
import type { HistoryOf } from "#audience/subscribers/subscriber-detail.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { cursorFields, textField } from "#platform/http/request/query.ts";
import { FileAnswer, fileShape } from "#platform/http/response/file-answer.ts";
import { Continued } from "#platform/http/route-handler.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { findOpenJobWith, lockStart } from "#platform/jobs/job-record-store.ts";
import { JobStarted, requireFewOpen, startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { activityKinds, MOST_MESSAGES_READ } from "./activities-store.ts";
import { activityPage, PersonActivity } from "./activity.ts";
import { ERASURE_JOB, type ErasureInput } from "./erasure-job.ts";
import { personLines } from "./person-copy.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly historyOf: HistoryOf;
}

const ErasureRequest = Type.Object(
  {
    suppress: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          "Whether the address goes on the list of bounces and complaints, so that no mail reaches it again. The entry holds the address. Entries that exist stay in either case.",
      }),
    ),
  },
  { $id: "SubscriberErasure" },
);

export function personEndpoints({ db, clock, historyOf }: Dependencies): Endpoint[] {
  const writes = need(subscribers, "write");
  const { limit, after } = cursorFields();
  const personOf = async (workspaceId: WorkspaceId, id: string): Promise<SubscriberRow> =>
    required(await findSubscriber(db, workspaceId, id), "Subscriber");
  return [
    endpoint({
      id: "listSubscriberActivities",
      method: "GET",
      path: "/subscribers/{id}/activities",
      mayTakeLong: "reading",
      summary: "What a person did, and what happened to the mail for them, newest first",
      description:
        "Joining, leaving, changes, and the outcome of each message to the address, with SMTP replies and links. Opens and clicks of programs are marked. Filter by `kinds`, and continue with `next_cursor`. Outcomes of messages need `reports:read`, and changes `audit:read`: without `kinds` they are left out, and with such a kind the answer is 403.",
      needs: need(subscribers, "read"),
      query: {
        limit,
        after,
        kinds: textField(
          200,
          `Only activities of these kinds, separated by commas: ${activityKinds.join(", ")}. All kinds when omitted. Covers the person's ${MOST_MESSAGES_READ.toLocaleString("en")} newest messages.`,
        ),
      },
      answer: Type.Array(PersonActivity),
      isContinued: true,
      message: "Activities",
      async handle({ caller, params, query }) {
        const person = await personOf(caller.workspaceId, params.id);
        const { activities, next } = await activityPage(db, caller, person, query);
        return new Continued(activities, next);
      },
    }),
    endpoint({
      id: "exportSubscriberData",
      method: "GET",
      path: "/subscribers/{id}/export",
      mayTakeLong: "reading",
      summary: "Download everything that is stored about one person, as JSON",
      description:
        "For requests of access by a person: fields, lists, suppressions and activities in one file. Each part needs the permission of its noun (`suppression_lists:read`, `mailing_lists:read`, `validations:read`, `received_emails:read`, `reports:read`, and `audit:read` for changes); `left_out` names the parts that the caller may not read. `is_complete` is false if a part is left out, or if there are more messages than the newest 5,000.",
      needs: need(subscribers, "read"),
      answer: fileShape(
        "application/json",
        "An object with `subscriber` (as GET /subscribers/{id}), `suppression_entries`, `messages`, `activities`, `signup_requests`, `validations` and `received_emails` (as in their list); `is_complete`, and `left_out`: the missing parts with their permission.",
      ),
      async handle({ caller, params }) {
        const person = await personOf(caller.workspaceId, params.id);
        const lines = personLines({ db, clock, historyOf }, caller, person);
        return new FileAnswer(`subscriber-${person.id}.json`, Readable.from(lines));
      },
    }),
    endpoint({
      id: "eraseSubscriber",
      method: "POST",
      path: "/subscribers/{id}/erase",
      summary:
        "Erase the personal data of one person, in the background; counts and messages stay without it",
      description:
        "Suppresses the address unless `suppress` is false, cancels waiting mail, erases the message log of the address and deletes the person. Counters and outcomes stay without personal data. The result of the job says what was erased and what was kept. While a job with the same `suppress` erases the person, the answer names that job and starts no other.",
      needs: writes,
      confirmed: true,
      body: ErasureRequest,
      bodyMayBeAbsent: true,
      answer: JobStarted,
      status: 202,
      message: "The erasure has started",
      idempotent: true,
      errors: ["CONFLICT"],
      async handle({ caller: { workspaceId, actor }, params, body }) {
        const { id } = await personOf(workspaceId, params.id);
        const input: ErasureInput = {
          subscriber_id: id,
          suppress: body.suppress ?? true,
          started_by: actor.name,
        };
        return db.transaction(async (tx) => {
          await lockStart(tx, workspaceId, ERASURE_JOB);
          const open = await findOpenJobWith(tx, workspaceId, ERASURE_JOB, {
            subscriber_id: input.subscriber_id,
            suppress: input.suppress,
          });
          if (open !== undefined) return { job_id: open, status: "pending" } as const;
          await requireFewOpen(tx, workspaceId, ERASURE_JOB, "erasures");
          return startJob(tx, workspaceId, { type: ERASURE_JOB, needs: writes, input, origin: { actor } });
        });
      },
    }),
  ];
}
