import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeEach, expect, test } from "vitest";
import { KeptConnections } from "./kept-connections.ts";
import { type OutgoingRequest, outgoingRequest } from "./outgoing-request.ts";

const opened: Socket[] = [];
let answer: RequestListener = (_request, response) => response.end("ok");
const server = createServer((request, response) => answer(request, response));
server.on("connection", (socket) => opened.push(socket));
server.listen(0, "0.0.0.0");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  opened.length = 0;
  answer = (_request, response) => response.end("ok");
});

function ask(connections: KeptConnections, changes: Partial<OutgoingRequest> = {}, host = "hooks.test") {
  const request: OutgoingRequest = {
    method: "POST",
    headers: {},
    addresses: ["127.0.0.1"],
    deadline: AbortSignal.timeout(20_000),
    body: "x",
    connections,
    ...changes,
  };
  return outgoingRequest(new URL(`http://${host}:${port}/`), request, async (response) =>
    (await buffer(response)).toString(),
  );
}

test("requests to one host use one connection, one after the other", async () => {
  const connections = new KeptConnections();
  for (let time = 0; time < 3; time++) expect(await ask(connections)).toBe("ok");
  expect(opened).toHaveLength(1);
  await ask(connections, {}, "other.test");
  expect(opened).toHaveLength(2);
});

test("a connection is not used when the host leads to other addresses", async () => {
  const connections = new KeptConnections();
  await ask(connections);
  await ask(connections, { addresses: ["127.0.0.2"] });
  expect(opened.map(({ localAddress }) => localAddress)).toEqual(["127.0.0.1", "127.0.0.2"]);
  await ask(connections, { addresses: ["127.0.0.1"] });
  expect(opened).toHaveLength(2);
});

test("without kept connections each request has its own, which is closed", async () => {
  await outgoingRequest(
    new URL(`http://hooks.test:${port}/`),
    { method: "GET", headers: {}, addresses: ["127.0.0.1"], deadline: AbortSignal.timeout(20_000) },
    buffer,
  );
  const [socket] = opened;
  if (socket && !socket.closed) await once(socket, "close");
  expect(opened).toHaveLength(1);
});

test("a request is sent again when the kept connection breaks, and not when a new one does", async () => {
  const connections = new KeptConnections();
  const known = new Set<Socket>();
  answer = (request, response) => {
    if (known.has(request.socket)) request.socket.destroy();
    else response.end("ok");
    known.add(request.socket);
  };
  expect([await ask(connections), await ask(connections)]).toEqual(["ok", "ok"]);
  expect(opened).toHaveLength(2);
  answer = (request) => request.socket.destroy();
  await expect(ask(connections, {}, "broken.test")).rejects.toThrow("socket hang up");
  expect(opened).toHaveLength(3);
});

test("an answer that was not read to its end closes the connection", async () => {
  const connections = new KeptConnections();
  answer = (_request, response) => void response.write("x");
  const request = outgoingRequest(
    new URL(`http://hooks.test:${port}/`),
    {
      method: "GET",
      headers: {},
      addresses: ["127.0.0.1"],
      deadline: AbortSignal.timeout(20_000),
      connections,
    },
    async (response) => response.statusCode,
  );
  expect(await request).toBe(200);
  const [socket] = opened;
  if (socket && !socket.closed) await once(socket, "close");
  expect(connections.idleCount).toBe(0);
});

test("the deadline of a request that has ended does not end the next one on its connection", async () => {
  const connections = new KeptConnections();
  const first = new AbortController();
  await ask(connections, { deadline: first.signal });
  answer = (_request, response) => {
    first.abort();
    void setImmediate().then(() => response.end("late"));
  };
  expect(await ask(connections)).toBe("late");
  expect(opened).toHaveLength(1);
});

test("beyond the bound, the connection that has been idle longest is closed", async () => {
  const connections = new KeptConnections(2);
  for (const host of ["a.test", "b.test", "c.test"]) await ask(connections, {}, host);
  const [oldest] = opened;
  if (oldest && !oldest.closed) await once(oldest, "close");
  expect(connections.idleCount).toBe(2);
  for (const host of ["b.test", "c.test"]) await ask(connections, {}, host);
  expect(opened).toHaveLength(3);
});

test("connections that become idle together are closed beyond the bound, too", async () => {
  const connections = new KeptConnections(1);
  const waiting: (() => void)[] = [];
  answer = (_request, response) => void waiting.push(() => response.end("ok"));
  const asked = Array.from({ length: 20 }, (_, at) => ask(connections, {}, `${at}.test`));
  while (waiting.length < 20) await once(server, "request");
  for (const end of waiting) end();
  await Promise.all(asked);
  await setImmediate();
  expect(connections.idleCount).toBeLessThanOrEqual(1);
});
