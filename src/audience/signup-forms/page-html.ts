/** The HTML pages of a sign-up form. */
import type { FastifyReply } from "fastify";
import { LONGEST_PERSON_NAME } from "#audience/subscribers/subscriber-input.ts";
import { sendBusy } from "#platform/http/response/error-page.ts";
import { cardLayout, html, sendPage } from "#platform/http/response/html-page.ts";
import type { Applicant, SignupForm } from "./store.ts";

/** The hidden field with the form token. */
export const TOKEN_FIELD = "page";

/** A hidden field that people leave empty and programs fill in. */
export const HONEYPOT_FIELD = "website";

const layout = cardLayout(`
label { display: block; margin: 0 0 1rem }
input { display: block; width: 100%; margin-top: .25rem; padding: .7rem .9rem; border: 1px solid var(--soft); border-radius: .5rem; background: var(--ground); color: var(--ink); font: inherit }
.fault { padding: .7rem .9rem; border-left: 4px solid #c62828; background: var(--ground) }
`);

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
  { list_name }: SignupForm,
  token: string,
  again?: Again,
): FastifyReply {
  const value = (field: string) => again?.fields.get(field)?.slice(0, 500) ?? "";
  return sendPage(
    reply,
    again?.fault === undefined ? 200 : 400,
    list_name,
    html`${saying(again)}<form method="post">
<input type="hidden" name="${TOKEN_FIELD}" value="${token}">
<label>Your email address<input type="email" name="email" autocomplete="email" required maxlength="254" value="${value("email")}"></label>
${nameFields(value)}
<div hidden><label>Leave this empty<input name="${HONEYPOT_FIELD}" tabindex="-1" autocomplete="off"></label></div>
<button>Subscribe</button>
</form>
<p class="soft">You get one mail that asks you to confirm. Without that you are not subscribed.</p>`,
    layout,
  );
}

function saying({ fault, notice }: Omit<Again, "fields"> = {}) {
  if (fault !== undefined) return html`<p class="fault" role="alert">${fault}</p>\n`;
  return notice === undefined ? "" : html`<p role="status">${notice}</p>\n`;
}

const full = {
  network: "Too many sign-ups came from your network",
  list: "This list takes no more sign-ups this hour",
  workspace: "This list takes no more sign-ups today",
} as const;

/** Says whose limit is reached, and when to try again. */
export function sendLimitReached(
  reply: FastifyReply,
  reason: keyof typeof full,
  seconds: number,
): FastifyReply {
  return sendBusy(reply, full[reason], seconds);
}

/** Sends the page after a sign-up. It is the same for every address. */
export function sendCheckMailbox(reply: FastifyReply, { list_name }: SignupForm): FastifyReply {
  return sendPage(
    reply,
    200,
    "Please look into your mailbox",
    html`<p>If this address is not subscribed to <strong>${list_name}</strong> yet, a mail with a link is on its way to it. Open it and press the button: only then the address is subscribed.</p>
<p class="soft">Nothing came? Look into the spam folder, or try again tomorrow.</p>`,
  );
}

/** The names may have been typed by another person; only what the owner of the address submits here is stored. */
export function sendConfirmQuestion(
  reply: FastifyReply,
  { list_name }: SignupForm,
  { email, first_name, last_name }: Applicant,
): FastifyReply {
  return sendPage(
    reply,
    200,
    `Subscribe to ${list_name}?`,
    html`<p>Shall <strong>${email}</strong> get emails from <strong>${list_name}</strong>?</p>
<form method="post">
${nameFields((field) => ({ first_name, last_name })[field] ?? "")}
<button>Yes, subscribe</button>
</form>
<p class="soft">If you did not ask for this, close the page: without your confirmation you get no more mail.</p>`,
    layout,
  );
}

function nameFields(value: (field: "first_name" | "last_name") => string) {
  return html`<label>First name<input name="first_name" autocomplete="given-name" maxlength="${LONGEST_PERSON_NAME}" value="${value("first_name")}"></label>
<label>Last name<input name="last_name" autocomplete="family-name" maxlength="${LONGEST_PERSON_NAME}" value="${value("last_name")}"></label>`;
}

export function sendJoined(reply: FastifyReply, { list_name }: SignupForm): FastifyReply {
  return sendPage(
    reply,
    200,
    "You are subscribed",
    html`<p>From now on you get emails from <strong>${list_name}</strong>. Every one of them has a link to leave.</p>
<p class="soft">You can close this page.</p>`,
  );
}

export function sendNotEligible(reply: FastifyReply, { list_name }: SignupForm): FastifyReply {
  return sendPage(
    reply,
    409,
    "That did not work",
    html`<p>This address cannot be subscribed to <strong>${list_name}</strong> by this form. Please write to the people behind the list.</p>`,
  );
}

export function sendDeadSignupLink(reply: FastifyReply): FastifyReply {
  return sendPage(
    reply,
    404,
    "This link does not work",
    html`<p>The form may have been closed, or the link was cut off, is more than 48 hours old, or has done its work before.</p>
<p class="soft">Fill in the form again to get a new link.</p>`,
  );
}
