/** The mail with the link of an invitation. The caller chooses nothing in it but the address, and the workspace's name. */
import { html } from "#platform/http/response/html-page.ts";
import { letter } from "#platform/http/response/mail-layout.ts";

export type InvitationMail = ReturnType<typeof invitationMail>;

/** Days that the link works. */
export const INVITATION_DAYS = 7;

/** @param link of the page that accepts the invitation; the token is in its fragment, which no server sees */
export function invitationMail(email: string, workspaceName: string, link: string) {
  return {
    kind: "team_invitation" as const,
    to: email,
    named: { text: workspaceName, otherwise: "a workspace of this service" },
    write: (name: string) => {
      const subject = `Join ${name} on Posthaste`;
      const request = `You are invited to join ${name}.`;
      const instruction = `Open this page to accept. The link works once, for ${INVITATION_DAYS} days:`;
      const otherwise = "If you did not expect this mail, ignore it: nothing happens without you.";
      return {
        subject,
        text: `${request}\n\n${instruction}\n\n${link}\n\n${otherwise}\n`,
        html: letter(
          subject,
          html`<p>${request}</p>
<p>${instruction}</p>
<p><a href="${link}" style="display:inline-block;padding:12px 24px;border-radius:8px;background:#0b5cad;color:#ffffff;font-weight:600;text-decoration:none">Accept the invitation</a></p>
<p style="font-size:14px;color:#59636e;word-break:break-all">${link}</p>
<p style="font-size:14px;color:#59636e">${otherwise}</p>`,
        ),
      };
    },
  };
}
