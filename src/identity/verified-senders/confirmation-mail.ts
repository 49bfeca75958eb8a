/**
 * The mail that asks whether a workspace may send as an address. Nothing in it is written by the caller, except the
 * address itself: a name of their choice would make this mail a way to send any text to any address. The workspace's
 * name is the operator's.
 */
import { withoutTag } from "#mail/address.ts";
import { confirmationLetter } from "#platform/http/response/confirmation-mail-layout.ts";

export type SenderConfirmationMail = ReturnType<typeof senderConfirmationMail>;

/** @param link where the page with the button is. */
export function senderConfirmationMail(email: string, workspaceName: string, link: string) {
  return {
    kind: "sender_confirmation" as const,
    to: email,
    named: { text: workspaceName, otherwise: "A workspace of this service" },
    write: (name: string) =>
      confirmationLetter({
        subject: "Confirm your sender address",
        // Without its tag, where anything may be written.
        request: `${name} asks to send mail as ${withoutTag(email)}.`,
        link,
        otherwise:
          "If you did not expect this mail, ignore it: without your confirmation nothing is sent in your name.",
      }),
  };
}
