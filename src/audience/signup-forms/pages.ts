/**
 * /s/{token}: the public form of a list, and /s/confirm/{token}, the page behind the link that it mails. Mail scanners
 * open links, so looking (GET, HEAD) changes nothing; a button (POST) does. The form may also stand in anybody's own
 * page: it is an ordinary POST of email, first_name and last_name.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ApiError } from "../../platform/errors.ts";
import { cardLayout, html, sendPage } from "../../platform/http/page.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import type { Secrets } from "../../platform/secrets.ts";
import { LONGEST_NAME, readEmail, readLine } from "../subscribers/input.ts";
import { type Applicant, type AskDeps, askOwner } from "./ask.ts";
import { type ConfirmDeps, confirm, findOpenRequest } from "./confirm.ts";
import { findSignupForm, type SignupForm } from "./store.ts";
import { readSignupLink, signSignupLink, signupKeys } from "./token.ts";

const PATH = "/s/";
const CONFIRM = "/s/confirm/";
const FORM_BYTES = 8_192;
/** People do not see this field; programs fill in whatever there is. */
const BAIT = "website";
/** Longer than a mail takes to be accepted: how soon the answer comes shall not tell whether there was one. */
const ANSWER_MS = 150;

type Token = { Params: { "*": string } };

/** The address of a list's form. */
export function signupUrl(
  publicUrl: string,
  secrets: Secrets,
  workspaceId: WorkspaceId,
  mailingListId: string,
): string {
  return publicUrl + PATH + signSignupLink({ workspaceId, id: mailingListId }, signupKeys(secrets).form);
}

export type SignupPageDeps = Omit<AskDeps, "key" | "confirmationUrl"> &
  ConfirmDeps & { readonly secrets: Secrets; readonly publicUrl: () => string };

/** Adds the pages to a server, outside /api/v1. */
export function registerSignupPages(server: FastifyInstance, deps: SignupPageDeps): void {
  const keys = signupKeys(deps.secrets);
  const asking: AskDeps = {
    ...deps,
    key: keys.confirmation,
    confirmationUrl: (token) => deps.publicUrl() + CONFIRM + token,
  };
  const formOf = async (token: string) => {
    const link = readSignupLink(token, keys.form);
    const form = link && (await findSignupForm(deps.db, link.workspaceId, link.id));
    return link && form && { workspaceId: link.workspaceId, form };
  };

  server.register(async (pages) => {
    pages.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: FORM_BYTES },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    // Wildcards, because a parameter that is too long would be answered by the router and not by the page.
    pages.get<Token>(`${CONFIRM}*`, async ({ params }, reply) => {
      const link = readSignupLink(params["*"], keys.confirmation);
      const open = link && (await findOpenRequest(deps, link));
      if (!open) return sendInvalid(reply);
      return open.request.confirmed_at === null
        ? sendQuestion(reply, open.form, open.request.email)
        : sendJoined(reply, open.form);
    });
    pages.post<Token>(`${CONFIRM}*`, async ({ params }, reply) => {
      const link = readSignupLink(params["*"], keys.confirmation);
      const open = link && (await findOpenRequest(deps, link));
      if (!link || !open) return sendInvalid(reply);
      const confirmation = await confirm(deps, link, open);
      return confirmation === "joined" ? sendJoined(reply, open.form) : sendKeptOff(reply, open.form);
    });
    pages.get<Token>(`${PATH}*`, async ({ params }, reply) => {
      const found = await formOf(params["*"]);
      return found ? sendForm(reply, found.form) : sendInvalid(reply);
    });
    pages.post<Token>(`${PATH}*`, async ({ params, body }, reply) => {
      const found = await formOf(params["*"]);
      if (!found) return sendInvalid(reply);
      const fields = body instanceof URLSearchParams ? body : new URLSearchParams();
      const applicant = readApplicant(fields);
      if ("fault" in applicant) return sendForm(reply, found.form, { fault: applicant.fault, fields });
      const isAsked = !fields.get(BAIT);
      await Promise.all([
        isAsked && askOwner(asking, found.workspaceId, found.form, applicant),
        delay(ANSWER_MS),
      ]);
      return sendAsked(reply, found.form);
    });
  });
}

/** What was typed, or what is wrong with it in words for whoever typed it. */
function readApplicant(fields: URLSearchParams): Applicant | { readonly fault: string } {
  const name = (field: string) =>
    readLine(field, (fields.get(field) ?? "").slice(0, LONGEST_NAME).toWellFormed());
  try {
    return {
      email: readEmail(fields.get("email") ?? ""),
      first_name: name("first_name"),
      last_name: name("last_name"),
    };
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    return { fault: fault.message.replace(/^\w+: /, "") };
  }
}

const layout = cardLayout(`
label { display: block; margin: 0 0 1rem }
input { display: block; width: 100%; margin-top: .25rem; padding: .7rem .9rem; border: 1px solid var(--soft); border-radius: .5rem; background: var(--ground); color: var(--ink); font: inherit }
.fault { padding: .7rem .9rem; border-left: 4px solid #c62828; background: var(--ground) }
`);

function sendForm(
  reply: FastifyReply,
  { list_name }: SignupForm,
  again?: { readonly fault: string; readonly fields: URLSearchParams },
): FastifyReply {
  const value = (field: string) => again?.fields.get(field)?.slice(0, 500) ?? "";
  return sendPage(
    reply,
    again ? 400 : 200,
    list_name,
    html`${
      again
        ? html`<p class="fault" role="alert">${again.fault}</p>
`
        : ""
    }<form method="post">
<label>Your email address<input type="email" name="email" autocomplete="email" required maxlength="254" value="${value("email")}"></label>
<label>First name<input name="first_name" autocomplete="given-name" maxlength="${LONGEST_NAME}" value="${value("first_name")}"></label>
<label>Last name<input name="last_name" autocomplete="family-name" maxlength="${LONGEST_NAME}" value="${value("last_name")}"></label>
<div hidden><label>Leave this empty<input name="${BAIT}" tabindex="-1" autocomplete="off"></label></div>
<button>Subscribe</button>
</form>
<p class="soft">You get one mail that asks you to confirm. Without that you are not subscribed.</p>`,
    layout,
  );
}

function sendAsked(reply: FastifyReply, { list_name }: SignupForm): FastifyReply {
  return sendPage(
    reply,
    200,
    "Please look into your mailbox",
    html`<p>If this address is not subscribed to <strong>${list_name}</strong> yet, a mail with a link is on its way to it. Open it and press the button: only then the address is subscribed.</p>
<p class="soft">Nothing came? Look into the spam folder, or try again in an hour.</p>`,
  );
}

function sendQuestion(reply: FastifyReply, { list_name }: SignupForm, email: string): FastifyReply {
  return sendPage(
    reply,
    200,
    `Subscribe to ${list_name}?`,
    html`<p>Shall <strong>${email}</strong> get emails from <strong>${list_name}</strong>?</p>
<form method="post"><button>Yes, subscribe</button></form>
<p class="soft">If you did not ask for this, close the page: without your confirmation you get no more mail.</p>`,
  );
}

function sendJoined(reply: FastifyReply, { list_name }: SignupForm): FastifyReply {
  return sendPage(
    reply,
    200,
    "You are subscribed",
    html`<p>From now on you get emails from <strong>${list_name}</strong>. Every one of them has a link to leave.</p>
<p class="soft">You can close this page.</p>`,
  );
}

function sendKeptOff(reply: FastifyReply, { list_name }: SignupForm): FastifyReply {
  return sendPage(
    reply,
    409,
    "That did not work",
    html`<p>This address cannot be subscribed to <strong>${list_name}</strong> by this form. Please write to the people behind the list.</p>`,
  );
}

function sendInvalid(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply,
    404,
    "This link does not work",
    html`<p>The form may have been closed, or the link was cut off, or is more than 48 hours old.</p>
<p class="soft">Fill in the form again to get a new link.</p>`,
  );
}
