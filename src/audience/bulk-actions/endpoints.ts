/** The endpoint of bulk actions on people. */
import { mailingLists } from "#audience/mailing-lists/permission.ts";
import { findMailingList } from "#audience/mailing-lists/store.ts";
import { subscribers } from "#audience/subscribers/permission.ts";
import { suppressionLists } from "#audience/suppression-lists/permission.ts";
import { findSuppressionList } from "#audience/suppression-lists/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireConfirmed, requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need, permissionOf } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { JobResource } from "#platform/jobs/job-record-store.ts";
import { JobStarted, requirePlace, startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { BulkAction, type BulkActionInput, mayDeletePeople, readBulkAction } from "./bulk-action.ts";
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
      outward: "sends",
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
        const origin = { actor, label: body.label, resource: await resourceOf(db, workspaceId, input) };
        return db.transaction(async (tx) => {
          await requirePlace(tx, workspaceId, BULK_ACTION_JOB, "bulk actions");
          return startJob(tx, workspaceId, { type: BULK_ACTION_JOB, needs, input, origin });
        });
      },
    }),
  ];
}

/** The list that gets or loses the people, or else the one that they are chosen from. */
async function resourceOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  { action, selection }: BulkActionInput,
): Promise<JobResource | undefined> {
  if (action.type === "suppress") {
    const found = await findSuppressionList(db, workspaceId, action.suppression_list_id);
    return found && { kind: suppressionLists.name, id: found.id, name: found.name };
  }
  const id = ("mailing_list_id" in action ? action.mailing_list_id : null) ?? selection?.mailingListId;
  const found = id ? await findMailingList(db, workspaceId, id) : undefined;
  return found && { kind: mailingLists.name, id: found.id, name: found.name };
}
