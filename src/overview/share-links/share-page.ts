/**
 * The pages of share links, outside /api/v1: /share/TOKEN. The token is the permission; a link may also ask for a password,
 * which is sent with each view, so that no cookie is needed.
 */
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { takeBodies } from "#platform/http/request/read-body.ts";
import { sendBusy, sendErrorPage } from "#platform/http/response/error-page.ts";
import { cardLayout, html, sendPage } from "#platform/http/response/html-page.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { sendTryAgain } from "#tracking/unsubscribe-page.ts";
import type { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { hashToken } from "#workspace/people/open-session.ts";
import { beginShareAttempt, endAttempt } from "#workspace/sign-in/attempts.ts";
import type { KeptReports } from "./kept-reports.ts";
import { reportLayout } from "./report-layout.ts";
import { LONGEST_SHARE_PASSWORD, type ShareLinkKind } from "./share-link.ts";
import { workspaceOfToken } from "./share-token.ts";
import { countView, findOpenLink, type OpenedLink } from "./store.ts";

export const SHARE_PATH = "/share/";
/** A form with one password. */
const FORM_BYTES = 4_096;

export interface SharePageDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly hasher: PasswordHasher;
  readonly reports: Readonly<Record<ShareLinkKind, KeptReports>>;
}

interface FoundLink extends OpenedLink {
  readonly workspaceId: WorkspaceId;
}

type TokenPath = { Params: { "*": string } };

export function registerSharePages(server: FastifyInstance, deps: SharePageDeps): void {
  const { db, clock, hasher } = deps;

  async function find(token: string): Promise<FoundLink | undefined> {
    const workspaceId = workspaceOfToken(token);
    if (workspaceId === null) return undefined;
    const link = await findOpenLink(db, workspaceId, hashToken(token), clock.now());
    return link && { ...link, workspaceId };
  }

  async function show(reply: FastifyReply, link: FoundLink): Promise<FastifyReply> {
    const { workspaceId, id, kind, resource_id } = link;
    const report = await deps.reports[kind].find(workspaceId, resource_id);
    if (report === undefined) return sendNoLink(reply);
    // Programs ask with HEAD whether a link works: that shows nothing to anyone.
    if (reply.request.method !== "HEAD") await countView(db, workspaceId, id, clock.now());
    return sendPage(reply, 200, report.title, report.body, reportLayout);
  }

  server.register(async (pages) => {
    takeBodies(pages, "*", (body) => body.toString(), FORM_BYTES);
    pages.setErrorHandler((error, request, reply) => {
      if (!(error instanceof ApiError)) return sendErrorPage(error, request, reply);
      if (error.status === 503) return sendTryAgain(reply);
      return error.status === 429
        ? sendBusy(reply, "Please try again later", error.headers["Retry-After"])
        : sendErrorPage(error, request, reply);
    });
    // The path without a token, which the wildcard does not match.
    pages.route({
      method: ["GET", "POST"],
      url: SHARE_PATH,
      handler: async (_request, reply) => sendNoLink(reply),
    });
    pages.get<TokenPath>(`${SHARE_PATH}*`, async ({ params }, reply) => {
      const link = await find(params["*"]);
      if (link === undefined) return sendNoLink(reply);
      return link.password_hash === null ? show(reply, link) : sendQuestion(reply, 200);
    });
    pages.post<TokenPath>(`${SHARE_PATH}*`, async ({ params, body, ip }, reply) => {
      const link = await find(params["*"]);
      if (link === undefined) return sendNoLink(reply);
      if (link.password_hash === null) return show(reply, link);
      const password = new URLSearchParams(typeof body === "string" ? body : "").get("password") ?? "";
      if (password === "" || password.length > LONGEST_SHARE_PASSWORD) return sendQuestion(reply, 403);
      const attempt = await beginShareAttempt(db, { linkId: link.id, ip }, clock.now());
      const { isRight } = await hasher.check(password, link.password_hash);
      if (!isRight) return sendQuestion(reply, 403);
      await endAttempt(db, attempt);
      return show(reply, link);
    });
  });
}

function sendNoLink(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply,
    404,
    "This link does not work",
    html`<p>It has ended, was revoked, or is incomplete.</p>
<p class="soft">Ask the person who sent it for a new one.</p>`,
  );
}

const questionLayout = cardLayout(`
label { display: block; font-weight: 600 }
input { width: 100%; margin: .375rem 0 .5rem; padding: .7rem .75rem; border: 1px solid var(--soft); border-radius: .5rem; background: var(--paper); color: var(--ink); font: inherit }
`);

/** @param status 403 after a wrong password */
function sendQuestion(reply: FastifyReply, status: 200 | 403): FastifyReply {
  const fault =
    status === 403 ? html`<p id="fault" role="alert">This is not the password. Please try again.</p>` : "";
  return sendPage(
    reply,
    status,
    "Password needed",
    html`${fault}<form method="post">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="off" required maxlength="${LONGEST_SHARE_PASSWORD}">
<button>Show</button>
</form>
<p class="soft">The person who sent the link knows the password.</p>`,
    questionLayout,
  );
}
