/** The result of a validation of a file, as the API answers it. */
import { Type } from "typebox";
import { counterNames } from "#hygiene/validations/counts-by-day.ts";
import { type JobOutcomeShape, jobCount } from "#platform/jobs/job-shape.ts";
import { nullable } from "#platform/shapes.ts";

const statuses = Object.entries(counterNames).filter(([, name]) => name !== "invalid");
const addresses = (description: string) => Type.Integer({ minimum: 0, description });

const BulkValidationResult = Type.Object(
  {
    file_name: Type.String({ description: "Name of the file as it was sent." }),
    addresses: addresses("Different addresses in the file."),
    duplicates: addresses("Rows that repeat an address."),
    ...Object.fromEntries(
      Object.entries(counterNames).map(([status, name]) => [
        name,
        addresses(`Addresses that are ${status}.`),
      ]),
    ),
    not_validated: addresses("Addresses without a result: the file of `errors_url` has them."),
    stopped_by: nullable(
      Type.Enum(["plan_limit_reached", "insufficient_balance"], {
        description: "The limit that ended it early; null for none.",
      }),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: "What the sender ought to know about how the file was read.",
      }),
    ),
  },
  { $id: "BulkValidationResult", description: "What a validation of a file found." },
);

export const bulkValidationOutcome: JobOutcomeShape = {
  name: "ValidationBulkJob",
  about: "A validation of the addresses of a file.",
  counts: Object.fromEntries(
    statuses.map(([status, name]) => [name, jobCount(`Addresses that are ${status}.`)]),
  ),
  results: [BulkValidationResult],
};
