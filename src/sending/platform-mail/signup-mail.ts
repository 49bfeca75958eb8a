/** The mail of sign-up forms: the service's own, in the name of the list where the workspace may use it. */
import type { SignupMailer } from "#audience/signup-forms/request-signup.ts";
import { maySendAs } from "#identity/may-send-as.ts";
import type { Clock } from "#platform/clock.ts";
import { usedOfQuota, useOf, windowEnd } from "#platform/limits/quota-store.ts";
import { type SendPlatformMail, signupMailQuota } from "./platform-mail.ts";

export function createSignupMailer(sendPlatformMail: SendPlatformMail, clock: Clock): SignupMailer {
  return {
    async findSender(db, workspaceId, { from_email: address }) {
      return address !== null && (await maySendAs(db, workspaceId, address)).allowed ? address : null;
    },
    async findFull(db, workspaceId, sender) {
      const name = signupMailQuota(sender !== null);
      const use = useOf(name, workspaceId);
      const now = clock.now();
      if ((await usedOfQuota(db, use, now)) < use.quota.most) return null;
      return { name, limit: use.quota, ends: windowEnd(use.quota, now) };
    },
    send: (tx, workspaceId, mail, from) =>
      sendPlatformMail(tx, workspaceId, { ...mail, ...(from !== null && { from }) }),
  };
}
