/**
 * The texts that the service itself writes to recipients: on its pages, in the mail that confirms a sign-up, and in the footer
 * that it adds to mail. Their wordings are in languages/; a workspace may replace most of them.
 */
import { headerTextFault } from "#mail/address.ts";
import { invalid } from "#platform/errors.ts";

interface TextEntry {
  /** Where the text is shown, for the people who replace it. */
  readonly about: string;
  /** Placeholders that a wording must contain once, and those that it may contain besides. */
  readonly needs?: readonly Placeholder[];
  readonly may?: readonly Placeholder[];
  /** It is for readers whose workspace is not known, or in mail of the service's own sender: no workspace replaces it. */
  readonly isFixed?: boolean;
}

/** The names that stand for values in a text, in braces: `{list}`. */
export const placeholders = {
  address: "the reader's address",
  list: "the name of the mailing list",
  link: "the reader's own link to unsubscribe",
  time: "how long to wait, such as: in 5 minutes",
  field: "the label of a field of the form",
  domain: "the domain of the list's sender",
} as const;
export type Placeholder = keyof typeof placeholders;

export const textCatalogue = {
  close_page: { about: "The last line of pages that need nothing more" },

  unsubscribe_title: { about: "Unsubscribe page: title of the question" },
  unsubscribe_question: { about: "Unsubscribe page: the question, for one list", may: ["address", "list"] },
  unsubscribe_question_all: {
    about: "Unsubscribe page: the question, for mail to no list",
    may: ["address"],
  },
  unsubscribe_button: { about: "Unsubscribe page: the button" },
  unsubscribe_stay: { about: "Unsubscribe page: what a reader does who wants to stay" },
  unsubscribed_title: { about: "Page after unsubscribing: title" },
  unsubscribed: { about: "Page after unsubscribing from one list", may: ["address", "list"] },
  unsubscribed_all: { about: "Page after unsubscribing from all lists", may: ["address"] },
  unsubscribed_list_gone: { about: "Unsubscribe page of a deleted list", may: ["address"] },
  unsubscribed_note: { about: "Page after unsubscribing: the last line" },
  undo_button: { about: "Page after unsubscribing: the button that subscribes again" },
  resubscribed_title: { about: "Page after Undo: title" },
  resubscribed: { about: "Page after Undo", may: ["address"] },

  web_view_title: { about: "Title of the page that shows a mail without HTML in the browser" },

  dead_link_title: { about: "Page of a link that does not work: title" },
  dead_link: { about: "Page of a mail's link that does not work: the possible causes", isFixed: true },
  dead_link_advice: { about: "Page of a mail's link that does not work: what to do", isFixed: true },
  try_again_title: { about: "Page for a fault of the service: title", isFixed: true },
  try_again: { about: "Page for a fault of the service", isFixed: true },
  too_many_requests_title: { about: "Page for too many requests: title", isFixed: true },
  try_again_later: { about: "Page for a reached limit: when to try again", may: ["time"] },
  too_large_title: { about: "Page for a form with too much text: title", isFixed: true },
  too_large: { about: "Page for a form with too much text", isFixed: true },

  footer_link: { about: "Footer added to HTML mail: the text of the link" },
  footer_text_link: { about: "Footer added to text mail: the line with the link", needs: ["link"] },

  signup_email: { about: "Sign-up form: label of the address" },
  signup_first_name: { about: "Sign-up form: label of the given name" },
  signup_last_name: { about: "Sign-up form: label of the family name" },
  signup_choose: { about: "Sign-up form: the empty choice of a list of choices" },
  signup_trap: { about: "Sign-up form: label of the hidden field that people leave empty" },
  signup_button: { about: "Sign-up form: the button, unless the form has its own" },
  signup_note: { about: "Sign-up form: the last line" },
  signup_once_more: { about: "Sign-up form, after a form of another site was sent" },
  signup_too_quick: { about: "Sign-up form that was sent faster than a person can" },
  signup_bad_email: { about: "Sign-up form: an invalid address" },
  signup_bad_value: { about: "Sign-up form: an invalid value", may: ["field"] },
  signup_missing: { about: "Sign-up form: a required field is empty", may: ["field"] },
  signup_consent_missing: { about: "Sign-up form: the box of the consent is not ticked" },
  signup_unreadable: { about: "Sign-up form: the request of a wrong form on another site" },
  signup_limit_network: { about: "Sign-up form: title for too many sign-ups from a network" },
  signup_limit_list: { about: "Sign-up form: title for too many sign-ups to the list" },
  signup_limit_workspace: { about: "Sign-up form: title for too many sign-ups in a day" },
  signup_check_title: { about: "Page after a sign-up: title" },
  signup_check: { about: "Page after a sign-up: what comes next", may: ["list"] },
  signup_check_advice: { about: "Page after a sign-up: what to do if no mail comes" },

  confirm_title: { about: "Confirmation page: title", may: ["list"] },
  confirm_question: { about: "Confirmation page: the question", may: ["address", "list"] },
  confirm_consent: { about: "Confirmation page: the line before the wording of the consent" },
  confirm_button: { about: "Confirmation page: the button" },
  confirm_note: { about: "Confirmation page: for readers who did not ask for it" },
  joined_title: { about: "Page after the confirmation: title" },
  joined: { about: "Page after the confirmation", may: ["list"] },
  not_eligible_title: { about: "Page for an address that cannot join: title" },
  not_eligible: { about: "Page for an address that cannot join", may: ["list"] },
  signup_dead_link: { about: "Page of a sign-up link that does not work: the possible causes" },
  signup_dead_link_advice: { about: "Page of a sign-up link that does not work: what to do" },

  confirm_mail_subject: { about: "Confirmation mail: subject", may: ["list"] },
  confirm_mail_request: { about: "Confirmation mail: who asks for what", may: ["address", "list"] },
  confirm_mail_instruction: { about: "Confirmation mail: the line before the link" },
  confirm_mail_button: { about: "Confirmation mail: the text of the link" },
  confirm_mail_otherwise: { about: "Confirmation mail: for readers who did not ask for it" },
  list_unnamed: {
    about: "Confirmation mail: in place of a list's name that looks like advertising",
    isFixed: true,
  },
  list_unnamed_at: {
    about: "Confirmation mail: as before, with the domain of the sender",
    may: ["domain"],
  },
} as const satisfies Readonly<Record<string, TextEntry>>;

export type TextKey = keyof typeof textCatalogue;
export const textKeys = Object.keys(textCatalogue) as TextKey[];

/** The texts that a workspace can replace. */
export const replaceableKeys = textKeys.filter((key) => {
  const { isFixed = false }: TextEntry = textCatalogue[key];
  return !isFixed;
});

/** The placeholders of a text. */
export function placeholdersOf(key: TextKey): {
  readonly needs: readonly Placeholder[];
  readonly may: readonly Placeholder[];
} {
  const { needs = [], may = [] }: TextEntry = textCatalogue[key];
  return { needs, may: [...needs, ...may] };
}

export const LONGEST_WORDING = 600;

/** The trimmed text with which a workspace replaces one of the service. @throws ApiError VALIDATION_ERROR */
export function readText(key: TextKey, given: string): string {
  const field = `texts.${key}`;
  const text = given.trim();
  const fault = textFault(key, text);
  if (fault !== null) throw invalid({ field, message: `${field}: ${fault}` });
  return text;
}

function textFault(key: TextKey, text: string): string | null {
  if (text === "") return "must not be blank; null resets it to the default";
  // Texts are in the subject of mail, too.
  const lineFault = headerTextFault(text);
  if (lineFault !== null) return lineFault;
  if (/<[a-z/!]/i.test(text)) return "markup is not possible: readers would see the tags";
  const { may, needs } = placeholdersOf(key);
  const listed = may.map((name) => `{${name}}`).join(", ") || "none";
  const used = [...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const unknown = used.find((name) => !may.some((one) => one === name));
  if (unknown !== undefined) return `{${unknown}} is no placeholder of this text; it may have: ${listed}`;
  if (/[{}]/.test(text.replaceAll(/\{\w+\}/g, ""))) {
    return `braces are only for placeholders; this text may have: ${listed}`;
  }
  const missing = needs.find((name) => !used.includes(name));
  if (missing !== undefined) return `the placeholder {${missing}} is missing`;
  const repeated = needs.find((name) => used.indexOf(name) !== used.lastIndexOf(name));
  return repeated === undefined ? null : `the placeholder {${repeated}} must occur only once`;
}
