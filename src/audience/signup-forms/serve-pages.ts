/**
 * The public pages of sign-up forms: /s/{token} with the form, /s/confirm/{token} behind the mailed link. Mail scanners
 * open links, so GET and HEAD change nothing; only the button (POST) does. A form on another site may post email,
 * first_name and last_name to /s/{token}: without the token of our own page the form is shown again, filled in, and its
 * button submits it.
 */
import { isUtf8 } from "node:buffer";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import { workspaceDates } from "#audience/custom-fields/workspace-date-reader.ts";
import { MOST_OCTETS } from "#audience/subscribers/check-custom-field-values.ts";
import { readEmail } from "#audience/subscribers/subscriber-input.ts";
import { ApiError } from "#platform/errors.ts";
import { networkOf } from "#platform/http/auth/source-network.ts";
import { ignoreBodies, takeBodies } from "#platform/http/request/read-body.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type Language, readLanguage } from "#platform/languages/language.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import {
  browserLanguage,
  loadRecipientPage,
  sendRecipientErrorPage,
  unknownReaderPage,
} from "#workspace/recipient-pages/recipient-page.ts";
import {
  type Confirmation,
  type ConfirmDeps,
  confirmSignup,
  findOpenRequest,
  outcomeOfUsedLink,
} from "./confirm-signup.ts";
import { formFields, readTypedValues, typedText, unaskedField } from "./form-fields.ts";
import { VISITOR } from "./form-settings.ts";
import {
  HONEYPOT_FIELD,
  isConsentGiven,
  removeConsent,
  type ShownForm,
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
import {
  readFormToken,
  readSignupLink,
  type SignupLink,
  signFormToken,
  signSignupLink,
  signupKeys,
} from "./tokens.ts";

const PATH = "/s/";
const CONFIRM = "/s/confirm/";
/** What a person's values may have, in which encoding triples each octet, and 16 KB for names, address, and controls. */
const FORM_BYTES = 3 * MOST_OCTETS + 16_384;
/** Longer than accepting a mail takes, so that the response time does not reveal whether a mail was sent. */
const ANSWER_MS = 150;

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
  const signupPages = new SignupPages(deps);
  server.register(async (pages) => {
    pages.setErrorHandler(sendRecipientErrorPage);
    // Bodies are not read here: the page reports a wrong one, where the API would answer with JSON.
    ignoreBodies(pages);
    takeBodies(pages, "application/x-www-form-urlencoded", readForm, FORM_BYTES);
    // Wildcards, because the router itself would answer a parameter that is too long.
    pages.get<Token>(`${CONFIRM}*`, (request, reply) => signupPages.askToConfirm(request, reply));
    pages.post<Token>(`${CONFIRM}*`, (request, reply) => signupPages.confirm(request, reply));
    pages.get<Token>(`${PATH}*`, (request, reply) => signupPages.show(request, reply));
    pages.post<Token>(`${PATH}*`, (request, reply) => signupPages.take(request, reply));
  });
}

type TokenRequest = FastifyRequest<Token>;

/** What a page needs to show a form and to read what was typed into it. */
interface OpenForm extends ShownForm {
  readonly workspaceId: WorkspaceId;
  readonly defined: Awaited<ReturnType<typeof listFieldsInForce>>;
}

class SignupPages {
  readonly #deps: SignupPageDeps;
  readonly #keys: ReturnType<typeof signupKeys>;
  readonly #asking: SignupRequestDeps;

  constructor(deps: SignupPageDeps) {
    this.#deps = deps;
    this.#keys = signupKeys(deps.secrets);
    this.#asking = {
      ...deps,
      key: this.#keys.confirmation.signing,
      confirmationUrl: (token) => deps.publicUrl() + CONFIRM + token,
    };
  }

  /** The page behind the mailed link. */
  async askToConfirm(request: TokenRequest, reply: FastifyReply): Promise<FastifyReply> {
    const found = await this.#openRequest(request.params["*"]);
    if (!found) return sendDeadSignupLink(reply, unknownReaderPage(request));
    const { link, open, shown } = found;
    if (open.request.confirmed_at === null) return sendConfirmQuestion(reply, shown, open.request);
    return sendOutcome(reply, shown, await outcomeOfUsedLink(this.#deps, link, open));
  }

  /** The button of that page. */
  async confirm(request: TokenRequest, reply: FastifyReply): Promise<FastifyReply> {
    const found = await this.#openRequest(request.params["*"]);
    if (!found) return sendDeadSignupLink(reply, unknownReaderPage(request));
    const { link, open, shown } = found;
    const fields = fieldsOf(request.body);
    const values = await this.#read(shown, fields);
    if ("fault" in values) {
      return sendConfirmQuestion(reply, shown, open.request, { fields, fault: values.fault });
    }
    const confirmation = await confirmSignup(this.#deps, link, open, values);
    const { thank_you_url: url } = open.form;
    if (confirmation === "joined" && url !== null) {
      // The path of this page contains a token, which must not be sent on as Referer.
      return reply
        .headers({ "Referrer-Policy": "no-referrer", "Cache-Control": "no-store" })
        .redirect(url, 303);
    }
    return sendOutcome(reply, shown, confirmation);
  }

  /** The form. */
  async show(request: TokenRequest, reply: FastifyReply): Promise<FastifyReply> {
    const shown = await this.#openForm(request);
    return shown
      ? sendForm(reply, shown, this.#newPage(shown))
      : sendDeadSignupLink(reply, unknownReaderPage(request));
  }

  /** A form that was sent. */
  async take(request: TokenRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { body, ip } = request;
    const shown = await this.#openForm(request);
    if (!shown) return sendDeadSignupLink(reply, unknownReaderPage(request));
    const { form, page, workspaceId } = shown;
    const { texts } = page;
    const fields = fieldsOf(body);
    if (fields !== body) {
      return sendForm(reply, shown, this.#newPage(shown), { fault: texts.say("signup_unreadable"), fields });
    }
    const given = fields.get(TOKEN_FIELD) ?? "";
    const now = this.#deps.clock.now();
    const token = readFormToken(given, linkOf(shown), this.#keys.page, now);
    // A valid page token is sent back unchanged, so that its minimum time does not start again.
    const present = token.state === "unknown" ? this.#newPage(shown) : given;
    const applicant = await this.#readApplicant(shown, fields);
    if (token.state === "unknown") removeConsent(fields);
    if ("fault" in applicant) return sendForm(reply, shown, present, { fault: applicant.fault, fields });
    if (token.state !== "good") {
      return sendForm(reply, shown, present, { notice: texts.say(notices[token.state]), fields });
    }
    const origin = { network: networkOf(ip), page: token.page };
    const isAsked = !fields.get(HONEYPOT_FIELD);
    const [refusal] = await Promise.all([
      isAsked ? requestSignup(this.#asking, workspaceId, { form, page }, applicant, origin) : null,
      delay(ANSWER_MS),
    ]);
    if (refusal === null) return sendCheckMailbox(reply, shown);
    if (refusal.reason === "page") {
      const notice = texts.say(notices.unknown);
      return sendForm(reply, shown, this.#newPage(shown), { notice, fields });
    }
    const seconds = (refusal.ends.getTime() - this.#deps.clock.now().getTime()) / 1_000;
    return sendLimitReached(reply, shown, refusal.reason, seconds);
  }

  async #openForm(request: TokenRequest): Promise<OpenForm | undefined> {
    const link = this.#keys.form.read((key) => readSignupLink(request.params["*"], key));
    const form = link && (await findSignupForm(this.#deps.db, link.workspaceId, link.id));
    if (!form) return undefined;
    const shown = await this.#shown(link.workspaceId, form, formLanguage(form, request));
    // If a required field was added since the form was opened, no one can join until that is fixed, so the page does not ask.
    return unaskedField(form.fields, shown.defined) === undefined ? shown : undefined;
  }

  async #openRequest(token: string) {
    const link = this.#keys.confirmation.read((key) => readSignupLink(token, key));
    const open = link && (await findOpenRequest(this.#deps, link));
    if (!link || !open) return undefined;
    const language = open.request.language ?? open.form.list_language;
    return { link, open, shown: await this.#shown(link.workspaceId, open.form, language) };
  }

  async #shown(workspaceId: WorkspaceId, form: SignupForm, language: Language): Promise<OpenForm> {
    const { db } = this.#deps;
    const defined = await listFieldsInForce(db, workspaceId, form.mailing_list_id);
    const page = await loadRecipientPage(db, workspaceId, language);
    return { workspaceId, form, page, defined, fields: formFields(form.fields, defined, page.texts) };
  }

  async #read({ workspaceId, defined, fields, page }: OpenForm, typed: URLSearchParams) {
    const dates = await workspaceDates(this.#deps.db, workspaceId, defined);
    return readTypedValues(fields, typedText(typed), dates, page.texts);
  }

  async #readApplicant(
    shown: OpenForm,
    typed: URLSearchParams,
  ): Promise<Applicant | { readonly fault: string }> {
    const { texts } = shown.page;
    const email = readAddress(typed.get("email") ?? "");
    if (email === undefined) return { fault: texts.say("signup_bad_email") };
    const values = await this.#read(shown, typed);
    if ("fault" in values) return values;
    const isAgreed = shown.form.consent_text === null || isConsentGiven(typed);
    return isAgreed ? { email, ...values } : { fault: texts.say("signup_consent_missing") };
  }

  #newPage(shown: OpenForm): string {
    return signFormToken(linkOf(shown), this.#keys.page.signing, this.#deps.clock.now());
  }
}

function linkOf({ workspaceId, form }: OpenForm): SignupLink {
  return { workspaceId, id: form.mailing_list_id };
}

/** `?lang=` of the page's URL, then what the form says. */
function formLanguage({ language, list_language }: SignupForm, { query, headers }: TokenRequest): Language {
  const { lang } = query as { readonly lang?: unknown };
  const asked = readLanguage(lang);
  if (asked !== undefined) return asked;
  if (language === VISITOR) return browserLanguage(headers) ?? list_language;
  return language ?? list_language;
}

const notices = { unknown: "signup_once_more", early: "signup_too_quick" } as const;

function sendOutcome(reply: FastifyReply, shown: ShownForm, confirmation: Confirmation): FastifyReply {
  switch (confirmation) {
    case "joined":
      return sendJoined(reply, shown);
    case "ineligible":
      return sendNotEligible(reply, shown);
    case "used":
      return sendDeadSignupLink(reply, shown.page);
  }
}

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

/** The address in the form that is stored; undefined if it is none. */
function readAddress(text: string): string | undefined {
  try {
    return readEmail(text);
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    return undefined;
  }
}
