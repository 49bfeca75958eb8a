/** Drafts of messages to accept without HTTP. */
import type { OnMoved } from "#messages/message/outcome.ts";
import type { NewMessage } from "#messages/store.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { Draft } from "#sending/acceptance/accept-messages-statement.ts";

/** An `OnMoved` that does nothing. */
export const nobodyElse: OnMoved = async () => {};

/** A small message to `to`. `change` may replace every field. */
export function draft(workspaceId: WorkspaceId, to: string, change: Partial<NewMessage> = {}): Draft {
  const at = to.lastIndexOf("@");
  return {
    priority: 0,
    retryHours: 72,
    sender: null,
    message: {
      workspaceId,
      id: newId(),
      source: "api",
      originId: null,
      originName: "Test key",
      fromEmail: "shop@sender.test",
      fromName: "Shop",
      toName: null,
      localpart: to.slice(0, at),
      domain: to.slice(at + 1),
      subject: "Hello",
      html: "<p>Hello</p>",
      text: null,
      attachments: [],
      bounceEmail: null,
      requestId: null,
      createdAt: new Date(),
      ...change,
    },
  };
}
