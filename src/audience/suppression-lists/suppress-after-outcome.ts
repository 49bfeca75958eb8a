/**
 * Suppresses addresses after a hard bounce or complaint, reported by mail or set by a caller: sets the status of the
 * person on all mailing lists, and adds the address to the system list. Both run in the transaction that records the
 * outcome (messages/record-outcomes.ts) or sets the status (subscribers/change-member.ts).
 */
import sql from "sql-template-tag";
import { updateStatuses } from "#audience/subscribers/memberships/membership-changes.ts";
import { withWorkspace } from "#audience/subscribers/memberships/planner-hints.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  type AddressToSuppress,
  CREATED_BY_SERVICE,
  type EntryOrigin,
  insertSuppressedAddresses,
} from "./entry-store.ts";
import { ensureSystemList, lockSuppressionList } from "./store.ts";
import { addressOf } from "./suppression-check.ts";

/** The recipient of a message that bounced hard or was complained about. */
export interface RecipientToSuppress {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  /** As on the envelope. */
  readonly localpart: string;
  readonly domain: string;
  readonly status: "bounced" | "complained";
  readonly time: Date;
}

const reasons = { bounced: "hard_bounce", complained: "complaint" } as const;
const statuses = { hard_bounce: "bounced", complaint: "complained" } as const satisfies Record<
  AddressToSuppress["reason"],
  SubscriberStatus
>;

/**
 * Sets the memberships of the recipients to `bounced` or `complained` in the caller's transaction. Locks workspaces in
 * order, and in each the people in the order of their addresses, as all transactions do.
 */
export async function setRecipientStatuses(
  tx: Queryable,
  recipients: readonly RecipientToSuppress[],
  now: Date,
): Promise<void> {
  for (const [workspaceId, lost] of lostByWorkspace(recipients)) {
    const moves = sql`
      select null::uuid as mailing_list_id, s.id as subscriber_id, lost.status
      from (${withWorkspace(workspaceId, given(lost))}) lost cross join lateral (
        select id from subscribers where workspace_id = lost.workspace and email = lost.address offset 0) s`;
    await updateStatuses(tx, workspaceId, moves, now);
  }
}

const given = (lost: readonly AddressToSuppress[]) => sql`
  unnest(${lost.map(({ address }) => address)}::text[], ${lost.map(({ reason }) => statuses[reason])}::text[])
    as l (address, status)`;

/**
 * Adds the recipients to the system lists in the caller's transaction. Called at its end, because a transaction that
 * holds a lock on a system list must not wait for other locks.
 */
export async function suppressRecipients(
  tx: Queryable,
  recipients: readonly RecipientToSuppress[],
): Promise<void> {
  for (const [workspaceId, lost] of lostByWorkspace(recipients)) {
    await addToSystemList(tx, workspaceId, lost, CREATED_BY_SERVICE);
  }
}

/**
 * Adds the addresses of people whose status was set by a caller to the system list. Called at the end of the
 * transaction, too. The addresses must be distinct.
 */
export function suppressPeople(
  tx: Queryable,
  workspaceId: WorkspaceId,
  {
    addresses,
    status,
  }: { readonly addresses: readonly string[]; readonly status: RecipientToSuppress["status"] },
  { createdBy, createdAt }: EntryOrigin,
): Promise<void> {
  const reason = reasons[status];
  const lost = addresses.toSorted().map((address) => ({ address, reason, messageId: null, time: createdAt }));
  return addToSystemList(tx, workspaceId, lost, createdBy);
}

async function addToSystemList(
  tx: Queryable,
  workspaceId: WorkspaceId,
  lost: readonly AddressToSuppress[],
  createdBy: string,
): Promise<void> {
  const listId = await ensureSystemList(tx, workspaceId);
  await lockSuppressionList(tx, workspaceId, listId);
  await insertSuppressedAddresses(tx, { workspaceId, listId }, lost, createdBy);
}

function lostByWorkspace(recipients: readonly RecipientToSuppress[]): [WorkspaceId, AddressToSuppress[]][] {
  return [...Map.groupBy(recipients, ({ workspaceId }) => workspaceId)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([workspaceId, ofWorkspace]) => [workspaceId, differentAddresses(ofWorkspace)]);
}

/** Each address once, in order; a complaint takes precedence over a bounce. */
function differentAddresses(recipients: readonly RecipientToSuppress[]): AddressToSuppress[] {
  const lost = new Map<string, AddressToSuppress>();
  for (const { messageId, status, time, ...envelope } of recipients) {
    const address = addressOf(envelope);
    if (status === "bounced" && lost.has(address)) continue;
    lost.set(address, { address, reason: reasons[status], messageId, time });
  }
  return [...lost.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
}
