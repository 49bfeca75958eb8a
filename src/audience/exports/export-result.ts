/** The result of a job that writes rows to a CSV file. */
import { Type } from "typebox";
import type { JobOutcomeShape } from "#platform/jobs/job-shape.ts";

export const ExportResult = Type.Object(
  {
    rows: Type.Integer({ minimum: 0, description: "Rows of the file below its header." }),
    columns: Type.Array(Type.String(), { description: "The header of the file." }),
  },
  { $id: "ExportResult", description: "What an export wrote; `download_url` has the file." },
);

export const exportOutcome: JobOutcomeShape = {
  name: "SubscriberExportJob",
  about: "An export of the subscribers of a list.",
  counts: {},
  results: [ExportResult],
};
