/** Outcomes as the engine tells the message door of them. */
import { type Outcome, unclassified } from "#messages/message/outcome.ts";

/** Of a first attempt, of which the other side said little. */
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
