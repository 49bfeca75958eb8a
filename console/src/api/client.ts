/** The API as this page calls it: signed in by the session's cookie, in one workspace. */
import { Posthaste } from "@posthaste/client";
import { callLog } from "./call-log.ts";

const clients = new Map<string, Posthaste>();

/** The operations in a workspace; without one only those of sign-in and account. */
export function apiOf(workspaceId: string | undefined): Posthaste {
  const key = workspaceId ?? "";
  const known = clients.get(key);
  if (known) return known;
  const headers = workspaceId === undefined ? {} : { "X-Workspace": workspaceId };
  const client = new Posthaste({
    baseUrl: location.origin,
    headers,
    retries: 1,
    // API keys cannot call what belongs to the account.
    ...(workspaceId !== undefined && { fetch: callLog.fetch }),
  });
  clients.set(key, client);
  return client;
}
