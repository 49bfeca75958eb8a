import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database, workspaceId, call } = service;
const operator = await service.newPerson(["*:*"], { isOperator: true });

const settings = {
  name: "Acme",
  timezone: "Europe/Paris",
  default_sender: "hello@acme.example",
  notify_email: "ops@acme.example",
  retry_hours: 24,
  tracks_transactional: true,
  hourly_cap: 500,
};

test("a workspace changes its settings, and what a request omits stays", async () => {
  const before = (await call("GET", "/workspace")).body.data;
  expect(before).toMatchObject({ id: workspaceId, name: "Test", hourly_cap: null, plan: "enterprise" });
  const changed = await call("PATCH", "/workspace", settings);
  expect([changed.status, changed.body.data]).toMatchObject([200, settings]);
  expect((await call("PATCH", "/workspace", { default_sender: null })).body.data).toMatchObject({
    ...settings,
    default_sender: null,
  });
  expect((await call("GET", "/workspace")).body.data).toMatchObject({ ...settings, default_sender: null });
});

test("invalid settings are refused with their field, and change nothing", async () => {
  const before = (await call("GET", "/workspace")).body.data;
  for (const [field, value] of [
    ["name", " "],
    ["timezone", "Mars/Olympus"],
    ["default_sender", "none"],
    ["notify_email", "no address"],
    ["retry_hours", 0],
    ["retry_hours", 169],
    ["hourly_cap", 0],
    ["hourly_cap", 2 ** 31],
  ] as const) {
    const answer = await call("PATCH", "/workspace", { name: "Other", [field]: value });
    expect([answer.status, answer.body.details?.[0].field]).toEqual([400, field]);
  }
  expect((await call("GET", "/workspace")).body.data).toEqual(before);
});

test("a workspace cannot change its plan, its suspension or the operator's cap", async () => {
  await call("PATCH", "/workspace", { plan: "free", is_suspended: true, operator_hourly_cap: 1 });
  expect((await call("GET", "/workspace")).body.data).toMatchObject({
    plan: "enterprise",
    is_suspended: false,
    operator_hourly_cap: null,
  });
});

test("the lower of the operator's cap and the workspace's own applies", async () => {
  const inForce = async () => (await call("GET", "/validations/usage")).body.data.hour_limit;
  await call("PATCH", "/workspace", { hourly_cap: 50 });
  const path = `/operator/workspaces/${workspaceId}`;
  await operator.call("PATCH", path, { hourly_cap: 20 });
  expect([(await call("GET", "/workspace")).body.data, await inForce()]).toMatchObject([
    { hourly_cap: 50, operator_hourly_cap: 20 },
    20,
  ]);
  await operator.call("PATCH", path, { hourly_cap: null });
  expect(await inForce()).toBe(50);
  await call("PATCH", "/workspace", { hourly_cap: null });
  expect(await inForce()).toBeNull();
});

test("a person without a second factor cannot require one, which would lock them out", async () => {
  const member = await service.newPerson(["workspace:*"]);
  const answer = await member.call("PATCH", "/workspace", { requires_second_factor: true });
  expect([answer.status, answer.body.code]).toEqual([409, "CONFLICT"]);
  expect((await call("PATCH", "/workspace", { requires_second_factor: true })).status).toBe(200);
  expect((await member.call("GET", "/workspace")).body.code).toBe("SECOND_FACTOR_REQUIRED");
  await call("PATCH", "/workspace", { requires_second_factor: false });
  expect((await member.call("GET", "/workspace")).status).toBe(200);
});

test("an operator creates a workspace and owns it; others cannot", async () => {
  const made = await operator.call("POST", "/workspaces", { name: "Second", timezone: "Asia/Kolkata" });
  expect([made.status, made.body.data]).toMatchObject([201, { name: "Second", plan: "free" }]);
  const listed = (await operator.call("GET", "/workspaces")).body.data;
  expect(listed).toContainEqual(
    expect.objectContaining({ id: made.body.data.id, role: "owner", role_name: "Owner" }),
  );
  const keys = await operator.call("GET", "/api-keys", undefined, {
    headers: { "X-Workspace": made.body.data.id },
  });
  expect(keys.body.data).toEqual([]);
  const member = await service.newPerson(["*:*"]);
  expect((await member.call("POST", "/workspaces", { name: "Mine" })).body.code).toBe("FORBIDDEN");
  expect((await member.call("GET", "/workspaces")).body.data).toMatchObject([{ id: workspaceId }]);
});

test("people see only their own workspaces", async () => {
  const other = await service.newWorkspace();
  const theirs = await service.newPerson(["*:*"], { workspaceId: other.workspaceId });
  const listed = (await theirs.call("GET", "/workspaces")).body.data;
  expect(listed.map(({ id }: { id: string }) => id)).toEqual([other.workspaceId]);
  await database.run(sql`delete from workspace_members where user_id = ${theirs.userId}`);
  expect((await theirs.call("GET", "/workspaces")).body.data).toEqual([]);
});
