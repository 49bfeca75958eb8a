/**
 * The mail that asks whether somebody wants to be on a list. Nothing in it is written by whoever filled in the form,
 * except the address itself: a name of their choice would make this mail a way to say anything to anybody. The list's
 * name is the workspace's.
 */
import { confirmationLetter } from "../../platform/http/confirmation-letter.ts";

export type ConfirmationMail = ReturnType<typeof confirmationMail>;

/** @param link where the page with the button is */
export function confirmationMail(email: string, listName: string, link: string) {
  const letter = confirmationLetter({
    subject: `Please confirm: ${listName}`,
    request: `Somebody, hopefully you, wants ${email} to get emails from ${listName}.`,
    instruction: "If that is right, open this page and press the button. The link works for 48 hours:",
    link,
    otherwise: "If you did not ask for this, ignore it: without your confirmation you get no more mail.",
  });
  return { to: email, ...letter };
}
