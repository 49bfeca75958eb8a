/**
 * The mail that asks whether a person wants to be on a list. Nothing in it was typed into the form except the address: a
 * name typed there would make this mail a way to say anything to anybody. The list's name is the workspace's.
 */
import { domainOf, withoutTag } from "#mail/address.ts";
import { confirmationLetter } from "#platform/http/response/confirmation-mail-layout.ts";

export type SignupConfirmationMail = ReturnType<typeof signupConfirmationMail>;

/**
 * @param sender the address of the workspace that the mail comes from, or null for the service's own
 * @param link where the page with the button is
 */
export function signupConfirmationMail(email: string, listName: string, sender: string | null, link: string) {
  const otherwise = sender === null ? "a mailing list" : `a mailing list at ${domainOf(sender)}`;
  return {
    kind: "signup_confirmation" as const,
    to: email,
    named: { text: listName, otherwise },
    write: (name: string) =>
      confirmationLetter({
        subject: `Please confirm: ${name}`,
        // Without its tag, where anything may be written.
        request: `Somebody, hopefully you, wants ${withoutTag(email)} to get emails from ${name}.`,
        instruction: "If that is right, open this page and press the button. The link works for 48 hours:",
        link,
        otherwise: "If you did not ask for this, ignore it: without your confirmation you get no more mail.",
      }),
  };
}
