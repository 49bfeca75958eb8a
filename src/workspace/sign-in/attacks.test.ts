/** Attacks on sign-in that use a secret twice, at the same moment, or flood a person with mail. Others are in sign-in.test.ts. */
import { setTimeout } from "node:timers/promises";
import { TOTP } from "otpauth";
import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { MINUTE_MS } from "#platform/time-units.ts";
import { statusesOf } from "#test/support/api-caller.ts";
import { TestBrowser } from "#test/support/browser-of.ts";
import { startService } from "#test/support/service.ts";
import { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { createUser } from "#workspace/people/create-user.ts";
import { issueWelcomePath } from "#workspace/people/issue-link.ts";

const service = await startService();
const { database, clock } = service;
const password = "a long password of a test";
const passwordHash = await new PasswordHasher().hash(password);

let count = 0;
let email: string;

beforeEach(async () => {
  email = `attacked${++count}@example.com`;
  await database.run(sql`delete from attempt_buckets`);
  await createUser(database, { email, name: "Ada", passwordHash }, clock.now());
});

const newBrowser = (headers?: Record<string, string>) => new TestBrowser(service.url, headers);
const signIn = (browser = newBrowser(), given = password) =>
  browser.call("POST", "/sign-in", { email, password: given });
const atOnce = <Result>(times: number, act: (at: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: times }, (_, at) => act(at)));
const mailsTo = (address: string) =>
  database.rows<{ subject: string; text: string }>(sql`
    select subject, text from messages m
    join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
    where localpart || '@' || domain = ${address} order by m.id`);
const newestToken = async (address: string) =>
  /#([\w-]{43})/.exec((await mailsTo(address)).at(-1)?.text ?? "")?.[1] ?? "";
/** Hashes that the running service has computed. It keeps an answer of /metrics for a second. */
async function hashCount(): Promise<number> {
  await setTimeout(1_100);
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^posthaste_password_hashes_total\{[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Adds an authenticator app. */
async function addApp() {
  const browser = newBrowser();
  await signIn(browser);
  const { secret } = (await browser.call("POST", "/me/authenticator-apps/setup", { name: "Phone" })).body
    .data;
  const code = () => new TOTP({ secret }).generate({ timestamp: clock.now().getTime() });
  const added = await browser.call("POST", "/me/authenticator-apps", { code: code() });
  clock.advance(MINUTE_MS);
  return { code, recoveryCodes: added.body.data.recovery_codes as string[] };
}

const challengeOf = async () => (await signIn()).body.data.second_factor.challenge as string;

test("one code of an authenticator app opens one session, also for sign-ins at the same moment", async () => {
  const { code } = await addApp();
  const challenges = [await challengeOf(), await challengeOf(), await challengeOf()];
  const given = code();
  const answers = await atOnce(3, (at) =>
    newBrowser().call("POST", "/sign-in/second-factor", { challenge: challenges[at], code: given }),
  );
  expect(statusesOf(answers)).toEqual([200, 401, 401]);
});

test("one recovery code opens one session, also for sign-ins at the same moment", async () => {
  const [recovery_code] = (await addApp()).recoveryCodes;
  const challenges = [await challengeOf(), await challengeOf(), await challengeOf()];
  const answers = await atOnce(3, (at) =>
    newBrowser().call("POST", "/sign-in/second-factor", { challenge: challenges[at], recovery_code }),
  );
  expect(statusesOf(answers)).toEqual([200, 401, 401]);
});

test("one challenge opens one session, also for right proofs at the same moment", async () => {
  const { code, recoveryCodes } = await addApp();
  const challenge = await challengeOf();
  const proofs = [{ code: code() }, { recovery_code: recoveryCodes[0] }, { recovery_code: recoveryCodes[1] }];
  const answers = await atOnce(3, (at) =>
    newBrowser().call("POST", "/sign-in/second-factor", { challenge, ...proofs[at] }),
  );
  expect(statusesOf(answers)).toEqual([200, 401, 401]);
});

test("a link to reset a password works once, also for requests at the same moment", async () => {
  await newBrowser().call("POST", "/password-resets", { email });
  const token = await newestToken(email);
  const passwords = ["a first new password", "a second new password", "a third new password"];
  const answers = await atOnce(3, (at) =>
    newBrowser().call("POST", "/password-resets/complete", { token, password: passwords[at] }),
  );
  expect(statusesOf(answers)).toEqual([200, 404, 404]);
  const working = await Promise.all(passwords.map((one) => signIn(newBrowser(), one)));
  expect(working.map(({ status }) => status)).toEqual(
    answers.map(({ status }) => (status === 200 ? 200 : 401)),
  );
});

test("a link to a new address works once, also for requests at the same moment", async () => {
  const browser = newBrowser();
  await signIn(browser);
  await browser.call("POST", "/me/email", { email: `new.${email}` });
  const token = await newestToken(`new.${email}`);
  const answers = await atOnce(3, () => newBrowser().call("POST", "/email-changes/confirm", { token }));
  expect(statusesOf(answers)).toEqual([200, 404, 404]);
});

test("the link of the first owner works once, also for requests at the same moment", async () => {
  const fresh = await startService();
  const token = (await issueWelcomePath(fresh.database, fresh.clock.now()))?.split("#")[1];
  const given = { token, name: "Ada", password, workspace_name: "Acme", timezone: "UTC" };
  const answers = await atOnce(3, (at) =>
    new TestBrowser(fresh.url).call("POST", "/first-owner", { ...given, email: `owner${at}@example.com` }),
  );
  expect(statusesOf(answers)).toEqual([201, 404, 404]);
  expect(await fresh.database.rows(sql`select from users`)).toHaveLength(1);
});

test("a link for one purpose does not work for another", async () => {
  await newBrowser().call("POST", "/password-resets", { email });
  const token = await newestToken(email);
  expect((await newBrowser().call("POST", "/email-changes/confirm", { token })).status).toBe(404);
  const owner = {
    token,
    name: "Eve",
    email: "eve@example.com",
    password,
    workspace_name: "A",
    timezone: "UTC",
  };
  expect((await newBrowser().call("POST", "/first-owner", owner)).status).toBe(404);
  const reset = { token, password: "another long password" };
  expect((await newBrowser().call("POST", "/password-resets/complete", reset)).status).toBe(200);
});

test("a thousand wrong passwords for one account cost ten hashes and one mail", async () => {
  const before = await hashCount();
  const statuses: number[] = [];
  for (let begin = 0; begin < 1_000; begin += 50) {
    const some = await atOnce(50, () => signIn(newBrowser(), "wrong"));
    statuses.push(...some.map(({ status }) => status));
  }
  expect([401, 429].map((status) => statuses.filter((one) => one === status).length)).toEqual([10, 990]);
  expect((await hashCount()) - before).toBe(10);
  expect(await mailsTo(email)).toHaveLength(1);
});

test("mails about failed sign-ins do not use up those about sign-ins from new browsers", async () => {
  await signIn();
  for (let round = 0; round < 6; round++) {
    await atOnce(10, () => signIn(newBrowser(), "wrong"));
    await database.run(sql`delete from attempt_buckets`);
  }
  await signIn(newBrowser({ "User-Agent": "Stranger" }));
  const subjects = (await mailsTo(email)).map(({ subject }) => subject);
  expect(subjects).toEqual([
    ...Array(5).fill("Failed sign-ins to your account"),
    "New sign-in to your account",
  ]);
});

test("a request to reset a password costs the same statements and no hash for every address", async () => {
  const before = await hashCount();
  const ask = (address: string) => newBrowser().call("POST", "/password-resets", { email: address });
  const answers = [await ask(email), await ask("nobody@example.com")];
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [202, answers[1]?.body],
    [202, answers[0]?.body],
  ]);
  expect(await hashCount()).toBe(before);
  expect(await database.rows(sql`select from account_links where user_id is null`)).toEqual([]);
});

test("a confirmation offers no recovery code, which it would not take", async () => {
  const browser = newBrowser();
  await signIn(browser);
  const { secret } = (await browser.call("POST", "/me/authenticator-apps/setup", { name: "Phone" })).body
    .data;
  const code = new TOTP({ secret }).generate({ timestamp: clock.now().getTime() });
  await browser.call("POST", "/me/authenticator-apps", { code });
  const { body } = await browser.call("POST", "/session/confirmation/challenge");
  expect(body.data.kinds).toEqual(["authenticator_app"]);
});

test("a session of one account is no session of another, whatever id is named", async () => {
  const [mine, theirs] = [newBrowser(), newBrowser()];
  await signIn(mine);
  const { session } = (await signIn(theirs)).body.data;
  const stranger = await service.newPerson([]);
  expect((await stranger.call("DELETE", `/sessions/${session.id}`)).status).toBe(404);
  expect((await theirs.call("GET", "/session")).status).toBe(200);
});
