/** Outcomes as the delivery engine records them. */
import { type Outcome, unclassified } from "#messages/message/outcome.ts";

/** The outcome of a first attempt with a short, unclassified reply. */
export function outcomeOf(
  message: Pick<Outcome, "workspaceId" | "messageId">,
  status: Outcome["status"],
  particulars: Partial<Outcome> = {},
): Outcome {
  return {
    ...message,
    status,
    time: new Date(),
    attempts: 1,
    nextAttemptAt: null,
    detail: "said so",
    mxHost: null,
    code: null,
    enhancedCode: null,
    isAddressFault: false,
    ...unclassified,
    ...particulars,
  };
}
