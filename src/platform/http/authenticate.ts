/**
 * Authenticates API keys and sessions. Both are looked up by their SHA-256, so the duration of a comparison reveals nothing
 * about the secret. Records are cached for two seconds: a key that is deactivated, or a right that a person loses, on
 * another machine works at most that long, on this machine no longer (`forget`).
 */

import { hash } from "node:crypto";
import { AsyncCache, ExpiringMap } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import { ApiError } from "#platform/errors.ts";
import { inTime, PATIENCE_MS } from "#platform/in-time.ts";
import { MINUTE_MS } from "#platform/time-units.ts";
import type { Caller, CallerWorkspace, PersonActor, SignedIn, Visitor } from "./auth/caller.ts";
import { type Endpoint, permissionOf } from "./endpoint.ts";

/** An API key in the database. */
export interface KeyRecord extends Caller {
  readonly isActive: boolean;
  readonly expiresAt: Date | null;
}

/** Looks a key up by the SHA-256 of its secret. */
export type FindKey = (keyHash: Buffer) => Promise<KeyRecord | undefined>;

/** Looks up a session that has not ended, by the SHA-256 of its token. */
export type FindSession = (tokenHash: Buffer, now: Date) => Promise<PersonActor | undefined>;

/** What a person may do in a workspace. */
export interface MembershipRecord extends CallerWorkspace {
  readonly permissions: readonly string[];
  /** Whether the workspace admits only sessions with a second factor. */
  readonly requiresSecondFactor: boolean;
}

export type FindMembership = (userId: string, workspaceId: string) => Promise<MembershipRecord | undefined>;

interface KeyOptions {
  readonly findKey: FindKey;
  readonly clock: Clock;
  /** Called for every request of an admitted caller; must return at once (times of use are written outside the request). */
  readonly onUse: (caller: Caller) => void;
}

interface SessionOptions {
  readonly findSession: FindSession;
  readonly findMembership: FindMembership;
}

const CACHE_MS = 2_000;
/** Limits the memory for floods of different keys. */
const CACHE_ENTRIES = 10_000;
/** How long a session counts for the rate limit after its last look-up (`recentSession`). */
const RECENT_MS = MINUTE_MS;
/** Generated keys have 40 characters after the prefix; BOOTSTRAP_API_KEY may have another length. */
const keyForm = /^efk_[\w-]{16,128}$/;
/** Tokens of sessions: 32 random bytes in Base64url. */
const tokenForm = /^[\w-]{43}$/;
/** How long a person may use operations that ask for a confirmation (`Operation.confirmed`) after confirming. */
export const CONFIRMED_MS = 10 * MINUTE_MS;

/** Authenticates API keys. */
export class KeyAuthenticator {
  readonly #options: KeyOptions;
  readonly #keys: AsyncCache<KeyRecord | undefined>;

  constructor(options: KeyOptions) {
    this.#options = options;
    this.#keys = newCache(options.clock);
  }

  /**
   * The caller of an API key.
   * @param header X-API-Key, or the password of an SMTP login
   * @throws ApiError UNAUTHORIZED
   */
  async authenticate(header: string | string[] | undefined): Promise<Caller> {
    if (typeof header !== "string" || header === "") {
      throw new ApiError("UNAUTHORIZED", "Send your API key in the X-API-Key header");
    }
    const { findKey, clock, onUse } = this.#options;
    const record = keyForm.test(header) ? await findHashed(this.#keys, header, findKey) : undefined;
    if (record === undefined) throw new ApiError("UNAUTHORIZED", "The API key is not valid");
    if (!record.isActive) throw new ApiError("UNAUTHORIZED", "The API key has been deactivated");
    if (record.expiresAt !== null && record.expiresAt <= clock.now()) {
      throw new ApiError("UNAUTHORIZED", "API key expired");
    }
    onUse(record);
    return record;
  }

  /** Clears the cache, after a change to a key or workspace. */
  forget(): void {
    this.#keys.clear();
  }
}

/** Authenticates API keys, and people by their sessions. */
export class Authenticator extends KeyAuthenticator {
  readonly #find: KeyOptions & SessionOptions;
  readonly #clock: Clock;
  readonly #sessions: AsyncCache<PersonActor | undefined>;
  readonly #memberships: AsyncCache<MembershipRecord | undefined>;
  readonly #recent: ExpiringMap<string>;

  constructor(options: KeyOptions & SessionOptions) {
    super(options);
    const { clock } = options;
    this.#find = options;
    this.#clock = clock;
    this.#sessions = newCache(clock);
    this.#memberships = newCache(clock);
    this.#recent = new ExpiringMap(CACHE_ENTRIES, () => clock.monotonicMs());
  }

  /** The person of a session. @throws ApiError UNAUTHORIZED */
  async person(token: string): Promise<SignedIn> {
    const find = (tokenHash: Buffer) => this.#find.findSession(tokenHash, this.#clock.now());
    const actor = tokenForm.test(token) ? await findHashed(this.#sessions, token, find) : undefined;
    if (actor === undefined) throw new ApiError("UNAUTHORIZED", "The session has ended: sign in again");
    this.#recent.set(token, actor.sessionId, RECENT_MS);
    return { actor };
  }

  /** Whether the token is that of a session of an operator. */
  async isOperator(token: string | undefined): Promise<boolean> {
    if (token === undefined) return false;
    try {
      return (await inTime(PATIENCE_MS, this.person(token))).actor.isOperator;
    } catch (fault) {
      if (fault instanceof ApiError && fault.code === "UNAUTHORIZED") return false;
      throw fault;
    }
  }

  /**
   * A person as the caller in a workspace.
   * @throws ApiError UNAUTHORIZED; FORBIDDEN for workspaces of others; SECOND_FACTOR_REQUIRED
   */
  async member(token: string, workspaceId: string): Promise<Caller> {
    const { actor } = await this.person(token);
    const record = await this.#memberships.get(`${actor.id} ${workspaceId}`, () =>
      this.#find.findMembership(actor.id, workspaceId),
    );
    if (record === undefined) {
      throw new ApiError("FORBIDDEN", "You are not a member of the workspace that X-Workspace names");
    }
    if (record.requiresSecondFactor && !actor.hasSecondFactor) {
      throw new ApiError("SECOND_FACTOR_REQUIRED");
    }
    const caller = { ...record, actor };
    this.#find.onUse(caller);
    return caller;
  }

  /** The id of the session, if the token was valid within the last minute. Asks no database. */
  recentSession(token: string): string | undefined {
    return this.#recent.get(token);
  }

  /** Clears the caches, after a change to a key, session, member, role or workspace. */
  override forget(): void {
    super.forget();
    this.#sessions.clear();
    this.#memberships.clear();
  }
}

function newCache<Value>(clock: Clock): AsyncCache<Value> {
  return new AsyncCache({ ms: CACHE_MS, most: CACHE_ENTRIES, now: () => clock.monotonicMs() });
}

function findHashed<Found>(
  cache: AsyncCache<Found>,
  secret: string,
  find: (secretHash: Buffer) => Promise<Found>,
): Promise<Found> {
  const digest = hash("sha256", secret, "base64");
  return cache.get(digest, () => find(Buffer.from(digest, "base64")));
}

/** Whether a permission grants another one. Wildcards are `*:*`, `*:read` and `<resource>:*`. */
export function grants(held: string, wanted: string): boolean {
  if (held === wanted || held === "*:*") return true;
  const [resource, action] = held.split(":");
  const [wantedResource, wantedAction] = wanted.split(":");
  return (resource === "*" || resource === wantedResource) && (action === "*" || action === wantedAction);
}

/** The wanted permissions that none of the held ones grants. */
export function missingPermissions(held: readonly string[], wanted: readonly string[]): string[] {
  return [...new Set(wanted)].filter((permission) => !held.some((own) => grants(own, permission)));
}

/** @throws ApiError INSUFFICIENT_SCOPE that lists the missing permissions */
export function requirePermissions(caller: Caller, wanted: readonly string[]): void {
  const missing = missingPermissions(caller.permissions, wanted);
  if (missing.length > 0) {
    const holder = caller.actor.kind === "key" ? "The API key" : "Your role";
    throw new ApiError("INSUFFICIENT_SCOPE", `${holder} lacks ${missing.join(", ")}`, {
      requiredScopes: missing,
    });
  }
}

/**
 * Checks that the caller may use the endpoint; suspension first, because its error is more useful.
 * @throws ApiError SERVICE_SUSPENDED, INSUFFICIENT_SCOPE, FORBIDDEN, REAUTHENTICATION_REQUIRED
 */
export function authorize(endpoint: Endpoint, caller: Caller | SignedIn | Visitor, now: Date): void {
  const { needs } = endpoint;
  if (needs === "signed in" || needs === "operator") requirePerson(caller, needs);
  else if (needs !== "public") requireRights(endpoint, caller as Caller);
  if (endpoint.confirmed && caller.actor !== null) requireConfirmed(caller.actor, now);
}

/**
 * For an operation that cannot be undone: a person must have confirmed who they are recently. API keys need not.
 * @throws ApiError REAUTHENTICATION_REQUIRED
 */
export function requireConfirmed(actor: Caller["actor"], now: Date): void {
  if (actor.kind !== "person") return;
  if (now.getTime() - actor.confirmedAt.getTime() > CONFIRMED_MS) {
    throw new ApiError("REAUTHENTICATION_REQUIRED");
  }
}

function requirePerson({ actor }: Caller | SignedIn | Visitor, needs: "signed in" | "operator"): void {
  if (actor?.kind !== "person") {
    throw new ApiError("FORBIDDEN", "This operation is for people: sign in, an API key cannot use it");
  }
  if (needs === "operator" && !actor.isOperator) {
    throw new ApiError("FORBIDDEN", "This operation is for operators of the installation");
  }
}

function requireRights(endpoint: Endpoint, caller: Caller): void {
  if (caller.isSuspended && isClosedToSuspended(endpoint)) {
    throw new ApiError(
      "SERVICE_SUSPENDED",
      "The workspace is suspended: it can read, but not send or change anything",
    );
  }
  const { needs } = endpoint;
  if (typeof needs !== "string" && needs.judgedBy === "server") {
    requirePermissions(caller, [permissionOf(needs)]);
  }
}

/**
 * Whether a suspended workspace may not use the endpoint: all but reading, and writes marked `openWhileSuspended`.
 * Operations of people outside a workspace are never closed.
 */
export function isClosedToSuspended({ needs, method, openWhileSuspended }: Endpoint): boolean {
  if (openWhileSuspended) return false;
  if (typeof needs !== "string") return needs.action !== "read";
  return needs === "authenticated" && method !== "GET";
}
