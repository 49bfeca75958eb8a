import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database: db, clock } = service;
const url = "https://hooks.example.com/in?x=1";

async function newScene() {
  const { workspaceId, key } = await service.newWorkspace();
  const call = apiCaller(() => service.url, key);
  const create = (body: object = {}) => call("POST", "/webhooks", { url, events: ["*"], ...body });
  return { workspaceId, call, create };
}

test("a webhook is shown with its secret when it is created, and never again", async () => {
  const { call, create } = await newScene();
  const events = ["message.bounced", "message.complained"];
  const { status, body } = await create({ events, description: "Ours" });
  expect(status).toBe(201);
  const { secret, ...webhook } = body.data;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(webhook).toEqual({
    id: expect.any(String),
    url,
    events,
    description: "Ours",
    is_active: true,
    disabled_reason: null,
    consecutive_failures: 0,
    created_at: clock.now().toISOString(),
    updated_at: clock.now().toISOString(),
  });
  expect((await call("GET", `/webhooks/${webhook.id}`)).body.data).toEqual(webhook);
  expect((await call("GET", "/webhooks")).body.data).toEqual([webhook]);
  const stored = await db.row<{ secret: Buffer }>(sql`select secret from webhooks where id = ${webhook.id}`);
  expect(stored?.secret.toString("latin1")).not.toContain("whsec_");
});

test.each([
  ["http://hooks.example.com/", "url must begin with https://"],
  ["ftp://hooks.example.com/", "url must begin with https://"],
  ["https://hooks.example.com:0/", "url must be a complete URL"],
  ["https:///hooks.example.com/", "url must be a complete URL"],
  ["https:hooks.example.com/", "url must be a complete URL"],
  ["https://hooks.example.com/a\r\nX: y", "url must be a complete URL"],
  ["https://hooks.example.com\\a", "url must be a complete URL"],
  ["hooks.example.com", "url must be a complete URL, for example https://example.com/hooks"],
  ["https://", "url must be a complete URL, for example https://example.com/hooks"],
  ["https://user:secret@hooks.example.com/", "url must not contain a user name or password"],
  ["https://user@hooks.example.com/", "url must not contain a user name or password"],
  ["https://127.0.0.1/", "url must have a public address"],
  ["https://2130706433/", "url must have a public address"],
  ["https://[::1]:8443/", "url must have a public address"],
  ["https://[::ffff:10.0.0.1]/", "url must have a public address"],
  ["https://169.254.169.254/latest/meta-data", "url must have a public address"],
  ["https://localhost/", "url must have a public address"],
  ["https://api.LOCALHOST./", "url must have a public address"],
  [`https://hooks.example.com/${"ä".repeat(1_000)}`, "url must be at most 2000 characters"],
])("%s is refused: %s", async (bad, message) => {
  const { call, create } = await newScene();
  const { status, body } = await create({ url: bad });
  expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
  expect(body.error).toContain(message);
  expect(body.details[0].field).toBe("url");
  const { id } = (await create()).body.data;
  expect((await call("PATCH", `/webhooks/${id}`, { url: bad })).status).toBe(400);
});

test.each([
  [{ events: [] }, "events"],
  [{ events: ["message.read"] }, "events[0]"],
  [{ events: ["*", "message.bounced"] }, "events"],
  [{ events: ["webhook.test"] }, "events[0]"],
  [{ description: "x".repeat(501) }, "description"],
  [{ is_active: "yes" }, "is_active"],
])("%j is refused", async (body, field) => {
  const { create } = await newScene();
  const answer = await create(body);
  expect([answer.status, answer.body.details?.[0].field]).toEqual([400, field]);
});

test("omitted fields of a change stay unchanged, and duplicate events are stored once", async () => {
  const { call, create } = await newScene();
  const { secret: _, ...made } = (await create({ description: "Ours" })).body.data;
  clock.advance(1_000);
  const path = `/webhooks/${made.id}`;
  expect((await call("PATCH", path, {})).body.data).toEqual(made);
  const events = ["job.completed", "job.completed"];
  const change = { events, description: null, is_active: false, url: "https://b.example/" };
  expect((await call("PATCH", path, change)).body.data).toEqual({
    ...made,
    ...change,
    events: ["job.completed"],
    updated_at: clock.now().toISOString(),
  });
});

test("a workspace has at most twenty webhooks, even when many are created at once", async () => {
  const { call, create } = await newScene();
  const answers = await Promise.all(Array.from({ length: 24 }, () => create()));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
  const [first] = (await call("GET", "/webhooks")).body.data;
  await call("DELETE", `/webhooks/${first.id}`);
  expect((await create()).status).toBe(201);
});

test("a deleted webhook is not found", async () => {
  const { call, create } = await newScene();
  const path = `/webhooks/${(await create()).body.data.id}`;
  const tested = (await call("POST", `${path}/test`)).body.data;
  expect((await call("DELETE", path)).status).toBe(200);
  const others = ["rotate-secret", "test", `deliveries/${tested.id}/replay`];
  expect((await call("GET", "/webhooks")).body.data).toEqual([]);
  for (const rest of others) expect((await call("POST", `${path}/${rest}`)).status).toBe(404);
  expect((await call("GET", `${path}/deliveries`)).status).toBe(404);
  expect((await call("PATCH", path, { is_active: true })).status).toBe(404);
  expect((await call("DELETE", path)).status).toBe(404);
});

describe("deliveries", () => {
  test("a test event is delivered to that webhook only, whatever it listens to", async () => {
    const { call, create } = await newScene();
    const { id } = (await create({ events: ["job.completed"] })).body.data;
    const other = (await create()).body.data.id;
    const { status, body } = await call("POST", `/webhooks/${id}/test`);
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.any(String),
      type: "webhook.test",
      status: "pending",
      attempts: 0,
      next_attempt_at: clock.now().toISOString(),
      attempted_at: null,
      status_code: null,
      error: null,
      duration_ms: null,
      body: { type: "webhook.test", timestamp: clock.now().toISOString(), data: { webhook_id: id } },
      created_at: clock.now().toISOString(),
    });
    expect((await call("GET", `/webhooks/${id}/deliveries`)).body.data.deliveries).toEqual([body.data]);
    expect((await call("GET", `/webhooks/${other}/deliveries`)).body.data.pagination.total).toBe(0);
    const replay = (webhook: string) =>
      call("POST", `/webhooks/${webhook}/deliveries/${body.data.id}/replay`);
    expect((await replay(other)).status).toBe(404);
    expect((await replay(id)).status).toBe(200);
    await call("PATCH", `/webhooks/${id}`, { is_active: false });
    expect((await replay(id)).status).toBe(409);
    expect((await call("POST", `/webhooks/${id}/test`)).status).toBe(409);
  });

  test("a webhook gets ten test events a minute, even when many are requested at once", async () => {
    const { call, create } = await newScene();
    const path = `/webhooks/${(await create()).body.data.id}/test`;
    const answers = await Promise.all(Array.from({ length: 12 }, () => call("POST", path)));
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 201).length, refused.length]).toEqual([10, 2]);
    expect(refused[0]?.body.error).toBe("A webhook is sent at most 10 test events a minute");
    clock.advance(60_001);
    expect((await call("POST", path)).status).toBe(201);
  });

  test("are listed newest first, in pages, filtered by status, and counted up to ten thousand", async () => {
    const { workspaceId, call, create } = await newScene();
    const { id } = (await create()).body.data;
    await db.run(sql`
      insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, status, created_at)
      select ${workspaceId}, ${id}, uuid_in(lpad(to_hex(n), 32, '0')::cstring), 'job.completed', '{}',
        case when n % 2 = 0 then 'delivered' else 'failed' end, ${clock.now()}
      from generate_series(1, 20100) n`);
    const list = async (query: string) => (await call("GET", `/webhooks/${id}/deliveries${query}`)).body.data;
    const { deliveries, pagination } = await list("?limit=3&page=2");
    expect(deliveries.map((one: { id: string }) => Number.parseInt(one.id.slice(-8), 16))).toEqual([
      20_097, 20_096, 20_095,
    ]);
    expect(pagination).toEqual({
      page: 2,
      limit: 3,
      total: 10_000,
      total_pages: 3_334,
      next_cursor: expect.any(String),
    });
    expect((await list("?limit=100&page=101")).deliveries).toEqual([]);
    const failed = await list("?status=failed&limit=2");
    expect(failed.deliveries.map(({ status }: { status: string }) => status)).toEqual(["failed", "failed"]);
    expect((await list("?status=pending")).pagination.total).toBe(0);
    expect((await call("GET", `/webhooks/${id}/deliveries?status=sent`)).status).toBe(400);
  });
});

test("deliveries are filtered by event and time, and a cursor keeps its filter", async () => {
  const { call, create, workspaceId } = await newScene();
  const { id } = (await create()).body.data;
  clock.set(new Date());
  const at = (seconds: number) => new Date(clock.now().getTime() + seconds * 1_000);
  for (const [type, seconds] of [
    ["message.bounced", 0],
    ["message.bounced", 10],
    ["message.delivered", 20],
  ] as const) {
    await db.run(sql`
      insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, created_at)
      values (${workspaceId}, ${id}, ${newId()}, ${type}, '{}', ${at(seconds)})`);
  }
  const list = (query: string) => call("GET", `/webhooks/${id}/deliveries?${query}`);
  const found = async (query: string) => {
    const { deliveries, pagination } = (await list(query)).body.data;
    expect(pagination.total).toBe(deliveries.length);
    return deliveries.map((one: { created_at: string }) => one.created_at);
  };
  const times = [20, 10, 0].map((seconds) => at(seconds).toISOString());
  expect(await found("event=message.bounced")).toEqual(times.slice(1));
  expect(await found(`from=${times[1]}`)).toEqual(times.slice(0, 2));
  expect(await found(`to=${times[1]}`)).toEqual(times.slice(2));
  expect(await found(`event=message.bounced&from=${times[1]}&to=${times[0]}`)).toEqual([times[1]]);
  const wrong = await list("event=message.lost");
  expect(wrong.body).toMatchObject({ code: "VALIDATION_ERROR", details: [{ field: "event" }] });
  const { next_cursor } = (await list("event=message.bounced&limit=1")).body.data.pagination;
  expect((await list(`event=message.bounced&after=${next_cursor}`)).body.data.deliveries).toHaveLength(1);
  expect((await list(`after=${next_cursor}`)).status).toBe(400);
});

test("the deliveries of a webhook that is off, or of another workspace, are not replayed", async () => {
  const { call, create } = await newScene();
  const { id } = (await create({ is_active: false })).body.data;
  const path = `/webhooks/${id}/deliveries`;
  expect((await call("POST", `${path}/replay`)).body.code).toBe("CONFLICT");
  const other = await newScene();
  expect((await other.call("POST", `${path}/replay`)).status).toBe(404);
  expect((await other.call("GET", `${path}/${newId()}`)).status).toBe(404);
  await call("PATCH", `/webhooks/${id}`, { is_active: true });
  const wrong = await call("POST", `${path}/replay`, { from: "soon" });
  expect(wrong.body).toMatchObject({ code: "VALIDATION_ERROR", details: [{ field: "from" }] });
});

test("another workspace's webhook is not found, and gets no events", async () => {
  const [ours, theirs] = [await newScene(), await newScene()];
  const { id } = (await theirs.create()).body.data;
  expect((await ours.call("GET", `/webhooks/${id}`)).status).toBe(404);
  expect((await ours.call("POST", `/webhooks/${id}/test`)).status).toBe(404);
  expect((await ours.call("GET", `/webhooks/${newId()}`)).status).toBe(404);
  expect((await ours.call("GET", "/webhooks")).body.data).toEqual([]);
});

test("with ALLOW_PRIVATE_WEBHOOKS a receiver may be on a private network and without TLS", async () => {
  const near = await startService({ env: { ALLOW_PRIVATE_WEBHOOKS: "true" } });
  const answer = await near.call("POST", "/webhooks", { url: "http://localhost:3000", events: ["*"] });
  expect([answer.status, answer.body.data.url]).toEqual([201, "http://localhost:3000/"]);
});
