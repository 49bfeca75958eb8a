/** The dependencies of the tracking routes, and the functions that the routes share. */
import type { FastifyRequest } from "fastify";
import { findRecipientLanguage } from "#audience/languages/store.ts";
import type { Engagement } from "#messages/record-engagement.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import { loadRecipientPage, type RecipientPage } from "#workspace/recipient-pages/recipient-page.ts";
import { machineSign } from "./bot-detection.ts";
import type { EngagementRecorder } from "./engagement-recorder.ts";
import { type LinkPurpose, type MailLinks, mailLinks, readToken, type TrackedMail } from "./link-tokens.ts";
import type { MailRecipient } from "./tracked-mail-store.ts";
import type { OnResubscribed, OnUnsubscribed } from "./unsubscribe-and-undo.ts";

/**
 * Renders a mail again as its recipient got it, except for its links and its own images, which are at the address of the
 * page plus `/<content id>`. Null when its content has been removed.
 *
 * @param shown the values that the address of the page carries
 * @param linksAt makes the links from the base address of the mail's links; none may be relative to the page
 */
export type RenderMail = (
  mail: TrackedMail,
  shown: string | null,
  linksAt: (base: string) => MailLinks,
) => Promise<{ readonly html: string | null; readonly text: string | null } | null>;

/** An image attached to a mail and shown in its HTML. */
export interface MailImage {
  /** image/… */
  readonly type: string;
  readonly content: Buffer;
}

/** Null when the mail has no image of that content id, or its content has been removed. */
export type FindImage = (mail: TrackedMail, contentId: string) => Promise<MailImage | null>;

export interface TrackingDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly keys: PurposeKeys;
  readonly recorder: Pick<EngagementRecorder, "record" | "hold">;
  readonly onUnsubscribed: OnUnsubscribed;
  readonly onResubscribed: OnResubscribed;
  readonly renderMail: RenderMail;
  readonly findImage: FindImage;
}

/** The path behind the prefix: a wildcard, because the router itself would answer a parameter that is too long. */
export type TokenPath = { Params: { "*": string } };

export const uncached = { "Cache-Control": "no-store, max-age=0", "X-Robots-Tag": "noindex" };

/** The longest time in milliseconds that an answer waits for its event to be recorded. */
const RECORD_MS = 100;

/** Null for a token that is not valid for this purpose. */
export function mailOf({ keys }: TrackingDeps, token: string, purpose: LinkPurpose): TrackedMail | null {
  return keys.read((key) => readToken(token, purpose, key));
}

/** The page for the recipient of a mail, in their language. */
export async function pageFor(
  db: Queryable,
  workspaceId: WorkspaceId,
  { mailing_list_id: mailingListId, subscriber_id: subscriberId }: MailRecipient,
): Promise<RecipientPage> {
  const language = await findRecipientLanguage(db, workspaceId, { mailingListId, subscriberId });
  return loadRecipientPage(db, workspaceId, language);
}

export function engagementOf(
  { clock }: TrackingDeps,
  request: FastifyRequest,
  mail: TrackedMail,
  kind: Engagement["kind"],
): Engagement {
  return {
    ...mail,
    kind,
    time: clock.now(),
    times: 1,
    linkIndex: null,
    target: null,
    userAgent: String(request.headers["user-agent"] ?? ""),
    machineSign: machineSign(request),
  };
}

/** Waits for an event to be recorded, at most RECORD_MS. */
export async function recorded(done: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, RECORD_MS);
  await Promise.race([done, late.promise]);
  clearTimeout(timer);
}

/** Links that are not tracked, for the web view: its reader has opened the mail already. */
export function untrackedLinks({ keys }: TrackingDeps, mail: TrackedMail, base: string): MailLinks {
  return {
    ...mailLinks(mail, base, keys.signing),
    pixel: null,
    tracked: (_index: number, target: string) => target,
  };
}
