/** The mail with the link of an invitation. The caller chooses nothing in it but the address, and the workspace's name. */
import { linkLetter } from "#platform/http/response/link-letter.ts";

export type InvitationMail = ReturnType<typeof invitationMail>;

/** Days that the link works. */
export const INVITATION_DAYS = 7;

/** @param link of the page that accepts the invitation; the token is in its fragment, which no server sees */
export function invitationMail(email: string, workspaceName: string, link: string) {
  return {
    kind: "team_invitation" as const,
    to: email,
    named: { text: workspaceName, otherwise: "a workspace of this service" },
    write: (name: string) =>
      linkLetter({
        subject: `Join ${name} on Posthaste`,
        request: `You are invited to join ${name}.`,
        instruction: `Open this page to accept. The link works once, for ${INVITATION_DAYS} days:`,
        button: "Accept the invitation",
        link,
        otherwise: "If you did not expect this mail, ignore it: nothing happens without you.",
      }),
  };
}
