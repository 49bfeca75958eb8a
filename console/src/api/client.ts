/** The API as this page calls it: signed in by the session's cookie, in one workspace. */
import { Posthaste } from "@posthaste/client";
import { callLog } from "./call-log.ts";
import { fetchThroughGate } from "./gate.ts";

/** The longest time that browsers can wait for; the limit of each request is that of the gate. */
const WHILE_DIALOGS_ARE_OPEN_MS = 2 ** 31 - 1;

const clients = new Map<string, Posthaste>();

/** The operations in a workspace; without one only those of the account. */
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
    fetch:
      workspaceId === undefined ? fetchThroughGate : (request) => callLog.record(request, fetchThroughGate),
    timeoutMs: WHILE_DIALOGS_ARE_OPEN_MS,
  });
  clients.set(key, client);
  return client;
}

/** For signing in and what comes before: refusals are shown at once, and forms count down by themselves. */
export const openApi = new Posthaste({ baseUrl: location.origin, retries: 0 });
