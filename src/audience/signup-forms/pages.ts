/**
 * /s/{token}: the public form of a list, and /s/confirm/{token}, the page behind the link that it mails. Mail scanners
 * open links, so looking (GET, HEAD) changes nothing; a button (POST) does. The form may also stand in anybody's own
 * page: it is an ordinary POST of email, first_name and last_name.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../platform/errors.ts";
import type { WorkspaceId } from "../../platform/ids.ts";
import type { Secrets } from "../../platform/secrets.ts";
import { LONGEST_NAME, readEmail, readLine } from "../subscribers/input.ts";
import { type Applicant, type AskDeps, askOwner } from "./ask.ts";
import { type ConfirmDeps, confirm, findOpenRequest } from "./confirm.ts";
import {
  BAIT,
  sendAsked,
  sendForm,
  sendInvalid,
  sendJoined,
  sendKeptOff,
  sendQuestion,
} from "./form-page.ts";
import { findSignupForm } from "./store.ts";
import { readSignupLink, signSignupLink, signupKeys } from "./token.ts";

const PATH = "/s/";
const CONFIRM = "/s/confirm/";
const FORM_BYTES = 8_192;
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
