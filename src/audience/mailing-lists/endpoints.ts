/** Mailing lists over HTTP. */

import { Type } from "typebox";
import { requireNoImportInto } from "#audience/imports/blocking-imports-store.ts";
import { requireListUnused } from "#audience/segments/refuse-used-field-changes.ts";
import { lockReferences } from "#audience/segments/store.ts";
import { removeListCounters } from "#audience/subscribers/memberships/counters.ts";
import { removeAllMembers, removeRemainingMembers } from "#audience/subscribers/remove-all-members.ts";
import {
  removeListsScopedTo,
  removeRemainingListsScopedTo,
} from "#audience/suppression-lists/remove-in-steps.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { isEmptyChange } from "#platform/http/request/known-fields.ts";
import type { QueryField } from "#platform/http/request/query.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { Deleted } from "#platform/shapes.ts";
import {
  type ListSettings,
  MailingList,
  MailingListChanges,
  NewMailingList,
  readMailingListSettings,
} from "./mailing-list.ts";
import { mailingLists } from "./permission.ts";
import { type ListCampaigns, ListStats, lastDays, listStats } from "./stats-from-daily-counters.ts";
import {
  findMailingList,
  insertMailingList,
  listDays,
  listMailingLists,
  lockMailingListExclusively,
  lockSettings,
  mailingListRoom,
  markBeingDeleted,
  removeMailingList,
  updateMailingList,
} from "./store.ts";

const plain: Omit<ListSettings, "name"> = {
  description: "",
  from_name: null,
  from_email: null,
  reply_to_email: null,
  opt_in_type: "single",
  enable_open_tracking: true,
  enable_click_tracking: true,
  language: null,
};

const DAYS = { fallback: 30, most: 365 };

/** Days to look back; the default for an invalid value. */
const windowField: QueryField<number> = {
  schema: Type.Integer({
    minimum: 1,
    maximum: DAYS.most,
    default: DAYS.fallback,
    description: "Days, today included.",
  }),
  read(text) {
    const days = Number(text?.trim() || Number.NaN);
    return Number.isInteger(days) && days >= 1 && days <= DAYS.most ? days : DAYS.fallback;
  },
};

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly campaigns: ListCampaigns;
}

export function mailingListEndpoints(deps: Dependencies): Endpoint[] {
  const { db, clock } = deps;
  return [
    endpoint({
      id: "listMailingLists",
      method: "GET",
      path: "/mailing-lists",
      summary: "Mailing lists, newest first",
      description: "All mailing lists with their numbers of members. A workspace has at most 1,000.",
      needs: need(mailingLists, "read"),
      isEveryday: true,
      answer: Type.Array(MailingList),
      message: "Mailing lists",
      handle: ({ caller }) => listMailingLists(db, caller.workspaceId),
    }),
    endpoint({
      id: "createMailingList",
      method: "POST",
      path: "/mailing-lists",
      summary: "Create a mailing list",
      description:
        "Sender and tracking of the list hold for campaigns that set none. People who are added over the API are active at once; those who use the public form confirm first.",
      needs: need(mailingLists, "write"),
      body: NewMailingList,
      answer: MailingList,
      status: 201,
      message: "Mailing list created",
      errors: ["BAD_REQUEST"],
      async handle({ caller, body }) {
        const now = clock.now();
        const settings = readMailingListSettings({ ...plain, name: body.name }, body);
        const counts = { subscriber_count: 0, total_subscribers: 0 };
        const list = { id: newId(), ...settings, ...counts, created_at: now, updated_at: now };
        await db.transaction(async (tx) => {
          await requireBelowRowLimit(tx, caller.workspaceId, mailingListRoom);
          await insertMailingList(tx, caller.workspaceId, list);
        });
        return list;
      },
    }),
    endpoint({
      id: "getMailingListStats",
      method: "GET",
      path: "/mailing-lists/stats",
      mayTakeLong: "reading",
      summary: "Growth, engagement and health of every list over the last days",
      description:
        "For every list the growth of the last days, the rates of opens, clicks and bounces, and the last campaign. The figures are counted as things happen, so the call is fast for lists of any size.",
      needs: need(mailingLists, "read"),
      query: { window: windowField },
      answer: Type.Array(ListStats),
      message: "Mailing list stats",
      handle: ({ caller, query }) =>
        statsOfLists(deps, caller.workspaceId, lastDays(clock.now(), caller.timezone, query.window)),
    }),
    endpoint({
      id: "getMailingList",
      method: "GET",
      path: "/mailing-lists/{id}",
      summary: "One mailing list",
      description: "The list with its settings and numbers of members.",
      needs: need(mailingLists, "read"),
      answer: MailingList,
      message: "Mailing list",
      async handle({ caller, params }) {
        return required(await findMailingList(db, caller.workspaceId, params.id), "Mailing list");
      },
    }),
    endpoint({
      id: "updateMailingList",
      method: "PUT",
      path: "/mailing-lists/{id}",
      summary: "Change a mailing list; omitted fields stay",
      description:
        "The settings hold for campaigns that are sent from now on. Messages that were made already keep theirs.",
      needs: need(mailingLists, "write"),
      body: MailingListChanges,
      answer: MailingList,
      message: "Mailing list updated",
      handle: ({ caller, params, body }) =>
        db.transaction(async (tx) => {
          const list = required(await lockSettings(tx, caller.workspaceId, params.id), "Mailing list");
          if (isEmptyChange(MailingListChanges, body)) return list;
          const changed = { ...list, ...readMailingListSettings(list, body), updated_at: clock.now() };
          await updateMailingList(tx, caller.workspaceId, changed);
          return changed;
        }),
    }),
    endpoint({
      id: "deleteMailingList",
      method: "DELETE",
      path: "/mailing-lists/{id}",
      mayTakeLong: "reading",
      summary: "Delete a mailing list and its memberships; people on no other list are deleted",
      description:
        "Refused (409) while a campaign to it is scheduled, being sent or paused, or an active autoresponder writes to it; the error names what does. Memberships, segments and fields are deleted with it. It cannot be undone.",
      needs: need(mailingLists, "write"),
      confirmed: true,
      answer: Deleted,
      message: "Mailing list deleted",
      errors: ["CONFLICT"],
      handle: ({ caller, params }) => deleteList(deps, caller.workspaceId, params.id),
    }),
  ];
}

async function statsOfLists(
  { db, campaigns }: Dependencies,
  workspaceId: WorkspaceId,
  dates: readonly string[],
) {
  const [lists, days, latest] = await Promise.all([
    listMailingLists(db, workspaceId),
    listDays(db, workspaceId, dates[0] ?? ""),
    campaigns.latest(db, workspaceId),
  ]);
  const byList = Map.groupBy(days, (day) => day.mailing_list_id);
  return lists.map(({ id }) => listStats(id, dates, byList.get(id) ?? [], latest.get(id) ?? null));
}

/**
 * Checks first whether the list is in use, and marks it as being deleted, so that nothing starts to use it. Then
 * removes its members and its suppression lists in bounded steps; only the last step blocks other writers of the list.
 * If it is interrupted, the call can be repeated.
 */
async function deleteList({ db, clock, campaigns }: Dependencies, workspaceId: WorkspaceId, id: string) {
  await requireNoImportInto(db, workspaceId, id);
  await db.transaction(async (tx) => {
    await lockMailingListExclusively(tx, workspaceId, id);
    await requireNoImportInto(tx, workspaceId, id);
    await lockReferences(tx, workspaceId);
    const user = await campaigns.userOf(tx, workspaceId, id);
    if (user !== undefined) throw new ApiError("CONFLICT", user);
    await requireListUnused(tx, workspaceId, id);
    await markBeingDeleted(tx, workspaceId, id);
  });
  await removeAllMembers(db, workspaceId, id, clock.now());
  await removeListsScopedTo(db, workspaceId, id);
  const remove = async (tx: Queryable) => {
    await lockMailingListExclusively(tx, workspaceId, id);
    await removeRemainingMembers(tx, workspaceId, id, clock.now());
    await removeRemainingListsScopedTo(tx, workspaceId, id);
    await removeListCounters(tx, workspaceId, id);
    await campaigns.keepName(tx, workspaceId, id);
    await removeMailingList(tx, workspaceId, id);
  };
  await db.transaction(remove, { mayRepeat: true });
  return { id, deleted: true } as const;
}
