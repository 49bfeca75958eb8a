import { hash } from "node:crypto";
import sql, { raw } from "sql-template-tag";
import { expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { clock, database } = service;

const secretForm = /^efk_[0-9A-Za-z]{40}$/;
const inDays = (days: number) => new Date(clock.now().getTime() + days * 86_400_000).toISOString();

/** A new key as POST answers it. */
async function create(body: Record<string, unknown> = {}) {
  const given = { name: "CI", permissions: ["api_keys:read"], ...body };
  const answer = await service.call("POST", "/api-keys", given);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.data;
}

const ids = async (query = "") => {
  const { body } = await service.call("GET", `/api-keys${query}`);
  return body.data.map((key: { id: string }) => key.id);
};

/** Does the API take this secret? */
const works = async (key: string) =>
  (await service.call("GET", "/api-keys", undefined, { key })).status === 200;

test("a created key is shown with its secret once, works, and is read back without it", async () => {
  const expires_at = inDays(30);
  const permissions = ["api_keys:read", "api_keys:write", "api_keys:read"];
  const answer = await service.call("POST", "/api-keys", { name: "  Deploy  ", permissions, expires_at });
  expect(answer.status).toBe(201);
  const { key, ...rest } = answer.body.data;
  expect(key).toMatch(secretForm);
  expect(rest).toEqual({
    id: expect.any(String),
    name: "Deploy",
    permissions: ["api_keys:read", "api_keys:write"],
    key_prefix: key.slice(0, 8),
    is_active: true,
    last_used_at: null,
    expires_at,
    created_at: clock.now().toISOString(),
  });
  expect((await service.call("GET", `/api-keys/${rest.id}`)).body.data).toEqual(rest);
  expect((await service.call("GET", `/api-keys/${rest.id.toUpperCase()}`)).body.data).toEqual(rest);
  expect((await service.call("GET", "/api-keys")).body.data).toContainEqual(rest);
  expect(await works(key)).toBe(true);
});

test("a workspace has a thousand keys at most, for they are listed all at once", async () => {
  const { workspaceId: theirs, key } = await service.newWorkspace();
  await database.run(sql`
    insert into api_keys (workspace_id, id, name, permissions, key_hash, key_prefix)
    select ${theirs}, gen_random_uuid(), 'x', '{api_keys:read}', decode(md5(n::text), 'hex'), 'efk_xxxx'
    from generate_series(1, 998) n`);
  const given = { name: "One more", permissions: ["api_keys:read"] };
  const answers = await Promise.all([1, 2, 3].map(() => service.call("POST", "/api-keys", given, { key })));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400]);
  const refused = answers.find(({ status }) => status === 400);
  expect(refused?.body).toMatchObject({ code: "BAD_REQUEST", error: expect.stringContaining("1000") });
});

test("the list is newest first and hides inactive keys unless asked", async () => {
  const older = await create();
  clock.advance(1);
  const newer = await create();
  await service.call("DELETE", `/api-keys/${older.id}`);
  expect((await ids())[0]).toBe(newer.id);
  expect(await ids()).not.toContain(older.id);
  expect(await ids("?show_inactive=false")).not.toContain(older.id);
  expect(await ids("?show_inactive=")).not.toContain(older.id);
  expect((await ids("?show_inactive=true")).slice(0, 2)).toEqual([newer.id, older.id]);
  expect((await service.call("GET", "/api-keys?show_inactive=maybe")).status).toBe(400);
});

test.each([
  [{ name: undefined }, "name"],
  [{ name: "" }, "name"],
  [{ name: " \t " }, "name"],
  [{ name: "x".repeat(201) }, "name"],
  [{ name: 7 }, "name"],
  [{ name: "a\0b" }, "name"],
  [{ permissions: undefined }, "permissions"],
  [{ permissions: [] }, "permissions"],
  [{ permissions: "*:*" }, "permissions"],
  [{ permissions: ["*:write"] }, "permissions"],
  [{ permissions: ["api_keys:read", "nonsense:read"] }, "permissions"],
  [{ permissions: [null] }, "permissions[0]"],
  [{ expires_at: "soon" }, "expires_at"],
  [{ expires_at: 1_893_456_000 }, "expires_at"],
  [{ expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
])("%j is refused, naming %s, and nothing is stored", async (fault, field) => {
  const before = await ids("?show_inactive=true");
  const body = { name: "CI", permissions: ["api_keys:read"], ...fault };
  const answer = await service.call("POST", "/api-keys", body);
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({ success: false, code: "VALIDATION_ERROR" });
  expect(answer.body.details.map((detail: { field: string }) => detail.field)).toContain(field);
  expect(await ids("?show_inactive=true")).toEqual(before);
});

test("an unknown permission is named in the refusal", async () => {
  const body = { name: "CI", permissions: ["api_keys:read", "nonsense:read"] };
  expect((await service.call("POST", "/api-keys", body)).body.error).toContain("nonsense:read");
});

test("fields that are not the caller's to set are ignored", async () => {
  const { workspaceId } = await service.newWorkspace();
  const forged = {
    id: newId(),
    workspace_id: workspaceId,
    is_active: false,
    key: "efk_mine",
    created_at: null,
  };
  const made = await create(forged);
  expect(made).toMatchObject({ is_active: true, created_at: clock.now().toISOString() });
  expect(made.id).not.toBe(forged.id);
  const changed = await service.call("PUT", `/api-keys/${made.id}`, { ...forged, last_used_at: inDays(1) });
  const { key: _secret, ...unchanged } = made;
  expect(changed.body.data).toEqual(unchanged);
});

test("an update changes what it names and leaves the rest; null clears the expiry", async () => {
  const { key: _secret, ...made } = await create({ expires_at: inDays(1) });
  const put = async (body: unknown) => (await service.call("PUT", `/api-keys/${made.id}`, body)).body.data;
  expect(await put({})).toEqual(made);
  expect(await put({ name: "Renamed" })).toEqual({ ...made, name: "Renamed" });
  expect(await put({ permissions: ["*:read"] })).toMatchObject({ name: "Renamed", permissions: ["*:read"] });
  expect(await put({ expires_at: inDays(9) })).toMatchObject({ expires_at: inDays(9) });
  expect(await put({ expires_at: null })).toEqual({
    ...made,
    name: "Renamed",
    permissions: ["*:read"],
    expires_at: null,
  });
  for (const refused of [{ name: " " }, { name: null }, { permissions: [] }, { expires_at: inDays(-1) }]) {
    expect((await service.call("PUT", `/api-keys/${made.id}`, refused)).status, JSON.stringify(refused)).toBe(
      400,
    );
  }
});

test("a key's narrowed permissions hold for its next call", async () => {
  const { key, id } = await create();
  expect(await works(key)).toBe(true);
  await service.call("PUT", `/api-keys/${id}`, { permissions: ["api_keys:write"] });
  const refused = await service.call("GET", "/api-keys", undefined, { key });
  expect(refused.status).toBe(403);
  expect(refused.body).toMatchObject({ code: "INSUFFICIENT_SCOPE", required_scopes: ["api_keys:read"] });
});

/** A use is recorded after its answer. */
const timeOrNull = expect.toSatisfy((value) => value === null || Number.isFinite(Date.parse(value)));

test("a deactivated key stops at once, can be seen, and works again when reactivated", async () => {
  const { key, last_used_at: _unused, ...made } = await create();
  expect(await works(key)).toBe(true);
  for (const _ of ["first", "again"]) {
    const answer = await service.call("DELETE", `/api-keys/${made.id}`);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ ...made, is_active: false, last_used_at: timeOrNull });
    expect((await service.call("GET", "/api-keys", undefined, { key })).status).toBe(401);
  }
  expect((await service.call("GET", `/api-keys/${made.id}`)).body.data.is_active).toBe(false);
  for (const _ of ["first", "again"]) {
    const answer = await service.call("POST", `/api-keys/${made.id}/reactivate`);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ ...made, last_used_at: timeOrNull });
    expect(await works(key)).toBe(true);
  }
});

test("a regenerated key has a new secret at once and is the same key otherwise", async () => {
  const { key, ...made } = await create();
  expect(await works(key)).toBe(true);
  const answer = await service.call("POST", `/api-keys/${made.id}/regenerate`);
  expect(answer.status).toBe(200);
  const { key: fresh, ...same } = answer.body.data;
  expect(fresh).toMatch(secretForm);
  expect(same).toEqual({ ...made, key_prefix: fresh.slice(0, 8), last_used_at: timeOrNull });
  expect([await works(key), await works(fresh)]).toEqual([false, true]);
});

test("an inactive key is not regenerated", async () => {
  const { id } = await create();
  await service.call("DELETE", `/api-keys/${id}`);
  const answer = await service.call("POST", `/api-keys/${id}/regenerate`);
  expect([answer.status, answer.body.code]).toEqual([409, "CONFLICT"]);
});

test("a permanently deleted key is gone, active or not", async () => {
  const { key, id } = await create();
  expect(await works(key)).toBe(true);
  const answer = await service.call("DELETE", `/api-keys/${id}/permanent`);
  expect(answer.body.data).toEqual({ id, deleted: true });
  expect(await works(key)).toBe(false);
  expect((await service.call("DELETE", `/api-keys/${id}/permanent`)).status).toBe(404);

  const inactive = await create();
  await service.call("DELETE", `/api-keys/${inactive.id}`);
  expect((await service.call("DELETE", `/api-keys/${inactive.id}/permanent`)).status).toBe(200);
  expect((await service.call("GET", `/api-keys/${inactive.id}`)).status).toBe(404);
});

test("a key ends at its expires_at and lives on when that is moved", async () => {
  const { key, id } = await create({ expires_at: inDays(1) });
  clock.advance(86_400_000 - 1);
  expect(await works(key)).toBe(true);
  clock.advance(1);
  const expired = await service.call("GET", "/api-keys", undefined, { key });
  expect([expired.status, expired.body.code, expired.body.error]).toEqual([
    401,
    "UNAUTHORIZED",
    "API key expired",
  ]);
  await service.call("PUT", `/api-keys/${id}`, { expires_at: inDays(1) });
  expect(await works(key)).toBe(true);
});

test("a key may deactivate itself; what it began after that is refused", async () => {
  const { key, id } = await create({ permissions: ["api_keys:*"] });
  expect((await service.call("DELETE", `/api-keys/${id}`, undefined, { key })).status).toBe(200);
  expect((await service.call("POST", `/api-keys/${id}/reactivate`, undefined, { key })).status).toBe(401);
});

test("another workspace's key is not found by any endpoint, like one that does not exist", async () => {
  const { id } = await create();
  const { key } = await service.newWorkspace();
  for (const target of [id, newId(), "not-a-uuid"]) {
    for (const [method, path, body] of [
      ["GET", `/api-keys/${target}`],
      ["PUT", `/api-keys/${target}`, { name: "Stolen" }],
      ["DELETE", `/api-keys/${target}`],
      ["POST", `/api-keys/${target}/regenerate`],
      ["POST", `/api-keys/${target}/reactivate`],
      ["DELETE", `/api-keys/${target}/permanent`],
    ] as const) {
      const answer = await service.call(method, path, body, { key });
      expect([answer.status, answer.body.code], `${method} ${path}`).toEqual([404, "NOT_FOUND"]);
    }
  }
  expect((await service.call("GET", `/api-keys/${id}`)).body.data).toMatchObject({
    name: "CI",
    is_active: true,
  });
});

test("the secret is nowhere in the database; its SHA-256 is", async () => {
  const { key, id } = await create();
  const { body } = await service.call("POST", `/api-keys/${id}/regenerate`);
  const tables = await database.rows<{ name: string }>(
    sql`select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  );
  for (const { name } of tables) {
    const found = await database.row<{ rows: number }>(sql`
      select count(*) as rows from ${raw(name)} as t
      where position(${key} in t::text) > 0 or position(${body.data.key} in t::text) > 0`);
    expect(found, name).toEqual({ rows: 0 });
  }
  expect(await database.row(sql`select key_hash from api_keys where id = ${id}`)).toEqual({
    key_hash: hash("sha256", body.data.key, "buffer"),
  });
});

test("any valid key may read the catalogue, and it wins over the path of one key", async () => {
  const key = await service.newKey(["api_keys:write"]);
  const answer = await service.call("GET", "/api-keys/permissions", undefined, { key });
  expect(answer.status).toBe(200);
  expect(answer.body.data.resources).toContainEqual({
    resource: "api_keys",
    label: "API keys",
    group: "Account",
    wildcard: "api_keys:*",
    covers: [
      "/api-keys",
      "/api-keys/requests",
      "/api-keys/{id}",
      "/api-keys/{id}/permanent",
      "/api-keys/{id}/reactivate",
      "/api-keys/{id}/regenerate",
    ],
    actions: [
      { action: "read", label: "Read", value: "api_keys:read" },
      { action: "write", label: "Write", value: "api_keys:write" },
    ],
  });
  expect((await service.call("GET", "/api-keys/permissions", undefined, { key: null })).status).toBe(401);
  expect((await service.call("PUT", "/api-keys/permissions", {})).status).toBe(405);
});

test("a suspended workspace reads its keys and changes none", async () => {
  const { key, workspaceId } = await service.newWorkspace();
  await database.run(sql`update workspaces set is_suspended = true where id = ${workspaceId}`);
  expect((await service.call("GET", "/api-keys", undefined, { key })).status).toBe(200);
  const refused = await service.call("POST", "/api-keys", { name: "New", permissions: ["*:*"] }, { key });
  expect([refused.status, refused.body.code]).toEqual([403, "SERVICE_SUSPENDED"]);
});
