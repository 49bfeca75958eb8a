import sql from "sql-template-tag";
import { describe, expect, it } from "vitest";
import { newId } from "#platform/ids.ts";
import { newList } from "#test/support/audience.ts";
import { insertSegment, suppressionService } from "#test/support/suppression.ts";
import { listSuppressionOfSegments } from "./store.ts";

const { service, database, workspaceId, clock, call, create, find, add, countOf } =
  await suppressionService();

describe("lists", () => {
  it("have the defaults of the contract and are read as they were made", async () => {
    clock.advance(1);
    const made = await create({ name: "  Ours  " });
    const now = clock.now().toISOString();
    expect(made).toEqual({
      id: expect.any(String),
      name: "Ours",
      description: "",
      suppression_scope: "global",
      mailing_list_id: null,
      mailing_list_name: null,
      segment_id: null,
      segment_name: null,
      entry_count: 0,
      is_active: true,
      is_system: false,
      created_at: now,
      updated_at: now,
    });
    expect(await find(made.id)).toEqual(made);
    clock.advance(1);
    const newer = await create();
    const { suppression_lists } = (await call("GET", "/suppression-lists")).body.data;
    expect(suppression_lists.slice(0, 2)).toEqual([newer, made]);
  });

  it("of a mailing list or a segment name it", async () => {
    const mailing_list_id = await newList(database, workspaceId, "News");
    const segment_id = await insertSegment(database, workspaceId, mailing_list_id, "Readers");
    const named = { mailing_list_id: mailing_list_id.toUpperCase(), segment_id };
    expect(await create({ suppression_scope: "mailing_list", ...named })).toMatchObject({
      mailing_list_id,
      mailing_list_name: "News",
      segment_id: null,
    });
    expect(await create({ suppression_scope: "segment", segment_id, mailing_list_id })).toMatchObject({
      segment_id,
      segment_name: "Readers",
      mailing_list_id: null,
    });
    expect(await create({ segment_id, mailing_list_id })).toMatchObject({
      suppression_scope: "global",
      segment_id: null,
      mailing_list_id: null,
    });
    expect(await listSuppressionOfSegments(database, workspaceId, [segment_id])).toHaveLength(1);
    expect(await listSuppressionOfSegments(database, workspaceId, [newId()])).toEqual([]);
  });

  it("require the mailing list or segment of their scope in the same workspace", async () => {
    const stranger = (await service.newWorkspace()).workspaceId;
    const theirs = await newList(database, stranger);
    const theirSegment = await insertSegment(database, stranger, theirs, "Theirs");
    const refusals = [];
    for (const [scope, id] of [
      ["mailing_list", undefined],
      ["mailing_list", null],
      ["mailing_list", "x"],
      ["mailing_list", newId()],
      ["mailing_list", theirs],
      ["segment", undefined],
      ["segment", newId()],
      ["segment", theirSegment],
    ] as const) {
      const body = { name: "x", suppression_scope: scope, [`${scope}_id`]: id };
      const { status, body: answer } = await call("POST", "/suppression-lists", body);
      expect([status, answer.code, answer.details[0].field]).toEqual([
        400,
        "VALIDATION_ERROR",
        `${scope}_id`,
      ]);
      refusals.push(answer.error);
    }
    // The answer does not reveal whether the id exists in another workspace.
    expect(refusals[3]).toBe(refusals[4]);
    expect(refusals[6]).toBe(refusals[7]);
  });

  it.each([
    [{}, "name"],
    [{ name: "x", suppression_scope: "all" }, "suppression_scope"],
    [{ name: "x", is_active: "no" }, "is_active"],
    [{ name: "a\nb" }, "name"],
  ])("%j is refused by its field", async (body, field) => {
    const { status, body: answer } = await call("POST", "/suppression-lists", body);
    expect([status, answer.details?.[0].field]).toEqual([400, field]);
  });

  it("change what an update names and keep the rest", async () => {
    const mailing_list_id = await newList(database, workspaceId, "News");
    const made = await create({ description: "Former customers" });
    const put = (body: object) => call("PUT", `/suppression-lists/${made.id}`, body);
    clock.advance(1_000);
    const updated_at = clock.now().toISOString();
    const inactive = { ...made, is_active: false, updated_at };
    expect((await put({ is_active: false })).body.data).toEqual(inactive);
    expect((await put({ suppression_scope: "mailing_list" })).status).toBe(400);
    const scoped = await put({ suppression_scope: "mailing_list", mailing_list_id });
    expect(scoped.body.data).toMatchObject({ mailing_list_name: "News", description: "Former customers" });
    expect((await put({ mailing_list_id: null })).status).toBe(400);
    expect((await put({ name: "Theirs" })).body.data).toMatchObject({ name: "Theirs", mailing_list_id });
    expect((await put({ suppression_scope: "global" })).body.data).toMatchObject({ mailing_list_id: null });
  });

  it("are a thousand at most", async () => {
    const { workspaceId: theirs, key } = await service.newWorkspace();
    await database.run(sql`
      insert into suppression_lists (workspace_id, id, name, suppression_scope, created_at, updated_at)
      select ${theirs}, gen_random_uuid(), 'x', 'global', now(), now() from generate_series(1, 999)`);
    const answers = await Promise.all(
      [1, 2, 3].map(() => call("POST", "/suppression-lists", { name: "One more" }, { key })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400]);
    const refused = answers.find(({ status }) => status === 400);
    expect(refused?.body).toMatchObject({ code: "BAD_REQUEST", error: expect.stringContaining("1000") });
  });

  it("are deleted with their entries", async () => {
    const { id } = await create();
    await add(id, "ada@example.com");
    expect((await call("DELETE", `/suppression-lists/${id}`)).body.data).toEqual({ id, deleted: true });
    expect((await call("DELETE", `/suppression-lists/${id}`)).status).toBe(404);
    expect((await add(id, "ada@example.com")).status).toBe(404);
    expect(
      await database.rows(sql`select from suppression_entries where suppression_list_id = ${id}`),
    ).toEqual([]);
  });

  it("are deleted once: concurrent deletions get 404", async () => {
    const { id } = await create();
    const answers = await Promise.all([1, 2, 3, 4].map(() => call("DELETE", `/suppression-lists/${id}`)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404]);
  });

  it("are deleted with their mailing list or one of its segments, and no others are", async () => {
    const mailing_list_id = await newList(database, workspaceId);
    const segment_id = await insertSegment(database, workspaceId, mailing_list_id, "Readers");
    const { id: global } = await create();
    const { id: ofList } = await create({ suppression_scope: "mailing_list", mailing_list_id });
    const { id: ofSegment } = await create({ suppression_scope: "segment", segment_id });
    for (const id of [global, ofList, ofSegment]) await add(id, "ada@example.com");
    expect((await call("DELETE", `/mailing-lists/${mailing_list_id}`)).status).toBe(200);
    const statuses = [global, ofList, ofSegment].map(
      async (id) => (await call("GET", `/suppression-lists/${id}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 404, 404]);
    expect(
      await database.rows(sql`
        select from suppression_entries where suppression_list_id in (${ofList}, ${ofSegment})`),
    ).toEqual([]);
    expect(await countOf(global)).toBe(1);
  });
});
