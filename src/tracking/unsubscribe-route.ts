import type { FastifyInstance, FastifyReply } from "fastify";
import type { RecipientPage } from "#workspace/recipient-pages/recipient-page.ts";
import { paths, TEST_TOKEN } from "./link-tokens.ts";
import { sendTestUnsubscribe } from "./test-mail-page.ts";
import { findRecipient, type MailRecipient } from "./tracked-mail-store.ts";
import { mailOf, pageFor, type TokenPath, type TrackingDeps, uncached } from "./tracking-deps.ts";
import { mayUndo, undoUnsubscribe, unsubscribe } from "./unsubscribe-and-undo.ts";
import {
  sendInvalidLink,
  sendResubscribed,
  sendUnsubscribed,
  sendUnsubscribeQuestion,
  UNDO,
} from "./unsubscribe-page.ts";

/** The unsubscribe link: GET asks, POST unsubscribes or takes that back. */
export function registerUnsubscribeRoutes(pages: FastifyInstance, deps: TrackingDeps): void {
  const { db, clock } = deps;
  const sendGone = (reply: FastifyReply, page: RecipientPage, recipient: MailRecipient) =>
    sendUnsubscribed(reply, page, recipient, mayUndo(recipient, clock.now()));

  pages.get<TokenPath>(`${paths.unsubscribe}*`, async ({ params }, reply) => {
    if (params["*"] === TEST_TOKEN) return sendTestUnsubscribe(reply);
    const mail = mailOf(deps, params["*"], "unsubscribe");
    const recipient = mail && (await findRecipient(db, mail));
    if (!mail || !recipient) return sendInvalidLink(reply);
    const page = await pageFor(db, mail.workspaceId, recipient);
    return recipient.is_subscribed
      ? sendUnsubscribeQuestion(reply, page, recipient)
      : sendGone(reply, page, recipient);
  });

  pages.post<TokenPath>(`${paths.unsubscribe}*`, async ({ params, body }, reply) => {
    if (params["*"] === TEST_TOKEN) return sendTestUnsubscribe(reply);
    const mail = mailOf(deps, params["*"], "unsubscribe");
    if (mail && body === UNDO) {
      await undoUnsubscribe(deps, mail);
      const recipient = await findRecipient(db, mail);
      if (!recipient) return sendInvalidLink(reply);
      const page = await pageFor(db, mail.workspaceId, recipient);
      return recipient.is_subscribed
        ? sendResubscribed(reply, page, recipient)
        : sendGone(reply, page, recipient);
    }
    const recipient = mail && (await unsubscribe(deps, mail));
    if (!recipient) return sendInvalidLink(reply);
    if (!isOneClick(body)) {
      const page = await pageFor(db, mail.workspaceId, recipient);
      return sendGone(reply, page, (await findRecipient(db, mail)) ?? recipient);
    }
    return reply.headers(uncached).type("text/plain; charset=utf-8").send("Unsubscribed\n");
  });
}

/** RFC 8058 section 3.1: a form with this one field, urlencoded or multipart. */
function isOneClick(body: unknown): boolean {
  return typeof body === "string" && /List-Unsubscribe(?:=|"\s+)One-Click/i.test(body);
}
