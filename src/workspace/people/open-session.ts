/**
 * Opens sessions: a random token in a cookie, of which only the SHA-256 is stored. A sign-in always gets a new token, and so
 * does a session whose rights change, so that a token that was known before is worth nothing afterwards (session fixation).
 */
import { hash, randomBytes } from "node:crypto";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { type CookieJar, SESSION_COOKIE } from "#platform/http/auth/session-cookie.ts";
import type { Client } from "#platform/http/endpoint.ts";
import { newId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import {
  insertSession,
  removeSessionByToken,
  removeSessionsOver,
  type SessionChanges,
  updateSession,
} from "./sessions-store.ts";
import { IDLE_DAYS } from "./store.ts";

const LONGEST_DAYS = 60;
const TOKEN_BYTES = 32;
/** A user with more sessions loses the one that was unused for longest. */
const MOST_SESSIONS = 50;
const LONGEST_AGENT = 300;

/** A secret for a cookie or link: 256 random bits in Base64url. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** What is stored of a token. */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

/** Sessions that were not used since this moment have ended. */
export function idleSince(now: Date): Date {
  return new Date(now.getTime() - IDLE_DAYS * DAY_MS);
}

/** What a session needs of the request that opens it. */
export interface SessionRequest {
  readonly client: Client;
  readonly cookies: CookieJar;
}

/**
 * Signs a user in: opens a session in the caller's transaction, and sets its cookie. A session that the browser had before
 * ends.
 * @returns the id of the session
 */
export async function openPersonSession(
  tx: Queryable,
  { userId, hasSecondFactor }: { readonly userId: string; readonly hasSecondFactor: boolean },
  { client, cookies }: SessionRequest,
  now: Date,
): Promise<string> {
  const former = cookies.get(SESSION_COOKIE);
  if (former !== undefined) await removeSessionByToken(tx, hashToken(former));
  const [id, token] = [newId(), newToken()];
  const expiresAt = new Date(now.getTime() + LONGEST_DAYS * DAY_MS);
  const agent = client.agent.slice(0, LONGEST_AGENT);
  await insertSession(tx, {
    id,
    userId,
    tokenHash: hashToken(token),
    hasSecondFactor,
    ip: client.ip,
    agent,
    now,
    expiresAt,
  });
  await removeSessionsOver(tx, userId, MOST_SESSIONS);
  setSessionCookie(cookies, token, expiresAt, now);
  return id;
}

/**
 * Gives a session a new token, after its person has proved who they are or has changed a password or factor.
 * @throws ApiError UNAUTHORIZED when the session has ended meanwhile
 */
export async function renewSession(
  tx: Queryable,
  sessionId: string,
  cookies: CookieJar,
  now: Date,
  changes: Omit<SessionChanges, "tokenHash"> = {},
): Promise<void> {
  const token = newToken();
  const expiresAt = await updateSession(tx, sessionId, { ...changes, tokenHash: hashToken(token) });
  if (expiresAt === undefined) throw new ApiError("UNAUTHORIZED", "The session has ended: sign in again");
  setSessionCookie(cookies, token, expiresAt, now);
}

function setSessionCookie(cookies: CookieJar, token: string, expiresAt: Date, now: Date): void {
  cookies.set(SESSION_COOKIE, token, Math.floor((expiresAt.getTime() - now.getTime()) / 1_000));
}
