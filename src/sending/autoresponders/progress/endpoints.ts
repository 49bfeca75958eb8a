/** The progress of a series over HTTP: figures of its steps, people who wait, one person's mails, and a test of a step. */
import { Type } from "typebox";
import { subscribers } from "#audience/subscribers/permission.ts";
import { createWorkspaceLimiter, QUERY_BOUNDS } from "#platform/concurrency.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { notFound, required } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need, permissionOf } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { cursorFields, idField, type QueryValues } from "#platform/http/request/query.ts";
import { pageOf } from "#platform/http/response/pagination.ts";
import { Id, omittable } from "#platform/shapes.ts";
import { autoresponders } from "#sending/autoresponders/autoresponder.ts";
import { delayOf } from "#sending/autoresponders/delay.ts";
import type { AutoresponderDeps } from "#sending/autoresponders/lifecycle.ts";
import { sendStepTest } from "#sending/autoresponders/mail-of-step.ts";
import { listSteps } from "#sending/autoresponders/steps-store.ts";
import { findAutoresponder } from "#sending/autoresponders/store.ts";
import { TestSent, testEmails } from "#sending/mail/test-order.ts";
import { readTestRecipients, type TestDeps } from "#sending/mail/test-send.ts";
import { fieldError } from "#sending/mail-fields.ts";
import {
  countWaiting,
  findNextSteps,
  findWalker,
  listStepFigures,
  listWaiting,
  MOST_LISTED,
} from "./progress-store.ts";
import { SeriesWalk, StepFiguresList, WaitingPerson } from "./shapes.ts";
import { walkThrough } from "./walk.ts";

/** Subscribers are personal data, which a key for autoresponders alone does not see. */
const READ_PEOPLE = permissionOf(need(subscribers, "read"));

const StepTest = Type.Object(
  {
    step_id: omittable(Type.Unsafe<string>({ ...Id, description: "The step; omitted: the first." })),
    emails: testEmails,
  },
  { $id: "AutoresponderTestOrder" },
);

const waitingQuery = { ...cursorFields(), step_id: idField("Only people whose next mail is this step.") };

export function autoresponderProgressEndpoints(deps: AutoresponderDeps & TestDeps): Endpoint[] {
  const { db } = deps;
  const needs = need(autoresponders, "read");
  const limited = createWorkspaceLimiter(
    QUERY_BOUNDS,
    "Many reports of this workspace are being made: try again in some seconds",
  );
  return [
    endpoint({
      id: "listAutoresponderSteps",
      method: "GET",
      path: "/autoresponders/{id}/steps",
      mayTakeLong: "reading",
      summary: "The steps of an autoresponder with their figures, and how many people wait for each",
      description:
        "The steps in their order. `getAutoresponder` has their content, `listWaitingPeople` the people who wait.",
      needs,
      answer: StepFiguresList,
      message: "Steps of the autoresponder",
      errors: ["RATE_LIMIT_EXCEEDED"],
      async handle({ caller: { workspaceId }, params: { id } }) {
        const rows = await limited(workspaceId, async () =>
          listStepFigures(db, workspaceId, id, await findNextSteps(db, workspaceId, id)),
        );
        if (rows.length === 0) throw notFound("Autoresponder");
        return {
          steps: rows.map(({ delay_minutes, ...row }) => ({ ...row, delay: delayOf(delay_minutes) })),
        };
      },
    }),
    endpoint({
      id: "listWaitingPeople",
      method: "GET",
      path: "/autoresponders/{id}/waiting",
      mayTakeLong: "reading",
      summary: "People who wait for their next mail of an autoresponder, the next mail first",
      description: `People are counted up to ${MOST_LISTED.toLocaleString("en")}; beyond that \`pagination.total_is_exact\` is false. For long lists follow \`pagination.next_cursor\`. It also requires \`subscribers:read\`.`,
      needs,
      query: waitingQuery,
      answer: pageOf("people", WaitingPerson),
      message: "People who wait",
      errors: ["RATE_LIMIT_EXCEEDED"],
      handle: ({ caller, params, query }) =>
        limited(caller.workspaceId, () => waitingPageOf(db, caller, params.id, query)),
    }),
    endpoint({
      id: "walkAutoresponder",
      method: "GET",
      path: "/autoresponders/{id}/walk/{subscriber_id}",
      summary: "The mails of an autoresponder for one person: when each was written, or comes",
      description:
        "Shows where the person is in the series. For a person who is not in it the times are those of a series that begins now, or on the next day of a date trigger. Times of mail that comes are the earliest: a plan, a balance or an hourly cap may delay it. It also requires `subscribers:read`.",
      needs,
      answer: SeriesWalk,
      message: "Mails of the autoresponder for this person",
      handle: ({ caller, params }) => walkOf(deps, caller, params.id, params.subscriber_id),
    }),
    endpoint({
      id: "testAutoresponder",
      method: "POST",
      path: "/autoresponders/{id}/test",
      summary: "Send a test of a step to a few addresses",
      description:
        "The mail is rendered as for a person in the series and marked as a test; it counts in the plan's allowance and in no figure of the autoresponder. `renderContent` shows a step without sending it.",
      needs: need(autoresponders, "send"),
      body: StepTest,
      answer: TestSent,
      message: "Test sent",
      errors: ["BAD_REQUEST", "EMAIL_NOT_VERIFIED", "PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      handle: ({ caller, params, body: { step_id, emails }, requestId }) =>
        sendStepTest(
          deps,
          { caller, requestId, recipients: readTestRecipients(emails) },
          params.id,
          step_id ?? null,
        ),
    }),
  ];
}

/** @throws ApiError NOT_FOUND, INSUFFICIENT_SCOPE, VALIDATION_ERROR for a step of another autoresponder */
async function waitingPageOf(
  db: Queryable,
  caller: Caller,
  id: string,
  query: QueryValues<typeof waitingQuery>,
) {
  const { workspaceId } = caller;
  required(await findAutoresponder(db, workspaceId, id), "Autoresponder");
  requirePermissions(caller, [READ_PEOPLE]);
  const next = await findNextSteps(db, workspaceId, id);
  const { step_id: stepId } = query;
  if (stepId !== undefined && next.get(stepId) !== stepId) {
    throw fieldError("step_id", "is no step of this autoresponder");
  }
  const at = [...next].flatMap(([step, end]) => (end !== null && (stepId ?? end) === end ? step : []));
  const list = new ListPage(query, "listWaitingPeople", workspaceId, id, stepId);
  const [rows, counted] = await Promise.all([
    listWaiting(db, workspaceId, id, at, list.page),
    countWaiting(db, workspaceId, id, at),
  ]);
  const page = list.shown(rows, Math.min(counted, MOST_LISTED), (row) => row.subscriber_id, {
    keyOf: ({ place }) => place,
    isTotalExact: counted <= MOST_LISTED,
  });
  return {
    people: page.rows.map((row) => ({
      subscriber_id: row.subscriber_id,
      email: row.email,
      first_name: row.first_name,
      last_name: row.last_name,
      step_id: next.get(row.at) ?? row.at,
      started_at: row.started_at,
      next_mail_at: row.next_mail_at,
      continues: row.continues,
    })),
    pagination: page.pagination,
  };
}

/** @throws ApiError NOT_FOUND, INSUFFICIENT_SCOPE */
async function walkOf({ db, clock }: AutoresponderDeps, caller: Caller, id: string, subscriberId: string) {
  const { workspaceId, timezone } = caller;
  const now = clock.now();
  const { trigger } = required(await findAutoresponder(db, workspaceId, id), "Autoresponder");
  requirePermissions(caller, [READ_PEOPLE]);
  const [person, steps, next] = await Promise.all([
    findWalker(db, workspaceId, id, subscriberId, now),
    listSteps(db, workspaceId, id),
    findNextSteps(db, workspaceId, id),
  ]);
  const walker = required(person, "Subscriber");
  const dayClock = trigger.at === undefined ? null : { at: trigger.at, timezone };
  const { email, first_name, last_name } = walker;
  return {
    subscriber_id: subscriberId,
    email,
    first_name,
    last_name,
    ...walkThrough(walker, steps, { dayClock, isYearly: trigger.yearly ?? false }, next, now),
  };
}
