/** Connections of one network, and those that do not count. Loopback has many networks: each IPv4 address is one. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import type { Limit } from "#platform/limits/limit.ts";
import { type BareServer, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";

const database = await testDatabase();
const connectionsOfNetwork: Limit = { what: "HTTP connections", scope: "network", most: 3, beyond: "" };
const start = (trustedProxies: string[] = []) =>
  startBareServer(database, [], {
    limits: { connectionsOfNetwork },
    trustedProxies,
    pages: (pages) => pages.get("/page", async () => "a page"),
  });
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function open(api: BareServer, localAddress = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port: api.port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

/** Whether a request on the connection is answered; otherwise it was closed. */
async function isServed(socket: Socket): Promise<boolean> {
  socket.write("GET /page HTTP/1.1\r\nHost: x\r\n\r\n");
  const [data] = await Promise.race([once(socket, "data"), once(socket, "close").then(() => [null])]);
  return data !== null;
}

it("a network at its limit gets no further connection, but other networks do", async () => {
  const api = await start();
  // In the middle of their headers, so not idle.
  const first = [await open(api), await open(api), await open(api)];
  for (const socket of first) socket.write("GET /page HTTP/1.1\r\n");
  expect(await isServed(await open(api))).toBe(false);
  expect(await isServed(await open(api, "127.0.0.2"))).toBe(true);
  first[0]?.destroy();
  await vi.waitFor(async () => expect(await isServed(await open(api))).toBe(true), 20_000);
});

it("the connection that has been idle longest is closed for a new one, after a second of idle time", async () => {
  const api = await start();
  const first = [await open(api), await open(api), await open(api)];
  for (const socket of first) expect(await isServed(socket)).toBe(true);
  await vi.waitFor(async () => expect(await isServed(await open(api))).toBe(true), 10_000);
  await vi.waitFor(() => expect(first.map(({ closed }) => closed)).toEqual([true, false, false]), 20_000);
});

it("a trusted proxy may have any number of connections", async () => {
  const api = await start(["127.0.0.0/8"]);
  for (let count = 0; count < 10; count += 1) expect(await isServed(await open(api))).toBe(true);
});
