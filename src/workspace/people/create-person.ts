/** Creates a person with a password, and signs them in. */
import { type Argon2Parameters, argon2, hash, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { createLimiter } from "#platform/concurrency.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { type CookieJar, SESSION_COOKIE } from "#platform/http/auth/session-cookie.ts";
import type { Client } from "#platform/http/endpoint.ts";
import { newId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { insertFirstSession, insertPerson } from "./new-person-store.ts";

const SESSION_DAYS = 60;
const LONGEST_AGENT = 300;
/** Argon2id as OWASP's Password Storage Cheat Sheet recommends it at least; memory in KiB. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 };

const limit = createLimiter(4);
const deriveKey = promisify((parameters: Argon2Parameters, done: (err: Error | null, key: Buffer) => void) =>
  argon2("argon2id", parameters, done),
);

/** The hash of a password in the PHC string format. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const message = hash("sha512", password.normalize("NFC"), "buffer");
  const tag = await limit(() => deriveKey({ message, nonce, tagLength: 32, ...COST }));
  const base64 = (octets: Buffer) => octets.toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(nonce)}$${base64(tag)}`;
}

/** @throws ApiError CONFLICT when another person has the address */
export async function createPerson(
  tx: Queryable,
  given: { readonly email: string; readonly name: string; readonly passwordHash: string },
  now: Date,
): Promise<{ readonly id: string; readonly name: string; readonly email: string }> {
  const id = newId();
  if (!(await insertPerson(tx, { id, ...given }, now))) {
    throw new ApiError("CONFLICT", "Another person has this address");
  }
  return { id, name: given.name, email: given.email };
}

/** Opens a session in the caller's transaction, and sets its cookie. */
export async function openFirstSession(
  tx: Queryable,
  userId: string,
  { client, cookies }: { readonly client: Client; readonly cookies: CookieJar },
  now: Date,
): Promise<void> {
  const token = randomBytes(32).toString("base64url");
  const agent = client.agent.slice(0, LONGEST_AGENT);
  const expiresAt = new Date(now.getTime() + SESSION_DAYS * DAY_MS);
  const tokenHash = hash("sha256", token, "buffer");
  await insertFirstSession(tx, { id: newId(), userId, tokenHash, ip: client.ip, agent, now, expiresAt });
  cookies.set(SESSION_COOKIE, token, SESSION_DAYS * 86_400);
}
