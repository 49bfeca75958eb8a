/** Challenges for second factors, and the check of what answers them. */
import type { Queryable } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { MINUTE_MS } from "#platform/time-units.ts";
import { hashToken, newToken } from "#workspace/people/open-session.ts";
import { appUri, newAppSecret, sealedAppSecrets, stepOfCode } from "./authenticator-codes.ts";
import {
  type ChallengePurpose,
  type ChallengeRow,
  findChallenge,
  insertChallenge,
  removeChallenge,
  tryChallenge,
} from "./challenges-store.ts";
import {
  counterOfAnswer,
  creationOptions,
  type NewPasskeyProof,
  newWebauthnChallenge,
  type PasskeyProof,
  type RelyingParty,
  readNewPasskey,
  requestOptions,
} from "./passkeys.ts";
import { takeRecoveryCode } from "./recovery-codes.ts";
import {
  countRecoveryCodes,
  type FactorRow,
  findAppBeingSetUp,
  insertApp,
  insertPasskey,
  listAppsInUse,
  listFactors,
  listPasskeys,
  lockPasskey,
  updateAppUsed,
  updatePasskeyUsed,
} from "./store.ts";

/** How long a person may take for the second step. */
const CHALLENGE_MS = 10 * MINUTE_MS;
/** How long the set-up of an authenticator app may take. */
export const APP_SET_UP_MS = 30 * MINUTE_MS;
/** A wrong code can be corrected a few times; then the sign-in starts again. */
const MOST_TRIES = 5;

export type ProofKind = "authenticator_app" | "passkey" | "recovery_code";

/** What a person proves a second factor with: one of these. */
export interface Proof {
  readonly code?: string | undefined;
  readonly recovery_code?: string | undefined;
  readonly passkey?: PasskeyProof | undefined;
}

export interface Challenge {
  /** Token that the client sends back with the proof. */
  readonly challenge: string;
  readonly kinds: readonly ProofKind[];
  readonly passkey_options: Record<string, unknown> | null;
  readonly expires_at: Date;
}

/** The kinds of proof that a person with these factors can give. */
function proofKindsOf(factors: readonly FactorRow[], recoveryCodes: number): ProofKind[] {
  if (factors.length === 0) return [];
  const kinds = new Set<ProofKind>(factors.map(({ kind }) => kind));
  if (recoveryCodes > 0) kinds.add("recovery_code");
  return [...kinds];
}

export class SecondFactors {
  readonly #secrets: Secrets;
  readonly #party: () => RelyingParty;

  constructor(secrets: Secrets, party: () => RelyingParty) {
    this.#secrets = secrets;
    this.#party = party;
  }

  /** The kinds of proof that the user can give; none without a second factor. */
  async kindsOf(db: Queryable, userId: string): Promise<ProofKind[]> {
    return proofKindsOf(await listFactors(db, userId), await countRecoveryCodes(db, userId));
  }

  /** Begins a second step. @param userId null for a sign-in with a passkey alone, which names the user */
  async begin(
    tx: Queryable,
    purpose: "second_factor" | "confirmation" | "passkey_sign_in",
    userId: string | null,
    now: Date,
  ): Promise<Challenge> {
    const row = { purpose, user_id: userId, webauthn_challenge: newWebauthnChallenge() };
    const { token, expiresAt } = await this.#insert(tx, row, now);
    return this.#shown(tx, token, { ...row, expires_at: expiresAt });
  }

  /** The open challenge of a sign-in; null when it has ended or was tried too often. */
  async find(db: Queryable, token: string, now: Date): Promise<Challenge | null> {
    const row = await findChallenge(db, hashToken(token), "second_factor", now, MOST_TRIES);
    return row === undefined ? null : this.#shown(db, token, row);
  }

  async #shown(
    db: Queryable,
    token: string,
    {
      purpose,
      user_id: userId,
      webauthn_challenge,
      expires_at,
    }: ChallengeRow & { readonly expires_at: Date },
  ): Promise<Challenge> {
    const isWholeSignIn = userId === null;
    const all = isWholeSignIn ? (["passkey"] as const) : await this.kindsOf(db, userId);
    // A recovery code replaces a lost factor at the sign-in, and confirms nothing afterwards.
    const kinds = purpose === "confirmation" ? all.filter((kind) => kind !== "recovery_code") : all;
    const passkeys = isWholeSignIn ? [] : await listPasskeys(db, userId);
    return {
      challenge: token,
      kinds,
      passkey_options: kinds.some((kind) => kind === "passkey")
        ? await requestOptions(this.#party(), webauthn_challenge, passkeys, isWholeSignIn)
        : null,
      expires_at,
    };
  }

  /**
   * Uses a challenge up with a proof.
   * @returns the user; null when the challenge is unknown or expired, or the proof is wrong. A try is counted then, so the
   *   caller must commit.
   * @param onGuess called before a code is checked, to limit how often codes are guessed
   */
  async answer(
    tx: Queryable,
    purpose: "second_factor" | "confirmation" | "passkey_sign_in",
    token: string,
    proof: Proof,
    now: Date,
    onGuess: (userId: string) => Promise<void> = async () => {},
  ): Promise<string | null> {
    const row = await tryChallenge(tx, hashToken(token), purpose, now, MOST_TRIES);
    if (row === undefined) return null;
    // Only codes can be guessed.
    if (proof.passkey === undefined && row.user_id !== null) await onGuess(row.user_id);
    const userId =
      proof.passkey !== undefined
        ? await this.#takePasskey(tx, row, proof.passkey, now)
        : row.user_id !== null && (await this.takeCode(tx, row.user_id, proof, now))
          ? row.user_id
          : null;
    if (userId !== null) await removeChallenge(tx, hashToken(token));
    return userId;
  }

  /** Uses up a code of an authenticator app, or a recovery code. @returns false when it is wrong or was used */
  async takeCode(
    tx: Queryable,
    userId: string,
    { code, recovery_code }: Pick<Proof, "code" | "recovery_code">,
    now: Date,
  ): Promise<boolean> {
    if (recovery_code !== undefined) return takeRecoveryCode(tx, userId, recovery_code, now);
    if (code === undefined) return false;
    for (const app of await listAppsInUse(tx, userId)) {
      const step = stepOfCode(this.#openSecret(app), code, now, app.last_step);
      if (step === null) continue;
      await updateAppUsed(tx, app.id, step, now);
      return true;
    }
    return false;
  }

  /** Begins to set up an authenticator app: it counts when `confirmApp` gets its first code. */
  async setUpApp(
    tx: Queryable,
    user: { readonly id: string; readonly email: string },
    name: string,
    now: Date,
  ): Promise<{
    readonly id: string;
    readonly secret: string;
    readonly uri: string;
    readonly expires_at: Date;
  }> {
    const [id, secret] = [newId(), newAppSecret()];
    const sealed = this.#secrets.seal(secret, sealedAppSecrets.contextOf(id));
    await insertApp(tx, user.id, { id, name, secret: sealed }, now);
    const expires_at = new Date(now.getTime() + APP_SET_UP_MS);
    return { id, secret, uri: appUri(secret, user.email), expires_at };
  }

  /** @returns the id of the app; null when the code is wrong, or no app is being set up */
  async confirmApp(tx: Queryable, userId: string, code: string, now: Date): Promise<string | null> {
    const app = await findAppBeingSetUp(tx, userId, new Date(now.getTime() - APP_SET_UP_MS));
    if (app === undefined) return null;
    const step = stepOfCode(this.#openSecret(app), code, now, app.last_step);
    if (step === null) return null;
    await updateAppUsed(tx, app.id, step, now);
    return app.id;
  }

  /** Begins to add a passkey. */
  async setUpPasskey(
    tx: Queryable,
    user: { readonly id: string; readonly email: string; readonly name: string },
    now: Date,
  ): Promise<
    Pick<Challenge, "challenge" | "expires_at"> & { readonly passkey_options: Record<string, unknown> }
  > {
    const row = {
      purpose: "passkey_enrolment",
      user_id: user.id,
      webauthn_challenge: newWebauthnChallenge(),
    } as const;
    const { token, expiresAt } = await this.#insert(tx, row, now);
    const passkeys = await listPasskeys(tx, user.id);
    const options = await creationOptions(this.#party(), row.webauthn_challenge, user, passkeys);
    return { challenge: token, passkey_options: options, expires_at: expiresAt };
  }

  /** @returns the id of the passkey; null when the challenge or the answer is not valid, or the passkey is in use already */
  async addPasskey(
    tx: Queryable,
    userId: string,
    given: { readonly challenge: string; readonly passkey: NewPasskeyProof; readonly name: string },
    now: Date,
  ): Promise<string | null> {
    const tokenHash = hashToken(given.challenge);
    const row = await tryChallenge(tx, tokenHash, "passkey_enrolment", now, MOST_TRIES);
    if (row?.user_id !== userId) return null;
    const passkey = await readNewPasskey(this.#party(), row.webauthn_challenge, given.passkey);
    if (passkey === null) return null;
    await removeChallenge(tx, tokenHash);
    const id = newId();
    return (await insertPasskey(tx, { ...passkey, id, user_id: userId, name: given.name }, now)) ? id : null;
  }

  async #insert(
    tx: Queryable,
    row: ChallengeRow & { readonly purpose: ChallengePurpose },
    now: Date,
  ): Promise<{ readonly token: string; readonly expiresAt: Date }> {
    const token = newToken();
    const expiresAt = new Date(now.getTime() + CHALLENGE_MS);
    await insertChallenge(tx, hashToken(token), row, { now, expiresAt });
    return { token, expiresAt };
  }

  async #takePasskey(
    tx: Queryable,
    { user_id, purpose, webauthn_challenge }: ChallengeRow,
    answer: PasskeyProof,
    now: Date,
  ): Promise<string | null> {
    const passkey = await lockPasskey(tx, answer.id);
    if (passkey === undefined || (user_id !== null && passkey.user_id !== user_id)) return null;
    const isWholeSignIn = purpose === "passkey_sign_in";
    const counter = await counterOfAnswer(this.#party(), webauthn_challenge, answer, passkey, isWholeSignIn);
    if (counter === null) return null;
    await updatePasskeyUsed(tx, passkey.id, counter, now);
    return passkey.user_id;
  }

  #openSecret({ id, secret }: { readonly id: string; readonly secret: Buffer }): string {
    return this.#secrets.open(secret, sealedAppSecrets.contextOf(id));
  }
}
