/** The token of the local inbox in end-to-end tests. */

/** Grants access to the local inbox; used in tests only. */
export const INBOX_TOKEN = "the-inbox-token-of-a-scene";

export function openInbox(url: string, path: string): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${INBOX_TOKEN}` } });
}
