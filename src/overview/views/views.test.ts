import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId, nilId } from "#platform/ids.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, workspaceId } = service;

const view = { page_name: "campaigns", name: "Sent", state: "status=sent&sort=name" };
/** A role without any right to write. */
const reads = ["reports:read"];
const namesFor = async (caller: typeof call, query = "") =>
  (await caller("GET", `/views${query}`)).body.data.views.map(({ name }: { name: string }) => name);

test("a view of one's own is seen by its owner alone, a shared one by everyone in the workspace", async () => {
  const [ada, bob] = [await service.newPerson(reads), await service.newPerson(reads)];
  const created = await ada.call("POST", "/views", { ...view, name: " Mine " });
  expect([created.status, created.body.data]).toMatchObject([
    201,
    { ...view, name: "Mine", is_shared: false, is_own: true, owner_name: expect.any(String) },
  ]);
  await ada.call("POST", "/views", { ...view, name: "Ours", is_shared: true });
  expect(await namesFor(ada.call)).toEqual(["Mine", "Ours"]);
  expect(await namesFor(bob.call)).toEqual(["Ours"]);
  expect((await bob.call("GET", "/views")).body.data.views[0]).toMatchObject({ is_own: false });
  const { id } = created.body.data;
  for (const [method, body] of [
    ["PATCH", { name: "Taken" }],
    ["DELETE", undefined],
  ] as const) {
    expect([method, (await bob.call(method, `/views/${id}`, body)).status]).toEqual([method, 404]);
  }
  const other = await service.newWorkspace();
  expect(await namesFor(apiCaller(() => service.url, other.key))).toEqual([]);
  await database.run(sql`delete from saved_views`);
});

test("a shared view is changed by its owner, and by callers who manage the team", async () => {
  const [ada, bob] = [await service.newPerson(reads), await service.newPerson(reads)];
  const lead = await service.newPerson(["team:write"]);
  const { body } = await ada.call("POST", "/views", { ...view, is_shared: true });
  const path = `/views/${body.data.id}`;
  for (const [method, change] of [
    ["PATCH", { state: "" }],
    ["DELETE", undefined],
  ] as const) {
    const { status, body: refusal } = await bob.call(method, path, change);
    expect([status, refusal.required_scopes]).toEqual([403, ["team:write"]]);
  }
  expect((await lead.call("PATCH", path, { state: "sort=sent" })).body.data).toMatchObject({
    name: "Sent",
    state: "sort=sent",
    is_own: false,
  });
  const unshared = await lead.call("PATCH", path, { is_shared: false });
  expect([unshared.status, unshared.body.details]).toMatchObject([400, [{ field: "is_shared" }]]);
  expect(await namesFor(bob.call)).toEqual(["Sent"]);
  expect((await ada.call("PATCH", path, { is_shared: false, name: "Best" })).body.data).toMatchObject({
    name: "Best",
    state: "sort=sent",
    is_shared: false,
  });
  expect(await namesFor(bob.call)).toEqual([]);
  expect((await lead.call("DELETE", path)).status).toBe(404);
  expect((await ada.call("DELETE", path)).status).toBe(200);
  expect(await namesFor(ada.call)).toEqual([]);
  const log = await database.row<{ changes: string }>(sql`
    select string_agg(changes::text, '') as changes from audit_events where operation in ('createView', 'updateView')`);
  expect(log?.changes).toContain("Best");
  expect(log?.changes).not.toContain("sort=");
});

test("views are listed by name and page, and paged", async () => {
  for (const [page_name, name] of [
    ["campaigns", "b"],
    ["subscribers", "C"],
    ["campaigns", "A"],
  ]) {
    await call("POST", "/views", { ...view, page_name, name });
  }
  expect(await namesFor(call)).toEqual(["A", "b", "C"]);
  expect(await namesFor(call, "?page_name=campaigns")).toEqual(["A", "b"]);
  expect(await namesFor(call, "?page_name=campaigns&page=2&limit=1")).toEqual(["b"]);
  expect(await namesFor(call, "?page_name=__proto__")).toEqual([]);
  await database.run(sql`delete from saved_views`);
});

test("views beyond the limits are refused, also by sharing", async () => {
  const fill = (count: number, isShared: boolean, owner: string) =>
    database.run(sql`
      insert into saved_views (workspace_id, id, owner_id, owner_name, page_name, name, state, is_shared, created_at, updated_at)
      select ${workspaceId}, uuidv7(), ${owner}, 'x', 'campaigns', 'x', '', ${isShared}, now(), now()
      from generate_series(1, ${count}::int)`);
  const ada = await service.newPerson(reads);
  const { id } = (await ada.call("POST", "/views", view)).body.data;
  await fill(200, true, nilId);
  await fill(99, false, ada.userId);
  await fill(100, false, newId());
  const refused = { code: "BAD_REQUEST" };
  expect((await ada.call("POST", "/views", view)).body).toMatchObject(refused);
  expect((await ada.call("POST", "/views", { ...view, is_shared: true })).body).toMatchObject(refused);
  expect((await ada.call("PATCH", `/views/${id}`, { is_shared: true })).body).toMatchObject(refused);
  expect((await call("POST", "/views", view)).status).toBe(201);
  await database.run(sql`delete from saved_views`);
});

test("one owner cannot take all the room for shared views", async () => {
  const [ada, bob] = [await service.newPerson(reads), await service.newPerson(reads)];
  await database.run(sql`
    insert into saved_views (workspace_id, id, owner_id, owner_name, page_name, name, state, is_shared, created_at, updated_at)
    select ${workspaceId}, uuidv7(), ${ada.userId}, 'x', 'campaigns', 'x', '', true, now(), now()
    from generate_series(1, 50)`);
  const shared = { ...view, is_shared: true };
  expect((await ada.call("POST", "/views", shared)).body).toMatchObject({ code: "BAD_REQUEST" });
  expect((await bob.call("POST", "/views", shared)).status).toBe(201);
  await database.run(sql`delete from saved_views`);
});

test("what a removed teammate or deleted key did not share is deleted, the rest stays", async () => {
  const ada = await service.newPerson(reads);
  const key = await service.newKey(reads, "Robot");
  const robot = apiCaller(() => service.url, key);
  for (const caller of [ada.call, robot]) {
    await caller("POST", "/views", { ...view, name: "Mine" });
    await caller("POST", "/views", { ...view, name: "Ours", is_shared: true });
  }
  expect((await call("DELETE", `/team/${ada.userId}`)).status).toBe(200);
  const { body } = await call("GET", "/api-keys");
  const robotId = body.data.find(({ name }: { name: string }) => name === "Robot").id;
  expect((await call("DELETE", `/api-keys/${robotId}/permanent`)).status).toBe(200);
  const left = await database.rows(sql`select name from saved_views order by name`);
  expect(left).toEqual([{ name: "Ours" }, { name: "Ours" }]);
  await database.run(sql`delete from saved_views`);
});

test.each([
  [{ name: "" }],
  [{ name: "  " }],
  [{ name: "a\nb" }],
  [{ name: "x".repeat(201) }],
  [{ name: ["Sent"] }],
  [{ page_name: "Campaigns" }],
  [{ page_name: "../x" }],
  [{ page_name: "x".repeat(51) }],
  [{ state: "x".repeat(4_001) }],
  [{ state: "a\u0000b" }],
  [{ state: null }],
  [{ is_shared: "yes" }],
])("%j is refused", async (change) => {
  expect((await call("POST", "/views", { ...view, ...change })).body).toMatchObject({
    code: "VALIDATION_ERROR",
  });
});
