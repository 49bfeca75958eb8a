import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";

const service = await startService();
const secure = await startService({ env: { TRUSTED_PROXIES: "127.0.0.1" } });

const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];

test("a member calls the API with the cookie of the session and the header of the workspace", async () => {
  const { call } = await service.newPerson(["mailing_lists:*"]);
  expect((await call("POST", "/mailing-lists", { name: "Customers" })).status).toBe(201);
  expect((await call("GET", "/mailing-lists")).status).toBe(200);
  expect(codeOf(await call("GET", "/webhooks"))).toEqual([403, "INSUFFICIENT_SCOPE"]);
});

test("a download names its workspace in the query, without a warning; a change must name it in the header", async () => {
  const person = await service.newPerson(["*:*"]);
  const { "X-Workspace": _, ...headers } = person.headers;
  const place = `?workspace=${service.workspaceId}`;
  const read = await service.call("GET", `/mailing-lists${place}`, undefined, { key: null, headers });
  expect([read.status, read.body.warnings]).toEqual([200, undefined]);
  const changed = await service.call("POST", `/mailing-lists${place}`, { name: "x" }, { key: null, headers });
  expect(codeOf(changed)).toEqual([400, "VALIDATION_ERROR"]);
});

test.each([
  ["another site", { "Sec-Fetch-Site": "cross-site" }],
  ["another host of the same site", { "Sec-Fetch-Site": "same-site" }],
  ["the address bar", { "Sec-Fetch-Site": "none" }],
])("a change from %s is refused", async (_from, headers) => {
  const { call } = await service.newPerson(["*:*"]);
  const answer = await call("POST", "/mailing-lists", { name: "x" }, { headers });
  expect(codeOf(answer)).toEqual([403, "FORBIDDEN"]);
});

test("a browser without Sec-Fetch-Site is judged by its Origin, and a change without either is refused", async () => {
  const person = await service.newPerson(["*:*"]);
  const { "Sec-Fetch-Site": _, ...headers } = person.headers;
  const change = (more: Record<string, string>) =>
    service.call("POST", "/mailing-lists", { name: "x" }, { key: null, headers: { ...headers, ...more } });
  expect(codeOf(await change({}))).toEqual([403, "FORBIDDEN"]);
  expect(codeOf(await change({ Origin: "https://evil.example" }))).toEqual([403, "FORBIDDEN"]);
  expect((await change({ Origin: service.url })).status).toBe(201);
});

test("over HTTPS only the cookie with the prefix __Host- counts", async () => {
  const person = await secure.newPerson(["*:*"]);
  const call = (name: string) =>
    secure.call("GET", "/mailing-lists", undefined, {
      key: null,
      headers: { ...person.headers, "X-Forwarded-Proto": "https", Cookie: `${name}=${person.token}` },
    });
  expect((await call("__Host-posthaste")).status).toBe(200);
  expect(codeOf(await call("posthaste"))).toEqual([401, "UNAUTHORIZED"]);
});

test("an API key wins over a cookie that is sent with it", async () => {
  const person = await service.newPerson(["*:*"]);
  const key = await service.newKey(["webhooks:read"]);
  const answer = await service.call("GET", "/mailing-lists", undefined, { key, headers: person.headers });
  expect(answer.body.required_scopes).toEqual(["mailing_lists:read"]);
});

test("API keys are changed only by a person who confirmed within ten minutes", async () => {
  const { call } = await service.newPerson(["*:*"]);
  const body = { name: "New", permissions: ["*:read"] };
  expect((await call("POST", "/api-keys", body)).status).toBe(201);
  service.clock.advance(10 * 60_000 + 1);
  expect(codeOf(await call("POST", "/api-keys", body))).toEqual([403, "REAUTHENTICATION_REQUIRED"]);
  expect((await call("GET", "/api-keys")).status).toBe(200);
});

test("a member gives no key a permission that their role lacks", async () => {
  const { call } = await service.newPerson(["api_keys:*"]);
  const answer = await call("POST", "/api-keys", { name: "Strong", permissions: ["*:*"] });
  expect([answer.status, answer.body.error]).toEqual([403, "Your role lacks *:*"]);
});

test("a workspace that requires a second factor admits no session without one", async () => {
  const { workspaceId } = await service.newWorkspace();
  await service.database.run(
    sql`update workspaces set requires_second_factor = true where id = ${workspaceId}`,
  );
  const weak = await service.newPerson(["*:*"], { workspaceId });
  const strong = await service.newPerson(["*:*"], { workspaceId, hasSecondFactor: true });
  expect(codeOf(await weak.call("GET", "/mailing-lists"))).toEqual([403, "SECOND_FACTOR_REQUIRED"]);
  expect((await strong.call("GET", "/mailing-lists")).status).toBe(200);
});

test("a session ends after 14 days without use, and for a disabled user", async () => {
  const idle = await service.newPerson(["*:*"]);
  const disabled = await service.newPerson(["*:*"]);
  expect((await disabled.call("GET", "/mailing-lists")).status).toBe(200);
  await service.database.run(sql`update users set disabled_at = now() where id = ${disabled.userId}`);
  service.clock.advance(2_000);
  expect(codeOf(await disabled.call("GET", "/mailing-lists"))).toEqual([401, "UNAUTHORIZED"]);
  service.clock.advance(14 * 86_400_000);
  expect(codeOf(await idle.call("GET", "/mailing-lists"))).toEqual([401, "UNAUTHORIZED"]);
});

test("people behind one address have a rate limit each, and an invalid cookie has none of its own", async () => {
  const limited = await startService({ env: { RATE_LIMIT: "1/5" } });
  const [one, other] = [await limited.newPerson(["*:*"]), await limited.newPerson(["*:*"])];
  for (const { call } of [one, other]) await call("GET", "/mailing-lists");
  const burst = (call: typeof one.call) =>
    Promise.all(Array.from({ length: 5 }, () => call("GET", "/mailing-lists")));
  for (const { call } of [one, other]) {
    expect((await burst(call)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  }
  const made = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(43));
  const answers = await Promise.all(
    made.map((token) =>
      one.call("GET", "/mailing-lists", undefined, { headers: { Cookie: `posthaste=${token}` } }),
    ),
  );
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(2);
});
