/** Renders mails in a thread, so that a large one delays no other request. */
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import { ApiError, overloaded } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createWorkerThread, type WorkerThreadLimits } from "#platform/process/worker-thread.ts";
import type { MailToRender, RenderAnswer } from "./render-mail.ts";

/** Two megabytes of HTML take about two seconds, and several times that on a busy machine. */
const LIMITS: WorkerThreadLimits = { deadlineMs: 20_000, heapMb: 512 };

/** One mail of a workspace at a time: an editor that asks again while the last mail is rendered waits for it. */
const BOUNDS = { concurrency: 1, maxWaiting: 20, maxWaitMs: 10_000 };

/** Asks a thread about a mail. @throws ApiError RATE_LIMIT_EXCEEDED, BAD_REQUEST for a mail that takes too long */
export type AskAside<Answer, Mail extends MailToRender = MailToRender> = (
  workspaceId: WorkspaceId,
  mail: Mail,
) => Promise<Answer>;
export type RenderAside = AskAside<RenderAnswer>;

export function createRenderer(): RenderAside {
  return createMailThread(new URL("render-thread.ts", import.meta.url));
}

/** @param module a thread that answers each mail with one message */
export function createMailThread<Answer, Mail extends MailToRender = MailToRender>(
  module: URL,
  limits = LIMITS,
): AskAside<Answer, Mail> {
  const thread = createWorkerThread<Mail, Answer>(module, limits);
  const takeTurn = createWorkspaceLimiter(
    BOUNDS,
    "Too many mails of this workspace are being rendered: send fewer requests at a time",
  );
  return (workspaceId, mail) =>
    takeTurn(workspaceId, async () => {
      const answer = await thread.ask(mail);
      if (answer.ok) return answer.answer;
      if (answer.reason === "too_slow") throw overloaded("The mail could not be rendered in time: try again");
      throw new ApiError("BAD_REQUEST", "The mail takes too much memory to be rendered: shorten its HTML");
    });
}
