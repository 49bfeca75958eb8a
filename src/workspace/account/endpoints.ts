/** The own account of a person over HTTP: profile, password, address. */
import { Type } from "typebox";
import { describeAudit } from "#platform/audit/pending-event.ts";
import { inSavepoint } from "#platform/database/savepoint.ts";
import { ApiError, invalid, required } from "#platform/errors.ts";
import { requireConfirmed } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { requireQuota, useOf } from "#platform/limits/quota-store.ts";
import { nullable, Timestamp } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import {
  NewPasswordField,
  PasswordField,
  requireGoodPassword,
  requirePasswordLogin,
} from "#workspace/passwords/password-rules.ts";
import { accountNotice, addressChangeMail } from "#workspace/people/account-mails.ts";
import { readPersonEmail } from "#workspace/people/create-user.ts";
import { insertLink, removeLinks, takeLink } from "#workspace/people/links-store.ts";
import { hashToken, newToken, renewSession } from "#workspace/people/open-session.ts";
import { findUser, findUserByEmail, lockUser, updateUser } from "#workspace/people/users-store.ts";
import { LONGEST_NAME, readName } from "#workspace/read-display-name.ts";
import { beginConfirmationAttempt, countVisit, endAttempt } from "#workspace/sign-in/attempts.ts";
import { replacePassword } from "#workspace/sign-in/replace-password.ts";
import { PersonAccount, personOf } from "#workspace/sign-in/session-shapes.ts";
import { auditOf, type SignInDeps } from "#workspace/sign-in/sign-in.ts";
import { readTimezone } from "#workspace/workspaces/workspace.ts";

const ADDRESS_LINK_MS = DAY_MS;
/** Characters of the preferences as JSON. */
const MOST_PREFERENCES = 16_384;

export interface AccountDeps extends SignInDeps {
  /** URL of the service, without a slash at its end. */
  readonly publicUrl: () => string;
}

const PersonChanges = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: LONGEST_NAME, description: "The name that teammates see." }),
    ),
    language: Type.Optional(
      nullable(
        Type.String({ maxLength: 50, description: "A BCP 47 tag such as `de`; null: that of the browser." }),
      ),
    ),
    timezone: Type.Optional(
      nullable(
        Type.String({
          maxLength: 100,
          description: "An IANA time zone such as `Europe/Paris`; null: that of the browser.",
        }),
      ),
    ),
    theme: Type.Optional(
      nullable(
        Type.Union([Type.Literal("light"), Type.Literal("dark")], {
          description: "`light` or `dark`; null: as the system.",
        }),
      ),
    ),
    preferences: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: `Replaces the preferences: any JSON object of at most ${MOST_PREFERENCES} characters.`,
      }),
    ),
  },
  { $id: "PersonChanges" },
);

const PasswordChange = Type.Object(
  {
    current_password: Type.Optional(PasswordField),
    new_password: NewPasswordField,
  },
  {
    $id: "PasswordChange",
    description: "`current_password` is required of an account that has a password.",
  },
);

const AddressChange = Type.Object(
  { email: Type.String({ minLength: 1, maxLength: 1_000, description: "The new address." }) },
  { $id: "AddressChange" },
);

const AddressChangeStarted = Type.Object(
  {
    email: Type.String({ description: "The new address, to which a link was mailed." }),
    expires_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the link stops working." }),
  },
  { $id: "AddressChangeStarted" },
);

const LinkToken = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      maxLength: 100,
      description: "The token of the link: what follows `#` in it. It works once.",
    }),
  },
  { $id: "LinkToken" },
);

const AddressChanged = Type.Object(
  { email: Type.String({ description: "The address that the person signs in with from now on." }) },
  { $id: "AddressChanged" },
);

export function accountEndpoints(deps: AccountDeps): Endpoint[] {
  const { db, clock, hasher, sendAccountMail, forgetSessions, publicUrl } = deps;
  return [
    endpoint({
      id: "getMe",
      method: "GET",
      path: "/me",
      summary: "Your own account",
      description: "Name, address, language, time zone, theme and preferences of the signed-in person.",
      needs: "signed in",
      answer: PersonAccount,
      message: "Account",
      async handle({ caller: { actor } }) {
        return personOf(required(await findUser(db, actor.id), "Account"));
      },
    }),
    endpoint({
      id: "updateMe",
      method: "PATCH",
      path: "/me",
      summary: "Change your name, language, time zone, theme or preferences; omitted fields stay",
      description: "The address is changed by `changeEmail` and the password by `changePassword`.",
      needs: "signed in",
      body: PersonChanges,
      answer: PersonAccount,
      message: "Account updated",
      async handle({ caller: { actor }, body }) {
        const { name, language, timezone, theme, preferences } = body;
        const changes = {
          ...(name !== undefined && { name: readName(name) }),
          ...(language !== undefined && { language: language === null ? null : readLanguage(language) }),
          ...(timezone !== undefined && { timezone: timezone === null ? null : readTimezone(timezone) }),
          ...(theme !== undefined && { theme }),
          ...(preferences !== undefined && { preferences: readPreferences(preferences) }),
        };
        await updateUser(db, actor.id, changes);
        forgetSessions();
        return personOf(required(await findUser(db, actor.id), "Account"));
      },
    }),
    endpoint({
      id: "changePassword",
      method: "PUT",
      path: "/me/password",
      summary: "Change your password, or choose the first one; ends your other sessions",
      description:
        "A password has at least 10 characters and is not one of the commonest. Other sessions end, and this one gets a new cookie.",
      needs: "signed in",
      body: PasswordChange,
      answer: PersonAccount,
      message: "Password changed; your other sessions have ended",
      errors: ["REAUTHENTICATION_REQUIRED"],
      async handle({ caller: { actor }, body, cookies }) {
        requirePasswordLogin(deps);
        const now = clock.now();
        requireGoodPassword(body.new_password, actor.email, "new_password");
        const user = required(await findUser(db, actor.id), "Account");
        if (user.password_hash === null) requireConfirmed(actor, now);
        else if (body.current_password === undefined) {
          throw invalid({
            field: "current_password",
            message: "current_password is required: send your present password",
          });
        } else {
          const attempt = await beginConfirmationAttempt(db, actor.sessionId, now);
          if (!(await hasher.check(body.current_password, user.password_hash)).isRight) {
            throw new ApiError("FORBIDDEN", "The present password is wrong");
          }
          await endAttempt(db, attempt);
        }
        const password_hash = await hasher.hash(body.new_password);
        await db.transaction(async (tx) => {
          await replacePassword(
            tx,
            required(await lockUser(tx, actor.id), "Account"),
            password_hash,
            actor.sessionId,
          );
          await renewSession(tx, actor.sessionId, cookies, now, { confirmedAt: now });
          const notice = accountNotice(
            actor.email,
            "Your password was changed",
            "The password of your account was changed.",
          );
          await sendAccountMail(tx, notice);
        });
        forgetSessions();
        return personOf({ ...user, password_hash });
      },
    }),
    endpoint({
      id: "changeEmail",
      method: "POST",
      path: "/me/email",
      summary: "Ask to sign in with another address; a link is mailed to it",
      description:
        "The present address stays until the link in the mail to the new one is opened. A notice goes to the present address.",
      needs: "signed in",
      confirmed: true,
      body: AddressChange,
      answer: AddressChangeStarted,
      status: 201,
      message: "Open the link in the mail to the new address",
      async handle({ caller: { actor }, body }) {
        const now = clock.now();
        const email = readPersonEmail(body.email);
        if (email === actor.email) {
          throw invalid({ field: "email", message: "email is your address already: send another one" });
        }
        await requireQuota(db, useOf("addressChangesOfAccount", actor.id), now);
        const isFree = (await findUserByEmail(db, email)) === undefined;
        const token = newToken();
        const expires_at = new Date(now.getTime() + ADDRESS_LINK_MS);
        const mail = addressChangeMail(email, `${publicUrl()}/console/confirm-email#${token}`);
        const row = { purpose: "change_email", user_id: actor.id, email } as const;
        const notice = accountNotice(
          actor.email,
          "Another address was asked for",
          "Your account was asked to use another address. It keeps this one until the other is confirmed.",
        );
        await db.transaction(async (tx) => {
          await sendAccountMail(tx, notice);
          const askNewAddress = async () => {
            await insertLink(tx, hashToken(token), row, { now, expiresAt: expires_at });
            await sendAccountMail(tx, mail);
          };
          // Done and taken back for an address with an account: neither the answer nor its time reveals that.
          await inSavepoint(tx, askNewAddress, { always: !isFree });
        });
        return { email, expires_at };
      },
    }),
    endpoint({
      id: "confirmEmailChange",
      method: "POST",
      path: "/email-changes/confirm",
      summary: "Confirm a new address with the token of the mailed link",
      description: "The token works once. From then on the person signs in with the new address.",
      needs: "public",
      body: LinkToken,
      answer: AddressChanged,
      message: "Address changed",
      errors: ["NOT_FOUND", "CONFLICT"],
      async handle({ body, client }) {
        const now = clock.now();
        await countVisit(db, client.ip, now);
        const email = await db.transaction(async (tx) => {
          const link = await takeLink(tx, hashToken(body.token), "change_email", now);
          const user = link?.user_id == null ? undefined : await lockUser(tx, link.user_id);
          if (link?.email == null || user === undefined || user.disabled_at !== null) {
            throw new ApiError(
              "NOT_FOUND",
              "The link was used, was replaced or has expired: ask for a new one",
            );
          }
          const change = { field: "email", before: user.email, after: link.email, is_hidden: false };
          describeAudit({ ...auditOf(user), changes: [change] });
          if (!(await updateUser(tx, user.id, { email: link.email }))) {
            throw new ApiError("CONFLICT", "Another person has this address");
          }
          await removeLinks(tx, "set_password", user.id);
          const notice = accountNotice(
            user.email,
            "Your address was changed",
            "Your account has another address now.",
          );
          await sendAccountMail(tx, notice);
          return link.email;
        });
        forgetSessions();
        return { email };
      },
    }),
  ];
}

/** @throws ApiError VALIDATION_ERROR */
function readLanguage(text: string): string {
  try {
    const [language] = Intl.getCanonicalLocales(text);
    if (language !== undefined) return language;
  } catch {
    // Intl throws for what is no tag.
  }
  throw invalid({ field: "language", message: "language must be a BCP 47 tag such as de or pt-BR" });
}

/** @throws ApiError VALIDATION_ERROR */
function readPreferences(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (JSON.stringify(given).length <= MOST_PREFERENCES) return given;
  throw invalid({
    field: "preferences",
    message: `preferences must have at most ${MOST_PREFERENCES} characters as JSON`,
  });
}
