/** Set-up of suppression tests. */
import sql from "sql-template-tag";
import { expect } from "vitest";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { startService } from "./service.ts";

/** Inserts a segment of a mailing list and returns its id. */
export async function insertSegment(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  name: string,
): Promise<string> {
  const id = newId();
  await db.run(sql`
    insert into segments (workspace_id, id, mailing_list_id, name, conditions, referenced_segments, rule_count,
      is_active, created_at, updated_at)
    values (${workspaceId}, ${id}, ${mailingListId}, ${name}, '{}', '{}', 0, true, now(), now())`);
  return id;
}

/** Starts a service with short calls for suppression lists. Call at the top of a test file. */
export async function suppressionService() {
  const service = await startService();
  const { database, workspaceId, clock, call } = service;

  const create = async (body: object = {}) => {
    const answer = await call("POST", "/suppression-lists", { name: "Ours", ...body });
    expect(answer.status, answer.body.error).toBe(201);
    return answer.body.data;
  };
  const find = async (id: string) => (await call("GET", `/suppression-lists/${id}`)).body.data;
  const add = (id: string, entries: string) => call("POST", `/suppression-lists/${id}/entries`, { entries });
  const entriesOf = async (id: string, query = "") =>
    (await call("GET", `/suppression-lists/${id}/entries${query}`)).body.data;
  const valuesOf = async (id: string, query = "") =>
    ((await entriesOf(id, query)) ?? []).map(
      ({ normalized_value }: { normalized_value: string }) => normalized_value,
    );
  const ask = async (id: string, test_value: string) =>
    (await call("POST", `/suppression-lists/${id}/test`, { test_value })).body;
  const upload = (id: string, content: string | Uint8Array<ArrayBuffer>) => {
    const form = new FormData();
    form.set("csvFile", new Blob([content]), "list.csv");
    return call("POST", `/suppression-lists/${id}/import`, form);
  };
  /** The entry count of a list; fails if counter and rows differ. */
  const countOf = async (id: string) => {
    const { entry_count } = await find(id);
    const counted = await database.row<{ rows: number }>(
      sql`select count(*)::int as rows from suppression_entries where suppression_list_id = ${id}`,
    );
    expect(entry_count).toBe(counted?.rows);
    return entry_count;
  };
  return {
    service,
    database,
    workspaceId,
    clock,
    call,
    create,
    find,
    add,
    entriesOf,
    valuesOf,
    ask,
    upload,
    countOf,
  };
}
