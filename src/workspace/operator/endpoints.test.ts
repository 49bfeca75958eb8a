import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { apiCaller, statusesOf } from "#test/support/api-caller.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database, workspaceId } = service;
const operator = await service.newPerson(["*:*"], { isOperator: true });
const member = await service.newPerson(["*:*"]);

test("workspaces are listed with their figures, found by name, id and teammate, and paged", async () => {
  const others = await Promise.all([1, 2, 3].map(() => service.newWorkspace()));
  const [first] = others;
  await database.run(sql`update workspaces set name = 'Große Öl AG' where id = ${first?.workspaceId}`);
  await service.newPerson([], first && { workspaceId: first.workspaceId });
  const list = async (query: string) =>
    (await operator.call("GET", `/operator/workspaces${query}`)).body.data.workspaces;
  expect(await list("?search=große")).toMatchObject([
    {
      id: first?.workspaceId,
      name: "Große Öl AG",
      plan: "enterprise",
      balance: "0.00",
      emails_used: 0,
      teammate_count: 1,
    },
  ]);
  expect(await list(`?search=${workspaceId}`)).toHaveLength(1);
  expect(await list(`?search=${member.email}`)).toMatchObject([{ id: workspaceId, teammate_count: 2 }]);
  expect(await list("?search=%25")).toEqual([]);
  const seen: string[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const { body } = await operator.call("GET", `/operator/workspaces?limit=2&after=${after}`);
    seen.push(...body.data.workspaces.map(({ id }: { id: string }) => id));
    after = body.data.pagination.next_cursor;
  }
  expect([seen.length, new Set(seen).size]).toEqual([4, 4]);
});

test("the workspace of the mails about accounts is not listed, found or changed", async () => {
  const email = "invited@example.com";
  await service.call("POST", "/team/invitations", { email, role: "support" });
  const hidden = await database.row<{ id: string }>(sql`
    select workspace_id as id from messages where localpart || '@' || domain = ${email}`);
  expect(hidden?.id).not.toBe(workspaceId);
  const { body } = await operator.call("GET", `/operator/workspaces?search=${hidden?.id}`);
  expect(body.data).toMatchObject({ workspaces: [], pagination: { total: 0 } });
  expect((await operator.call("GET", `/operator/workspaces/${hidden?.id}`)).status).toBe(404);
  expect((await operator.call("POST", `/operator/workspaces/${hidden?.id}/suspend`)).status).toBe(404);
  const suspended = await database.rows(sql`select from workspaces where is_suspended`);
  expect(suspended).toEqual([]);
});

test("a suspended workspace cannot send at once, and can again when it is resumed", async () => {
  const { workspaceId: id, key } = await service.newWorkspace();
  const call = apiCaller(() => service.url, key);
  const list = () => call("POST", "/mailing-lists", { name: "List" });
  expect((await list()).status).toBe(201);
  expect((await operator.call("POST", `/operator/workspaces/${id}/suspend`)).body.data.is_suspended).toBe(
    true,
  );
  expect((await list()).body.code).toBe("SERVICE_SUSPENDED");
  const { body } = await operator.call("GET", "/operator/workspaces?status=suspended");
  expect(body.data.workspaces).toMatchObject([{ id }]);
  await operator.call("POST", `/operator/workspaces/${id}/resume`);
  expect((await call("POST", "/mailing-lists", { name: "Other" })).status).toBe(201);
});

test("an operator sets plan and hourly cap", async () => {
  const { workspaceId: id } = await service.newWorkspace();
  const changed = await operator.call("PATCH", `/operator/workspaces/${id}`, {
    plan: "growth",
    hourly_cap: 9,
  });
  expect(changed.body.data).toMatchObject({ plan: "growth", plan_set: "growth", hourly_cap: 9 });
  const again = await operator.call("PATCH", `/operator/workspaces/${id}`, { hourly_cap: null });
  expect(again.body.data).toMatchObject({ plan: "growth", hourly_cap: null });
});

test("a payment is credited once, however often and concurrently it is recorded", async () => {
  const { workspaceId: id } = await service.newWorkspace();
  const credit = (amount: string, reference = "Transfer 17") =>
    operator.call("POST", `/operator/workspaces/${id}/credits`, { amount, reference });
  const answers = await Promise.all(Array.from({ length: 4 }, () => credit("10.00")));
  expect(statusesOf(answers)).toEqual([201, 201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.data.transaction_id)).size).toBe(1);
  expect((await credit("10")).body.data).toMatchObject({ balance: "10.00", is_repeated: true });
  expect((await credit("11.00")).body.code).toBe("CONFLICT");
  expect((await credit("5.50", "Transfer 18")).body.data).toMatchObject({
    balance: "15.50",
    is_repeated: false,
  });
  for (const wrong of ["0", "-1", "1.005", "abc", "2000000"]) expect((await credit(wrong)).status).toBe(400);
  expect((await credit("1", " ")).status).toBe(400);
  const rows = await database.rows(sql`select from billing_transactions where workspace_id = ${id}`);
  expect(rows).toHaveLength(2);
});

test("a disabled user is out at once, and comes in again when enabled", async () => {
  const person = await service.newPerson(["*:*"]);
  expect((await person.call("GET", "/subscribers")).status).toBe(200);
  const path = `/operator/users/${person.userId}`;
  const disabled = await operator.call("PATCH", path, { is_disabled: true });
  expect(disabled.body.data).toMatchObject({ is_disabled: true, workspace_count: 1, last_seen_at: null });
  expect((await person.call("GET", "/subscribers")).status).toBe(401);
  expect((await operator.call("PATCH", path, { is_disabled: false })).body.data.is_disabled).toBe(false);
  expect((await person.call("GET", "/subscribers")).status).toBe(401);
});

test("users are found by a part of name or address", async () => {
  const list = async (query: string) =>
    (await operator.call("GET", `/operator/users${query}`)).body.data.users;
  expect(await list(`?search=${member.email.slice(0, 10).toUpperCase()}`)).toMatchObject([
    { id: member.userId, is_operator: false },
  ]);
  expect(await list("?role=operator")).toMatchObject([{ id: operator.userId }]);
});

test("the last operator stays, also when operators remove each other at once", async () => {
  const path = `/operator/users/${operator.userId}`;
  expect((await operator.call("PATCH", path, { is_operator: false })).body.code).toBe("CONFLICT");
  expect((await operator.call("PATCH", path, { is_disabled: true })).body.code).toBe("CONFLICT");
  const second = await service.newPerson(["*:*"]);
  const theirs = `/operator/users/${second.userId}`;
  expect((await operator.call("PATCH", theirs, { is_operator: true })).status).toBe(200);
  const answers = await Promise.all([
    operator.call("PATCH", theirs, { is_operator: false }),
    second.call("PATCH", path, { is_operator: false }),
  ]);
  expect(statusesOf(answers)[0]).toBe(200);
  expect(await database.rows(sql`select from users where is_operator`)).toHaveLength(1);
});

test("members who are no operators are refused", async () => {
  for (const [method, path] of [
    ["GET", "/operator/workspaces"],
    ["GET", `/operator/workspaces/${workspaceId}`],
    ["POST", `/operator/workspaces/${workspaceId}/suspend`],
    ["GET", "/operator/users"],
    ["PATCH", `/operator/users/${member.userId}`],
  ] as const) {
    expect((await member.call(method, path, method === "PATCH" ? {} : undefined)).body.code).toBe(
      "FORBIDDEN",
    );
  }
});
