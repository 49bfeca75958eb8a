/** Error pages in HTML for requests to pages that are refused before their handler runs: too many, or too large. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { asFailure } from "./envelope.ts";
import { html, sendPage } from "./html-page.ts";

/** The error handler of a scope of pages. Other errors are thrown on to the handler of the server. */
export function sendErrorPage(thrown: unknown, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, error } = asFailure(thrown);
  if (status !== 413 && status !== 429) throw thrown;
  reply.headers(error.headers);
  if (status === 429)
    return sendBusy(reply, "Too many requests from your network", error.headers["Retry-After"]);
  return sendPage(
    reply,
    status,
    "Too large",
    html`<p>The form is too large. Please go back and send less.</p>`,
  );
}

/** A page with 429 that says when to try again. @param seconds the value of Retry-After */
export function sendBusy(reply: FastifyReply, title: string, seconds: string | number = 1): FastifyReply {
  const wait = Math.max(1, Math.ceil(Number(seconds)));
  reply.header("Retry-After", String(wait));
  return sendPage(reply, 429, title, html`<p>Please try again in ${waitText(wait)}.</p>`);
}

function waitText(seconds: number): string {
  const [amount, unit] =
    seconds < 60
      ? [seconds, "second"]
      : seconds < 2 * 3_600
        ? [Math.ceil(seconds / 60), "minute"]
        : [Math.ceil(seconds / 3_600), "hour"];
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}
