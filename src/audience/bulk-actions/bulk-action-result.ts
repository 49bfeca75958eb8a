/** The result of a bulk action, as the API answers it. */
import { Type } from "typebox";
import { type JobOutcomeShape, jobCount } from "#platform/jobs/job-shape.ts";
import { actions } from "./bulk-action.ts";

const people = (description: string) => Type.Integer({ minimum: 0, description });

const BulkActionResult = Type.Object(
  {
    action: Type.Enum([...actions], { description: "What it did to each person." }),
    dry_run: Type.Boolean({ description: "Whether nothing was changed, and the numbers say what would be." }),
    started_by: Type.String({ description: "Name of the API key or the person who started it." }),
    matched: people("People whom it was for."),
    changed: people("People whom it changed."),
    unchanged: people("People in whom there was nothing to change."),
    refused: people("People whom it refused: the file of `errors_url` has the reasons."),
  },
  { $id: "BulkActionResult", description: "What a bulk action did." },
);

export const bulkActionOutcome: JobOutcomeShape = {
  name: "SubscriberBulkActionJob",
  about: "A bulk action on people.",
  counts: {
    changed: jobCount("People who were changed."),
    unchanged: jobCount("People in whom there was nothing to change."),
    refused: jobCount("People who were refused."),
  },
  results: [BulkActionResult],
};
