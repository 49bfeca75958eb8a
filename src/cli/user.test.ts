import { Readable } from "node:stream";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { TestBrowser } from "#test/support/browser-of.ts";
import { startService } from "#test/support/service.ts";
import { runCli } from "./program.ts";

const service = await startService();
const { database, workspaceId } = service;
const password = "a long password of a test";

async function run(words: readonly string[], input = "", settings: Readonly<Record<string, string>> = {}) {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr") => ({
    write(text: string | Uint8Array) {
      written[name] += text.toString();
    },
  });
  const code = await runCli(words, {
    stdout: output("stdout"),
    stderr: output("stderr"),
    stdin: Readable.from([input]),
    environment: {
      DATABASE_URL: service.database.url,
      PUBLIC_URL: "https://mail.example.com",
      ...settings,
    },
    endpoints: () => service.api.endpoints,
    serve: async () => {},
  });
  return { code, ...written };
}

async function answer(words: readonly string[], input?: string) {
  const { code, stdout, stderr } = await run([...words, "--json"], input);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const signIn = (email: string, secret = password, browser = new TestBrowser(service.url)) =>
  browser.call("POST", "/sign-in", { email, password: secret });
const eventsOf = (operation: string) =>
  database.rows(sql`
    select workspace_id, actor_kind, actor_name, resource_kind, resource_id, resource_name, changes
    from audit_events where operation = ${operation} order by id`);
const resetWith = (link: string) =>
  service.call("POST", "/password-resets/complete", { token: link.split("#")[1], password }, { key: null });

test("a created owner chooses a password by the link, once, and signs in", async () => {
  const made = await answer(["user", "create", "--owner", "--operator", "Ada@Example.com"]);
  expect(made).toMatchObject({ email: "ada@example.com", is_operator: true, workspace_count: 1 });
  expect(made.password_link).toMatch(/^https:\/\/mail\.example\.com\/console\/reset#[\w-]{43}$/);
  expect((await resetWith(made.password_link)).status).toBe(200);
  expect((await resetWith(made.password_link)).status).toBe(404);
  const { body } = await signIn("ada@example.com");
  expect(body.data.session.workspaces).toMatchObject([{ id: workspaceId, role: { key: "owner" } }]);
  expect(await eventsOf("user create")).toMatchObject([
    {
      workspace_id: workspaceId,
      actor_kind: "system",
      resource_kind: "user",
      resource_id: made.id,
      resource_name: "ada@example.com",
    },
  ]);
});

test("a password from standard input works at once and is in no log", async () => {
  const made = await answer(["user", "create", "--password-stdin", "stdin@example.com"], `${password}\n`);
  expect(made.password_link).toBeUndefined();
  expect((await signIn("stdin@example.com")).status).toBe(200);
  expect(JSON.stringify(await eventsOf("user create"))).not.toContain(password);
  const weak = await run(["user", "create", "--password-stdin", "weak@example.com"], "short\n");
  expect([weak.code, weak.stderr]).toEqual([1, expect.stringContaining("password")]);
});

test("with PASSWORD_LOGIN=off no link is printed, but how the person signs in", async () => {
  const off = { PASSWORD_LOGIN: "off" };
  const made = await run(["user", "create", "nolink@example.com"], "", off);
  expect(made.stdout).toMatch(/Without OIDC_ISSUER only people who have a passkey can sign in/);
  const provider = {
    OIDC_ISSUER: "https://login.example.com",
    OIDC_CLIENT_ID: "posthaste",
    OIDC_CLIENT_SECRET: "a secret of a test",
    OIDC_NAME: "Acme ID",
  };
  const reset = await run(["user", "reset-password", "nolink@example.com"], "", { ...off, ...provider });
  expect(reset.stdout).toMatch(/They sign in with Acme ID, whose account must have this address/);
  expect(made.stdout + reset.stdout).not.toContain("/console/reset");
});

test("a second person with the address, and wrong options, change nothing", async () => {
  await answer(["user", "create", "twice@example.com"]);
  expect((await run(["user", "create", "twice@example.com"])).code).toBe(1);
  expect((await run(["user", "create", "no-address"])).code).toBe(2);
  expect((await run(["user", "create", "--role", "boss", "a@example.com"])).code).toBe(2);
  expect((await run(["user", "create", "--workspace", workspaceId, "a@example.com"])).code).toBe(2);
  const unknown = "01900000-0000-7000-8000-000000000000";
  expect(
    (await run(["user", "create", "--owner", "--workspace", unknown, "a@example.com"])).stderr,
  ).toContain("Workspace");
  const found = (await answer(["user", "list"])).map(({ email }: { email: string }) => email);
  expect(found).toContain("twice@example.com");
  expect(found).not.toContain("a@example.com");
});

test("a reset password ends the sessions; by link it stays until the link is used", async () => {
  await answer(["user", "create", "--password-stdin", "reset@example.com"], password);
  const browser = new TestBrowser(service.url);
  await signIn("reset@example.com", password, browser);
  const { password_link } = await answer(["user", "reset-password", "reset@example.com"]);
  expect((await browser.call("GET", "/session")).status).toBe(200);
  await answer(["user", "reset-password", "--password-stdin", "reset@example.com"], "another long password");
  service.clock.advance(2_001);
  expect((await browser.call("GET", "/session")).status).toBe(401);
  expect((await resetWith(password_link)).status).toBe(404);
  expect((await signIn("reset@example.com")).status).toBe(401);
  expect((await signIn("reset@example.com", "another long password")).status).toBe(200);
});

test("a disabled person is signed out until enabled; the last operator stays", async () => {
  await answer(["user", "create", "--password-stdin", "off@example.com"], password);
  const browser = new TestBrowser(service.url);
  await signIn("off@example.com", password, browser);
  expect(await answer(["user", "disable", "off@example.com"])).toMatchObject({ is_disabled: true });
  service.clock.advance(2_001);
  expect((await browser.call("GET", "/session")).status).toBe(401);
  expect((await signIn("off@example.com")).status).toBe(401);
  expect(await answer(["user", "enable", "off@example.com"])).toMatchObject({ is_disabled: false });
  expect((await signIn("off@example.com")).status).toBe(200);
  expect(await eventsOf("user disable")).toMatchObject([
    { actor_kind: "system", resource_name: "off@example.com" },
  ]);
  expect((await run(["user", "disable", "ada@example.com"])).stderr).toContain("last operator");
  expect((await run(["user", "disable", "nobody@example.com"])).stderr).toContain("User");
});

test("each command that changes a workspace is one event of that workspace", async () => {
  const made = await answer(["workspace", "create", "--name", "Acme"]);
  const of = ["--workspace", made.id];
  await answer(["workspace", "set", ...of, "--hourly-cap", "100"]);
  await answer(["workspace", "suspend", ...of]);
  await answer(["credit", ...of, "--amount", "10.00"]);
  await answer(["key", "create", ...of, "--name", "Second", "--permissions", "reports:read"]);
  await answer(["workspace", "list"]);
  const events = await database.rows(sql`
    select actor_kind, operation, changes from audit_events where workspace_id = ${made.id} order by id`);
  expect(events).toMatchObject([
    { operation: "workspace create", changes: [{ field: "name", after: "Acme" }] },
    { operation: "workspace set", changes: [{ field: "hourly_cap", after: 100 }] },
    { operation: "workspace suspend", changes: [] },
    { operation: "credit", changes: [{ field: "amount", after: "10.00" }] },
    { operation: "key create" },
  ]);
  expect(JSON.stringify(events)).not.toContain(made.key);
});

test("a disconnected person has no account at the provider and no session any more", async () => {
  const { id } = await answer(["user", "create", "--password-stdin", "left@example.com"], `${password}\n`);
  const browser = new TestBrowser(service.url);
  await signIn("left@example.com", password, browser);
  await database.run(sql`
    insert into external_accounts (issuer, subject, user_id) values ('https://login.example.com', '1', ${id})`);
  expect(await answer(["user", "disconnect", "left@example.com"])).toMatchObject({
    id,
    email: "left@example.com",
  });
  expect(await database.rows(sql`select from external_accounts where user_id = ${id}`)).toEqual([]);
  expect(await database.rows(sql`select from sessions where user_id = ${id}`)).toEqual([]);
  expect(await eventsOf("user disconnect")).toMatchObject([
    { resource_id: id, resource_name: "left@example.com" },
  ]);
  const unknown = await run(["user", "disconnect", "unknown@example.com"]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("User not found")]);
});
