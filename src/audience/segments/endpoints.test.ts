import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { all, rule, segmentService } from "#test/support/segments.ts";
import { countSaved, recountActiveSegments } from "./member-counts.ts";
import { withDeadline } from "./members-store.ts";
import { findSegment } from "./store.ts";

const { service, database, workspaceId, clock, lists, segmentsOf, preview, saved, count, get, fill } =
  await segmentService();

interface Counted {
  readonly name: string;
  readonly subscriber_count: number;
  readonly counted_at: string;
}

describe("a segment", () => {
  test("is returned with its number of members", async () => {
    await fill(["ann@one.example", "bob@two.example"]);
    const conditions = all(["email_domain", "equals", "one.example"]);
    const made = await saved({ name: " Ones ", conditions });
    const now = clock.now().toISOString();
    expect(made).toEqual({
      id: expect.any(String),
      name: "Ones",
      description: "",
      mailing_list_id: lists.news,
      mailing_list_name: "News",
      conditions,
      is_active: false,
      subscriber_count: 1,
      counted_at: now,
      created_at: now,
      updated_at: now,
    });
    const read = { ...made, used_by: { total: 0, prevents_deletion: false, users: [] } };
    expect(await get(`${segmentsOf()}/${made.id}`)).toEqual(read);
    expect((await get(segmentsOf())).segments).toEqual([read]);
    expect((await get(`/segments?list_id=${lists.news}`)).segments).toEqual([read]);
  });

  test("changes the fields given, and keeps the rest", async () => {
    const made = await saved({ description: "All", conditions: all(["email", "contains", "ann"]) });
    clock.advance(1_000);
    const path = `${segmentsOf()}/${made.id}`;
    const renamed = await service.call("PUT", path, { name: "Others", is_active: true });
    const changed = { name: "Others", is_active: true, updated_at: clock.now().toISOString() };
    expect(renamed.body.data).toEqual({ ...made, ...changed, counted_at: changed.updated_at });
    const conditions = all(["email", "contains", "bob"]);
    await fill(["bob@example.com"]);
    const { body } = await service.call("PUT", path, { conditions });
    expect(body.data).toMatchObject({ name: "Others", description: "All", conditions, subscriber_count: 1 });
  });

  test("is forgotten when it is deleted, and deleted once", async () => {
    const { id } = await saved({ conditions: all(["email", "contains", "ann"]) });
    const answer = await service.call("DELETE", `${segmentsOf()}/${id}`);
    expect(answer.body.data).toEqual({ id, deleted: true });
    expect((await service.call("DELETE", `${segmentsOf()}/${id}`)).status).toBe(404);
    expect((await get(segmentsOf())).segments).toEqual([]);
  });

  test("is not found on another list of the same workspace", async () => {
    const { id } = await saved({ conditions: all(["email", "contains", "ann"]) });
    for (const [method, path] of [
      ["GET", `${segmentsOf(lists.offers)}/${id}`],
      ["PUT", `${segmentsOf(lists.offers)}/${id}`],
      ["DELETE", `${segmentsOf(lists.offers)}/${id}`],
      ["GET", `${segmentsOf(lists.offers)}/${id}/subscribers`],
    ] as const) {
      const answer = await service.call(method, path, method === "PUT" ? { name: "x" } : undefined);
      expect([answer.status, answer.body.code]).toEqual([404, "NOT_FOUND"]);
    }
  });

  test("may share its name with another", async () => {
    const body = { conditions: all(["email", "contains", "ann"]) };
    expect((await saved(body)).id).not.toBe((await saved(body)).id);
  });

  test("drops unknown keys of its conditions", async () => {
    const conditions = {
      logic: "and",
      note: "x",
      rules: [{ field: "email", operator: "contains", value: "a", id: 7 }],
    };
    const { conditions: kept } = await saved({ conditions });
    expect(kept).toEqual(all(["email", "contains", "a"]));
  });
});

describe("lists of segments", () => {
  test("are newest first, in pages, and searched by a part of the name", async () => {
    const { key } = await service.newWorkspace();
    const call = (method: string, path: string, body?: object) => service.call(method, path, body, { key });
    const lists = [];
    for (const name of ["A", "B"]) lists.push((await call("POST", "/mailing-lists", { name })).body.data.id);
    for (const [at, name] of ["Éclair 1", "éclair 2", "100%", "Tea"].entries()) {
      clock.advance(1_000);
      const body = { name, conditions: all(["email", "contains", "a"]) };
      await call("POST", `/mailing-lists/${lists[at % 2]}/segments`, body);
    }
    const namesAt = async (path: string) => {
      const { segments, pagination } = (await call("GET", path)).body.data;
      return [segments.map(({ name }: { name: string }) => name), pagination.total, pagination.total_pages];
    };
    expect(await namesAt("/segments")).toEqual([["Tea", "100%", "éclair 2", "Éclair 1"], 4, 1]);
    expect(await namesAt("/segments?limit=3&page=2")).toEqual([["Éclair 1"], 4, 2]);
    expect(await namesAt("/segments?search=ÉCLAIR")).toEqual([["éclair 2", "Éclair 1"], 2, 1]);
    expect(await namesAt("/segments?search=%25")).toEqual([["100%"], 1, 1]);
    expect(await namesAt(`/segments?list_id=${lists[0]}`)).toEqual([["100%", "Éclair 1"], 2, 1]);
    expect(await namesAt(`/mailing-lists/${lists[1]}/segments?search=t`)).toEqual([["Tea"], 1, 1]);
  });

  test.each(["nonsense", newId()])("of a list that is not there (%s) are refused", async (id) => {
    const answer = await service.call("GET", `/segments?list_id=${id}`);
    expect([answer.status, answer.body.details[0].field]).toEqual([400, "list_id"]);
  });
});

describe("queries of one workspace", () => {
  const conditions = all(["email", "contains", "ann"]);

  test("run in the bursts that the rate limit allows", async () => {
    await fill(["ann@one.example"]);
    const answers = await Promise.all(Array.from({ length: 200 }, () => count(conditions)));
    expect(new Set(answers)).toEqual(new Set([1]));
  });

  test("are refused with advice when too many wait, and those of another workspace are not", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const line = Array.from({ length: 202 }, () => withDeadline(database, workspaceId, 5_000, () => promise));
    const answer = await preview(conditions);
    const other = await service.newWorkspace();
    const { body } = await service.call("POST", "/mailing-lists", { name: "News" }, { key: other.key });
    const path = `${segmentsOf(body.data.id)}/preview`;
    const elsewhere = await service.call("POST", path, { conditions }, { key: other.key });
    resolve();
    await Promise.all(line);
    expect([answer.status, answer.body]).toEqual([
      429,
      {
        success: false,
        code: "RATE_LIMIT_EXCEEDED",
        error: expect.stringContaining("run fewer at the same time"),
      },
    ]);
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(elsewhere.status).toBe(200);
  });
});

describe("counts", () => {
  /** Gives a segment more values than a statement can hold. */
  const makeEndless = async (id: string) => {
    const rules = Array.from({ length: 61_000 }, (_, at) => rule(["email", "equals", `${at}@x.example`]));
    const endless = JSON.stringify({ logic: "or", rules });
    await database.run(sql`update segments set conditions = ${endless} where id = ${id}`);
  };

  test("of a page are current, except for one that cannot be counted", async () => {
    const made = [];
    for (const name of ["1", "2", "3"]) {
      clock.advance(1_000);
      made.push(await saved({ name, conditions: all(["email", "contains", "@x.example"]) }));
    }
    await makeEndless(made[1].id);
    await fill(["a@x.example"]);
    clock.advance(1_000);
    const { segments } = await get(`${segmentsOf()}?limit=10`);
    const now = clock.now().toISOString();
    expect(segments.map((one: Counted) => [one.name, one.subscriber_count, one.counted_at])).toEqual([
      ["3", 1, now],
      ["2", 0, made[1].counted_at],
      ["1", 1, now],
    ]);
  });

  test("of active segments are renewed when they are too old", async () => {
    const conditions = all(["email_domain", "equals", "x.example"]);
    const { id } = await saved({ conditions, is_active: true });
    await fill(["a@x.example"]);
    const stored = async () =>
      database.row(sql`select subscriber_count as count, counted_at as at from segments where id = ${id}`);
    const before = clock.now();
    await recountActiveSegments(database, before, AbortSignal.timeout(10_000));
    expect(await stored()).toEqual({ count: 0, at: before });
    clock.advance(16 * 60_000);
    await recountActiveSegments(database, clock.now(), AbortSignal.timeout(10_000));
    expect(await stored()).toEqual({ count: 1, at: clock.now() });
  });

  test("of conditions that were replaced during the count are not stored", async () => {
    const { id } = await saved({ conditions: all(["email_domain", "equals", "y.example"]) });
    await fill(["a@y.example"]);
    const before = await findSegment(database, workspaceId, undefined, id);
    if (before === undefined) throw new Error("no segment");
    // At the same moment: two changes may have one time.
    const changes = { conditions: all(["email_domain", "equals", "z.example"]) };
    expect((await service.call("PUT", `${segmentsOf()}/${id}`, changes)).body.data.subscriber_count).toBe(0);
    expect(await countSaved(database, workspaceId, before, clock.now())).toMatchObject({
      subscriber_count: 1,
    });
    const kept = await database.row(sql`select subscriber_count as count from segments where id = ${id}`);
    expect(kept).toEqual({ count: 0 });
  });

  test("of replaced conditions are reset, even if the new ones cannot be counted", async () => {
    const { id } = await saved({ conditions: all(["email_domain", "equals", "v.example"]) });
    const endless = await saved({ conditions: all(["email", "contains", "@v.example"]) });
    await makeEndless(endless.id);
    const put = async (changes: object) => {
      const { body } = await service.call("PUT", `${segmentsOf()}/${id}`, changes);
      return [body.data.subscriber_count, body.data.counted_at];
    };
    expect(await put({ conditions: all(["segment", "is_in", endless.id]) })).toEqual([null, null]);
    const now = clock.now().toISOString();
    expect(await put({ conditions: all(["email_domain", "equals", "v.example"]) })).toEqual([0, now]);
    await database.run(sql`update segments set subscriber_count = 7 where id = ${endless.id}`);
    const renamed = await service.call("PUT", `${segmentsOf()}/${endless.id}`, { name: "Endless" });
    expect(renamed.body.data.subscriber_count).toBe(7);
  });
});
