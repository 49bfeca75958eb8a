/**
 * The service's own mail (confirmation links and the like): source `platform`, free, never suppressed by a plan. Of the
 * suppression lists it heeds what bounced or complained, and nothing that was put there by hand.
 */
import { notifyWorkers } from "../delivery/channel.ts";
import { parseAddress } from "../mail/address.ts";
import type { StoredAttachment } from "../messages/store.ts";
import type { Clock } from "../platform/clock.ts";
import type { Queryable } from "../platform/database/pool.ts";
import { newId, type WorkspaceId } from "../platform/ids.ts";
import { STANDARD_RETRY_HOURS } from "../workspace/workspaces/workspace.ts";
import { insertDrafts } from "./insert-drafts.ts";

export interface PlatformMail {
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly attachments?: readonly StoredAttachment[];
  /** An address that the workspace may send as, instead of ours. */
  readonly from?: { readonly address: string; readonly name: string | null };
}

/** Accepts it inside the caller's transaction: the mail goes out if and only if what it speaks of was stored. */
export type SendPlatformMail = (tx: Queryable, workspaceId: WorkspaceId, mail: PlatformMail) => Promise<void>;

export function createPlatformMail(from: string, clock: Clock): SendPlatformMail {
  return async (tx, workspaceId, mail) => {
    const to = parseAddress(mail.to);
    if (!to.ok) throw new Error(`platform mail to ${mail.to}: ${to.message}`);
    await insertDrafts(tx, [
      {
        sender: null,
        priority: 0,
        retryHours: STANDARD_RETRY_HOURS,
        message: {
          workspaceId,
          id: newId(),
          source: "platform",
          originId: null,
          originName: "Platform",
          fromEmail: mail.from?.address ?? from,
          fromName: mail.from === undefined ? "Posthaste" : mail.from.name,
          toName: null,
          localpart: to.local,
          domain: to.domain,
          subject: mail.subject,
          html: mail.html,
          text: mail.text,
          attachments: mail.attachments ?? [],
          bounceEmail: null,
          requestId: null,
          createdAt: clock.now(),
        },
      },
    ]);
    await notifyWorkers(tx);
  };
}
