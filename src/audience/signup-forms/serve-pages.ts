/**
 * The public pages of sign-up forms: /s/{token} with the form, /s/confirm/{token} behind the mailed link. Mail scanners
 * open links, so GET and HEAD change nothing; only the button (POST) does. A form on another site may post email,
 * first_name and last_name to /s/{token}: without the token of our own page the form is shown again, filled in, and its
 * button submits it.
 */
import { isUtf8 } from "node:buffer";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { LONGEST_PERSON_NAME, readEmail, readNameField } from "#audience/subscribers/subscriber-input.ts";
import { ApiError } from "#platform/errors.ts";
import { networkOf } from "#platform/http/auth/source-network.ts";
import { ignoreBodies, takeBodies } from "#platform/http/request/read-body.ts";
import { sendErrorPage } from "#platform/http/response/error-page.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { type ConfirmDeps, confirmSignup, findOpenRequest, outcomeOfUsedLink } from "./confirm-signup.ts";
import { findUnaskedField } from "./eligibility.ts";
import {
  HONEYPOT_FIELD,
  sendCheckMailbox,
  sendConfirmQuestion,
  sendDeadSignupLink,
  sendForm,
  sendJoined,
  sendLimitReached,
  sendNotEligible,
  TOKEN_FIELD,
} from "./page-html.ts";
import { requestSignup, type SignupRequestDeps } from "./request-signup.ts";
import { type Applicant, findSignupForm, type SignupForm } from "./store.ts";
import { readFormToken, readSignupLink, signFormToken, signSignupLink, signupKeys } from "./tokens.ts";

const PATH = "/s/";
const CONFIRM = "/s/confirm/";
const FORM_BYTES = 8_192;
/** Longer than accepting a mail takes, so that the response time does not reveal whether a mail was sent. */
const ANSWER_MS = 150;

const NO_FORM = "The form has to be sent as application/x-www-form-urlencoded, in UTF-8.";

interface FoundForm {
  readonly workspaceId: WorkspaceId;
  readonly form: SignupForm;
}

type Token = { Params: { "*": string } };

/** The URL of a list's form. */
export function signupUrl(
  publicUrl: string,
  secrets: Secrets,
  workspaceId: WorkspaceId,
  mailingListId: string,
): string {
  return (
    publicUrl + PATH + signSignupLink({ workspaceId, id: mailingListId }, signupKeys(secrets).form.signing)
  );
}

export type SignupPageDeps = Omit<SignupRequestDeps, "key" | "confirmationUrl"> &
  ConfirmDeps & { readonly secrets: Secrets; readonly publicUrl: () => string };

/** Adds the pages to a server, outside /api/v1. */
export function registerSignupPages(server: FastifyInstance, deps: SignupPageDeps): void {
  const keys = signupKeys(deps.secrets);
  const asking: SignupRequestDeps = {
    ...deps,
    key: keys.confirmation.signing,
    confirmationUrl: (token) => deps.publicUrl() + CONFIRM + token,
  };
  const formOf = async (token: string) => {
    const link = keys.form.read((key) => readSignupLink(token, key));
    const form = link && (await findSignupForm(deps.db, link.workspaceId, link.id));
    // If a required field was added since the form was opened, no one can join until that is fixed, so the page does not ask.
    const isClosed = !form || (await findUnaskedField(deps.db, link.workspaceId, link.id)) !== undefined;
    return isClosed ? undefined : { workspaceId: link.workspaceId, form };
  };

  const linkOf = ({ workspaceId, form }: FoundForm) => ({ workspaceId, id: form.mailing_list_id });
  const newPage = (found: FoundForm) => signFormToken(linkOf(found), keys.page.signing, deps.clock.now());

  server.register(async (pages) => {
    pages.setErrorHandler(sendErrorPage);
    // Bodies are not read here: the page reports a wrong one, where the API would answer with JSON.
    ignoreBodies(pages);
    takeBodies(pages, "application/x-www-form-urlencoded", readForm, FORM_BYTES);
    // Wildcards, because the router itself would answer a parameter that is too long.
    pages.get<Token>(`${CONFIRM}*`, async ({ params }, reply) => {
      const link = keys.confirmation.read((key) => readSignupLink(params["*"], key));
      const open = link && (await findOpenRequest(deps, link));
      if (!link || !open) return sendDeadSignupLink(reply);
      if (open.request.confirmed_at === null) return sendConfirmQuestion(reply, open.form, open.request);
      return sendOutcome[await outcomeOfUsedLink(deps, link, open)](reply, open.form);
    });
    pages.post<Token>(`${CONFIRM}*`, async ({ params, body }, reply) => {
      const link = keys.confirmation.read((key) => readSignupLink(params["*"], key));
      const open = link && (await findOpenRequest(deps, link));
      if (!link || !open) return sendDeadSignupLink(reply);
      const names = readNames(fieldsOf(body));
      if ("fault" in names) return sendConfirmQuestion(reply, open.form, open.request);
      const confirmation = await confirmSignup(deps, link, open, names);
      return sendOutcome[confirmation](reply, open.form);
    });
    pages.get<Token>(`${PATH}*`, async ({ params }, reply) => {
      const found = await formOf(params["*"]);
      return found ? sendForm(reply, found.form, newPage(found)) : sendDeadSignupLink(reply);
    });
    pages.post<Token>(`${PATH}*`, async ({ params, body, ip }, reply) => {
      const found = await formOf(params["*"]);
      if (!found) return sendDeadSignupLink(reply);
      const { form, workspaceId } = found;
      const fields = fieldsOf(body);
      if (fields !== body) return sendForm(reply, form, newPage(found), { fault: NO_FORM, fields });
      const given = fields.get(TOKEN_FIELD) ?? "";
      const token = readFormToken(given, linkOf(found), keys.page, deps.clock.now());
      // A valid page token is sent back unchanged, so that its minimum time does not start again.
      const present = token.state === "unknown" ? newPage(found) : given;
      const applicant = readApplicant(fields);
      if ("fault" in applicant) return sendForm(reply, form, present, { fault: applicant.fault, fields });
      if (token.state !== "good") {
        return sendForm(reply, form, present, { notice: notices[token.state], fields });
      }
      const origin = { network: networkOf(ip), page: token.page };
      const isAsked = !fields.get(HONEYPOT_FIELD);
      const [refusal] = await Promise.all([
        isAsked ? requestSignup(asking, workspaceId, form, applicant, origin) : null,
        delay(ANSWER_MS),
      ]);
      if (refusal === null) return sendCheckMailbox(reply, form);
      if (refusal.reason === "page") {
        return sendForm(reply, form, newPage(found), { notice: notices.unknown, fields });
      }
      const seconds = (refusal.ends.getTime() - deps.clock.now().getTime()) / 1_000;
      return sendLimitReached(reply, refusal.reason, seconds);
    });
  });
}

const notices = {
  unknown: "One more step: look at what you typed, and press the button.",
  early: "That was quick. Look at what you typed, and press the button once more.",
} as const;

const sendOutcome = { joined: sendJoined, ineligible: sendNotEligible, used: sendDeadSignupLink } as const;

/**
 * Parses a form body; null if it is not UTF-8, raw or percent-encoded: URLSearchParams would insert replacement
 * characters.
 */
function readForm(body: Buffer): URLSearchParams | null {
  const text = body.toString();
  try {
    decodeURIComponent(text);
  } catch {
    return null;
  }
  return isUtf8(body) ? new URLSearchParams(text) : null;
}

function fieldsOf(body: unknown): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams();
}

/** Runs a reader; returns its ApiError as a message for the page. */
function read<Typed>(reader: () => Typed): Typed | { readonly fault: string } {
  try {
    return reader();
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    return { fault: fault.message.replace(/^\w+: /, "") };
  }
}

function readNames(fields: URLSearchParams) {
  const name = (field: string) =>
    readNameField(field, (fields.get(field) ?? "").slice(0, LONGEST_PERSON_NAME).toWellFormed());
  return read(() => ({ first_name: name("first_name"), last_name: name("last_name") }));
}

function readApplicant(fields: URLSearchParams): Applicant | { readonly fault: string } {
  const email = read(() => ({ email: readEmail(fields.get("email") ?? "") }));
  if ("fault" in email) return email;
  const names = readNames(fields);
  return "fault" in names ? names : { ...email, ...names };
}
