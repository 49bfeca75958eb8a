/**
 * The mail that asks whether a person wants to be on a list. The address is the only thing in it that was typed into the
 * form: with a typed name, this mail could be used to send any text to any address. The list's name is the workspace's, and so
 * are texts that it has replaced: these are only in mail from an address of its own.
 */
import { domainOf, withoutTag } from "#mail/address.ts";
import { linkLetter } from "#platform/http/response/link-letter.ts";
import type { RecipientPage } from "#workspace/recipient-pages/recipient-page.ts";
import { Texts } from "#workspace/texts/texts.ts";

export type SignupConfirmationMail = ReturnType<typeof signupConfirmationMail>;

interface ConfirmationMailOptions {
  readonly listName: string;
  /** The address of the workspace that the mail comes from; null for the service's own. */
  readonly sender: string | null;
  /** The URL of the page with the button. */
  readonly link: string;
  /** The page on which the person signed up: the mail has its language, and of its own sender its words and colours. */
  readonly page: RecipientPage;
}

export function signupConfirmationMail(
  email: string,
  { listName, sender, link, page }: ConfirmationMailOptions,
) {
  const { language } = page.texts;
  const texts = sender === null ? new Texts(language) : page.texts;
  const colors = sender === null ? null : page.buttonColors;
  return {
    kind: "signup_confirmation" as const,
    to: email,
    named: {
      text: listName,
      otherwise:
        sender === null
          ? texts.say("list_unnamed")
          : texts.say("list_unnamed_at", { domain: domainOf(sender) }),
    },
    write: (list: string) =>
      linkLetter({
        subject: texts.say("confirm_mail_subject", { list }),
        // Without the tag after "+", which may hold any text.
        request: texts.say("confirm_mail_request", { address: withoutTag(email), list }),
        instruction: texts.say("confirm_mail_instruction"),
        button: texts.say("confirm_mail_button"),
        link,
        otherwise: texts.say("confirm_mail_otherwise"),
        language,
        ...(colors && { colors }),
      }),
  };
}
