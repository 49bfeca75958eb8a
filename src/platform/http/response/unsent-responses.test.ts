/** Clients that ask for large answers and do not read them. Loopback has many networks: each IPv4 address is one. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterEach, expect, it, vi } from "vitest";
import type { HttpLimits } from "#platform/limits/http-limits.ts";
import type { Limit } from "#platform/limits/limit.ts";
import { type BareServer, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { inPieces } from "./unsent-responses.ts";

const database = await testDatabase();
const MB = 1024 * 1024;
const row = (scope: Limit["scope"], most: number): Limit => ({
  what: "unread answers",
  scope,
  most,
  beyond: "",
});
/** More than the kernel takes of one answer. */
const LARGE = Buffer.alloc(12 * MB, "x");
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

function start(limits: Partial<HttpLimits> = {}, unreadMs = 3_600_000): Promise<BareServer> {
  return startBareServer(database, [], {
    patience: { unreadMs },
    limits: {
      unsent: row("installation", 1_000 * MB),
      unsentOfNetwork: row("network", 1_000 * MB),
      ...limits,
    },
    pages(pages) {
      pages.get("/small", async () => "small");
      pages.get("/text", async () => LARGE.toString());
      pages.get("/octets", async (_request, reply) =>
        reply.headers({ "Content-Encoding": "gzip", ETag: '"a"' }).send(gzipSync(LARGE, { level: 0 })),
      );
      pages.get("/shared", async (_request, reply) => reply.send(inPieces(LARGE)));
      pages.get("/endless", async (_request, reply) => {
        function* endless() {
          for (;;) yield LARGE.subarray(0, MB);
        }
        return reply.send(Readable.from(endless(), { objectMode: false }));
      });
      pages.post("/change", async () => LARGE.toString());
    },
  });
}

async function ask(api: BareServer, path: string, localAddress = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port: api.port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

/** Reads the head of the answer and then no more. */
async function unread(api: BareServer, path: string, localAddress?: string): Promise<Socket> {
  const socket = await ask(api, path, localAddress);
  const [head] = await once(socket, "data");
  socket.pause();
  expect(String(head)).toMatch(/^HTTP\/1\.1 200 /);
  return socket;
}

async function statusOf(api: BareServer, path: string, localAddress?: string): Promise<string> {
  const socket = await ask(api, path, localAddress);
  const [head] = await once(socket, "data");
  return String(head).slice(9, 12);
}

it.each(["/text", "/octets", "/shared", "/endless"])(
  "a network that leaves too much of %s unread gets no further large answer, and other networks do",
  async (path) => {
    const api = await start({ unsentOfNetwork: row("network", 25 * MB) });
    const isStream = path === "/shared" || path === "/endless";
    // A stream holds no more than its buffers.
    for (let count = 0; count < (isStream ? 200 : 2); count += 1) await unread(api, path);
    const refused = await fetch(api.url + path);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(refused.headers.get("content-encoding")).toBe(null);
    expect(refused.headers.get("etag")).toBe(null);
    expect(await refused.json()).toMatchObject({ success: false, code: "RATE_LIMIT_EXCEEDED" });
    expect(await statusOf(api, "/small")).toBe("200");
    expect(await statusOf(api, path, "127.0.0.2")).toBe("200");
  },
);

it("unread responses of all networks together are limited, too", async () => {
  const api = await start({ unsent: row("installation", 25 * MB) });
  await unread(api, "/text", "127.0.0.2");
  await unread(api, "/text", "127.0.0.3");
  const refused = await fetch(`${api.url}/text`);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
});

it("responses that were read, and closed connections, no longer count", async () => {
  const api = await start({ unsentOfNetwork: row("network", 25 * MB) });
  const [one, other] = [await unread(api, "/text"), await unread(api, "/text")];
  one.resume();
  await vi.waitFor(async () => expect(await statusOf(api, "/text")).toBe("200"), 10_000);
  other.destroy();
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(async () => {
    const both = [await statusOf(api, "/text"), await statusOf(api, "/text")];
    expect(both).toEqual(["200", "200"]);
  }, 10_000);
});

it("the response to a change is sent even above the limit", async () => {
  const api = await start({ unsentOfNetwork: row("network", MB) });
  const answer = await fetch(`${api.url}/change`, { method: "POST" });
  expect([answer.status, (await answer.text()).length]).toEqual([200, LARGE.length]);
});

it("if a limit is reached, a connection that reads nothing is closed for another", async () => {
  // Closed in any case after 2.4 s, and for another one after 0.2 s.
  const api = await start({ unsentOfNetwork: row("network", 13 * MB) }, 2_400);
  const stalled = await unread(api, "/text");
  await vi.waitFor(async () => expect(await statusOf(api, "/text")).toBe("200"), 10_000);
  stalled.resume();
  await new Promise((resolve) => stalled.once("close", resolve));
});

it.each(["/text", "/shared", "/endless"])(
  "a client that reads nothing of %s is cut off, and one that reads is not",
  async (path) => {
    const api = await start({}, 600);
    const slow = await ask(api, path);
    let read = 0;
    slow.on("data", (data) => {
      read += data.length;
    });
    const stalled = await unread(api, path);
    await vi.waitFor(async () => {
      const open = await new Promise((resolve) =>
        api.server.server.getConnections((_fault, count) => resolve(count)),
      );
      expect(open).toBe(1);
    }, 20_000);
    stalled.resume();
    await new Promise((resolve) => stalled.once("close", resolve));
    expect(read).toBeGreaterThan(0);
    expect(slow.destroyed).toBe(false);
  },
);

it("a large response arrives unchanged, with its length", async () => {
  const api = await start();
  const answer = await fetch(`${api.url}/text`);
  expect(answer.headers.get("content-length")).toBe(String(LARGE.length));
  expect(Buffer.from(await answer.arrayBuffer()).equals(LARGE)).toBe(true);
  const head = await fetch(`${api.url}/text`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, String(LARGE.length)]);
});
