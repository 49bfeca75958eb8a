/** The setup checklist: the steps that a workspace takes once before it sends. */
import sql from "sql-template-tag";
import { type Static, Type } from "typebox";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described, nullable, Timestamp } from "#platform/shapes.ts";

/** In the recommended order. */
const labels = {
  verify_domain: "Verify a sending domain",
  publish_dkim: "Publish its DKIM record",
  publish_dmarc: "Publish a DMARC policy",
  create_api_key: "Create an API key",
  create_mailing_list: "Create a mailing list",
  import_subscribers: "Add or import subscribers",
  send_first_email: "Send a first email",
  send_first_campaign: "Send a first campaign",
} as const;

type StepKey = keyof typeof labels;
const keys = Object.keys(labels) as StepKey[];

export const SetupChecklist = Type.Object(
  {
    completed: Type.Integer({ description: "How many steps are done." }),
    total: Type.Integer({ description: "Number of items." }),
    items: Type.Array(
      Type.Object({
        key: Type.Enum(keys, { description: "The step." }),
        label: Type.String({ description: "The step in words, for display." }),
        completed: Type.Boolean({ description: "Whether it is done." }),
        completed_at: nullable(described(Timestamp, "When it was done, in UTC; null if it is not.")),
      }),
      { description: "The steps of the set-up, in their order." },
    ),
  },
  { $id: "SetupChecklist" },
);

/** @param steps when each was done; null when it is open */
export function checklistOf(steps: Readonly<Record<StepKey, Date | null>>): Static<typeof SetupChecklist> {
  const items = keys.map((key) => ({
    key,
    label: labels[key],
    completed: steps[key] !== null,
    completed_at: steps[key],
  }));
  return { completed: items.filter(({ completed }) => completed).length, total: items.length, items };
}

/**
 * When each step was first done; null when it was not, or was undone. Emails are counted by the quarter-hour, and the
 * first may have begun before the workspace was created.
 */
export async function findSteps(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<Readonly<Record<StepKey, Date | null>>> {
  const row = await db.row<Record<StepKey, Date | null>>(sql`
    select
      (select min(verified_at) from sending_domains where workspace_id = ${workspaceId} and is_verified)
        as verify_domain,
      (select min(dkim_verified_at) from sending_domains where workspace_id = ${workspaceId}) as publish_dkim,
      (select min(dmarc_verified_at) from sending_domains where workspace_id = ${workspaceId}) as publish_dmarc,
      (select min(created_at) from api_keys where workspace_id = ${workspaceId}) as create_api_key,
      (select min(created_at) from mailing_lists where workspace_id = ${workspaceId}) as create_mailing_list,
      (select created_at from subscribers where workspace_id = ${workspaceId} order by id limit 1)
        as import_subscribers,
      (select greatest(min(quarter), (select created_at from workspaces where id = ${workspaceId})) from (
        (select quarter from report_quarters where workspace_id = ${workspaceId} and source in ('api', 'smtp')
          order by quarter limit 1)
        union all
        (select quarter from report_notes where workspace_id = ${workspaceId} and source in ('api', 'smtp') limit 1)
      ) emails having count(*) > 0) as send_first_email,
      (select min(sent_at) from campaigns where workspace_id = ${workspaceId} and deleted_at is null)
        as send_first_campaign`);
  if (row === undefined) throw new Error("no row");
  return row;
}
