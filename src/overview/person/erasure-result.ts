/** The result of an erasure, as the API answers it. */
import { type TProperties, Type } from "typebox";
import { type JobOutcomeShape, jobCount } from "#platform/jobs/job-shape.ts";
import { described, Id } from "#platform/shapes.ts";

const erased = {
  messages: "Messages whose recipient and replies were erased.",
  message_contents: "Contents of messages that were erased.",
  cancelled: "Waiting messages that were cancelled.",
  memberships: "Memberships of lists that were deleted.",
  signup_requests: "Requests of sign-up forms that were deleted.",
  validations: "Validations of the address that were deleted.",
  received_emails: "Mails from the address to inbound routes that were deleted.",
};

const each = (shape: (description: string) => TProperties[string]): TProperties =>
  Object.fromEntries(Object.entries(erased).map(([name, description]) => [name, shape(description)]));

const Erased = Type.Object(
  each((description) => Type.Integer({ minimum: 0, description })),
  { $id: "ErasedCounts", description: "How much was erased." },
);

const ErasureResult = Type.Object(
  {
    subscriber_id: described(Id, "Id that the person had."),
    started_by: Type.String({ description: "Name of the API key or the person who started it." }),
    erased: Erased,
    is_suppressed: Type.Boolean({ description: "Whether the address is on a suppression list." }),
    kept: Type.Array(Type.String(), { description: "What stays, in sentences." }),
  },
  { $id: "ErasureResult", description: "What an erasure removed, and what stays." },
);

export const erasureOutcome: JobOutcomeShape = {
  name: "SubscriberErasureJob",
  about: "The erasure of a person.",
  counts: {
    ...each(jobCount),
    is_suppressed: jobCount("1 if the address is on a suppression list."),
  },
  results: [ErasureResult],
};
