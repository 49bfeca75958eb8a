/** A job as the API answers it. The type of a job decides what its counts and its result have. */
import { type TProperties, type TSchema, Type } from "typebox";
import { CreatedAt, DOCUMENTED_AS, described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { jobIdentityFields } from "./job-identity.ts";
import { jobStatuses } from "./job-record-store.ts";

/** What the jobs of one type count and result in. */
export interface JobOutcomeShape {
  /** Name of the schema of such a job. */
  readonly name: string;
  /** What such a job does, in a sentence. */
  readonly about: string;
  /** Counts besides those that all jobs have. */
  readonly counts: TProperties;
  /** The forms of the result, besides null. */
  readonly results: readonly TSchema[];
}

const countsOfAll = {
  created: Type.Integer({ description: "Rows that were added." }),
  updated: Type.Integer({ description: "Rows that were changed." }),
  duplicates: Type.Integer({ description: "Rows that another row of the file replaced." }),
  invalid: Type.Integer({ description: "Rows that were refused." }),
};

/** A count of one type of job. */
export const jobCount = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `${description} Absent until the job has begun.` }));

const resultDescription =
  "The result of the job; null until it has ended, and if it failed. Its `examples` and the `samples` of its columns are only there for callers who may read what the job is about: `jobs:read` is not enough.";

const fieldsOfAll = {
  id: described(Id, "Id of the job."),
  job_id: Type.String({ format: "uuid", description: "Equal to id." }),
  ...jobIdentityFields,
  status: Type.Enum([...jobStatuses], { description: "Its state." }),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: "Percentage." }),
  total: nullable(Type.Integer({ description: "Items to process; null while unknown." })),
  processed: Type.Integer({ description: "Rows that were read." }),
  succeeded: Type.Integer({ description: "Rows that were carried out." }),
  failed: Type.Integer({ description: "Rows that were refused." }),
  skipped: Type.Integer({ description: "Rows that changed nothing." }),
  error: nullable(Type.String({ description: "Why it failed." })),
  download_url: nullable(Type.String({ description: "Path of the result file." })),
  errors_url: nullable(Type.String({ description: "Path of the file with the errors of rows." })),
  error_rows_url: nullable(
    Type.String({
      description:
        "Path of the file with the rows that have errors, in the columns of the upload, to be corrected and uploaded again; null if there is none.",
    }),
  ),
  created_at: CreatedAt,
  started_at: nullable(described(Timestamp, "When it began, in UTC; null while it waits.")),
  completed_at: nullable(described(Timestamp, "When it ended, in UTC; null while it waits or runs.")),
  expires_at: nullable(described(Timestamp, "When its files are deleted, in UTC; null before it has ended.")),
};

/** A job of any type, as code has it. */
export const AnyJob = Type.Object({
  ...fieldsOfAll,
  type: Type.String({ description: "What it does." }),
  counts: Type.Object(countsOfAll, { additionalProperties: Type.Integer() }),
  result: Type.Unknown(),
});

/** A job as the reference shows it: one of the types, told apart by `type`. */
export function jobShape(outcomes: Readonly<Record<string, JobOutcomeShape>>): typeof AnyJob {
  const types = Object.entries(outcomes);
  const documented = {
    description: "A background job. Its `type` decides what `counts` and `result` have.",
    oneOf: types.map(([type, outcome]) => jobOfType(type, outcome)),
    discriminator: {
      propertyName: "type",
      mapping: Object.fromEntries(types.map(([type, { name }]) => [type, `#/components/schemas/${name}`])),
    },
  };
  return Type.With(AnyJob, { $id: "Job", ...(types.length > 0 && { [DOCUMENTED_AS]: documented }) });
}

const JobFields = Type.Object(fieldsOfAll, {
  $id: "JobFields",
  description: "What jobs of all types have.",
});

function jobOfType(type: string, { name, about, counts, results }: JobOutcomeShape) {
  const ofType = Type.Object({
    type: Type.Literal(type, { description: "What it does." }),
    counts: countsOfType(counts),
    result: resultOfType(results),
  });
  return { $id: name, description: about, ...ofType, allOf: [JobFields] };
}

/** All counts of a type of job. */
export function countsOfType(counts: TProperties) {
  return Type.Object({ ...countsOfAll, ...counts }, { description: "The same rows by their outcome." });
}

/** The result of a type of job, or null. */
export function resultOfType(results: readonly TSchema[]) {
  return Type.Union([...results, Type.Null()], { description: resultDescription });
}
