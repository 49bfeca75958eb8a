/** Endpoints of suppression lists. */

import { Type } from "typebox";
import { encodingDescription, readEncodingName } from "#platform/csv/encodings.ts";
import { PageAnchors } from "#platform/database/page-anchors.ts";
import type { Database } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import { type Endpoint, endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { cursorFields, textField } from "#platform/http/request/query.ts";
import { fileField } from "#platform/http/request/uploads.ts";
import { Continued } from "#platform/http/route-handler.ts";
import { Deleted, nullable } from "#platform/shapes.ts";
import type { StorageDeps } from "#workspace/billing/storage-limit.ts";
import { addEntries } from "./add-entries.ts";
import { ENTRIES_PER_PAGE, findEntries } from "./entry-pages.ts";
import { removeEntry } from "./entry-store.ts";
import { importEntries } from "./import-entries.ts";
import { deleteSuppressionList } from "./remove-in-steps.ts";
import { changeSuppressionList, createSuppressionList } from "./save-suppression-list.ts";
import {
  ensureSystemList,
  listSuppressionLists,
  lockSuppressionList,
  requireSuppressionList,
} from "./store.ts";
import { testValue } from "./suppression-check.ts";
import {
  AddedEntries,
  NewSuppressionList,
  SuppressionEntry,
  SuppressionList,
  SuppressionListChanges,
  SuppressionTest,
} from "./suppression-list.ts";

const suppressionLists: Resource = {
  name: "suppression_lists",
  label: "Suppression lists",
  group: "Audience",
};

/** Enough for 10,000 long addresses. */
const ENTRIES_LIMIT = 4 * 1024 * 1024;
const FILE_LIMIT = 20 * 1024 * 1024;

export function suppressionListEndpoints(deps: StorageDeps & { readonly db: Database }): Endpoint[] {
  const { db } = deps;
  const anchors = new PageAnchors();
  const entriesOf = "/suppression-lists/{id}/entries";
  return [
    endpoint({
      id: "listSuppressionLists",
      method: "GET",
      path: "/suppression-lists",
      summary: "Suppression lists, newest first; the list of bounces and complaints is always there",
      needs: need(suppressionLists, "read"),
      answer: Type.Object({ suppression_lists: Type.Array(SuppressionList) }),
      message: "Suppression lists",
      async handle({ caller }) {
        await ensureSystemList(db, caller.workspaceId);
        return { suppression_lists: await listSuppressionLists(db, caller.workspaceId) };
      },
    }),
    endpoint({
      id: "createSuppressionList",
      method: "POST",
      path: "/suppression-lists",
      summary: "Create a suppression list",
      needs: need(suppressionLists, "write"),
      body: NewSuppressionList,
      answer: SuppressionList,
      status: 201,
      message: "Suppression list created",
      errors: ["BAD_REQUEST"],
      handle: ({ caller, body }) => createSuppressionList(deps, caller.workspaceId, body),
    }),
    endpoint({
      id: "getSuppressionList",
      method: "GET",
      path: "/suppression-lists/{id}",
      summary: "One suppression list",
      needs: need(suppressionLists, "read"),
      answer: SuppressionList,
      message: "Suppression list",
      handle: ({ caller, params }) => requireSuppressionList(db, caller.workspaceId, params.id),
    }),
    endpoint({
      id: "updateSuppressionList",
      method: "PUT",
      path: "/suppression-lists/{id}",
      summary: "Change a suppression list; omitted fields stay",
      needs: need(suppressionLists, "write"),
      body: SuppressionListChanges,
      answer: SuppressionList,
      message: "Suppression list updated",
      errors: ["FORBIDDEN", "CONFLICT"],
      handle: ({ caller, params, body }) => changeSuppressionList(deps, caller.workspaceId, params.id, body),
    }),
    endpoint({
      id: "deleteSuppressionList",
      method: "DELETE",
      path: "/suppression-lists/{id}",
      mayTakeLong: "reading",
      summary: "Delete a suppression list with its entries",
      needs: need(suppressionLists, "write"),
      answer: Deleted,
      message: "Suppression list deleted",
      errors: ["FORBIDDEN"],
      async handle({ caller, params: { id } }) {
        await deleteSuppressionList(db, caller.workspaceId, id);
        return { id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "listSuppressionEntries",
      method: "GET",
      path: entriesOf,
      mayTakeLong: "reading",
      summary: `Up to ${ENTRIES_PER_PAGE} entries of a list, newest first; null when there are none`,
      needs: need(suppressionLists, "read"),
      query: {
        page: cursorFields().page,
        after: cursorFields().after,
        search: textField(
          320,
          "Only entries that begin with this; international domains in either script, by whole labels. Finds 5,000 at most.",
        ),
      },
      answer: nullable(Type.Array(SuppressionEntry)),
      isContinued: true,
      message: "Suppression entries",
      async handle({ caller: { workspaceId }, params, query }) {
        const { search } = query;
        const walk = new ListPage(
          { ...query, limit: ENTRIES_PER_PAGE },
          "listSuppressionEntries",
          workspaceId,
          params.id,
          search,
        );
        const list = { workspaceId, listId: params.id };
        const entries = await findEntries(db, anchors, list, search, walk.page);
        const { rows, pagination } = walk.shown(entries, 0, ({ id }) => id);
        return new Continued(rows.length === 0 ? null : rows, pagination.next_cursor ?? null);
      },
    }),
    endpoint({
      id: "addSuppressionEntries",
      method: "POST",
      path: entriesOf,
      mayTakeLong: "reading",
      summary: "Add addresses and domains to a list, one a line",
      needs: need(suppressionLists, "write"),
      body: Type.Object(
        {
          entries: Type.String({
            minLength: 1,
            description:
              "Addresses and domains, one a line; commas and semicolons separate them, too. At most 10,000.",
          }),
        },
        { $id: "NewSuppressionEntries" },
      ),
      answer: AddedEntries,
      status: 201,
      message: (data) => data.message,
      bodyLimit: ENTRIES_LIMIT,
      errors: ["PLAN_LIMIT_REACHED"],
      handle: ({ caller: { workspaceId, actor }, params, body }) =>
        addEntries(deps, { workspaceId, listId: params.id }, body.entries, actor.name),
    }),
    endpoint({
      id: "importSuppressionEntries",
      method: "POST",
      path: "/suppression-lists/{id}/import",
      summary: "Add the addresses and domains of a file to a list, all or nothing",
      needs: need(suppressionLists, "write"),
      body: Type.Object(
        {
          csvFile: fileField(
            "CSV with a column `email`, `entry_value`, `address` or `domain`, else the column that holds addresses; or one a line.",
          ),
          encoding: Type.Optional(Type.String({ description: encodingDescription })),
        },
        { $id: "SuppressionImport" },
      ),
      answer: AddedEntries,
      message: (data) => data.message,
      bodyLimit: FILE_LIMIT,
      errors: ["FORBIDDEN", "BAD_REQUEST", "PLAN_LIMIT_REACHED"],
      async handle({ caller: { workspaceId, actor: { name: createdBy } }, params, body }) {
        const encoding = readEncodingName(body.encoding);
        const file = { path: body.csvFile.path, encoding, createdBy };
        return importEntries(deps, { workspaceId, listId: params.id }, file);
      },
    }),
    endpoint({
      id: "deleteSuppressionEntry",
      method: "DELETE",
      path: "/suppression-lists/{id}/entries/{entry_id}",
      summary: "Remove an entry from a list",
      needs: need(suppressionLists, "write"),
      answer: Deleted,
      message: "Suppression entry deleted",
      async handle({ caller: { workspaceId }, params: { id: listId, entry_id: id } }) {
        await db.transaction(async (tx) => {
          await lockSuppressionList(tx, workspaceId, listId);
          if (!(await removeEntry(tx, { workspaceId, listId }, id))) throw notFound("Suppression entry");
        });
        return { id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "testSuppression",
      method: "POST",
      path: "/suppression-lists/{id}/test",
      summary: "Check whether a list suppresses an address or domain",
      needs: need(suppressionLists, "read"),
      body: Type.Object(
        { test_value: Type.String({ minLength: 1, description: "An address, or a domain." }) },
        { $id: "SuppressionQuestion" },
      ),
      answer: SuppressionTest,
      message: ({ suppressed, test_value, reason, list_name }) =>
        suppressed
          ? `${test_value} is suppressed by ${list_name} (${reason})`
          : `${test_value} is not suppressed by ${list_name}`,
      handle: ({ caller: { workspaceId }, params, body }) =>
        testValue(db, { workspaceId, listId: params.id }, body.test_value),
    }),
  ];
}
