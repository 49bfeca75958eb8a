/** The pages of a sign-up form, in the language of the form or of the request. */
import type { FastifyReply } from "fastify";
import { type Html, html } from "#platform/http/response/html-page.ts";
import type { RecipientPage } from "#workspace/recipient-pages/recipient-page.ts";
import { boxHtml, fieldsHtml } from "./field-html.ts";
import { type FormField, type TypedText, textOfValues, typedText } from "./form-fields.ts";
import type { SignupForm, SignupRequest } from "./store.ts";

/** The hidden field with the form token. */
export const TOKEN_FIELD = "page";

/** A hidden field that people leave empty and programs fill in. */
export const HONEYPOT_FIELD = "website";

const CONSENT_FIELD = "consent";
const CONSENT_GIVEN = "yes";

/** Whether the box of the form's consent is ticked. */
export function isConsentGiven(fields: URLSearchParams): boolean {
  return fields.get(CONSENT_FIELD) === CONSENT_GIVEN;
}

/** Removes a consent from the fields of another site's form: its visitor has not seen the wording. */
export function removeConsent(fields: URLSearchParams): void {
  fields.delete(CONSENT_FIELD);
}

/** A form on one page. */
export interface ShownForm {
  readonly page: RecipientPage;
  readonly form: SignupForm;
  readonly fields: readonly FormField[];
}

/** The form shown again, with what was typed. */
interface Again {
  readonly fields: URLSearchParams;
  /** What is wrong with the input, or what to do next. */
  readonly fault?: string;
  readonly notice?: string;
}

/** @param token as tokens.ts signs it */
export function sendForm(
  reply: FastifyReply,
  { page, form, fields }: ShownForm,
  token: string,
  again?: Again,
): FastifyReply {
  const { texts } = page;
  const params = again?.fields ?? new URLSearchParams();
  const { title, description, button_text, consent_text } = form;
  const consent =
    consent_text === null
      ? ""
      : boxHtml({
          control: CONSENT_FIELD,
          value: CONSENT_GIVEN,
          label: consent_text,
          isTicked: isConsentGiven(params),
          isRequired: true,
        });
  return page.send(
    reply,
    again?.fault === undefined ? 200 : 400,
    texts.isolated(title ?? form.list_name),
    html`${saying(again)}${description === null ? "" : html`<p class="lines" dir="auto">${description}</p>\n`}<form method="post">
<input type="hidden" name="${TOKEN_FIELD}" value="${token}">
<label>${texts.say("signup_email")}<input type="email" name="email" autocomplete="email" dir="ltr" required maxlength="254" value="${params.get("email")?.slice(0, MOST_SHOWN) ?? ""}"></label>
${fieldsHtml(fields, shortened(typedText(params)), texts)}${consent}
<div hidden><label>${texts.say("signup_trap")}<input name="${HONEYPOT_FIELD}" tabindex="-1" autocomplete="off"></label></div>
<button>${button_text === null ? texts.say("signup_button") : html`<bdi>${button_text}</bdi>`}</button>
</form>
<p class="soft">${texts.say("signup_note")}</p>`,
  );
}

/** Characters of one field that are shown again. */
const MOST_SHOWN = 5_000;

function shortened(typed: TypedText): TypedText {
  return (control) => typed(control).map((text) => text.slice(0, MOST_SHOWN));
}

function saying({ fault, notice }: Omit<Again, "fields"> = {}): Html | string {
  if (fault !== undefined) return html`<p class="fault" role="alert">${fault}</p>\n`;
  return notice === undefined ? "" : html`<p role="status">${notice}</p>\n`;
}

const limitTitles = {
  network: "signup_limit_network",
  list: "signup_limit_list",
  workspace: "signup_limit_workspace",
} as const;

/** Says whose limit is reached, and when to try again. */
export function sendLimitReached(
  reply: FastifyReply,
  { page }: ShownForm,
  reason: keyof typeof limitTitles,
  seconds: number,
): FastifyReply {
  return page.sendBusy(reply, limitTitles[reason], seconds);
}

/** Sends the page after a sign-up. It is the same for every address. */
export function sendCheckMailbox(reply: FastifyReply, { page, form }: ShownForm): FastifyReply {
  const { texts } = page;
  return page.send(
    reply,
    200,
    texts.say("signup_check_title"),
    html`<p>${texts.html("signup_check", { list: form.list_name })}</p>
<p class="soft">${texts.say("signup_check_advice")}</p>`,
  );
}

/**
 * The values may have been typed by another person; only what the owner of the address submits here is stored.
 * @param again what the owner typed, if something is wrong with it
 */
export function sendConfirmQuestion(
  reply: FastifyReply,
  { page, form, fields }: ShownForm,
  request: SignupRequest,
  again?: { readonly fields: URLSearchParams; readonly fault: string },
): FastifyReply {
  const { texts } = page;
  const { email: address, consent_text } = request;
  const list = form.list_name;
  const typed = again === undefined ? textOfValues(request) : shortened(typedText(again.fields));
  const consent =
    consent_text === null
      ? ""
      : html`<p>${texts.say("confirm_consent")}</p>\n<p class="lines" dir="auto">${consent_text}</p>\n`;
  // Browsers check every redirect that follows, and the thank-you address may redirect to another host.
  const formTarget = form.thank_you_url === null ? undefined : "https:";
  return page.send(
    reply,
    again === undefined ? 200 : 400,
    texts.say("confirm_title", { list }),
    html`${saying(again)}<p>${texts.html("confirm_question", { address, list })}</p>
<form method="post">
${fieldsHtml(fields, typed, texts)}${consent}
<button>${texts.say("confirm_button")}</button>
</form>
<p class="soft">${texts.say("confirm_note")}</p>`,
    { formTarget },
  );
}

export function sendJoined(reply: FastifyReply, { page, form }: ShownForm): FastifyReply {
  const { texts } = page;
  return page.send(
    reply,
    200,
    texts.say("joined_title"),
    html`<p>${texts.html("joined", { list: form.list_name })}</p>
<p class="soft">${texts.say("close_page")}</p>`,
  );
}

export function sendNotEligible(reply: FastifyReply, { page, form }: ShownForm): FastifyReply {
  const { texts } = page;
  return page.send(
    reply,
    409,
    texts.say("not_eligible_title"),
    html`<p>${texts.html("not_eligible", { list: form.list_name })}</p>`,
  );
}

/** @param page of the form, or of an unknown reader */
export function sendDeadSignupLink(reply: FastifyReply, page: RecipientPage): FastifyReply {
  const { texts } = page;
  return page.send(
    reply,
    404,
    texts.say("dead_link_title"),
    html`<p>${texts.say("signup_dead_link")}</p>
<p class="soft">${texts.say("signup_dead_link_advice")}</p>`,
  );
}
