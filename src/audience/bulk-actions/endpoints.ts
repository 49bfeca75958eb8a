/** The endpoint of bulk actions on people. */
import { subscribers } from "#audience/subscribers/permission.ts";
import { suppressionLists } from "#audience/suppression-lists/permission.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { requireConfirmed, requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need, permissionOf } from "#platform/http/endpoint.ts";
import { JobStarted, requirePlace, startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { BulkAction, mayDeletePeople, readBulkAction } from "./bulk-action.ts";
import { BULK_ACTION_JOB } from "./bulk-action-job.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
}

export function bulkActionEndpoints({ db, clock }: Dependencies): Endpoint[] {
  const needs = need(subscribers, "write");
  return [
    endpoint({
      id: "runBulkAction",
      method: "POST",
      path: "/subscribers/bulk",
      summary: "Change many people in the background: all whom a filter finds, or those with the ids given",
      description:
        "Starts a job that adds to a list, removes, changes state or a field, suppresses or deletes. The people are chosen once, when the job starts. With `dry_run` it counts and changes nothing. Follow the job with `getJob`; people who could not be changed are in its errors file, each with the reason.",
      needs,
      body: BulkAction,
      answer: JobStarted,
      status: 202,
      message: "The action has started",
      idempotent: true,
      errors: ["CONFLICT", "REAUTHENTICATION_REQUIRED"],
      async handle({ caller, body }) {
        if (mayDeletePeople(body)) requireConfirmed(caller.actor, clock.now());
        if (body.action === "suppress")
          requirePermissions(caller, [permissionOf(need(suppressionLists, "write"))]);
        const { workspaceId, actor } = caller;
        const input = await readBulkAction(db, workspaceId, body, actor.name);
        return db.transaction(async (tx) => {
          await requirePlace(tx, workspaceId, BULK_ACTION_JOB, "bulk actions");
          return startJob(tx, workspaceId, { type: BULK_ACTION_JOB, needs, input });
        });
      },
    }),
  ];
}
