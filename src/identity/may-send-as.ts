/**
 * Who may be written in From (decisions, section 9 row 9): an address on a domain whose ownership the workspace
 * proved, or an address whose owner confirmed it. The domain must be the very one: subdomains inherit nothing. A
 * domain that an administrator switched off stops its verified senders, too.
 */
import { parseAddress } from "../mail/address.ts";
import type { Queryable } from "../platform/database/pool.ts";
import type { WorkspaceId } from "../platform/ids.ts";
import { listSenderStandings, type SenderStanding } from "./store.ts";

/** An address as mail/address.ts parsed it: any case in the local part, the domain in lower-case A-labels. */
export interface SenderQuestion {
  readonly workspaceId: WorkspaceId;
  readonly address: string;
  readonly domain: string;
}

export type SenderRight =
  | { readonly allowed: true; readonly domain: string; readonly via: "domain" | "sender" }
  | { readonly allowed: false };

/** One query for a whole batch of messages, of any workspaces. The answer says no to questions not asked. */
export async function maySendAsEach(
  db: Queryable,
  questions: readonly SenderQuestion[],
): Promise<(question: SenderQuestion) => boolean> {
  const rights = await senderRights(db, questions);
  const keyOf = ({ workspaceId, address }: SenderQuestion) => `${workspaceId} ${address}`;
  const allowed = new Set(questions.filter((_, position) => rights[position]?.allowed).map(keyOf));
  return (question) => allowed.has(keyOf(question));
}

/** For one address as somebody typed it. */
export async function maySendAs(
  db: Queryable,
  workspaceId: WorkspaceId,
  address: string,
): Promise<SenderRight> {
  const parsed = parseAddress(address);
  if (!parsed.ok) return { allowed: false };
  const [right = { allowed: false }] = await senderRights(db, [{ ...parsed, workspaceId }]);
  return right;
}

async function senderRights(db: Queryable, questions: readonly SenderQuestion[]): Promise<SenderRight[]> {
  if (questions.length === 0) return [];
  const asked = questions.map(({ workspaceId, address, domain }) => ({
    workspaceId,
    email: address.toLowerCase().normalize("NFC"),
    domain,
  }));
  const standings = await listSenderStandings(db, asked);
  return standings.map((standing, position) => rightOf(standing, questions[position]?.domain ?? ""));
}

function rightOf({ by_domain, by_sender, is_switched_off }: SenderStanding, domain: string): SenderRight {
  if (is_switched_off || !(by_domain || by_sender)) return { allowed: false };
  return { allowed: true, domain, via: by_domain ? "domain" : "sender" };
}
