/** The local inbox of a program that a scene has started. */

/** Opens it; only tests know it. */
export const INBOX_TOKEN = "the-inbox-token-of-a-scene";

export function openInbox(url: string, path: string): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${INBOX_TOKEN}` } });
}
