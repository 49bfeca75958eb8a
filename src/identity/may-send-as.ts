/**
 * Checks which addresses a workspace may use in From: an address on a domain whose ownership the workspace proved, or
 * an address whose owner confirmed it. The domain must match exactly: subdomains inherit nothing. A domain that the
 * operator switched off also stops its verified senders.
 */
import type { Sql } from "sql-template-tag";
import { parseAddress } from "#mail/address.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  allMaySendSql,
  listSenderPermissions,
  lockSenders,
  type SenderOfWorkspace,
  type SenderPermission,
} from "./sender-permissions-store.ts";

/** An address as mail/address.ts parsed it: any case in the local part, the domain in lower-case A-labels. */
export interface SenderQuestion {
  readonly workspaceId: WorkspaceId;
  readonly address: string;
  readonly domain: string;
}

export type SenderRight =
  | { readonly allowed: true; readonly domain: string; readonly via: "domain" | "sender" }
  | { readonly allowed: false };

/**
 * Checks a whole batch of messages, of any workspaces, in one query. The returned function is false for questions that
 * were not asked.
 */
export async function maySendAsEach(
  db: Queryable,
  questions: readonly SenderQuestion[],
): Promise<(question: SenderQuestion) => boolean> {
  const asked = different(questions);
  const rights = await senderRights(db, asked);
  const allowed = new Set(asked.filter((_, position) => rights[position]?.allowed).map(keyOf));
  return (question) => allowed.has(keyOf(question));
}

/** As maySendAsEach, as part of a larger statement: one row, whose `may_send` is true when all are allowed. */
export function maySendAsAllSql(questions: readonly SenderQuestion[]): Sql {
  return allMaySendSql(different(questions).map(senderOf));
}

/** Checks one address, not yet parsed. */
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

/** Locks what lets the workspace send as these addresses against deletion until the transaction ends. */
export async function lockSenderRights(
  tx: Queryable,
  workspaceId: WorkspaceId,
  addresses: readonly string[],
): Promise<void> {
  const senders = addresses.flatMap((address) => {
    const parsed = parseAddress(address);
    return parsed.ok ? [senderOf({ ...parsed, workspaceId })] : [];
  });
  await lockSenders(tx, workspaceId, senders);
}

async function senderRights(db: Queryable, questions: readonly SenderQuestion[]): Promise<SenderRight[]> {
  if (questions.length === 0) return [];
  const standings = await listSenderPermissions(db, questions.map(senderOf));
  return standings.map((standing, position) => rightOf(standing, questions[position]?.domain ?? ""));
}

function rightOf({ may_send, by_domain }: SenderPermission, domain: string): SenderRight {
  return may_send ? { allowed: true, domain, via: by_domain ? "domain" : "sender" } : { allowed: false };
}

function keyOf({ workspaceId, address }: SenderQuestion): string {
  return `${workspaceId} ${address}`;
}

/** Many messages come from few senders, and each is looked up once. */
function different(questions: readonly SenderQuestion[]): SenderQuestion[] {
  return [...new Map(questions.map((question) => [keyOf(question), question])).values()];
}

function senderOf({ workspaceId, address, domain }: SenderQuestion): SenderOfWorkspace {
  return { workspaceId, email: address.toLowerCase().normalize("NFC"), domain };
}
