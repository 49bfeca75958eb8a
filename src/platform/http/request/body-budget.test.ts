/** Budgets of arriving bodies, over sockets that send parts of a body. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { afterEach, beforeEach, expect, it } from "vitest";
import { endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type HttpLimits, httpLimits } from "#platform/limits/http-limits.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { type BareServer, insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { takeBodies } from "./read-body.ts";

const things: Resource = { name: "things", label: "Things", group: "G" };
const MB = 1024 ** 2;
const database = await testDatabase();
/** Promise that the handler awaits. */
let work: () => Promise<void>;
const createThing = endpoint({
  id: "createThing",
  method: "POST",
  path: "/things",
  summary: "Make a thing",
  needs: need(things, "write"),
  body: Type.Object({ name: Type.String() }),
  answer: Type.Object({}),
  message: "Made",
  bodyLimit: 4 * MB,
  async handle() {
    await work();
    return {};
  },
});
const pages = (server: FastifyInstance) =>
  void server.register(async (scope) => {
    takeBodies(scope, "*", (body) => body.toString(), MB);
    scope.post("/form", async () => "thanks");
  });

const row = (scope: Limit["scope"], most: number, what = "bodies"): Limit => ({
  what,
  scope,
  most,
  beyond: "",
});
const ample: Partial<HttpLimits> = {
  unfinishedOfNetwork: row("network", 1_000, "unfinished requests"),
  unfinishedOfKey: row("API key or person", 1_000, "unfinished requests"),
  bodies: row("installation", 6 * MB),
  bodiesOfWorkspace: row("workspace", 6 * MB),
  bodiesOfNetwork: row("network", 6 * MB),
  uploads: row("installation", 6 * MB),
  uploadsOfWorkspace: row("workspace", 6 * MB),
};

/** Bodies stall after an hour unless a test says otherwise. */
async function start(limits: Partial<HttpLimits> = {}, stallMs = 3_600_000): Promise<BareServer> {
  const patience = { headersMs: 15_000, requestMs: 60_000, checkMs: 2_000, stallMs };
  return startBareServer(database, [createThing], { limits: { ...ample, ...limits }, patience, pages });
}

let workspaceId: WorkspaceId;
const sockets: Socket[] = [];
beforeEach(async () => {
  work = async () => {};
  workspaceId = await insertBareWorkspace(database);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const body = (bytes: number) => JSON.stringify({ name: "x".repeat(bytes - 11) });
const post = (api: BareServer, key: string, bytes: number) => api.call("POST", "/things", key, body(bytes));

/** Begins a request and sends so many bytes of a body that is larger; done when the server has begun to read it. */
async function begin(api: BareServer, path: string, bytes: number, ...headers: string[]): Promise<Socket> {
  const socket = connect(api.port, "127.0.0.1");
  socket.on("error", () => {});
  sockets.push(socket);
  await once(socket, "connect");
  const lines = ["Host: x", "Content-Type: application/json", "Expect: 100-continue", ...headers];
  if (!headers.some((header) => /^(transfer-encoding|content-length)/i.test(header))) {
    lines.push(`Content-Length: ${bytes + 1}`);
  }
  socket.write([`POST ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  const [first] = await once(socket, "data");
  if (/^HTTP\/1.1 100/.test(String(first))) socket.write("x".repeat(bytes));
  else socket.unshift(first);
  return socket;
}
const beginThing = (api: BareServer, key: string, bytes: number) =>
  begin(api, "/api/v1/things", bytes, `X-API-Key: ${key}`);

/** Room is taken a moment after a chunk was sent, and given back a moment after an answer. */
async function until<Answer extends { status: number }>(
  send: () => Promise<Answer>,
  status: number,
): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status === status) return answer;
  }
}

it("arrived bytes count, announced ones do not", async () => {
  const api = await start();
  const key = api.newKey(workspaceId);
  const announced = ["Content-Length: 4000000", "Transfer-Encoding: chunked"];
  for (const length of [...announced, ...announced]) {
    await begin(api, "/api/v1/things", 0, `X-API-Key: ${key}`, length);
  }
  expect((await post(api, key, 4 * MB)).status).toBe(200);
});

it("a workspace above its limit is refused with the name of the limit, and others are not", async () => {
  const api = await start({
    bodiesOfWorkspace: { ...row("workspace", 3 * MB, "request bodies"), unit: "bytes" },
  });
  const [key, other] = [api.newKey(workspaceId), api.newKey(await insertBareWorkspace(database))];
  await beginThing(api, key, 2 * MB);
  const { body: refused, headers } = await until(() => post(api, key, 2 * MB), 429);
  expect(refused).toMatchObject({ success: false, code: "RATE_LIMIT_EXCEEDED" });
  expect(refused.error).toContain("at most 3 MiB of request bodies per workspace at one time");
  expect(headers.get("retry-after")).toBe("1");
  expect((await post(api, other, 3 * MB)).status).toBe(200);
});

it("if the memory for bodies of the installation is used up, the response is 503", async () => {
  const api = await start();
  const [key, other] = [api.newKey(workspaceId), api.newKey(await insertBareWorkspace(database))];
  await beginThing(api, key, 3 * MB);
  const { body: refused } = await until(() => post(api, other, 4 * MB), 503);
  expect(refused).toMatchObject({ success: false, code: "INTERNAL_ERROR" });
  expect((await post(api, other, 1 * MB)).status).toBe(200);
});

it("small bodies that arrive slowly count as well", async () => {
  const api = await start({ bodiesOfWorkspace: row("workspace", 3 * MB) });
  const key = api.newKey(workspaceId);
  for (let count = 0; count < 30; count += 1) await beginThing(api, key, 100_000);
  await until(() => post(api, key, MB), 429);
});

it("callers without a key share the limit of their network", async () => {
  const api = await start({ bodiesOfNetwork: row("network", MB) });
  await begin(api, "/form", 800_000);
  const send = async () => {
    const response = await fetch(`${api.url}/form`, { method: "POST", body: "x".repeat(500_000) });
    return { status: response.status, body: await response.text() };
  };
  await until(send, 429);
  // The API's callers are counted by their workspaces.
  expect((await post(api, api.newKey(workspaceId), 4 * MB)).status).toBe(200);
});

it("a request is counted until its response", async () => {
  const api = await start();
  const key = api.newKey(workspaceId);
  const [finish, started] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  work = () => {
    started.resolve();
    return finish.promise;
  };
  const slow = post(api, key, 4 * MB);
  await started.promise;
  expect((await post(api, key, 4 * MB)).status).toBe(429);
  finish.resolve();
  expect((await slow).status).toBe(200);
  await until(() => post(api, key, 4 * MB), 200);
});

it("a disconnected client is no longer counted", async () => {
  const api = await start();
  const key = api.newKey(workspaceId);
  const socket = await beginThing(api, key, 3 * MB);
  await until(() => post(api, key, 4 * MB), 429);
  socket.destroy();
  await until(() => post(api, key, 4 * MB), 200);
});

it("a body above the limit of its endpoint is refused and not counted", async () => {
  const api = await start();
  const key = api.newKey(workspaceId);
  const refused = await Promise.all([post(api, key, 4 * MB + 1), post(api, key, 4 * MB + 1)]);
  expect(refused.map(({ status, body: { error } }) => [status, error])).toEqual(
    Array(2).fill([413, "The request body may have at most 4 MiB"]),
  );
  expect((await post(api, key, 4 * MB)).status).toBe(200);
});

it("a key has a limit on unfinished requests, without effect on other keys", async () => {
  const api = await start({ unfinishedOfKey: row("API key or person", 3, "unfinished requests") });
  const [key, other] = [api.newKey(workspaceId), api.newKey(workspaceId)];
  for (let count = 0; count < 3; count += 1) await beginThing(api, key, 10);
  const refusal = await text(await beginThing(api, key, 10));
  expect(refusal).toMatch(
    /^HTTP\/1\.1 429 .*at most 3 unfinished requests per API key or person at one time/s,
  );
  expect((await post(api, other, 1 * MB)).status).toBe(200);
  for (const socket of sockets.splice(0)) socket.destroy();
  await until(() => post(api, key, 1 * MB), 200);
});

it("of 1,500 stalled bodies from one network 500 are held", async () => {
  const api = await start({ ...httpLimits, connectionsOfNetwork: row("network", 2_000) });
  let [held, refused] = [0, 0];
  for (let count = 0; count < 1_500; count += 1) {
    const socket = await begin(api, "/form", 100);
    if (socket.readableLength === 0) held += 1;
    else {
      refused += 1;
      socket.destroy();
    }
  }
  expect([held, refused]).toEqual([500, 1_000]);
});

it("200 requests at once are all answered", async () => {
  const api = await start(httpLimits);
  const key = api.newKey(workspaceId);
  const calls = await Promise.all(Array.from({ length: 200 }, () => post(api, key, 200_000)));
  expect(calls.filter(({ status }) => status !== 200)).toEqual([]);
});

it("a stalled body gets 408, its connection is closed, and its budget is released", async () => {
  const api = await start({}, 500);
  const key = api.newKey(workspaceId);
  const answer = await text(await beginThing(api, key, 4 * MB - 1));
  expect(answer).toMatch(/^HTTP\/1\.1 408 .*connection: close\r\n.*"code":"VALIDATION_ERROR"/is);
  expect(answer).toContain("arrives too slowly");
  expect((await post(api, key, 4 * MB)).status).toBe(200);
});

it("a body that arrives too slowly is treated as stalled", async () => {
  const api = await start({}, 500);
  const socket = await begin(api, "/form", 10, "Content-Length: 100000");
  const drip = setInterval(() => socket.write("x"), 50);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
  clearInterval(drip);
});

it("a body that arrives slowly but steadily is accepted", async () => {
  const api = await start({}, 500);
  // 4 KiB a second, for four times as long as a body may be without progress.
  const socket = await begin(api, "/form", 0, "Content-Length: 8192");
  let sent = 0;
  const trickle = setInterval(() => {
    sent += 1;
    if (sent <= 40) socket.write("x".repeat(205).slice(0, 8192 - 205 * (sent - 1)));
    else clearInterval(trickle);
  }, 50);
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 .*thanks/s);
});

it("if a budget is used up, a stalled body is ended for one that arrives", async () => {
  // Ten sweeps make the time: two of them, half a second, are enough for the one whose room is needed.
  const api = await start({}, 2_500);
  const [key, other] = [api.newKey(workspaceId), api.newKey(await insertBareWorkspace(database))];
  const stalled = await beginThing(api, key, 3 * MB);
  const answer = text(stalled);
  await until(() => post(api, other, 4 * MB), 200);
  expect(await answer).toMatch(/^HTTP\/1\.1 408 .*while the service was busy/s);
});
