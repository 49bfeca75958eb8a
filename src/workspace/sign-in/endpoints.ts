/** Sign-in and sessions over HTTP. */
import { Type } from "typebox";
import { describeAudit } from "#platform/audit/pending-event.ts";
import { ApiError, invalid, notFound } from "#platform/errors.ts";
import { SESSION_COOKIE } from "#platform/http/auth/session-cookie.ts";
import { type Endpoint, endpoint } from "#platform/http/endpoint.ts";
import { flagField } from "#platform/http/request/query.ts";
import { Deleted, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { PasswordField, requirePasswordLogin } from "#workspace/passwords/password-rules.ts";
import { idleSince, renewSession } from "#workspace/people/open-session.ts";
import { listSessionsOf, removeSession, removeSessionsOf } from "#workspace/people/sessions-store.ts";
import { findUser } from "#workspace/people/users-store.ts";
import { PasskeyAnswer } from "#workspace/second-factors/passkeys.ts";
import type { Proof } from "#workspace/second-factors/second-factors.ts";
import { beginConfirmationAttempt, countVisit, endAttempt } from "./attempts.ts";
import { SecondFactorChallenge, Session, SignInResult, sessionOf } from "./session-shapes.ts";
import { SignIn, type SignInDeps } from "./sign-in.ts";

/** What a page needs to know before anyone is signed in. */
export interface SignInSettings {
  /** The operator's name of the OpenID provider; null without one. */
  readonly singleSignOnName: string | null;
  readonly capturesMail: boolean;
}

const SignInOptions = Type.Object(
  {
    passwords: Type.Boolean({ description: "Whether people can sign in with address and password." }),
    passkeys: Type.Boolean({ description: "Whether people can sign in with a passkey." }),
    single_sign_on: nullable(
      Type.Object(
        { name: Type.String({ description: "The operator's name of the provider, for the button." }) },
        { description: "Single sign-on (`startSingleSignOn`); null: none is configured." },
      ),
    ),
    captures_mail: Type.Boolean({
      description:
        "Whether mail stays on this machine, in the local inbox at `/inbox`, instead of being delivered (`MAIL_MODE=capture`).",
    }),
  },
  { $id: "SignInOptions" },
);

const Credentials = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 1_000, description: "The address of the account." }),
    password: PasswordField,
  },
  { $id: "Credentials" },
);

const challengeField = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "The token of the challenge that the proof answers.",
});
const codeField = Type.Optional(
  Type.String({
    maxLength: 20,
    description: "The six digits of an authenticator app. Each code works once.",
  }),
);

const SecondFactorProof = Type.Object(
  {
    challenge: challengeField,
    code: codeField,
    recovery_code: Type.Optional(
      Type.String({
        maxLength: 60,
        description: "A recovery code in place of another proof. Each works once.",
      }),
    ),
    passkey: Type.Optional(PasskeyAnswer),
  },
  { $id: "SecondFactorProof", description: "Exactly one of `code`, `recovery_code` and `passkey`." },
);

const PasskeySignIn = Type.Object(
  { challenge: challengeField, passkey: PasskeyAnswer },
  { $id: "PasskeySignIn" },
);

const IdentityProof = Type.Object(
  {
    password: Type.Optional(PasswordField),
    code: codeField,
    challenge: Type.Optional(challengeField),
    passkey: Type.Optional(PasskeyAnswer),
  },
  {
    $id: "IdentityProof",
    description: "Exactly one of `password`, `code` and `passkey`; a passkey with its `challenge`.",
  },
);

const SessionSummary = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "Id of the session." }),
    is_current: Type.Boolean({ description: "Whether it is the session that asks." }),
    user_agent: Type.String({
      description: "What the browser calls itself (User-Agent), cut after 300 characters.",
    }),
    ip_address: Type.String({ description: "Address from which the session was opened." }),
    has_second_factor: Type.Boolean({
      description: "Whether it was opened or confirmed with a second factor or a passkey.",
    }),
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the person signed in." }),
    last_seen_at: Type.Unsafe<Date>({ ...Timestamp, description: "Last request, to the minute." }),
    expires_at: Type.Unsafe<Date>({ ...Timestamp, description: "When the session ends at the latest." }),
  },
  { $id: "SessionSummary" },
);

const SignedOut = Type.Object(
  { signed_out: Type.Literal(true, { description: "The session has ended, and its cookie is removed." }) },
  { $id: "SignedOut" },
);

const SessionsEnded = Type.Object(
  { ended: Type.Integer({ description: "Number of sessions that were ended." }) },
  { $id: "SessionsEnded" },
);

/** @throws ApiError VALIDATION_ERROR unless exactly one of the fields is given */
function requireOne(given: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(given);
  const [first = "", ...others] = names.filter((name) => given[name] !== undefined);
  if (first !== "" && others.length === 0) return;
  const list = names.join(", ");
  throw invalid({ field: others[0] ?? names[0] ?? "", message: `send exactly one of ${list}` });
}

export function signInEndpoints(deps: SignInDeps, settings: SignInSettings): Endpoint[] {
  const { db, clock, factors, hasher, hasPasswords, forgetSessions } = deps;
  const signIn = new SignIn(deps);
  return [
    endpoint({
      id: "getSignInOptions",
      method: "GET",
      path: "/sign-in/options",
      summary: "Ways to sign in at this installation",
      description:
        "Says whether passwords, passkeys and single sign-on may be used, so that a sign-in page shows only what works. It tells nothing about accounts.",
      needs: "public",
      answer: SignInOptions,
      message: "Ways to sign in",
      handle: async () => ({
        passwords: hasPasswords,
        passkeys: true,
        single_sign_on: settings.singleSignOnName === null ? null : { name: settings.singleSignOnName },
        captures_mail: settings.capturesMail,
      }),
    }),
    endpoint({
      id: "signIn",
      method: "POST",
      path: "/sign-in",
      summary:
        "Sign in with address and password; sets the cookie of the session, or asks for the second factor",
      description:
        "On success the response sets the session cookie. When the account has a second factor, the answer has `second_factor` with a challenge instead, to be completed with `confirmSecondFactor` within minutes. Unknown addresses, wrong passwords and disabled accounts get the same 401. Too many attempts get 429 with `Retry-After`.",
      needs: "public",
      body: Credentials,
      answer: SignInResult,
      message: ({ status }) =>
        status === "signed_in" ? "Signed in" : "Confirm the sign-in with a second factor",
      errors: ["UNAUTHORIZED"],
      async handle({ body, client, cookies }) {
        requirePasswordLogin(deps);
        return signIn.withPassword(body, { client, cookies });
      },
    }),
    endpoint({
      id: "confirmSecondFactor",
      method: "POST",
      path: "/sign-in/second-factor",
      summary: "Complete a sign-in with a code, a recovery code or a passkey",
      description:
        "Send the challenge of `signIn` with a code of the authenticator app, a recovery code or the response of a passkey. Each code works once. On success the response sets the session cookie.",
      needs: "public",
      body: SecondFactorProof,
      answer: SignInResult,
      message: "Signed in",
      errors: ["UNAUTHORIZED"],
      async handle({ body, client, cookies }) {
        const { code, recovery_code, passkey, challenge } = body;
        requireOne({ code, recovery_code, passkey });
        return signIn.withSecondFactor({ code, recovery_code, passkey, challenge }, { client, cookies });
      },
    }),
    endpoint({
      id: "startPasskeySignIn",
      method: "POST",
      path: "/sign-in/passkey/challenge",
      summary: "Begin a sign-in with a passkey and without a password",
      description:
        "Answers the options for the browser's `navigator.credentials.get()`. Send its result to `signInWithPasskey`.",
      needs: "public",
      answer: SecondFactorChallenge,
      status: 201,
      message: "Let the browser sign the challenge",
      async handle({ client }) {
        await countVisit(db, client.ip, clock.now());
        const challenge = await factors.begin(db, "passkey_sign_in", null, clock.now());
        return { ...challenge, kinds: [...challenge.kinds] };
      },
    }),
    endpoint({
      id: "signInWithPasskey",
      method: "POST",
      path: "/sign-in/passkey",
      summary: "Sign in with a passkey alone; the device must have checked its owner",
      description:
        "Send what the browser returned for the options of `startPasskeySignIn`. The passkey counts as both factors, so no further step follows. On success the response sets the session cookie.",
      needs: "public",
      body: PasskeySignIn,
      answer: SignInResult,
      message: "Signed in",
      errors: ["UNAUTHORIZED"],
      handle: ({ body, client, cookies }) => signIn.withPasskey(body, { client, cookies }),
    }),
    endpoint({
      id: "getSession",
      method: "GET",
      path: "/session",
      summary:
        "The session: its person, their workspaces with roles and permissions, and until when it is confirmed",
      description:
        "The first request of a page: it answers 401 when no session is valid. Use the permissions of a workspace to show what the person may do there.",
      needs: "signed in",
      answer: Session,
      message: "Session",
      handle: ({ caller: { actor } }) => sessionOf(db, factors, actor.id, actor.sessionId, actor.confirmedAt),
    }),
    endpoint({
      id: "signOut",
      method: "DELETE",
      path: "/session",
      summary: "Sign out: end the session",
      description:
        "Ends the session of this cookie at once and removes the cookie. Other sessions stay; `revokeSessions` ends them.",
      needs: "signed in",
      answer: SignedOut,
      message: "Signed out",
      async handle({ caller: { actor }, cookies }) {
        describeAudit({ resource: { id: actor.sessionId, name: null } });
        await removeSession(db, actor.id, actor.sessionId);
        forgetSessions();
        cookies.remove(SESSION_COOKIE);
        return { signed_out: true } as const;
      },
    }),
    endpoint({
      id: "startConfirmation",
      method: "POST",
      path: "/session/confirmation/challenge",
      summary: "Begin to confirm who you are with a passkey",
      description:
        "Answers the options for the browser's `navigator.credentials.get()`, for people who confirm with a passkey. Send its result to `reauthenticate`.",
      needs: "signed in",
      answer: SecondFactorChallenge,
      status: 201,
      message: "Let the browser sign the challenge",
      async handle({ caller: { actor } }) {
        const challenge = await db.transaction((tx) =>
          factors.begin(tx, "confirmation", actor.id, clock.now()),
        );
        return { ...challenge, kinds: [...challenge.kinds] };
      },
    }),
    endpoint({
      id: "reauthenticate",
      method: "POST",
      path: "/session/confirmation",
      summary: "Confirm who you are, for ten minutes; the session gets a new cookie",
      description:
        "Operations that cannot be undone answer 403 `REAUTHENTICATION_REQUIRED` unless the person has confirmed within ten minutes. Confirm with the password, a code of the authenticator app or a passkey, then repeat the request.",
      needs: "signed in",
      body: IdentityProof,
      answer: Session,
      message: "Confirmed for ten minutes",
      errors: ["FORBIDDEN"],
      async handle({ caller: { actor }, body, cookies }) {
        const { password, code, passkey, challenge = "" } = body;
        requireOne({ password, code, passkey });
        if (password !== undefined) requirePasswordLogin(deps, "confirm with a code or a passkey");
        const now = clock.now();
        const attempt = await beginConfirmationAttempt(db, actor.sessionId, now);
        if (password !== undefined) {
          const user = await findUser(db, actor.id);
          if (!(await hasher.check(password, user?.password_hash ?? null)).isRight) throw wrongProof();
        }
        const isProved = await db.transaction(async (tx) => {
          if (password === undefined && !(await hasFactor(deps, tx, actor.id, { code, passkey }, challenge)))
            return false;
          await endAttempt(tx, attempt);
          const proved = password === undefined ? { hasSecondFactor: true } : {};
          await renewSession(tx, actor.sessionId, cookies, now, { confirmedAt: now, ...proved });
          return true;
        });
        if (!isProved) throw wrongProof();
        forgetSessions();
        return sessionOf(db, factors, actor.id, actor.sessionId, now);
      },
    }),
    endpoint({
      id: "listSessions",
      method: "GET",
      path: "/sessions",
      summary: "Your sessions, last used first, at most 50",
      description:
        "Each session has its browser, its network address and the times of its first and last use. The one of this request is marked.",
      needs: "signed in",
      answer: Type.Array(SessionSummary),
      message: "Sessions",
      async handle({ caller: { actor } }) {
        const now = clock.now();
        const rows = await listSessionsOf(db, actor.id, now, idleSince(now));
        return rows.map(({ agent, ip, seen_at, ...row }) => ({
          ...row,
          is_current: row.id === actor.sessionId,
          user_agent: agent,
          ip_address: ip,
          last_seen_at: seen_at,
        }));
      },
    }),
    endpoint({
      id: "revokeSession",
      method: "DELETE",
      path: "/sessions/{id}",
      summary: "End one of your sessions",
      description: "The session stops working at once on this machine, and within two seconds on others.",
      needs: "signed in",
      answer: Deleted,
      message: "Session ended",
      async handle({ caller: { actor }, params, cookies }) {
        if (!(await removeSession(db, actor.id, params.id))) throw notFound("Session");
        forgetSessions();
        if (params.id === actor.sessionId) cookies.remove(SESSION_COOKIE);
        return { id: params.id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "revokeSessions",
      method: "DELETE",
      path: "/sessions",
      summary: "Sign out everywhere: end your other sessions, or all",
      description:
        "Use it after a device was lost, or when a session in the list is unknown. By default the session of this request stays.",
      needs: "signed in",
      query: { include_current: flagField(false, "Ends the session that asks as well.") },
      answer: SessionsEnded,
      message: "Sessions ended",
      async handle({ caller: { actor }, query, cookies }) {
        const kept = query.include_current ? undefined : actor.sessionId;
        const ended = await removeSessionsOf(db, actor.id, kept);
        forgetSessions();
        if (query.include_current) cookies.remove(SESSION_COOKIE);
        return { ended };
      },
    }),
  ];
}

/** Whether the proof of a signed-in person is right; a try is counted. */
async function hasFactor(
  { factors, clock }: SignInDeps,
  tx: Parameters<SignInDeps["sendAccountMail"]>[0],
  userId: string,
  { code, passkey }: Proof,
  challenge: string,
): Promise<boolean> {
  if (passkey === undefined) return factors.takeCode(tx, userId, { code }, clock.now());
  return (await factors.answer(tx, "confirmation", challenge, { passkey }, clock.now())) === userId;
}

const wrongProof = () => new ApiError("FORBIDDEN", "The proof is wrong: check it and try again");
