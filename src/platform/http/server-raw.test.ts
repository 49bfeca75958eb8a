/** Requests of badly behaved clients, over raw sockets. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { pino } from "pino";
import { Type } from "typebox";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type BareServer, insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { endpoint, need, type Resource } from "./endpoint.ts";

const things: Resource = { name: "things", label: "Things", group: "G" };
const database = await testDatabase();
const logged: string[] = [];
const log = pino({ level: "error" }, { write: (line: string) => void logged.push(line) });
const sockets: Socket[] = [];
const bodies: unknown[] = [];
let api: BareServer;
let key: string;
/** Waits for less than a second for a request. */
let hurried: { readonly port: number; readonly key: string };

beforeAll(async () => {
  const createThing = endpoint({
    id: "createThing",
    method: "POST",
    path: "/things",
    summary: "Make a thing",
    needs: need(things, "write"),
    body: Type.Object({ name: Type.String() }),
    answer: Type.Object({}),
    message: "Made",
    async handle({ body }) {
      bodies.push(body);
      return {};
    },
  });
  const workspaceId = await insertBareWorkspace(database);
  api = await startBareServer(database, [createThing], { log });
  key = api.newKey(workspaceId);
  const patience = { headersMs: 300, requestMs: 700, stallMs: 10_000, checkMs: 50 };
  const other = await startBareServer(database, [createThing], { log, patience });
  hurried = { port: other.port, key: other.newKey(workspaceId) };
});
beforeEach(() => {
  bodies.length = 0;
  logged.length = 0;
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

function open(port = api.port): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  sockets.push(socket);
  return socket;
}

/** Everything the server says until it closes. */
async function conversation(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  await once(socket, "close");
  return text;
}

/** Sends everything at once on a new connection. */
async function exchange(request: string | Buffer): Promise<string> {
  const socket = open();
  const answer = conversation(socket);
  socket.write(request);
  return answer;
}

const head = (...lines: string[]) =>
  [
    "POST /api/v1/things HTTP/1.1",
    "Host: x",
    `X-API-Key: ${key}`,
    "Connection: close",
    ...lines,
    "",
    "",
  ].join("\r\n");
const json = '{"name":"x"}';
const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
const failureOf = (text: string) => JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));

it("a plain request over such a socket works", async () => {
  const text = await exchange(
    head("Content-Type: application/json", `Content-Length: ${json.length}`) + json,
  );
  expect(statusesOf(text)).toEqual([200]);
  expect(bodies).toEqual([{ name: "x" }]);
});

describe("a slow client", () => {
  it("that never ends its headers gets 408 and is closed in time", async () => {
    const socket = open(hurried.port);
    const answer = conversation(socket);
    socket.write("POST /api/v1/things HTTP/1.1\r\nHost: x\r\n");
    const drip = setInterval(() => socket.write("X-A: b\r\n"), 100);
    const begin = performance.now();
    const text = await answer;
    clearInterval(drip);
    expect(performance.now() - begin).toBeLessThan(9_000);
    expect(statusesOf(text)).toEqual([408]);
    expect(failureOf(text)).toMatchObject({ success: false, code: "VALIDATION_ERROR" });
  });

  it("that never ends its body is closed in time, and its handler never runs", async () => {
    const socket = open(hurried.port);
    const answer = conversation(socket);
    const headers = head("Content-Type: application/json", "Content-Length: 1000");
    socket.write(headers.replace(key, hurried.key));
    const drip = setInterval(() => socket.write(" "), 100);
    const begin = performance.now();
    const text = await answer;
    clearInterval(drip);
    expect(performance.now() - begin).toBeLessThan(9_000);
    expect(statusesOf(text)).toEqual([408]);
    expect(bodies).toEqual([]);
  });

  it("does not delay other clients", async () => {
    for (let count = 0; count < 200; count += 1) open().write("POST /api/v1/things HTTP/1.1\r\nHost:");
    expect((await api.call("POST", "/things", key, { name: "x" })).status).toBe(200);
  });
});

describe("an ambiguous length", () => {
  const smuggled = "GET /api/v1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  const chunked = `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`;

  it.each([
    [
      "Content-Length and Transfer-Encoding",
      [`Content-Length: ${json.length}`, "Transfer-Encoding: chunked"],
      chunked,
    ],
    ["Transfer-Encoding and Content-Length", ["Transfer-Encoding: chunked", "Content-Length: 4"], chunked],
    ["two lengths", ["Content-Length: 12", "Content-Length: 4"], json],
    ["a list of lengths", ["Content-Length: 12, 4"], json],
    ["a signed length", ["Content-Length: +12"], json],
    ["a hexadecimal length", ["Content-Length: 0xC"], json],
    ["chunked that is not last", ["Transfer-Encoding: chunked, identity"], chunked],
    ["an unknown coding", ["Transfer-Encoding: xchunked"], chunked],
    ["a space before the colon", ["Transfer-Encoding : chunked"], chunked],
    ["a folded header", ["Transfer-Encoding:", " chunked"], chunked],
    ["a bare line feed", ["X: a\nTransfer-Encoding: chunked"], chunked],
    ["a chunk size that is no number", ["Transfer-Encoding: chunked"], `zz\r\n${json}\r\n0\r\n\r\n`],
    ["a chunk longer than it says", ["Transfer-Encoding: chunked"], `2\r\n${json}\r\n0\r\n\r\n`],
  ])("(%s) is refused, and what follows is not read as a request", async (_what, lines, body) => {
    const text = await exchange(head("Content-Type: application/json", ...lines) + body + smuggled);
    expect(statusesOf(text)).toEqual([400]);
    expect(failureOf(text)).toMatchObject({ success: false, code: "VALIDATION_ERROR" });
    expect(bodies).toEqual([]);
  });
});

describe("a malformed request", () => {
  it.each([
    ["a NUL in the path", "GET /api/v1/things\0 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a line feed in the path", "GET /api/v1/\nthings HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["no HTTP at all", "EHLO mail.example.test\r\n\r\n"],
    ["TLS", Buffer.from("16030100a5010000a10303", "hex")],
    ["an unknown method", "BREW /api/v1/things HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a NUL in a header", "GET /api/v1/things HTTP/1.1\r\nHost: x\r\nX-API-Key: a\0b\r\n\r\n"],
  ])("(%s) gets the failure envelope and is closed", async (_what, request) => {
    const text = await exchange(request);
    expect(statusesOf(text)).toEqual([400]);
    expect(text).toMatch(/^X-Request-Id: [0-9a-f-]{36}\r$/m);
    expect(failureOf(text)).toEqual({
      success: false,
      error: "Malformed HTTP request",
      code: "VALIDATION_ERROR",
    });
  });

  it.each([
    ["headers without end", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(100_000)}\r\n\r\n`, /too large/],
    [
      "a key of 1 MB",
      `GET /api/v1/things HTTP/1.1\r\nHost: x\r\nX-API-Key: ${"x".repeat(1_000_000)}\r\n\r\n`,
      /too large/,
    ],
    ["a path of 100 kB", `GET /api/v1/${"x".repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, /too large/],
    ["no Host", "GET /api/v1/things HTTP/1.1\r\nConnection: close\r\n\r\n", /exactly one Host/],
    [
      "two Hosts",
      "GET /api/v1/things HTTP/1.1\r\nHost: a\r\nhost: b\r\nConnection: close\r\n\r\n",
      /exactly one Host/,
    ],
    [
      "a whole URL",
      "GET http://x/api/v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      /path only/,
    ],
    ["an odd Expect", "GET /api/v1/things HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n", /100-continue/],
  ])("(%s) is told what is wrong", async (_what, request, sentence) => {
    const text = await exchange(request);
    expect(statusesOf(text)[0]).toBeOneOf([400, 417]);
    expect(failureOf(text)).toMatchObject({ success: false, code: "VALIDATION_ERROR" });
    expect(failureOf(text).error).toMatch(sentence);
  });

  it.each([
    [
      "an absolute URI",
      "GET http://other.example.test/api/v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ],
    ["two hosts", "GET /api/v1/things HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n"],
    [
      "two keys",
      "GET /api/v1/things HTTP/1.1\r\nHost: x\r\nX-API-Key: a\r\nX-API-Key: b\r\nConnection: close\r\n\r\n",
    ],
    [
      "a key of 30 kB",
      `GET /api/v1/things HTTP/1.1\r\nHost: x\r\nX-API-Key: ${"x".repeat(30_000)}\r\nConnection: close\r\n\r\n`,
    ],
    ["an encoded NUL", "GET /api/v1/things%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
    ["dots", "GET /api/v1/../v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
  ])("(%s) is refused like any other without a key", async (_what, request) => {
    const [status] = statusesOf(await exchange(request));
    expect([400, 401, 404]).toContain(status);
  });
});

describe("a large upload", () => {
  it("of 40 MB is refused by its length", async () => {
    const length = 40 * 1024 ** 2;
    const socket = open();
    socket.write(head("Content-Type: application/json", `Content-Length: ${length}`));
    const [first] = await once(socket.setEncoding("latin1"), "data");
    expect(statusesOf(first)).toEqual([413]);
    expect(failureOf(first)).toMatchObject({ success: false, code: "PAYLOAD_TOO_LARGE" });
  });

  it("of 40 MB that is sent whole is refused too", async () => {
    const { status, body } = await api.call(
      "POST",
      "/things",
      key,
      JSON.stringify({ name: "x".repeat(40 * 1024 ** 2) }),
    );
    expect([status, body.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  it("in endless chunks is read within limits, so that its sender can read the error", async () => {
    const socket = open();
    const answer = conversation(socket);
    socket.write(head("Content-Type: application/json", "Transfer-Encoding: chunked"));
    const chunk = `400000\r\n${" ".repeat(0x400000)}\r\n`;
    for (let sent = 0; sent < 12; sent++) socket.write(chunk);
    const text = await answer;
    expect(statusesOf(text)[0]).toBe(413);
    expect(bodies).toEqual([]);
  });

  it("that is compressed is refused before it is decompressed", async () => {
    const body = gzipSync(JSON.stringify({ name: "x".repeat(1024 ** 2) }));
    const headers = [
      "Content-Type: application/json",
      "Content-Encoding: gzip",
      `Content-Length: ${body.length}`,
    ];
    const text = await exchange(Buffer.concat([Buffer.from(head(...headers)), body]));
    expect(statusesOf(text)).toEqual([400]);
    expect(failureOf(text).error).toBe("Send the body uncompressed, without Content-Encoding");
  });

  it("that is aborted leaves nothing: no handler runs, nothing is logged, no connection stays", async () => {
    const before = await connections();
    const socket = open();
    await once(socket, "connect");
    socket.write(`${head("Content-Type: application/json", "Content-Length: 100000")}{"name":"`);
    await vi.waitFor(async () => expect(await connections()).toBe(before + 1), 20_000);
    socket.destroy();
    await vi.waitFor(async () => expect(await connections()).toBe(before), 20_000);
    expect(bodies).toEqual([]);
    expect(logged).toEqual([]);
  });
});

/** Connections the server holds. */
function connections(): Promise<number> {
  const count = Promise.withResolvers<number>();
  api.server.server.getConnections((fault, open) => (fault ? count.reject(fault) : count.resolve(open)));
  return count.promise;
}
