/** What needs attention in a workspace, over HTTP. */
import { type Static, Type } from "typebox";
import { describeAudit } from "#platform/audit/pending-event.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { flagField } from "#platform/http/request/query.ts";
import { insertDismissal, removeDismissal } from "./dismissals-store.ts";
import { type Notice, NoticeShape, noticeKinds, notices } from "./notice.ts";
import { MOST_OF_SOURCE, type NoticeDeps, noticesSeenBy, readNotices } from "./read-notices.ts";

const Notices = Type.Object(
  {
    notices: Type.Array(NoticeShape, { description: "The worst first, and the newest of these." }),
    incomplete: Type.Array(Type.Enum([...noticeKinds]), {
      description: `Kinds that have more notices: the newest ${MOST_OF_SOURCE} are read.`,
    }),
  },
  { $id: "Notices" },
);

interface Dependencies extends NoticeDeps {
  readonly db: Database;
  readonly clock: Clock;
}

export function noticeEndpoints(deps: Dependencies): Endpoint[] {
  const { db, clock } = deps;
  const writes = need(notices, "write");

  async function read({ workspaceId, permissions }: Caller): Promise<Static<typeof Notices>> {
    const found = await readNotices(deps, [workspaceId], clock.now(), permissions);
    const seen = noticesSeenBy(permissions, found.get(workspaceId) ?? []);
    return { notices: seen.notices.map(({ notice }) => notice), incomplete: [...seen.incomplete] };
  }

  /** @throws ApiError NOT_FOUND when there is no such notice now, or the caller may not see it */
  async function requireNotice(caller: Caller, id: string): Promise<Notice> {
    const { notices: all } = await read(caller);
    const found = all.find((one) => one.id === id.toLowerCase());
    if (found === undefined) throw notFound("Notice");
    return found;
  }

  return [
    endpoint({
      id: "listNotices",
      method: "GET",
      path: "/notices",
      summary: "What needs attention in this workspace",
      description:
        "Paused campaigns, broken DNS records, complaints, blacklists, webhooks, allowances, the balance, failed jobs, and campaigns that wait for approval. A notice ends with its cause. Only notices about what the caller may read are shown; requests for approval only to callers with `campaigns:send`. The topic `notices` of `GET /events` says when the list changes.",
      needs: "authenticated",
      isEveryday: true,
      query: { dismissed: flagField(false, "Whether dismissed notices are listed as well.", true) },
      answer: Notices,
      message: ({ notices: { length } }) => (length === 0 ? "Nothing needs attention" : "Notices"),
      async handle({ caller, query: { dismissed } }) {
        const all = await read(caller);
        return dismissed ? all : { ...all, notices: all.notices.filter((one) => one.dismissed_at === null) };
      },
    }),
    endpoint({
      id: "dismissNotice",
      method: "POST",
      path: "/notices/{id}/dismiss",
      summary: "Dismiss a notice for everyone in the workspace",
      description:
        "The notice is hidden while its cause lasts, and keeps who dismissed it and when. If the cause begins again, there is a new notice. Dismissing it again changes nothing. Answers 404 when the cause has ended.",
      needs: writes,
      answer: NoticeShape,
      message: "Notice dismissed",
      async handle({ caller, params }) {
        const notice = await requireNotice(caller, params.id);
        describeAudit({ resource: { id: notice.id, name: notice.title } });
        if (notice.dismissed_at !== null) return notice;
        const dismissal = { by: caller.actor.name, now: clock.now() };
        const dismissed = await db.transaction((tx) =>
          insertDismissal(tx, caller.workspaceId, notice.id, dismissal),
        );
        return { ...notice, ...dismissed };
      },
    }),
    endpoint({
      id: "restoreNotice",
      method: "POST",
      path: "/notices/{id}/restore",
      summary: "Show a dismissed notice again",
      description: "Undoes `POST /notices/{id}/dismiss`. A notice that is not dismissed stays as it is.",
      needs: writes,
      answer: NoticeShape,
      message: "Notice restored",
      async handle({ caller, params }) {
        const notice = await requireNotice(caller, params.id);
        describeAudit({ resource: { id: notice.id, name: notice.title } });
        await db.transaction((tx) => removeDismissal(tx, caller.workspaceId, notice.id));
        return { ...notice, dismissed_at: null, dismissed_by: null };
      },
    }),
  ];
}
