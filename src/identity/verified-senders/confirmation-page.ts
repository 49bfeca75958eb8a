/**
 * /verify-sender/{token}: the page behind the link of the confirmation mail. Mail scanners open links, so GET and HEAD
 * change nothing; only the button (POST) confirms. A link that is wrong, expired, replaced or used gets the same
 * answer, so the answer does not reveal whether a guessed link exists.
 */
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { ignoreBodies } from "#platform/http/request/read-body.ts";
import { sendErrorPage } from "#platform/http/response/error-page.ts";
import { html, sendPage } from "#platform/http/response/html-page.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { readSenderLink, senderLinkKeys } from "./confirmation-token.ts";
import { findSenderOfLink, updateSenderVerified } from "./store.ts";

const PATH = "/verify-sender/";

/** The path of the page for a token, relative to PUBLIC_URL. */
export function confirmationPath(token: string): string {
  return PATH + token;
}

type Token = { Params: { "*": string } };

/** Adds the page to a server, outside /api/v1. */
export function registerConfirmationPage(
  server: FastifyInstance,
  deps: { readonly db: Database; readonly clock: Clock; readonly secrets: Secrets },
): void {
  const keys = senderLinkKeys(deps.secrets);
  const linkOf = (token: string, now: Date) => keys.read((key) => readSenderLink(token, key, now));
  server.register(async (pages) => {
    pages.setErrorHandler(sendErrorPage);
    // The form has no fields.
    ignoreBodies(pages);
    // A wildcard, because the router itself would answer a parameter that is too long.
    pages.get<Token>(`${PATH}*`, async ({ params }, reply) => {
      const link = linkOf(params["*"], deps.clock.now());
      const sender = link && (await findSenderOfLink(deps.db, link));
      return sender ? sendQuestion(reply, sender.email) : sendInvalid(reply);
    });
    pages.post<Token>(`${PATH}*`, async ({ params }, reply) => {
      const now = deps.clock.now();
      const link = linkOf(params["*"], now);
      const sender = link && (await updateSenderVerified(deps.db, link, now));
      return sender ? sendConfirmed(reply, sender.email) : sendInvalid(reply);
    });
  });
}

function sendQuestion(reply: FastifyReply, email: string): FastifyReply {
  return sendPage(
    reply,
    200,
    "Confirm your sender address",
    html`<p>Someone asked to send mail as <strong>${email}</strong>. Is this your address, and do you agree?</p>
<form method="post"><button>Yes, confirm ${email}</button></form>
<p class="soft">If you did not expect this, close the page: without your confirmation nothing is sent in your name.</p>`,
  );
}

function sendConfirmed(reply: FastifyReply, email: string): FastifyReply {
  return sendPage(
    reply,
    200,
    "Thank you",
    html`<p><strong>${email}</strong> is confirmed as a sender address.</p>
<p class="soft">You can close this page.</p>`,
  );
}

function sendInvalid(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply,
    404,
    "This link does not work",
    html`<p>It may have been used already, replaced by a newer one, or cut off by the mail program.</p>
<p class="soft">Links work for 48 hours. The person who asked for the confirmation can send a new link.</p>`,
  );
}
