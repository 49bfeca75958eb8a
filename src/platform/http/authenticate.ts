/**
 * Authenticates X-API-Key. Keys are looked up by their SHA-256, so the duration of a comparison reveals nothing about
 * the secret. Records are cached for two seconds: a key that is deactivated on another machine works at most that long,
 * on this machine no longer (`forget`).
 */

import { hash } from "node:crypto";
import { AsyncCache } from "#platform/cache.ts";
import type { Clock } from "#platform/clock.ts";
import { ApiError } from "#platform/errors.ts";
import type { Caller } from "./auth/caller.ts";
import { type Endpoint, permissionOf } from "./endpoint.ts";

/** An API key in the database. */
export interface KeyRecord extends Caller {
  readonly isActive: boolean;
  readonly expiresAt: Date | null;
}

/** Looks a key up by the SHA-256 of its secret. */
export type FindKey = (keyHash: Buffer) => Promise<KeyRecord | undefined>;

export interface Authenticator {
  /** @throws ApiError UNAUTHORIZED */
  authenticate(header: string | string[] | undefined): Promise<Caller>;
  /** Clears the cache, after a change to any key or workspace. */
  forget(): void;
}

const CACHE_MS = 2_000;
/** Limits the memory for floods of different keys. */
const CACHE_ENTRIES = 10_000;
/** Generated keys have 40 characters after the prefix; BOOTSTRAP_API_KEY may have another length. */
const keyForm = /^efk_[\w-]{16,128}$/;

export function createAuthenticator(options: {
  findKey: FindKey;
  clock: Clock;
  /** Called for every authenticated request; must return at once (last_used_at is written outside the request). */
  onUse: (caller: Caller) => void;
}): Authenticator {
  const records = new AsyncCache<KeyRecord | undefined>({
    ms: CACHE_MS,
    most: CACHE_ENTRIES,
    now: () => options.clock.monotonicMs(),
  });

  const find = (key: string): Promise<KeyRecord | undefined> => {
    const digest = hash("sha256", key, "base64");
    return records.get(digest, () => options.findKey(Buffer.from(digest, "base64")));
  };

  return {
    async authenticate(header) {
      if (typeof header !== "string" || header === "") {
        throw new ApiError("UNAUTHORIZED", "Send your API key in the X-API-Key header");
      }
      const record = keyForm.test(header) ? await find(header) : undefined;
      if (record === undefined) throw new ApiError("UNAUTHORIZED", "The API key is not valid");
      if (!record.isActive) throw new ApiError("UNAUTHORIZED", "The API key has been deactivated");
      if (record.expiresAt !== null && record.expiresAt <= options.clock.now()) {
        throw new ApiError("UNAUTHORIZED", "API key expired");
      }
      options.onUse(record);
      return record;
    },
    forget: () => records.clear(),
  };
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
    throw new ApiError("INSUFFICIENT_SCOPE", `The API key lacks ${missing.join(", ")}`, {
      requiredScopes: missing,
    });
  }
}

/**
 * Checks that the caller may use the endpoint; suspension first, because its error is more useful.
 * @throws ApiError SERVICE_SUSPENDED, INSUFFICIENT_SCOPE
 */
export function authorize(endpoint: Endpoint, caller: Caller): void {
  const { needs } = endpoint;
  if (caller.isSuspended && isClosedToSuspended(endpoint)) {
    throw new ApiError(
      "SERVICE_SUSPENDED",
      "The workspace is suspended: it can read, but not send or change anything",
    );
  }
  if (needs !== "authenticated" && needs.judgedBy === "server") {
    requirePermissions(caller, [permissionOf(needs)]);
  }
}

/** Whether a suspended workspace may not use the endpoint: all but reading, and writes marked `openWhileSuspended`. */
export function isClosedToSuspended({ needs, method, openWhileSuspended }: Endpoint): boolean {
  if (openWhileSuspended) return false;
  return needs === "authenticated" ? method !== "GET" : needs.action !== "read";
}
