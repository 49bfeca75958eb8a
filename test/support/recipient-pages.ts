/** Every page that recipients may see, in every language: a server that answers /{language}/{page} with it. */
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { formFields } from "#audience/signup-forms/form-fields.ts";
import { standardForm } from "#audience/signup-forms/form-settings.ts";
import {
  type ShownForm,
  sendCheckMailbox,
  sendConfirmQuestion,
  sendDeadSignupLink,
  sendForm,
  sendJoined,
  sendLimitReached,
  sendNotEligible,
} from "#audience/signup-forms/page-html.ts";
import type { SignupForm, SignupRequest } from "#audience/signup-forms/store.ts";
import { htmlFromText } from "#mail/html/body-conversion.ts";
import { ApiError } from "#platform/errors.ts";
import { ready } from "#platform/http/response/html-page.ts";
import { type Language, languages } from "#platform/languages/language.ts";
import type { MailRecipient } from "#tracking/tracked-mail-store.ts";
import {
  sendInvalidLink,
  sendResubscribed,
  sendTryAgain,
  sendUnsubscribed,
  sendUnsubscribeQuestion,
} from "#tracking/unsubscribe-page.ts";
import { type BrandSettings, noBrand } from "#workspace/brand/brand.ts";
import { RecipientPage, sendRecipientErrorPage } from "#workspace/recipient-pages/recipient-page.ts";
import { Texts } from "#workspace/texts/texts.ts";

const recipient: MailRecipient = {
  address: "ada.lovelace@analytical-engine.example",
  mailing_list_id: "list",
  list_name: "Weekly Letters",
  subscriber_id: "person",
  is_subscribed: true,
  left_at: null,
  is_as_left: true,
};
const ofAll = { ...recipient, mailing_list_id: null, list_name: null };
const ofDeletedList = { ...recipient, list_name: null };

const field = (
  field_name: string,
  field_type: CustomField["field_type"],
  more: Partial<CustomField> = {},
) => ({
  id: field_name,
  mailing_list_id: null,
  field_name,
  field_label: field_name,
  field_type,
  field_options: null,
  placeholder: null,
  default_value: null,
  help_text: null,
  validation_rules: null,
  is_required: false,
  is_active: true,
  display_order: 0,
  created_at: new Date(0),
  updated_at: new Date(0),
  ...more,
});
const defined: CustomField[] = [
  field("City", "text", { placeholder: "London", help_text: "Where you live" }),
  field("Born", "date"),
  field("Age", "number", { validation_rules: { min: 1 } }),
  field("Website", "url"),
  field("Size", "select", { field_options: ["S", { label: "Medium", value: "m" }] }),
  field("Topics", "multiselect", { field_options: ["Tea", "Maths"], help_text: "As many as you like" }),
  field("Member", "boolean"),
  field("About", "textarea"),
];

const plainForm: SignupForm = {
  ...standardForm,
  mailing_list_id: "list",
  list_name: "Weekly Letters",
  from_name: null,
  from_email: null,
  list_language: "en",
  is_suspended: false,
};
const longForm: SignupForm = {
  ...plainForm,
  title: "Weekly Letters",
  description: "Twice a month.\nNo advertising.",
  consent_text: "I agree that Shop writes to me.\nI can leave at any time.",
  fields: [
    ...plainForm.fields,
    ...defined.map(({ field_name }) => ({ field: field_name, is_required: false, label: null })),
  ],
};
const request: SignupRequest = {
  id: "request",
  mailing_list_id: "list",
  email: recipient.address,
  first_name: "Ada",
  last_name: null,
  custom_fields: { City: "London", Topics: ["Tea"], Member: true, Size: "m" },
  language: null,
  consent_text: longForm.consent_text,
  requested_at: new Date(0),
  confirmed_at: null,
};

const shown = (page: RecipientPage, form: SignupForm): ShownForm => ({
  page,
  form,
  fields: formFields(form.fields, defined, page.texts),
});
const typed = new URLSearchParams([
  ["email", "ada"],
  ["custom_fields.City", "Paris"],
]);

type Send = (reply: FastifyReply, page: RecipientPage) => FastifyReply;
const pages: Readonly<Record<string, Send>> = {
  unsubscribe: (reply, page) => sendUnsubscribeQuestion(reply, page, recipient),
  "unsubscribe-all": (reply, page) => sendUnsubscribeQuestion(reply, page, ofAll),
  unsubscribed: (reply, page) => sendUnsubscribed(reply, page, recipient, true),
  "unsubscribed-all": (reply, page) => sendUnsubscribed(reply, page, ofAll, false),
  "unsubscribed-gone": (reply, page) => sendUnsubscribed(reply, page, ofDeletedList, false),
  resubscribed: (reply, page) => sendResubscribed(reply, page, recipient),
  "web-view": (reply, page) =>
    page.send(reply, 200, page.texts.say("web_view_title"), ready(htmlFromText("Hello Ada,\n\nbye"))),
  "dead-link": (reply) => sendInvalidLink(reply),
  "try-again": (reply) => sendTryAgain(reply),
  "too-large": (reply) => sendRecipientErrorPage(new ApiError("PAYLOAD_TOO_LARGE"), reply.request, reply),
  "too-many": (reply) =>
    sendRecipientErrorPage(
      new ApiError("RATE_LIMIT_EXCEEDED", "", { headers: { "Retry-After": "90" } }),
      reply.request,
      reply,
    ),
  form: (reply, page) => sendForm(reply, shown(page, plainForm), "token"),
  "form-fault": (reply, page) =>
    sendForm(reply, shown(page, longForm), "token", {
      fields: typed,
      fault: page.texts.say("signup_bad_value", { field: "City" }),
    }),
  "form-once-more": (reply, page) =>
    sendForm(reply, shown(page, plainForm), "token", {
      fields: typed,
      notice: page.texts.say("signup_once_more"),
    }),
  "form-full": (reply, page) => sendLimitReached(reply, shown(page, plainForm), "list", 1_200),
  "check-mailbox": (reply, page) => sendCheckMailbox(reply, shown(page, plainForm)),
  confirm: (reply, page) => sendConfirmQuestion(reply, shown(page, longForm), request),
  joined: (reply, page) => sendJoined(reply, shown(page, plainForm)),
  "not-eligible": (reply, page) => sendNotEligible(reply, shown(page, plainForm)),
  "dead-signup-link": (reply, page) => sendDeadSignupLink(reply, page),
};
export const recipientPageNames = Object.keys(pages);

/** Brands by name: none, and one of an accent that is close to the white of the card and one close to the dark card. */
const brands: Readonly<Record<string, BrandSettings>> = {
  none: noBrand,
  yellow: {
    ...noBrand,
    display_name: "Shop",
    website: "https://shop.example/",
    accent_color: "#ffe600",
    footer_text: "Made with care.",
    postal_address: "Weg 1\n1010 Wien",
  },
  navy: { ...noBrand, accent_color: "#101a2b", background_color: "#fff4e0", text_color: "#6b4a1b" },
};
export const brandNames = Object.keys(brands);

/** The server, which its caller starts and stops. `?brand=` names a brand. */
export function recipientPageServer(): FastifyInstance {
  const server = Fastify();
  for (const language of languages) {
    for (const [name, send] of Object.entries(pages)) {
      server.get<{ Querystring: { brand?: string } }>(`/${language}/${name}`, async ({ query }, reply) =>
        send(reply, pageIn(language, query.brand)),
      );
    }
  }
  return server;
}

function pageIn(language: Language, brand = "none"): RecipientPage {
  return new RecipientPage(new Texts(language), brands[brand]);
}
