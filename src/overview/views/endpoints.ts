/** Saved views over HTTP. */

import type { Static } from "typebox";
import { describeAudit } from "#platform/audit/pending-event.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { invalid, required } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { requirePermissions } from "#platform/http/authenticate.ts";
import { type Endpoint, endpoint, need, permissionOf } from "#platform/http/endpoint.ts";
import { isEmptyChange } from "#platform/http/request/known-fields.ts";
import { pageFields, textField } from "#platform/http/request/query.ts";
import { offsetOf, pageOf, pagination } from "#platform/http/response/pagination.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { Deleted } from "#platform/shapes.ts";
import { readName } from "#workspace/read-display-name.ts";
import { team } from "#workspace/team/permission.ts";
import {
  countViews,
  insertView,
  listViews,
  lockView,
  ownSharedViewRoom,
  ownViewRoom,
  removeView,
  sharedViewRoom,
  updateView,
  type ViewRow,
} from "./store.ts";
import { NewView, View, ViewChange } from "./view.ts";

export function viewEndpoints({ db, clock }: { readonly db: Database; readonly clock: Clock }): Endpoint[] {
  return [
    endpoint({
      id: "listViews",
      method: "GET",
      path: "/views",
      summary: "Saved views of the caller, and those shared in the workspace, by name",
      description:
        "A view is a page of a client with its filters, saved under a name. `page_name` leaves only the views of one page.",
      needs: "authenticated",
      query: { page_name: textField(50, "Only views of this page."), ...pageFields(100) },
      answer: pageOf("views", View),
      message: "Saved views",
      async handle({ caller, query }) {
        const { workspaceId, actor } = caller;
        const { page_name: page } = query;
        const [rows, total] = await Promise.all([
          listViews(db, workspaceId, actor.id, page, { limit: query.limit, offset: offsetOf(query) }),
          countViews(db, workspaceId, actor.id, page),
        ]);
        return { views: rows.map((row) => shown(row, caller)), pagination: pagination(query, total) };
      },
    }),
    endpoint({
      id: "createView",
      method: "POST",
      path: "/views",
      summary: "Save a view, for oneself or for everyone in the workspace",
      description:
        "Every caller may save views; `is_shared` shows one to everyone in the workspace. A person or API key has at most 100 views of its own and 50 shared ones, a workspace 200 shared ones. The service does not read `state`.",
      needs: "authenticated",
      body: NewView,
      answer: View,
      status: 201,
      message: "View saved",
      errors: ["BAD_REQUEST"],
      handle({ caller, body }) {
        const { workspaceId, actor } = caller;
        const now = clock.now();
        const view: ViewRow = {
          id: newId(),
          page_name: body.page_name,
          name: readName(body.name),
          state: body.state,
          is_shared: body.is_shared ?? false,
          owner_id: actor.id,
          owner_name: actor.name,
          created_at: now,
          updated_at: now,
        };
        return db.transaction(async (tx) => {
          await requireRoom(tx, workspaceId, view);
          await insertView(tx, workspaceId, view);
          return shown(view, caller);
        });
      },
    }),
    endpoint({
      id: "updateView",
      method: "PATCH",
      path: "/views/{id}",
      summary: "Change name, state or sharing of a view",
      description:
        "One's own views, and with `team:write` those that others share; only the owner can stop sharing one. Omitted fields stay as they are.",
      needs: "authenticated",
      body: ViewChange,
      answer: View,
      message: "View changed",
      errors: ["BAD_REQUEST", "INSUFFICIENT_SCOPE"],
      handle({ caller, params, body }) {
        const { workspaceId } = caller;
        const name = body.name === undefined ? undefined : readName(body.name);
        return db.transaction(async (tx) => {
          const view = await lockChangeable(tx, caller, params.id);
          if (isEmptyChange(ViewChange, body)) return shown(view, caller);
          describeAudit({ before: view });
          const isShared = body.is_shared ?? view.is_shared;
          // Only its owner would reach it then, who may have left the workspace.
          if (!isShared && view.owner_id !== caller.actor.id) {
            const message = "is_shared: only the owner of a view can stop sharing it; delete it instead";
            throw invalid({ field: "is_shared", message });
          }
          const changed: ViewRow = {
            ...view,
            name: name ?? view.name,
            state: body.state ?? view.state,
            is_shared: isShared,
            updated_at: clock.now(),
          };
          if (isShared !== view.is_shared) await requireRoom(tx, workspaceId, changed);
          await updateView(tx, workspaceId, changed);
          return shown(changed, caller);
        });
      },
    }),
    endpoint({
      id: "deleteView",
      method: "DELETE",
      path: "/views/{id}",
      summary: "Delete a view",
      description:
        "One's own views, and with `team:write` those that others share. A shared view is deleted for everyone.",
      needs: "authenticated",
      answer: Deleted,
      message: "View deleted",
      errors: ["INSUFFICIENT_SCOPE"],
      handle({ caller, params: { id } }) {
        return db.transaction(async (tx) => {
          const { name } = await lockChangeable(tx, caller, id);
          describeAudit({ resource: { id, name } });
          await removeView(tx, caller.workspaceId, id);
          return { id, deleted: true } as const;
        });
      },
    }),
  ];
}

/** @throws ApiError BAD_REQUEST if the owner or the workspace has as many views of this kind as allowed */
async function requireRoom(tx: Queryable, workspaceId: WorkspaceId, view: ViewRow): Promise<void> {
  if (!view.is_shared) return requireBelowRowLimit(tx, workspaceId, ownViewRoom(view.owner_id));
  await requireBelowRowLimit(tx, workspaceId, ownSharedViewRoom(view.owner_id));
  await requireBelowRowLimit(tx, workspaceId, sharedViewRoom);
}

/** Whether it is the caller's own takes the place of the owner's id. */
function shown({ owner_id, ...view }: ViewRow, { actor }: Caller): Static<typeof View> {
  return { ...view, is_own: owner_id === actor.id };
}

/**
 * The view that the caller is about to change, locked.
 * @throws ApiError NOT_FOUND for one that the caller does not see, INSUFFICIENT_SCOPE for one that another caller shares
 */
async function lockChangeable(tx: Queryable, caller: Caller, id: string): Promise<ViewRow> {
  const { workspaceId, actor } = caller;
  const view = required(await lockView(tx, workspaceId, actor.id, id), "View");
  if (view.owner_id !== actor.id) requirePermissions(caller, [permissionOf(need(team, "write"))]);
  return view;
}
