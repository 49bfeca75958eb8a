import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";

const TOKEN = "the-token-of-the-inbox";
const service = await startService({ env: { INBOX_TOKEN: TOKEN } });

/** A request of any method; fetch sends no TRACE. */
async function ask(method: string, path: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } =
    Promise.withResolvers<[number | undefined, string | undefined, string]>();
  request(service.url + path, { method, headers }, (answer) => {
    text(answer).then((body) => resolve([answer.statusCode, answer.headers.allow, body]), reject);
  })
    .on("error", reject)
    .end();
  return promise;
}

test.each([
  ["POST", "/healthz", "GET, HEAD"],
  ["PUT", "/readyz", "GET, HEAD"],
  ["DELETE", "/metrics", "GET, HEAD"],
  ["POST", "/docs", "GET, HEAD"],
  ["OPTIONS", "/docs/scalar.js", "GET, HEAD"],
  ["POST", "/", "GET, HEAD"],
  ["PUT", "/verify-sender/x", "GET, HEAD, POST"],
  ["TRACE", "/healthz", "GET, HEAD"],
  ["TRACE", "/u/x", "GET, HEAD, POST"],
  ["PROPFIND", "/healthz", "GET, HEAD"],
  ["QUERY", "/u/x", "GET, HEAD, POST"],
])("%s %s is 405, says which methods the page takes, and has no envelope", async (method, path, methods) => {
  const [status, allow, body] = await ask(method, path);
  expect([status, allow]).toEqual([405, methods]);
  expect(body).toContain(`This address accepts only ${methods}.`);
});

test.each([
  ["TRACE", "/api-keys", "GET, HEAD, POST"],
  ["TRACE", "/suppression-lists/x/import", "POST"],
  ["GET", "/suppression-lists/x/import", "POST"],
  ["PROPFIND", "/api-keys", "GET, HEAD, POST"],
  ["QUERY", "/api-keys", "GET, HEAD, POST"],
  ["M-SEARCH", "/api-keys/x", "DELETE, GET, HEAD, PUT"],
])("%s %s of the API is 405 in the envelope, to whoever has a key", async (method, path, methods) => {
  const [status, allow, body] = await ask(method, `/api/v1${path}`, { "X-API-Key": service.key });
  expect([status, allow]).toEqual([405, methods]);
  expect(JSON.parse(body)).toMatchObject({ success: false, code: "METHOD_NOT_ALLOWED" });
  expect((await ask(method, `/api/v1${path}`))[0]).toBe(401);
});

test.each([
  ["POST", "/inbox"],
  ["POST", "/inbox/"],
  ["PATCH", "/inbox/messages"],
  ["PROPFIND", "/inbox"],
])("%s %s is 405 with the token of the inbox, and 401 without", async (method, path) => {
  expect((await ask(method, path))[0]).toBe(401);
  const [status, allow] = await ask(method, path, { Authorization: `Bearer ${TOKEN}` });
  expect([status, allow]).toEqual([405, "GET, HEAD"]);
});

test("an unknown path has no methods", async () => {
  for (const path of ["/nowhere", "/docs/x"]) {
    for (const method of ["POST", "PROPFIND", "QUERY"]) expect((await ask(method, path))[0]).toBe(404);
  }
});
