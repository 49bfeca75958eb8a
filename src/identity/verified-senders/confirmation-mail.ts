/**
 * The mail that asks whether a workspace may send as an address. The caller chooses nothing in it except the address:
 * with a name of the caller's choice, this mail could be used to send any text to any address. The operator chooses the
 * workspace's name.
 */
import { withoutTag } from "#mail/address.ts";
import { confirmationLetter } from "#platform/http/response/link-letter.ts";

export type SenderConfirmationMail = ReturnType<typeof senderConfirmationMail>;

/** @param link the URL of the page with the button */
export function senderConfirmationMail(email: string, workspaceName: string, link: string) {
  return {
    kind: "sender_confirmation" as const,
    to: email,
    named: { text: workspaceName, otherwise: "A workspace of this service" },
    write: (name: string) =>
      confirmationLetter({
        subject: "Confirm your sender address",
        // Without the tag after "+", which may contain any text.
        request: `${name} asks to send mail as ${withoutTag(email)}.`,
        link,
        otherwise:
          "If you did not expect this mail, ignore it: without your confirmation nothing is sent in your name.",
      }),
  };
}
