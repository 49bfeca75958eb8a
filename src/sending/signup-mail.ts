/** The mail of sign-up forms: the service's own, in the name of the list where the workspace may use it. */
import type { AskDeps } from "../audience/signup-forms/ask.ts";
import { maySendAs } from "../identity/may-send-as.ts";
import type { SendPlatformMail } from "./platform-mail.ts";

export function createSignupMail(sendPlatformMail: SendPlatformMail): AskDeps["sendMail"] {
  return async (tx, workspaceId, mail, { from_email: address, from_name: name }) => {
    const isOwn = address !== null && (await maySendAs(tx, workspaceId, address)).allowed;
    await sendPlatformMail(tx, workspaceId, { ...mail, ...(isOwn && { from: { address, name } }) });
  };
}
