/** Endpoints of suppression lists. */

import { Type } from "typebox";
import { describeAudit } from "#platform/audit/pending-event.ts";
import { encodingDescription, readEncodingName } from "#platform/csv/encodings.ts";
import { PageAnchors } from "#platform/database/page-anchors.ts";
import type { Database } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { cursorFields, textField } from "#platform/http/request/query.ts";
import { fileField } from "#platform/http/request/uploads.ts";
import { Continued } from "#platform/http/route-handler.ts";
import { Deleted, nullable } from "#platform/shapes.ts";
import type { StorageDeps } from "#workspace/billing/storage-limit.ts";
import { addEntries } from "./add-entries.ts";
import { ENTRIES_PER_PAGE, findEntries } from "./entry-pages.ts";
import { removeEntry } from "./entry-store.ts";
import { type CausesOf, explainSuppressions } from "./explain-suppressions.ts";
import { importEntries } from "./import-entries.ts";
import { suppressionLists } from "./permission.ts";
import { deleteSuppressionList } from "./remove-in-steps.ts";
import { changeSuppressionList, createSuppressionList } from "./save-suppression-list.ts";
import {
  ensureSystemList,
  listSuppressionLists,
  lockSuppressionList,
  requireSuppressionList,
} from "./store.ts";
import { testValue } from "./suppression-check.ts";
import { SuppressionFindings, SuppressionSearch } from "./suppression-finding.ts";
import {
  AddedEntries,
  NewSuppressionList,
  SuppressionEntry,
  SuppressionList,
  SuppressionListChanges,
  SuppressionTest,
} from "./suppression-list.ts";

/** Enough for 10,000 long addresses. */
const ENTRIES_LIMIT = 4 * 1024 * 1024;
const FILE_LIMIT = 20 * 1024 * 1024;

interface Dependencies extends StorageDeps {
  readonly db: Database;
  readonly causesOf: CausesOf;
}

export function suppressionListEndpoints(deps: Dependencies): Endpoint[] {
  const { db, causesOf } = deps;
  const anchors = new PageAnchors();
  const entriesOf = "/suppression-lists/{id}/entries";
  return [
    endpoint({
      id: "listSuppressionLists",
      method: "GET",
      path: "/suppression-lists",
      summary: "Suppression lists, newest first; the list of bounces and complaints is always there",
      description:
        "A suppression list holds addresses and domains that get no mail. The list of hard bounces and complaints, which the service fills, is always there and cannot be deleted.",
      needs: need(suppressionLists, "read"),
      answer: Type.Object({
        suppression_lists: Type.Array(SuppressionList, {
          description: "All suppression lists, newest first.",
        }),
      }),
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
      description:
        "A list without a scope holds for all mail of the workspace; one with `mailing_list_id` or `segment_id` only for campaigns to that audience. It holds from the first entry on, also for messages that wait.",
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
      description: "The list with its number of entries. `GET /suppression-lists/{id}/entries` reads them.",
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
      description:
        "Changes name, description or scope. A wider scope also holds for messages that already wait to be sent.",
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
      description:
        "Its entries are deleted too, and no longer keep recipients from getting mail. The list of bounces and complaints cannot be deleted.",
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
      summary: "The entries of a list, newest first; null when there are none",
      description:
        "A page of entries by cursor. With `search` only those whose address or domain begins with the text.",
      needs: need(suppressionLists, "read"),
      query: {
        ...cursorFields(ENTRIES_PER_PAGE, ENTRIES_PER_PAGE),
        search: textField(
          320,
          "Only entries that begin with this; international domains in either script, by whole labels. Finds 5,000 at most.",
        ),
      },
      answer: nullable(Type.Array(SuppressionEntry)),
      isContinued: true,
      isCounted: true,
      message: "Suppression entries",
      async handle({ caller: { workspaceId }, params, query }) {
        const { search } = query;
        const walk = new ListPage(query, "listSuppressionEntries", workspaceId, params.id, search);
        const list = { workspaceId, listId: params.id };
        const { entries, total } = await findEntries(db, anchors, list, search, walk.page);
        const { rows, pagination } = walk.shown(entries, total, ({ id }) => id);
        return new Continued(rows.length === 0 ? null : rows, pagination.next_cursor ?? null, total);
      },
    }),
    endpoint({
      id: "addSuppressionEntries",
      method: "POST",
      path: entriesOf,
      mayTakeLong: "reading",
      summary: "Add addresses and domains to a list, one a line",
      description:
        "One address or domain a line; an entry that exists already is counted as skipped. A domain suppresses every address at it. Messages that wait for a suppressed recipient end as `suppressed`. For a whole file use `POST /suppression-lists/{id}/import`.",
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
      description:
        "A CSV or text file with one address or domain a row. A row that is neither is counted as invalid. The entries are added in one transaction: after an error none is.",
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
      async handle({
        caller: {
          workspaceId,
          actor: { name: createdBy },
        },
        params,
        body,
      }) {
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
      description:
        "The address or domain gets mail again, unless another list has it. A person who bounced or complained keeps that status on the mailing lists. A `reason` is kept in the audit log.",
      needs: need(suppressionLists, "write"),
      query: {
        reason: textField(500, "Why, such as `Asked by phone to get mail again`. The audit log shows it."),
      },
      answer: Deleted,
      message: "Suppression entry deleted",
      async handle({ caller: { workspaceId }, params: { id: listId, entry_id: id }, query: { reason } }) {
        if (reason !== undefined) describeAudit({ reason });
        await db.transaction(async (tx) => {
          await lockSuppressionList(tx, workspaceId, listId);
          if (!(await removeEntry(tx, { workspaceId, listId }, id))) throw notFound("Suppression entry");
        });
        return { id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "findSuppressions",
      method: "POST",
      path: "/suppressions/find",
      summary: "Say of addresses whether they may be mailed, and what keeps mail away from them",
      description:
        "For up to 100 addresses it answers every entry that blocks them with its cause, and their state on each mailing list. It changes nothing.",
      needs: need(suppressionLists, "read"),
      isEveryday: true,
      unaudited: "only reads",
      body: SuppressionSearch,
      answer: SuppressionFindings,
      message: ({ results }) => `${results.length} ${results.length === 1 ? "address" : "addresses"}`,
      async handle({ caller: { workspaceId }, body }) {
        return { results: await explainSuppressions(db, workspaceId, body.addresses, causesOf) };
      },
    }),
    endpoint({
      id: "testSuppression",
      method: "POST",
      path: "/suppression-lists/{id}/test",
      summary: "Check whether a list suppresses an address or domain",
      description:
        "Tells whether the list holds the address itself or its domain. Nothing is changed. Use it to find out why a person gets no mail.",
      needs: need(suppressionLists, "read"),
      unaudited: "only reads",
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
