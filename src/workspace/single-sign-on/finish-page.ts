/**
 * /single-sign-on/finish: the page to which the OpenID provider sends the browser. It opens the session and goes on to the
 * path that was named at the start, or says why it does not.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "#platform/errors.ts";
import { sendErrorPage } from "#platform/http/response/error-page.ts";
import { html, sendPage } from "#platform/http/response/html-page.ts";
import { clientOf } from "#platform/http/route-handler.ts";
import { FINISH_PATH, RETRY_SECONDS, type SignOnFailure, type SingleSignOn } from "./single-sign-on.ts";

interface FinishPageDeps {
  readonly singleSignOn: SingleSignOn;
  /** Path of a page of the console, such as /sign-in. */
  readonly consolePath: (page: string) => string;
}

export function registerFinishPage(server: FastifyInstance, deps: FinishPageDeps): void {
  const { singleSignOn } = deps;
  server.register(async (pages) => {
    pages.setErrorHandler((fault, request, reply) =>
      isOfPerson(fault)
        ? sendFailure(reply, deps, { failure: "unknown", returnTo: null }, fault.message)
        : sendErrorPage(fault, request, reply),
    );
    // A HEAD request must not use up the code.
    pages.get(FINISH_PATH, { exposeHeadRoute: false }, async (request, reply) => {
      const { cookies, id: requestId } = request;
      const query = queryOf(request);
      const finished = await singleSignOn.finish({ client: clientOf(request), cookies, requestId, query });
      if (cookies.changes.length > 0) reply.header("Set-Cookie", [...cookies.changes]);
      if ("failure" in finished) return sendFailure(reply, deps, finished);
      const { returnTo, challenge } = finished;
      // What follows "#" stays in the browser.
      const next =
        challenge === null
          ? returnTo
          : `${signInPath(deps, returnTo)}#${new URLSearchParams({ challenge }).toString()}`;
      return reply
        .headers({ Location: next, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" })
        .code(303)
        .send();
    });
  });
}

/** Refusals to create a person: the workspace is full, or someone took the address at the same moment. */
function isOfPerson(fault: unknown): fault is ApiError {
  return fault instanceof ApiError && (fault.code === "BAD_REQUEST" || fault.code === "CONFLICT");
}

function queryOf({ url }: FastifyRequest): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : url.slice(start + 1));
}

const statuses: Readonly<Partial<Record<SignOnFailure, number>>> = {
  not_begun: 400,
  invalid: 400,
  unavailable: 503,
};

/** The sign-in page of the console, which goes on to the path that was named at the start. */
function signInPath({ consolePath }: FinishPageDeps, returnTo: string | null): string {
  const page = consolePath("/sign-in");
  return returnTo === null ? page : `${page}?${new URLSearchParams({ return_to: returnTo }).toString()}`;
}

/** @param reason in place of the usual sentence */
function sendFailure(
  reply: FastifyReply,
  deps: FinishPageDeps,
  { failure, returnTo }: { readonly failure: SignOnFailure; readonly returnTo: string | null },
  reason = sentences(deps.singleSignOn.name)[failure],
): FastifyReply {
  const status = statuses[failure] ?? 403;
  if (status === 503) reply.header("Retry-After", String(RETRY_SECONDS));
  return sendPage(
    reply,
    status,
    "You are not signed in",
    html`<p>${reason}</p>
<p><a href="${signInPath(deps, returnTo)}">Go to the sign-in page</a></p>`,
  );
}

function sentences(name: string): Readonly<Record<SignOnFailure, string>> {
  return {
    not_begun:
      "This browser has begun no sign-in, or it began more than ten minutes ago or at another address of this service. Please begin again.",
    invalid: `The answer of ${name} is not valid, or was used already. Please begin again.`,
    cancelled: `The sign-in at ${name} was cancelled or refused there.`,
    not_asked_again: `${name} does not say that it asked you again who you are. Please sign out there, then begin again. If it lasts, tell the operator of this service.`,
    unavailable: `${name} does not answer as it should. Please try again shortly. If it lasts, tell the operator of this service, whose log has the reason.`,
    unverified: `${name} does not say that your address is verified. Please verify it there, or sign in another way.`,
    other_domain: "Your address is not of a domain that may sign in here.",
    unknown:
      "There is no account here with your address. Please ask an owner of your workspace for an invitation, then sign in again.",
    disabled: "Your account here is disabled. Please ask the operator of this service.",
    other_account: `Your account here is connected with another account at ${name}. Please sign in with that one, or ask the operator of this service.`,
  };
}
