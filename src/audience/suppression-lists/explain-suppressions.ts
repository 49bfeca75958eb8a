/**
 * Says of each address whether it may be mailed, and names every entry and every membership that keeps mail away: what
 * the suppression check (suppression-check.ts) decides from, not only the worst of it.
 */
import { domainOf } from "#mail/address.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type FieldFault, invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { readEntryValue } from "./entry-value.ts";
import { type BlockRow, listBlocks, listStates, type StateRow } from "./explain-suppressions-store.ts";
import {
  MOST_NAMED_EACH,
  type SuppressionBlock,
  type SuppressionCause,
  type SuppressionFinding,
} from "./suppression-finding.ts";

/** The bounce or complaint of each of these messages, if the log still has it. Injected: a later wing has the log. */
export type CausesOf = (
  db: Queryable,
  workspaceId: WorkspaceId,
  messageIds: readonly string[],
) => Promise<SuppressionCause[]>;

/** @throws ApiError VALIDATION_ERROR that names each text that is no address */
export async function explainSuppressions(
  db: Queryable,
  workspaceId: WorkspaceId,
  texts: readonly string[],
  causesOf: CausesOf,
): Promise<SuppressionFinding[]> {
  const asked = readAddresses(texts);
  const emails = [...new Set(asked.map(({ email }) => email))];
  const lookUps = emails.map((email) => ({ email, domain: domainOf(email) }));
  const [blocks, states] = await Promise.all([
    listBlocks(db, workspaceId, lookUps, MOST_NAMED_EACH),
    listStates(db, workspaceId, emails, MOST_NAMED_EACH),
  ]);
  const messageIds = blocks.map(({ source_message_id }) => source_message_id).filter((id) => id !== null);
  const found = messageIds.length === 0 ? [] : await causesOf(db, workspaceId, [...new Set(messageIds)]);
  const causes = new Map(found.map((cause) => [cause.message_id, cause]));
  const blocksOf = Map.groupBy(blocks, ({ email }) => email);
  const statesOf = Map.groupBy(states, ({ email }) => email);
  return asked.map(({ address, email }) =>
    findingOf({ address, email }, blocksOf.get(email) ?? [], statesOf.get(email) ?? [], causes),
  );
}

function readAddresses(texts: readonly string[]): { readonly address: string; readonly email: string }[] {
  const faults: FieldFault[] = [];
  const asked = texts.flatMap((address, index) => {
    const value = readEntryValue(address);
    if (value?.type === "email") return { address, email: value.normalized };
    const field = `addresses[${index}]`;
    faults.push({ field, message: `${field} must be an email address` });
    return [];
  });
  const [first, ...rest] = faults;
  if (first !== undefined) throw invalid(first, ...rest);
  return asked;
}

function findingOf(
  asked: { readonly address: string; readonly email: string },
  rows: readonly BlockRow[],
  states: readonly StateRow[],
  causes: ReadonlyMap<string, SuppressionCause>,
): SuppressionFinding {
  const may_be_mailed = !rows.some(({ suppression_scope }) => suppression_scope === "global");
  const isKeptFrom = new Set(rows.map(({ mailing_list_id }) => mailing_list_id));
  const mailing_lists = states.map((one) => {
    const { email: _, subscriber_id: _id, ...state } = one;
    const isActive = state.status === "active" && !isKeptFrom.has(state.mailing_list_id);
    return { ...state, may_be_mailed: may_be_mailed && isActive };
  });
  return {
    ...asked,
    may_be_mailed,
    summary: summaryOf(asked.email, may_be_mailed, rows, mailing_lists),
    subscriber_id: states[0]?.subscriber_id ?? null,
    blocks: rows.map((row) => {
      const { email: _, source_message_id, ...block } = row;
      const cause = (source_message_id !== null && causes.get(source_message_id)) || null;
      return { ...block, cause, removal_warning: removalWarning(block) };
    }),
    mailing_lists,
  };
}

function summaryOf(
  email: string,
  mayBeMailed: boolean,
  rows: readonly BlockRow[],
  lists: SuppressionFinding["mailing_lists"],
): string {
  const worst = rows.find(({ suppression_scope }) => suppression_scope === "global");
  if (!mayBeMailed && worst !== undefined) {
    return `${email} gets no mail: ${worst.entry_value} is on the list ${worst.suppression_list_name} (${worst.reason})`;
  }
  const kept = lists.filter((list) => !list.may_be_mailed).length;
  if (kept > 0)
    return `${email} may be mailed, except by ${kept} of the ${lists.length} mailing lists it is on`;
  if (rows.length > 0) return `${email} may be mailed, except by campaigns that an entry keeps away`;
  return `${email} may be mailed`;
}

function removalWarning({
  reason,
  entry_type,
}: Pick<SuppressionBlock, "reason" | "entry_type">): string | null {
  if (entry_type === "domain") return "Every address of the domain gets mail again.";
  if (reason === "complaint") {
    return "The person complained about mail. Remove the entry only if they asked for mail again: further complaints harm the delivery of all mail.";
  }
  if (reason === "hard_bounce") {
    return "The address did not exist or took no mail. Remove the entry only if it does now: further bounces harm the delivery of all mail.";
  }
  return null;
}
