/**
 * Signs people in. A wrong address, a wrong password and a disabled account get the same answer after the same work, so that
 * answers do not reveal who has an account.
 */
import type { Static } from "typebox";
import { describeAudit, dropAudit } from "#platform/audit/pending-event.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { inSavepoint } from "#platform/database/savepoint.ts";
import { ApiError } from "#platform/errors.ts";
import { DAY_SECONDS } from "#platform/time-units.ts";
import type { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import type { SignInWays } from "#workspace/passwords/password-rules.ts";
import { accountNotice, failedSignInsNotice, type SendAccountMail } from "#workspace/people/account-mails.ts";
import { readPersonEmail } from "#workspace/people/create-user.ts";
import {
  hashToken,
  newToken,
  openPersonSession,
  type SessionRequest,
} from "#workspace/people/open-session.ts";
import { findUserByEmail, lockUser, type User, updateUser } from "#workspace/people/users-store.ts";
import type { Challenge, Proof, SecondFactors } from "#workspace/second-factors/second-factors.ts";
import { beginFactorAttempt, beginSignInAttempt, type CountedAttempt, endAttempt } from "./attempts.ts";
import { BROWSER_DAYS, isKnownBrowser, noteBrowser } from "./known-browsers-store.ts";
import { type SignInResult, sessionOf } from "./session-shapes.ts";

/** Name of the cookie that recognises a browser at the next sign-in. It gives no rights. */
const BROWSER_COOKIE = "posthaste_browser";
const LONGEST_AGENT = 200;

export interface SignInDeps extends SignInWays {
  readonly db: Database;
  readonly clock: Clock;
  readonly hasher: PasswordHasher;
  readonly factors: SecondFactors;
  readonly sendAccountMail: SendAccountMail;
  /** Clears the authenticator's caches of this process. */
  readonly forgetSessions: () => void;
}

type Result = Static<typeof SignInResult>;

const wrong = (what: string) =>
  new ApiError("UNAUTHORIZED", `${what}: check it and try again, or ask for a new password`);

export class SignIn {
  readonly #deps: SignInDeps;

  constructor(deps: SignInDeps) {
    this.#deps = deps;
  }

  /**
   * Signs in with a password.
   * @throws ApiError UNAUTHORIZED; RATE_LIMIT_EXCEEDED
   */
  async withPassword(
    given: { readonly email: string; readonly password: string },
    request: SessionRequest,
  ): Promise<Result> {
    const { db, clock, hasher } = this.#deps;
    const email = readPersonEmail(given.email);
    const browser = await this.#browserOf(email, request);
    const attempt = await beginSignInAttempt(db, { email, ip: request.client.ip, browser }, clock.now());
    const user = await findUserByEmail(db, email);
    const stored = user === undefined || user.disabled_at !== null ? null : user.password_hash;
    const { isRight, isOutdated } = await hasher.check(given.password, stored);
    if (!isRight || user === undefined) {
      dropAudit();
      if (attempt.isLastOfAccount) await this.#noticeFailures(user, email, request);
      throw wrong("The address or the password is wrong");
    }
    const hash = isOutdated ? await hasher.hash(given.password) : undefined;
    const result = await db.transaction(async (tx) => {
      const locked = await lockUser(tx, user.id);
      // The account may have changed since the password was checked.
      if (locked === undefined || locked.disabled_at !== null || locked.password_hash !== stored) return null;
      if (hash !== undefined) await updateUser(tx, user.id, { password_hash: hash });
      await endAttempt(tx, attempt);
      return this.completeFirstStep(tx, locked, request, { needsSecondFactor: true });
    });
    if (result === null) throw wrong("The address or the password is wrong");
    return this.answer(result);
  }

  /**
   * Completes a sign-in with a second factor.
   * @throws ApiError UNAUTHORIZED; RATE_LIMIT_EXCEEDED
   */
  async withSecondFactor(
    given: Proof & { readonly challenge: string },
    request: SessionRequest,
  ): Promise<Result> {
    return this.#withChallenge(
      "second_factor",
      given,
      request,
      "The proof is wrong, or the sign-in has expired",
    );
  }

  /** Signs in with a passkey alone. @throws ApiError UNAUTHORIZED */
  async withPasskey(
    given: Pick<Proof, "passkey"> & { readonly challenge: string },
    request: SessionRequest,
  ): Promise<Result> {
    return this.#withChallenge(
      "passkey_sign_in",
      given,
      request,
      "The passkey is unknown, or the sign-in has expired",
    );
  }

  /**
   * Opens the session of a user who has proved the first factor, or asks for the second one.
   * @param user locked, so that it is not disabled meanwhile
   */
  async completeFirstStep(
    tx: Queryable,
    user: User,
    request: SessionRequest,
    { needsSecondFactor }: { readonly needsSecondFactor: boolean },
  ): Promise<FirstStep> {
    const { factors, clock } = this.#deps;
    const kinds = needsSecondFactor ? await factors.kindsOf(tx, user.id) : [];
    if (kinds.length > 0) {
      // The person is not signed in yet: the actor is a visitor.
      describeAudit({ resource: auditOf(user).resource });
      return { challenge: await factors.begin(tx, "second_factor", user.id, clock.now()) };
    }
    return { userId: user.id, sessionId: await this.open(tx, user, request, !needsSecondFactor) };
  }

  /** Opens a session, remembers the browser, and tells the person about a new one. */
  async open(tx: Queryable, user: User, request: SessionRequest, hasSecondFactor: boolean): Promise<string> {
    const { clock, sendAccountMail } = this.#deps;
    const { client, cookies } = request;
    const now = clock.now();
    describeAudit(auditOf(user));
    const sessionId = await openPersonSession(tx, { userId: user.id, hasSecondFactor }, request, now);
    const token = cookies.get(BROWSER_COOKIE) ?? newToken();
    const { isNew, isFirst } = await noteBrowser(tx, user.id, hashToken(token), now);
    cookies.set(BROWSER_COOKIE, token, BROWSER_DAYS * DAY_SECONDS);
    if (isNew && !isFirst) {
      const sentence = `Someone signed in to your account from a browser that was not used before: ${browserText(client.agent)}, at the address ${client.ip}.`;
      await sendAccountMail(tx, accountNotice(user.email, "New sign-in to your account", sentence));
    }
    return sessionId;
  }

  /** The answer to a step, after its transaction was committed. */
  async answer(step: FirstStep): Promise<Result> {
    const { db, factors, forgetSessions, clock } = this.#deps;
    if ("challenge" in step) {
      const { kinds, ...challenge } = step.challenge;
      const second_factor = { ...challenge, kinds: [...kinds] };
      return { status: "second_factor_required", session: null, second_factor };
    }
    forgetSessions();
    const session = await sessionOf(db, factors, step.userId, step.sessionId, clock.now());
    return { status: "signed_in", session, second_factor: null };
  }

  async #withChallenge(
    purpose: "second_factor" | "passkey_sign_in",
    { challenge, ...proof }: Proof & { readonly challenge: string },
    request: SessionRequest,
    fault: string,
  ): Promise<Result> {
    const { db, factors, clock } = this.#deps;
    // A wrong proof is counted, so the transaction is committed in both cases.
    const step = await db.transaction(async (tx) => {
      const attempts: CountedAttempt[] = [];
      const userId = await factors.answer(tx, purpose, challenge, proof, clock.now(), async (id) => {
        describeAudit({ resource: { id, name: null } });
        attempts.push(await beginFactorAttempt(tx, id, clock.now()));
      });
      const user = userId === null ? undefined : await lockUser(tx, userId);
      if (user === undefined || user.disabled_at !== null) {
        dropAudit();
        return null;
      }
      for (const attempt of attempts) await endAttempt(tx, attempt);
      return { userId: user.id, sessionId: await this.open(tx, user, request, true) };
    });
    if (step === null) throw new ApiError("UNAUTHORIZED", `${fault}: try again, or begin again`);
    return this.answer(step);
  }

  /** The browser's id when the person of the address has signed in from it. */
  async #browserOf(email: string, { cookies }: SessionRequest): Promise<string | null> {
    const token = cookies.get(BROWSER_COOKIE);
    if (token === undefined) return null;
    const tokenHash = hashToken(token);
    const isKnown = await isKnownBrowser(this.#deps.db, tokenHash, email);
    return isKnown ? `${tokenHash.toString("base64url")} ${email}` : null;
  }

  async #noticeFailures(user: User | undefined, email: string, { client }: SessionRequest): Promise<void> {
    const sentence = `There were ten failed attempts to sign in to your account. The last came from ${browserText(client.agent)}, at the address ${client.ip}. Further attempts from unknown browsers are refused for some minutes.`;
    const mail = failedSignInsNotice(email, sentence);
    await sendOrPretend(this.#deps, mail, user !== undefined && user.disabled_at === null);
  }
}

/** A session that was opened, or the challenge of a second factor. */
export type FirstStep =
  | { readonly challenge: Challenge }
  | { readonly userId: string; readonly sessionId: string };

/** What the audit log says of a visitor who has proved to be this person: actor and resource are the person. */
export const auditOf = ({ id, name, email }: Pick<User, "id" | "name" | "email">) => ({
  actor: { kind: "person", id, name } as const,
  resource: { id, name: email },
});

/** What a browser calls itself, cut, without control characters. */
function browserText(agent: string): string {
  return agent.replaceAll(/\p{Cc}/gu, " ").slice(0, LONGEST_AGENT) || "an unnamed program";
}

/**
 * Sends a mail to a person with an account. For an address without one, it does the same work and takes it back, so that the
 * time of the answer reveals nothing.
 */
export async function sendOrPretend(
  { db, sendAccountMail }: Pick<SignInDeps, "db" | "sendAccountMail">,
  mail: Parameters<SendAccountMail>[1],
  isReal: boolean,
  before: (tx: Queryable) => Promise<void> = async () => {},
): Promise<void> {
  await db.transaction(async (tx) => {
    const write = async () => {
      await before(tx);
      await sendAccountMail(tx, mail);
    };
    await inSavepoint(tx, write, { always: !isReal });
  });
}
