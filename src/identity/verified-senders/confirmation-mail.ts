/**
 * The mail that asks whether a workspace may send as an address. Nothing in it is written by whoever asked, except
 * the address itself: a name of their choice would make this mail a way to say anything to anybody. The workspace's
 * name is the operator's.
 */
import { confirmationLetter } from "../../platform/http/confirmation-letter.ts";

export type ConfirmationMail = ReturnType<typeof confirmationMail>;

/** @param link where the page with the button is. */
export function confirmationMail(email: string, workspaceName: string, link: string) {
  const letter = confirmationLetter({
    subject: "Confirm your sender address",
    request: `${workspaceName} asks to send mail as ${email}.`,
    instruction: "If that is right, open this page and press the button. The link works for 48 hours:",
    link,
    otherwise:
      "If you did not expect this mail, ignore it: without your confirmation nothing is sent in your name.",
  });
  return { to: email, ...letter };
}
