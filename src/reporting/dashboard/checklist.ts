/** What a workspace does once, to be able to send well. */
import { type Static, Type } from "typebox";
import { NullableTimestamp } from "#platform/shapes.ts";

/** In the order in which they are best taken. */
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

export type StepKey = keyof typeof labels;
const keys = Object.keys(labels) as StepKey[];

export const SetupChecklist = Type.Object(
  {
    completed: Type.Integer({ description: "How many steps are done." }),
    total: Type.Integer(),
    items: Type.Array(
      Type.Object({
        key: Type.Enum(keys),
        label: Type.String(),
        completed: Type.Boolean(),
        completed_at: NullableTimestamp,
      }),
    ),
  },
  { $id: "SetupChecklist" },
);

/** @param steps when each was taken; null while it is open */
export function checklistOf(steps: Readonly<Record<StepKey, Date | null>>): Static<typeof SetupChecklist> {
  const items = keys.map((key) => ({
    key,
    label: labels[key],
    completed: steps[key] !== null,
    completed_at: steps[key],
  }));
  return { completed: items.filter(({ completed }) => completed).length, total: items.length, items };
}
