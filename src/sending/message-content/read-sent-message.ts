/**
 * The octets of a message as they were sent: those that capture mode stored, or the message composed again by the code
 * that sends. Composed again, the DKIM signature is a new one, Date may differ by the seconds of the first attempt, and a
 * campaign's mail shows the recipient's present values where the log keeps none (mail/web-view-values.ts).
 */
import { type ComposeOptions, prepare } from "#delivery/compose/compose-leased-message.ts";
import type { Ending } from "#delivery/message/attempt.ts";
import type { EmailContent, ReadyMessage } from "#delivery/message/message.ts";
import { contentLoader } from "#delivery/queue/load-large-content-store.ts";
import { ERASED } from "#messages/erase-recipient-store.ts";
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import type { CampaignMailDeps } from "#sending/mail/deps.ts";
import { UncompilableContent } from "#sending/mail/mail-content.ts";
import { findKeptMessage, type KeptMessage } from "./store.ts";
import { type BulkMails, writeBulkMailAgain } from "./write-bulk-mail-again.ts";

export interface SentMessageDeps extends CampaignMailDeps {
  readonly db: Database;
  readonly composing: ComposeOptions;
  /** Days for which contents are kept; null: forever. */
  readonly contentDays: number | null;
  readonly bulkMails: BulkMails;
}

export interface ShownMessage {
  readonly raw: Buffer;
  readonly isRebuilt: boolean;
  /** The envelope sender. */
  readonly mailFrom: string;
  /** When the content is no longer shown; null: never. */
  readonly expiresAt: Date | null;
}

/** One message of a workspace is composed again at a time: it may have 27 MB. */
const takeTurnOf = createWorkspaceLimiter(
  { concurrency: 1, maxWaiting: 20, maxWaitMs: 10_000 },
  "Too many messages of this workspace are being read: send fewer requests at a time",
);

/**
 * @throws ApiError NOT_FOUND for an unknown message, FORBIDDEN for the service's own mail, GONE for content that is no
 * longer kept, CONFLICT for a message that has no content or whose content cannot be composed, RATE_LIMIT_EXCEEDED while
 * the workspace reads too many others
 */
export async function readSentMessage(
  deps: SentMessageDeps,
  workspaceId: WorkspaceId,
  messageId: string,
): Promise<ShownMessage> {
  return takeTurnOf(workspaceId, async () => {
    const message = await findKeptMessage(deps.db, workspaceId, messageId);
    if (message === undefined) throw notFound("Message");
    const { contentDays: days } = deps;
    const expiresAt = days === null ? null : new Date(message.created_at.getTime() + days * DAY_MS);
    requireContent(message);
    if (expiresAt !== null && expiresAt <= deps.clock.now()) throw goneAfter(days);
    const { captured, mail_from } = message;
    if (captured !== null && mail_from !== null) {
      return { raw: captured, isRebuilt: false, mailFrom: mail_from, expiresAt };
    }
    const composed = await composeAgain(deps, message);
    return { raw: composed.message, isRebuilt: true, mailFrom: composed.mailFrom, expiresAt };
  });
}

function requireContent({ source, status, is_sms, has_content, localpart }: KeptMessage): void {
  if (source === "platform") {
    throw new ApiError(
      "FORBIDDEN",
      "Mail of the service itself is not shown: its links are for its recipient alone",
    );
  }
  if (localpart === ERASED) {
    throw new ApiError("GONE", "The content of this message was erased with the data of its recipient");
  }
  if (is_sms) throw new ApiError("CONFLICT", "An SMS has no MIME message: read the text of its campaign");
  if (status === "suppressed" && !has_content) {
    throw new ApiError("CONFLICT", "The message was suppressed and never composed: its content is not kept");
  }
}

const goneAfter = (days: number | null) =>
  new ApiError(
    "GONE",
    days === null
      ? "The content of this message is no longer stored"
      : `The content of this message is no longer shown: contents are kept for ${days} days (the setting MESSAGE_CONTENT_DAYS)`,
  );

async function composeAgain(deps: SentMessageDeps, message: KeptMessage) {
  const content = await contentOf(deps, message);
  const ready: ReadyMessage = {
    ...message,
    content,
    lease_number: 0,
    priority: 0,
    attempts: 0,
    bytes: 0,
    expires_at: message.created_at,
    lives_ms: 0,
    is_stale: false,
    routing_version: null,
    source_ip: null,
  };
  let ending: Ending | undefined;
  const composed = await prepare(
    ready,
    { ...deps.composing, loadContent: contentLoader(deps.db) },
    {
      mayStart: () => true,
      onEnd(_message, given) {
        ending = given;
      },
    },
  );
  if (composed !== null) return composed;
  if (ending?.kind === "unsendable") throw notComposable(ending.error);
  throw ending?.kind === "requeue" && ending.cause instanceof Error
    ? ending.cause
    : new Error("a message was not composed");
}

/** What makes the content of a campaign's or an autoresponder's mail; null when the content is stored. */
async function contentOf(deps: SentMessageDeps, message: KeptMessage): Promise<(() => EmailContent) | null> {
  if (message.has_content) return null;
  const { source } = message;
  if (source !== "campaign" && source !== "autoresponder") throw goneAfter(deps.contentDays);
  try {
    const content = await writeBulkMailAgain(deps, deps.bulkMails[source], message);
    if (content === null) throw goneAfter(null);
    return content;
  } catch (fault) {
    throw fault instanceof UncompilableContent ? notComposable(fault) : fault;
  }
}

const notComposable = (fault: unknown) =>
  new ApiError(
    "CONFLICT",
    `The message cannot be composed again: ${fault instanceof Error ? fault.message : String(fault)}`,
  );
