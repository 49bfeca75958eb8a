/** Error pages in HTML for requests to pages that are refused before their handler runs: too many, or too large. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { waitText } from "#platform/languages/relative-time.ts";
import { asFailure } from "./envelope.ts";
import { html, sendPage } from "./html-page.ts";

/** A refusal that a page explains to its reader. */
export type PageRefusal =
  | { readonly kind: "too large" }
  | { readonly kind: "busy"; readonly seconds: number };

/**
 * The refusal behind an error, whose headers are set. Other errors are thrown on to the handler of the server.
 * @throws what was thrown
 */
export function readPageRefusal(thrown: unknown, reply: FastifyReply): PageRefusal {
  const { status, error } = asFailure(thrown);
  if (status !== 413 && status !== 429) throw thrown;
  reply.headers(error.headers);
  return status === 413
    ? { kind: "too large" }
    : { kind: "busy", seconds: waitSeconds(error.headers["Retry-After"]) };
}

/** Whole seconds to wait, at least one. @param seconds of a limit or of Retry-After */
export function waitSeconds(seconds: string | number = 1): number {
  return Math.max(1, Math.ceil(Number(seconds)));
}

/** The error handler of a scope of pages for people of the workspace. */
export function sendErrorPage(thrown: unknown, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = readPageRefusal(thrown, reply);
  if (refusal.kind === "busy") return sendBusy(reply, "Too many requests from your network", refusal.seconds);
  return sendPage(reply, 413, "Too large", html`<p>The form is too large. Please go back and send less.</p>`);
}

/** A page with 429 that says when to try again. @param seconds of a limit or of Retry-After */
export function sendBusy(
  reply: FastifyReply,
  title: string,
  seconds: string | number | undefined,
): FastifyReply {
  const wait = waitSeconds(seconds);
  const body = html`<p>Please try again ${waitText(wait, "en")}.</p>`;
  return sendPage(reply.header("Retry-After", String(wait)), 429, title, body);
}
