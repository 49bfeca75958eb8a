/** A new password by a mailed link, over HTTP. */
import { Type } from "typebox";
import { describeAudit } from "#platform/audit/pending-event.ts";
import { ApiError } from "#platform/errors.ts";
import { networkOf } from "#platform/http/auth/source-network.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { requireQuota, useOf } from "#platform/limits/quota-store.ts";
import {
  NewPasswordField,
  requireGoodPassword,
  requirePasswordLogin,
} from "#workspace/passwords/password-rules.ts";
import { accountNotice, passwordResetMail } from "#workspace/people/account-mails.ts";
import { readPersonEmail } from "#workspace/people/create-user.ts";
import { RESET_LINK_MS } from "#workspace/people/issue-link.ts";
import { findAccountLink, insertLink, takeLink } from "#workspace/people/links-store.ts";
import { hashToken, newToken } from "#workspace/people/open-session.ts";
import { findUser, findUserByEmail, lockUser } from "#workspace/people/users-store.ts";
import { countVisit } from "#workspace/sign-in/attempts.ts";
import { replacePassword } from "#workspace/sign-in/replace-password.ts";
import { auditOf, type SignInDeps, sendOrPretend } from "#workspace/sign-in/sign-in.ts";

export interface PasswordResetDeps extends SignInDeps {
  /** URL of the service, without a slash at its end. */
  readonly publicUrl: () => string;
}

const ResetRequest = Type.Object(
  { email: Type.String({ minLength: 1, maxLength: 1_000, description: "The address of the account." }) },
  { $id: "PasswordResetRequest" },
);

const ResetRequested = Type.Object(
  {
    requested: Type.Literal(true, {
      description: "Always true: the answer does not reveal whether the address has an account.",
    }),
  },
  { $id: "PasswordResetRequested" },
);

const PasswordReset = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      maxLength: 100,
      description: "The token of the link: what follows `#` in it. It works once.",
    }),
    password: NewPasswordField,
  },
  { $id: "PasswordReset" },
);

const PasswordResetDone = Type.Object(
  { email: Type.String({ description: "The address of the account, which can now sign in." }) },
  { $id: "PasswordResetDone" },
);

export function passwordResetEndpoints(deps: PasswordResetDeps): Endpoint[] {
  const { db, clock, hasher, sendAccountMail, forgetSessions, publicUrl } = deps;

  return [
    endpoint({
      id: "requestPasswordReset",
      method: "POST",
      path: "/password-resets",
      summary: "Ask for a link to choose a new password; the answer is the same for every address",
      description:
        "Mails a link that works once, for 30 minutes, if the address has an account. The answer and its time do not tell whether it has. In capture mode the mail is in the inbox of the service.",
      needs: "public",
      body: ResetRequest,
      answer: ResetRequested,
      status: 202,
      message: "If this address has an account, a mail is on its way",
      async handle({ body, client }) {
        requirePasswordLogin(deps);
        const now = clock.now();
        const email = readPersonEmail(body.email);
        await requireQuota(db, useOf("passwordResetsOfNetwork", networkOf(client.ip)), now);
        const user = await findUserByEmail(db, email);
        const isReal = user !== undefined && user.disabled_at === null;
        const token = newToken();
        const mail = passwordResetMail(email, `${publicUrl()}/console/reset#${token}`);
        await sendOrPretend(deps, mail, isReal, async (tx) => {
          // Without an account the row has another purpose, and is taken back in any case.
          const row = isReal
            ? ({ purpose: "set_password", user_id: user.id, email: null } as const)
            : ({ purpose: "first_owner", user_id: null, email: null } as const);
          const expiresAt = new Date(now.getTime() + RESET_LINK_MS);
          await insertLink(tx, hashToken(token), row, { now, expiresAt });
        });
        return { requested: true } as const;
      },
    }),
    endpoint({
      id: "resetPassword",
      method: "POST",
      path: "/password-resets/complete",
      summary: "Choose a new password with the token of a link; ends all sessions, second factors stay",
      description:
        "The token is in the link of the mail and works once. All sessions of the person end; second factors stay and are asked for at the next sign-in.",
      needs: "public",
      body: PasswordReset,
      answer: PasswordResetDone,
      message: "Password changed; sign in with it",
      errors: ["NOT_FOUND"],
      async handle({ body, client }) {
        requirePasswordLogin(deps);
        const now = clock.now();
        await countVisit(db, client.ip, now);
        const tokenHash = hashToken(body.token);
        // Looks before the hash is computed, which is expensive.
        const link = await findAccountLink(db, tokenHash, "set_password", now);
        const user = link?.user_id == null ? undefined : await findUser(db, link.user_id);
        if (user === undefined) throw unusable();
        requireGoodPassword(body.password, user.email);
        const password_hash = await hasher.hash(body.password);
        await db.transaction(async (tx) => {
          const locked = await lockUser(tx, user.id);
          if (locked === undefined || locked.disabled_at !== null) throw unusable();
          if ((await takeLink(tx, tokenHash, "set_password", now)) === undefined) throw unusable();
          describeAudit(auditOf(locked));
          await replacePassword(tx, locked, password_hash);
          const sentence = "The password of your account was changed by a link. All sessions have ended.";
          await sendAccountMail(tx, accountNotice(user.email, "Your password was changed", sentence));
        });
        forgetSessions();
        return { email: user.email };
      },
    }),
  ];
}

const unusable = () =>
  new ApiError("NOT_FOUND", "The link was used, was replaced or has expired: ask for a new one");
