/** Endpoints of subscribers: the members of a list, and the people of the workspace. */

import { Type } from "typebox";
import { requireKnownList, requireMailingList } from "#audience/mailing-lists/store.ts";
import { PageAnchors } from "#platform/database/page-anchors.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { choiceField, cursorFields, idField, textField } from "#platform/http/request/query.ts";
import { pageOf } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { Deleted } from "#platform/shapes.ts";
import type { StorageDeps } from "#workspace/billing/storage-limit.ts";
import { addMember, changeMember, removeMember, setStatus } from "./change-member.ts";
import { findSubscriberPage, SelectedPages } from "./find-subscriber-page.ts";
import { subscriberStatuses } from "./memberships/status.ts";
import { subscribers } from "./permission.ts";
import { criteriaFields, isUnfiltered, personOrders, readPersonFilter } from "./person-filter.ts";
import { removeAllMembers } from "./remove-all-members.ts";
import { listMembers, listSummaries } from "./store.ts";
import { describeSubscriber, type HistoryOf } from "./subscriber-detail.ts";
import type { OnSubscriberEvent } from "./subscriber-events.ts";
import { MemberChanges, NewMemberInput, StatusInput } from "./subscriber-input.ts";
import { Member, MemberWithWarnings, SubscriberDetail, SubscriberSummary } from "./subscriber-shapes.ts";

const search = textField(
  200,
  "Words of the name or the local part, the last one may be a prefix; or the beginning of an address or a domain. The middle of a word is not found. International domains are found in either script, by whole labels. Finds 2,000 people at most.",
);

interface Dependencies extends StorageDeps {
  readonly db: Database;
  readonly historyOf: HistoryOf;
  readonly onSubscriber: OnSubscriberEvent;
}

export function subscriberEndpoints(deps: Dependencies): Endpoint[] {
  const { db, clock } = deps;
  const anchors = new PageAnchors();
  const selectedPages = new SelectedPages(db);
  const members = "/mailing-lists/{id}/subscribers";
  const member = "/mailing-lists/{id}/subscribers/{subscriber_id}";
  return [
    endpoint({
      id: "listMembers",
      method: "GET",
      path: members,
      mayTakeLong: "reading",
      summary: "The subscribers of a list, newest person first",
      description:
        "The members of one list with their status on it. `search` finds parts of addresses and names. For long lists follow `pagination.next_cursor`.",
      needs: need(subscribers, "read"),
      query: {
        ...cursorFields(),
        status: choiceField(subscriberStatuses, "Only those in this state."),
        search,
      },
      answer: pageOf("subscribers", Member),
      message: "Subscribers",
      async handle({ caller: { workspaceId }, params: { id }, query }) {
        await requireMailingList(db, workspaceId, id);
        const { status, search } = query;
        const walk = new ListPage(query, "listMembers", workspaceId, id, status, search);
        const audience = { mailingListId: id, status };
        const { ids, total } = await findSubscriberPage(db, anchors, workspaceId, audience, {
          search,
          ...walk.page,
        });
        const { rows, pagination } = walk.shown(ids, total.total, (one) => one, {
          isTotalExact: total.isExact,
        });
        return { subscribers: await listMembers(db, workspaceId, id, rows), pagination };
      },
    }),
    endpoint({
      id: "addMember",
      method: "POST",
      path: members,
      summary: "Add a person to a list; a person of another list stays the same person",
      description:
        "Creates the person, or adds a known person to the list: address, name and custom fields belong to the person, the status to the list. Active autoresponders of the list start, and `subscriber.created` or `subscriber.updated` is sent. A member of the list is refused (409).",
      needs: need(subscribers, "write"),
      outward: "sends",
      body: NewMemberInput,
      answer: MemberWithWarnings,
      status: 201,
      message: (data) => `${data.email} was added`,
      errors: ["CONFLICT", "PLAN_LIMIT_REACHED"],
      handle: ({ caller, params, body }) =>
        addMember(deps, caller.workspaceId, params.id, body, caller.actor.name),
    }),
    endpoint({
      id: "removeAllMembers",
      method: "DELETE",
      path: "/mailing-lists/{id}/subscribers/all",
      mayTakeLong: "reading",
      summary: "Remove all members of a list; people on no other list are deleted",
      description:
        "Empties the list in steps; if it is interrupted, call it again. Messages that wait for these people end as `suppressed`. No subscriber events are sent. It cannot be undone.",
      needs: need(subscribers, "write"),
      confirmed: true,
      answer: Type.Object(
        { deleted: Type.Integer({ description: "Number of members who were removed." }) },
        { $id: "DeletedCount" },
      ),
      message: (data) => `${data.deleted} ${data.deleted === 1 ? "subscriber" : "subscribers"} deleted`,
      async handle({ caller, params }) {
        return { deleted: await removeAllMembers(db, caller.workspaceId, params.id, clock.now()) };
      },
    }),
    endpoint({
      id: "updateMember",
      method: "PUT",
      path: member,
      summary: "Change a subscriber; omitted fields stay, null clears a name or a custom field",
      description:
        "Names and custom fields change on every list that the person is on; the status only on this one. The address cannot change. Sends `subscriber.updated`.",
      needs: need(subscribers, "write"),
      outward: "sends",
      body: MemberChanges,
      answer: MemberWithWarnings,
      message: "Subscriber updated",
      handle: ({ caller, params, body }) =>
        changeMember(deps, placeOf(caller.workspaceId, params), body, caller.actor.name),
    }),
    endpoint({
      id: "setMemberStatus",
      method: "PUT",
      path: "/mailing-lists/{id}/subscribers/{subscriber_id}/status",
      summary:
        "Set a subscriber's status; bounced and complained apply to every list, and suppress the address",
      description:
        "Use it when a person asks to get no more mail or to get it again. Sends `subscriber.unsubscribed` or `subscriber.updated`. Messages that wait for a person who is no longer active end as `suppressed`.",
      needs: need(subscribers, "write"),
      outward: "sends",
      body: StatusInput,
      answer: MemberWithWarnings,
      message: (data) => `${data.email} is ${data.status}`,
      handle: ({ caller, params, body }) =>
        setStatus(deps, placeOf(caller.workspaceId, params), body.status, caller.actor.name),
    }),
    endpoint({
      id: "removeMember",
      method: "DELETE",
      path: member,
      summary: "Remove a person from a list; a person on no other list is deleted",
      description:
        "Unlike an unsubscription it leaves no trace: a later import would add the person again. Use `PATCH …/status` to remember that a person wants no mail.",
      needs: need(subscribers, "write"),
      answer: Deleted,
      message: "Subscriber deleted",
      async handle({ caller, params }) {
        await removeMember(deps, placeOf(caller.workspaceId, params));
        return { id: params.subscriber_id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "listSubscribers",
      method: "GET",
      path: "/subscribers",
      mayTakeLong: "reading",
      summary: "The people of the workspace, newest first or in another order",
      description:
        "Every person once, with the lists that the person is on. For long lists follow `pagination.next_cursor`. People whom a filter finds are counted up to 10,000, and up to 2,000 with `search`; beyond that `pagination.total_is_exact` is false, and all but those of a search can be paged to.",
      needs: need(subscribers, "read"),
      isEveryday: true,
      query: {
        ...cursorFields(),
        status: choiceField(subscriberStatuses, "Only those in this state; with list_id, on that list."),
        search,
        list_id: idField("Only those on this list."),
        ...criteriaFields,
        sort: choiceField(
          personOrders,
          "Order of the people; a minus means descending, and people without the value come last. Newest first when omitted.",
        ),
      },
      answer: pageOf("subscribers", SubscriberSummary),
      message: "Subscribers",
      errors: ["BAD_REQUEST"],
      async handle({ caller: { workspaceId }, query }) {
        const mailingListId = query.list_id ?? null;
        if (mailingListId !== null) await requireKnownList(db, workspaceId, mailingListId);
        const { status, search, sort } = query;
        const filter = await readPersonFilter(db, workspaceId, query);
        if (sort !== undefined || !isUnfiltered(filter)) {
          const order = sort ?? "-created_at";
          const sorted = ["listSubscribers", workspaceId, mailingListId, status, search, order] as const;
          const walk = new ListPage(query, ...sorted, JSON.stringify(filter));
          const selection = { mailingListId, status, search, filter };
          const { people, total } = await selectedPages.find(workspaceId, selection, order, walk.page);
          const { rows, pagination } = walk.shown(people, total.total, ({ id }) => id, {
            keyOf: ({ key }) => key,
            isTotalExact: total.isExact,
          });
          const ids = rows.map(({ id }) => id);
          return { subscribers: await listSummaries(db, workspaceId, ids), pagination };
        }
        const walk = new ListPage(query, "listSubscribers", workspaceId, mailingListId, status, search);
        const audience = { mailingListId, status };
        const { ids, total } = await findSubscriberPage(db, anchors, workspaceId, audience, {
          search,
          ...walk.page,
        });
        const { rows, pagination } = walk.shown(ids, total.total, (one) => one, {
          isTotalExact: total.isExact,
        });
        return { subscribers: await listSummaries(db, workspaceId, rows), pagination };
      },
    }),
    endpoint({
      id: "getSubscriber",
      method: "GET",
      path: "/subscribers/{id}",
      summary: "Everything about one person",
      description:
        "Profile, lists, lifetime figures, the newest activities and bounces, and the suppression lists that hold the address.",
      needs: need(subscribers, "read"),
      isEveryday: true,
      answer: SubscriberDetail,
      message: "Subscriber",
      handle: ({ caller, params }) => describeSubscriber(db, caller.workspaceId, params.id, deps.historyOf),
    }),
  ];
}

function placeOf(workspaceId: WorkspaceId, params: { readonly id: string; readonly subscriber_id: string }) {
  return { workspaceId, mailingListId: params.id, subscriberId: params.subscriber_id };
}
