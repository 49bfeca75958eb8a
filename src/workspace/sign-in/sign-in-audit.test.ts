/** What the audit log says of sign-ins and of changes by links, over HTTP. */
import { TOTP } from "otpauth";
import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { MINUTE_MS } from "#platform/time-units.ts";
import type { ApiAnswer } from "#test/support/api-caller.ts";
import { TestBrowser } from "#test/support/browser-of.ts";
import { eventually } from "#test/support/eventually.ts";
import { startService } from "#test/support/service.ts";
import { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { createUser } from "#workspace/people/create-user.ts";

const password = "a long password of a test";
const passwordHash = await new PasswordHasher().hash(password);

let service: Awaited<ReturnType<typeof startService>>;
let email: string;
let userId: string;

// A process writes a refusal of a network once in ten minutes, so each test has a process of its own.
beforeEach(async () => {
  service = await startService();
  email = "ada@example.com";
  const user = { email, name: "Ada", passwordHash };
  userId = (await createUser(service.database, user, service.clock.now())).id;
});

const newBrowser = () => new TestBrowser(service.url);
const signIn = (browser: TestBrowser, given = password) =>
  browser.call("POST", "/sign-in", { email, password: given });

const eventsOf = ({ headers }: ApiAnswer) =>
  service.database.rows<Record<string, unknown>>(sql`
    select operation, result, code, actor_kind, actor_id, actor_name, resource_id, resource_name, changes from audit_events
    where request_id = ${headers.get("x-request-id")}`);
/** Refusals are written after the answer. */
const refusalOf = (answer: ApiAnswer) =>
  eventually("the refusal in the log", async () => {
    const events = await eventsOf(answer);
    return events.length > 0 && events;
  });

const byAda = () => ({
  result: "done",
  code: null,
  actor_kind: "person",
  actor_id: userId,
  actor_name: "Ada",
});

test("a good sign-in is done by its person, a failed one is refused with its reason", async () => {
  const failed = await signIn(newBrowser(), "wrong");
  expect(await refusalOf(failed)).toMatchObject([
    {
      operation: "signIn",
      result: "refused",
      code: "UNAUTHORIZED",
      actor_kind: "visitor",
      actor_id: null,
      actor_name: "",
      resource_id: null,
      resource_name: email,
    },
  ]);
  expect(await eventsOf(await signIn(newBrowser()))).toMatchObject([
    { operation: "signIn", ...byAda(), resource_id: userId, resource_name: email },
  ]);
});

test("no failed sign-in is done, also not the tenth, which sends a mail", async () => {
  for (let tries = 0; tries < 10; tries++) await signIn(newBrowser(), "wrong");
  const mails = await service.database.rows(sql`select from messages where localpart = 'ada'`);
  expect(mails).toHaveLength(1);
  const done = await service.database.rows(sql`
    select from audit_events where operation = 'signIn' and result = 'done'`);
  expect(done).toEqual([]);
});

test("a wrong second factor is refused and names the account, a right one is done by its person", async () => {
  const browser = newBrowser();
  await signIn(browser);
  const { secret } = (await browser.call("POST", "/me/authenticator-apps/setup", { name: "Phone" })).body
    .data;
  const code = () => new TOTP({ secret }).generate({ timestamp: service.clock.now().getTime() });
  await browser.call("POST", "/me/authenticator-apps", { code: code() });
  service.clock.advance(MINUTE_MS);
  const begun = await signIn(newBrowser());
  expect(await eventsOf(begun)).toMatchObject([
    { result: "done", actor_kind: "visitor", resource_id: userId, resource_name: email },
  ]);
  const { challenge } = begun.body.data.second_factor;
  const answer = (given: string) =>
    newBrowser().call("POST", "/sign-in/second-factor", { challenge, code: given });
  expect(await refusalOf(await answer("000000"))).toMatchObject([
    { result: "refused", code: "UNAUTHORIZED", actor_kind: "visitor", resource_id: userId },
  ]);
  expect(await eventsOf(await answer(code()))).toMatchObject([{ ...byAda(), resource_id: userId }]);
});

test("a right second factor of a disabled account is refused, and not done", async () => {
  const browser = newBrowser();
  await signIn(browser);
  const { secret } = (await browser.call("POST", "/me/authenticator-apps/setup", { name: "Phone" })).body
    .data;
  const code = () => new TOTP({ secret }).generate({ timestamp: service.clock.now().getTime() });
  await browser.call("POST", "/me/authenticator-apps", { code: code() });
  service.clock.advance(MINUTE_MS);
  const { challenge } = (await signIn(newBrowser())).body.data.second_factor;
  await service.database.run(sql`update users set disabled_at = now() where id = ${userId}`);
  const refused = await newBrowser().call("POST", "/sign-in/second-factor", { challenge, code: code() });
  expect(refused.status).toBe(401);
  expect(await refusalOf(refused)).toMatchObject([{ result: "refused" }]);
});

test("a sign-out, a reset password and a confirmed address are done by their person", async () => {
  const browser = newBrowser();
  const { session } = (await signIn(browser)).body.data;
  const links = async (address: string) => {
    const [localpart, domain] = address.split("@");
    const mail = await service.database.row<{ text: string }>(sql`
      select c.text from messages m
      join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
      where localpart = ${localpart} and domain = ${domain} order by m.id desc limit 1`);
    return /#([\w-]{43})/.exec(mail?.text ?? "")?.[1] ?? "";
  };
  await browser.call("POST", "/me/email", { email: "new.ada@example.com" });
  const token = await links("new.ada@example.com");
  const confirmed = await newBrowser().call("POST", "/email-changes/confirm", { token });
  expect(await eventsOf(confirmed)).toMatchObject([
    {
      operation: "confirmEmailChange",
      ...byAda(),
      resource_id: userId,
      resource_name: email,
      changes: [{ field: "email", before: email, after: "new.ada@example.com", is_hidden: false }],
    },
  ]);
  const out = await browser.call("DELETE", "/session");
  expect(await eventsOf(out)).toMatchObject([{ operation: "signOut", ...byAda(), resource_id: session.id }]);
  await newBrowser().call("POST", "/password-resets", { email: "new.ada@example.com" });
  const reset = await newBrowser().call("POST", "/password-resets/complete", {
    token: await links("new.ada@example.com"),
    password: "another long password",
  });
  expect(await eventsOf(reset)).toMatchObject([
    { operation: "resetPassword", ...byAda(), resource_id: userId, resource_name: "new.ada@example.com" },
  ]);
});
