/** Requests that are sent without waiting for answers (pipelining), and clients that go on after refusals. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { createLog } from "#platform/log/log.ts";
import { type BareServer, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { createRateLimiter } from "./auth/rate-limit.ts";
import type { ServerOptions } from "./server.ts";

const database = await testDatabase();
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Notes in which order requests of /slow/… begin and end; an end waits for `let`. */
class Slow {
  readonly seen: string[] = [];
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  let(name: string): void {
    this.#gate(name).resolve();
  }

  async handle(name: string): Promise<string> {
    this.seen.push(`begin ${name}`);
    await this.#gate(name).promise;
    this.seen.push(`end ${name}`);
    return name;
  }

  #gate(name: string): PromiseWithResolvers<void> {
    const known = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, known);
    return known;
  }
}

function start(slow = new Slow(), options: Partial<ServerOptions> = {}): Promise<BareServer> {
  return startBareServer(database, [], {
    pages(pages) {
      pages.get("/healthz", async () => ({ status: "ok" }));
      pages.get<{ Params: { name: string } }>("/slow/:name", ({ params }) => slow.handle(params.name));
    },
    ...options,
  });
}

function open(api: BareServer, localAddress = "127.0.0.1"): Socket {
  const socket = connect({ port: api.port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  sockets.push(socket);
  return socket;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

/** Everything the server says until it closes. */
async function exchange(api: BareServer, requests: string, localAddress?: string): Promise<string> {
  const socket = open(api, localAddress);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  socket.write(requests);
  await new Promise((resolve) => socket.once("close", resolve));
  return text;
}

it.each(["/healthz", "/nothing", "/api/v1/campaigns"])(
  "of 2,000 requests for %s at once eight are answered, the next is refused, and the connection is closed",
  async (path) => {
    const text = await exchange(await start(), get(path).repeat(2_000));
    const statuses = statusesOf(text);
    expect(statuses).toHaveLength(9);
    expect(new Set(statuses.slice(0, 8)).size).toBe(1);
    const refusal = text.slice(text.lastIndexOf("HTTP/1.1 429"));
    expect(refusal).toMatch(/^Connection: close\r$/im);
    expect(refusal).toMatch(/^Retry-After: 1\r$/im);
    expect(JSON.parse(refusal.slice(refusal.indexOf("\r\n\r\n")))).toEqual({
      success: false,
      code: "RATE_LIMIT_EXCEEDED",
      error:
        "There can be at most 8 HTTP requests that wait for their responses per connection at one time. Try again in 1 s.",
    });
  },
);

it("eight requests at once are answered in their order, and the connection stays open", async () => {
  const slow = new Slow();
  const api = await start(slow);
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  for (const name of names) slow.let(name);
  const socket = open(api);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  socket.write(names.map((name) => get(`/slow/${name}`)).join(""));
  await vi.waitFor(() => expect(statusesOf(text)).toHaveLength(8), 10_000);
  expect([...text.matchAll(/^([a-h])(?=HTTP|$)/gm)].map(([, name]) => name)).toEqual(names);
  socket.write(get("/healthz"));
  await vi.waitFor(() => expect(statusesOf(text)).toHaveLength(9), 10_000);
});

it("a pipelined request is handled after the response to the one before", async () => {
  const slow = new Slow();
  const api = await start(slow);
  const socket = open(api);
  socket.write(get("/slow/first") + get("/slow/second"));
  await vi.waitFor(() => expect(slow.seen).toEqual(["begin first"]), 10_000);
  // Another connection does not wait.
  slow.let("other");
  expect(await (await fetch(`${api.url}/slow/other`)).text()).toBe("other");
  expect(slow.seen).toEqual(["begin first", "begin other", "end other"]);
  slow.let("first");
  await vi.waitFor(() => expect(slow.seen.slice(3)).toEqual(["end first", "begin second"]), 10_000);
});

it("the body of a waiting pipelined request is read when the request is handled", async () => {
  const slow = new Slow();
  const api = await start(slow, {
    pages(pages) {
      pages.get<{ Params: { name: string } }>("/slow/:name", ({ params }) => slow.handle(params.name));
      pages.addContentTypeParser(
        "text/plain",
        { parseAs: "string" },
        async (_request: unknown, body: unknown) => body,
      );
      pages.post("/echo", async ({ body }) => body);
    },
  });
  const socket = open(api);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  const post = (body: string) =>
    `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const long = "x".repeat(300_000);
  socket.write(get("/slow/first") + post("short") + post(long) + get("/slow/last"));
  await vi.waitFor(() => expect(slow.seen).toEqual(["begin first"]), 10_000);
  slow.let("first");
  slow.let("last");
  await vi.waitFor(() => expect(slow.seen).toHaveLength(4), 10_000);
  await vi.waitFor(() => expect(text).toMatch(/\r\n\r\nlast$/), 10_000);
  expect(statusesOf(text)).toEqual([200, 200, 200, 200]);
  expect(text).toContain("\r\n\r\nshort");
  expect(text).toContain(`\r\n\r\n${long}`);
});

it("one waiting request begins in each iteration of the event loop", async () => {
  let turn = 0;
  const begun: { turn: number; isFirst: boolean }[] = [];
  const api = await start(new Slow(), {
    pages: (pages) =>
      pages.get<{ Params: { at: string } }>("/turn/:at", async ({ params }) => {
        begun.push({ turn, isFirst: params.at === "1" });
        return "";
      }),
  });
  const countTurns = () => {
    turn += 1;
    immediate = setImmediate(countTurns);
  };
  let immediate = setImmediate(countTurns);
  const several = open(api);
  const connections = [several, ...Array.from({ length: 19 }, () => open(api))];
  await Promise.all(connections.map((socket) => once(socket, "connect")));
  const requests = [1, 2, 3, 4].map((at) => get(`/turn/${at}`)).join("");
  for (const socket of connections) socket.write(requests);
  await vi.waitFor(() => expect(begun).toHaveLength(80), 10_000);
  clearImmediate(immediate);
  const turns = begun.filter(({ isFirst }) => !isFirst).map((one) => one.turn);
  expect(new Set(turns).size).toBe(turns.length);
});

it("requests above the limit are not parsed", async () => {
  const api = await start();
  let parsed = 0;
  api.server.server.prependListener("request", () => {
    parsed += 1;
  });
  await exchange(api, get("/healthz").repeat(2_000));
  expect(parsed).toBe(9);
});

it("responses to waiting requests are complete, however large", async () => {
  const page = "x".repeat(8_000_000);
  const api = await start(new Slow(), {
    pages: (pages) => pages.get("/large", async () => page),
  });
  const text = await exchange(api, get("/large").repeat(100));
  expect(statusesOf(text)).toEqual([...Array(8).fill(200), 429]);
  expect(text.split(page)).toHaveLength(9);
});

it("a client that disconnects while its requests wait does no harm", async () => {
  const slow = new Slow();
  const api = await start(slow);
  const socket = open(api);
  socket.write(get("/slow/first").repeat(100));
  await vi.waitFor(() => expect(slow.seen).toEqual(["begin first"]), 10_000);
  socket.resetAndDestroy();
  slow.let("first");
  await vi.waitFor(() => expect(slow.seen).toEqual(["begin first", "end first"]), 10_000);
  const count = () =>
    new Promise((resolve) => api.server.server.getConnections((_fault, open) => resolve(open)));
  await vi.waitFor(async () => expect(await count()).toBe(0), 10_000);
  expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
  expect(slow.seen).toHaveLength(2);
});

it("a request with Upgrade is answered like any other", async () => {
  const api = await start();
  const socket = open(api);
  socket.write(
    "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
  );
  const [answer] = await once(socket.setEncoding("latin1"), "data");
  expect(statusesOf(String(answer))).toEqual([200]);
  socket.write(get("/nothing"));
  const [next] = await once(socket, "data");
  expect(statusesOf(String(next))).toEqual([404]);
});

it("a connection is closed with its tenth response 429", async () => {
  const rateLimiter = createRateLimiter({
    limit: { perSecond: 1, burst: 2 },
    redisUrl: null,
    monotonicMs: () => 0,
    log: createLog("silent"),
  });
  const api = await start(new Slow(), { rateLimiter });
  const socket = open(api);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
    if (socket.writable) socket.write(get("/nothing"));
  });
  socket.write(get("/nothing"));
  await once(socket, "close");
  expect(statusesOf(text)).toEqual([404, 404, ...Array(10).fill(429)]);
  expect(text.match(/^connection: close\r$/gim)).toHaveLength(1);
});
