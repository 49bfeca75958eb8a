/** When the client tries again, how long it waits, and what it makes of answers that are not the API's. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { Posthaste, type PosthasteError } from "../../clients/typescript/src/index.ts";

type Play = (response: ServerResponse) => void;

/** The answers of the server, in order; the last one repeats. */
let script: Play[] = [];
const arrived: { readonly request: IncomingMessage; readonly body: string; readonly at: number }[] = [];
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    const play = script[Math.min(arrived.length, script.length - 1)];
    arrived.push({ request, body, at: performance.now() });
    play?.(response);
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const client = new Posthaste({ baseUrl, apiKey: "efk_test", timeoutMs: 300 });

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Play =>
  (response) => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
const success = answer(200, { success: true, data: [], message: "Mailing lists" });
const queued = answer(201, { success: true, data: { status: "queued", id: "1" }, message: "Queued" });
const failure = (status: number, code: string, headers = {}) =>
  answer(status, { success: false, error: "No", code }, headers);
const drop: Play = (response) => response.destroy();
const silence: Play = () => {};
const email = { to: "ada@example.com", subject: "Hello", body: "Hello" };
const failureOf = (call: PromiseLike<unknown>): Promise<PosthasteError> =>
  Promise.resolve(call).then(
    () => Promise.reject(new Error("the call succeeded")),
    (error: PosthasteError) => error,
  );

beforeEach(() => {
  arrived.length = 0;
});

describe("a read", () => {
  test.each<[string, Play]>([
    ["a broken connection", drop],
    ["no answer in time", silence],
    ["429", failure(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "0" })],
    ["502 of a proxy", answer(502, "<h1>Bad Gateway</h1>", { "Content-Type": "text/html" })],
    ["503", failure(503, "INTERNAL_ERROR", { "Retry-After": "0" })],
    ["504", answer(504, "")],
  ])("is tried again after %s", async (_name, fault) => {
    script = [fault, success];
    expect(await client.listMailingLists()).toEqual([]);
    expect(arrived).toHaveLength(2);
  });

  test.each<[string, Play]>([
    ["400", failure(400, "VALIDATION_ERROR")],
    ["404", failure(404, "NOT_FOUND")],
    ["409", failure(409, "CONFLICT")],
    ["500", failure(500, "INTERNAL_ERROR")],
    ["a success that is no JSON", answer(200, "<h1>Welcome</h1>")],
    ["a redirect", answer(301, "", { Location: "/elsewhere" })],
  ])("is not tried again after %s", async (_name, fault) => {
    script = [fault];
    await failureOf(client.listMailingLists());
    expect(arrived).toHaveLength(1);
  });

  test("is given up after the retries of the client or of the call", async () => {
    script = [failure(503, "INTERNAL_ERROR", { "Retry-After": "0" })];
    const error = await failureOf(client.listMailingLists());
    expect([error.code, error.status, arrived.length]).toEqual(["INTERNAL_ERROR", 503, 3]);
    arrived.length = 0;
    await failureOf(client.listMailingLists({ retries: 0 }));
    expect(arrived).toHaveLength(1);
  });

  test("waits as long as Retry-After says, and otherwise longer with each try", async () => {
    script = [failure(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "1" }), drop, drop, success];
    await client.listMailingLists({ retries: 3 });
    const waits = arrived.slice(1).map(({ at }, index) => at - (arrived[index]?.at ?? 0));
    expect(waits[0]).toBeGreaterThanOrEqual(990);
    expect(waits[1]).toBeGreaterThanOrEqual(490);
    expect(waits[2]).toBeGreaterThanOrEqual(990);
  });

  test("fails at once if Retry-After is longer than a minute, and the error says how long", async () => {
    script = [failure(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "1800" })];
    expect((await failureOf(client.listMailingLists())).retryAfter).toBe(1800);
    expect(arrived).toHaveLength(1);
  });

  test("can be aborted while it waits", async () => {
    script = [failure(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "30" })];
    const started = performance.now();
    const reason = await failureOf(client.listMailingLists({ signal: AbortSignal.timeout(100) }));
    expect(reason.name).toBe("TimeoutError");
    expect(performance.now() - started).toBeLessThan(25_000);
  });
});

describe("a write", () => {
  test("that honours Idempotency-Key is tried again with the same key and body", async () => {
    script = [drop, silence, failure(503, "INTERNAL_ERROR", { "Retry-After": "0" }), queued];
    await client.sendEmail({ body: email, retries: 3 });
    const keys = new Set(arrived.map(({ request }) => request.headers["idempotency-key"]));
    expect([arrived.length, keys.size, ...keys]).toEqual([4, 1, expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(new Set(arrived.map(({ body }) => body))).toEqual(new Set([JSON.stringify(email)]));
  });

  test("has another key in every call, or the caller's", async () => {
    script = [queued];
    await client.sendEmail({ body: email });
    await client.sendEmail({ body: email });
    await client.sendEmail({ body: email, idempotencyKey: "order-1" });
    const keys = arrived.map(({ request }) => request.headers["idempotency-key"]);
    expect([new Set(keys).size, keys[2]]).toEqual([3, "order-1"]);
  });

  test("is tried again while its first try is still running, but not after another conflict", async () => {
    script = [failure(409, "CONFLICT", { "Retry-After": "0" }), queued];
    await client.sendEmail({ body: email });
    expect(arrived).toHaveLength(2);
    arrived.length = 0;
    script = [failure(409, "CONFLICT")];
    await failureOf(client.sendEmail({ body: email }));
    expect(arrived).toHaveLength(1);
  });

  test.each<[string, Play]>([
    ["a broken connection", drop],
    ["no answer in time", silence],
    ["503", failure(503, "INTERNAL_ERROR", { "Retry-After": "0" })],
  ])("without a key is not tried again after %s, because it may have been done", async (_name, fault) => {
    script = [fault];
    await failureOf(client.createMailingList({ body: { name: "News" } }));
    await failureOf(client.createMailingList({ body: { name: "News" }, idempotencyKey: "not honoured" }));
    expect(arrived).toHaveLength(2);
  });

  test("without a key is tried again after 429, which had no effect", async () => {
    script = [failure(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "0" }), success];
    await client.createMailingList({ body: { name: "News" } });
    expect(arrived).toHaveLength(2);
  });
});

describe("an error", () => {
  test("without an answer says why", async () => {
    script = [silence];
    const late = await failureOf(client.listMailingLists({ retries: 0, timeoutMs: 50 }));
    expect([late.code, late.status, late.message]).toEqual([
      "TIMED_OUT",
      undefined,
      "No answer within 50 ms",
    ]);
    const nowhere = new Posthaste({ baseUrl: "http://127.0.0.1:1", retries: 0 });
    const refused = await failureOf(nowhere.listMailingLists());
    expect([refused.code, refused.status]).toEqual(["CONNECTION_FAILED", undefined]);
    expect(refused.message).toMatch(/ECONNREFUSED|bad port/);
  });

  test("of an answer that ends too early is a failed connection", async () => {
    script = [
      (response) => {
        response.writeHead(200, { "Content-Length": "1000" });
        response.write('{"success":');
        setTimeout(() => response.destroy(), 20);
      },
    ];
    expect((await failureOf(client.listMailingLists({ retries: 0 }))).code).toBe("CONNECTION_FAILED");
  });

  test("of a page that is not the API's is recognised, and the key follows no redirect", async () => {
    script = [answer(200, "<h1>Welcome</h1>")];
    expect((await failureOf(client.listMailingLists())).code).toBe("UNEXPECTED_RESPONSE");
    arrived.length = 0;
    script = [answer(302, "", { Location: `${baseUrl}/elsewhere` }), success];
    const error = await failureOf(client.listMailingLists());
    expect([error.code, error.status, arrived.length]).toEqual(["UNEXPECTED_RESPONSE", 302, 1]);
    expect(error.message).toContain("redirect");
  });
});

test("the address may end with a slash or with /api/v1, and headers are sent", async () => {
  script = [success];
  for (const address of [baseUrl, `${baseUrl}/`, `${baseUrl}/api/v1`, `${baseUrl}/api/v1/`]) {
    const one = new Posthaste({ baseUrl: address, apiKey: "efk_test", headers: { "X-One": "1" } });
    await one.listMailingLists({ headers: { "X-Two": "2" } });
  }
  expect(new Set(arrived.map(({ request }) => request.url))).toEqual(new Set(["/api/v1/mailing-lists"]));
  for (const { request } of arrived) {
    expect(request.headers).toMatchObject({ "x-api-key": "efk_test", "x-one": "1", "x-two": "2" });
  }
});
