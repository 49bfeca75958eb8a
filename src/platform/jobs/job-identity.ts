/** What people recognise a job by, as the API shows it: in lists, and while they watch it. */
import { Type } from "typebox";
import { Id, nullable } from "#platform/shapes.ts";

const JobActor = Type.Object(
  {
    kind: Type.Enum(["key", "person"], { description: "An API key, or a person who was signed in." }),
    id: Id,
    name: Type.String({ description: "Its name when the job started." }),
  },
  { $id: "JobActor", description: "Who started the job; null if that is not recorded." },
);

const JobResource = Type.Object(
  {
    kind: Type.String({
      description: "The noun of its permission: `mailing_lists`, `suppression_lists` or `campaigns`.",
    }),
    id: Id,
    name: Type.String({ description: "Its name when the job started." }),
  },
  { $id: "JobResource", description: "What the job is about; null if it is about no single one." },
);

export const jobIdentityFields = {
  label: nullable(Type.String({ description: "The label that its request gave; null for none." })),
  actor: nullable(JobActor),
  file_name: nullable(Type.String({ description: "Name of the uploaded file; null without an upload." })),
  resource: nullable(JobResource),
};
