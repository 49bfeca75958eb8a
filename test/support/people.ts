/** People who are signed in: their rows are inserted, and their calls have a session cookie as a browser sends it. */
import { hash, randomBytes } from "node:crypto";
import sql from "sql-template-tag";
import type { Database } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { apiCaller, type CallApi } from "./api-caller.ts";

export interface SignedInPerson {
  readonly userId: string;
  readonly email: string;
  /** Origin of the pages, as the person's browser names this machine. */
  readonly origin: string;
  /** Token of the session. */
  readonly token: string;
  /** Headers of a request from a page of the service, with the workspace. */
  readonly headers: Readonly<Record<string, string>>;
  /** Calls the API as the person, from a page of the service. */
  readonly call: CallApi;
}

/** A member of the workspace with a role of these permissions, who has just signed in. */
export async function signInPerson(
  { database, url, now }: { readonly database: Database; readonly url: () => string; readonly now: Date },
  workspaceId: WorkspaceId,
  permissions: readonly string[],
  { isOperator = false, hasSecondFactor = false, confirmedAt = now } = {},
): Promise<SignedInPerson> {
  const [userId, roleId] = [newId(), newId()];
  const email = `p${randomBytes(6).toString("hex")}@example.com`;
  const token = randomBytes(32).toString("base64url");
  await database.transaction(async (tx) => {
    await tx.run(sql`
      insert into users (id, email, name, is_operator, created_at)
      values (${userId}, ${email}, 'Ada Lovelace', ${isOperator}, ${now})`);
    const isAdmin = permissions.length === 1 && permissions[0] === "*:*";
    if (!isAdmin) {
      await tx.run(sql`
        insert into roles (workspace_id, id, name, permissions)
        values (${workspaceId}, ${roleId}, ${roleId}, ${permissions})`);
    }
    await tx.run(sql`
      insert into workspace_members (workspace_id, user_id, built_in_role, role_id)
      values (${workspaceId}, ${userId}, ${isAdmin ? "admin" : null}, ${isAdmin ? null : roleId})`);
    await tx.run(sql`
      insert into sessions (token_hash, id, user_id, has_second_factor, ip, agent, created_at, seen_at, expires_at, confirmed_at)
      values (${hash("sha256", token, "buffer")}, ${newId()}, ${userId}, ${hasSecondFactor}, '192.0.2.1', 'Test browser',
        ${now}, ${now}, ${new Date(now.getTime() + 60 * 86_400_000)}, ${confirmedAt})`);
  });
  const headers = {
    Cookie: `posthaste=${token}`,
    "Sec-Fetch-Site": "same-origin",
    "X-Workspace": workspaceId,
  };
  const plain = apiCaller(url, "");
  return {
    userId,
    email,
    origin: url().replace("127.0.0.1", "localhost"),
    token,
    headers,
    call: (method, path, body, options = {}) =>
      plain(method, path, body, { key: null, ...options, headers: { ...headers, ...options.headers } }),
  };
}
