import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Type } from "typebox";
import { afterEach, beforeEach, expect, test } from "vitest";
import { insertBareWorkspace, startBareServer } from "../../../test/support/bare-server.ts";
import { testDatabase } from "../../../test/support/database.ts";
import { endpoint, need, type Resource } from "./endpoint.ts";

const things: Resource = { name: "things", label: "Things", group: "G" };
const MB = 1024 ** 2;
const database = await testDatabase();
/** What a handler waits for. */
let work: () => Promise<void>;
const api = await startBareServer(
  database,
  [
    endpoint({
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
    }),
  ],
  { largeBodiesBytes: 6 * MB },
);
const key = api.newKey(await insertBareWorkspace(database));
const sockets: Socket[] = [];
beforeEach(() => {
  work = async () => {};
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  // Until the server has noticed.
  while ((await post(4 * MB)).status === 503);
});

const post = (bytes: number) =>
  api.call("POST", "/things", key, JSON.stringify({ name: "x".repeat(bytes - 11) }));

/** Sends headers and waits for the server to have read them; the body does not come. */
async function announce(...headers: string[]): Promise<Socket> {
  const socket = connect(api.port, "127.0.0.1");
  sockets.push(socket);
  const expectation = ["Expect: 100-continue", "Content-Type: application/json", ...headers];
  socket.write(
    ["POST /api/v1/things HTTP/1.1", "Host: x", `X-API-Key: ${key}`, ...expectation, "", ""].join("\r\n"),
  );
  await once(socket, "data");
  return socket;
}

test("large bodies that are being read share a budget: beyond it the answer is 503, and small ones pass", async () => {
  await announce(`Content-Length: ${3 * MB}`);
  const { status, body, headers } = await post(4 * MB);
  expect([status, body.code, headers.get("retry-after")]).toEqual([503, "INTERNAL_ERROR", "1"]);
  expect((await post(3 * MB)).status).toBe(200);
  expect((await post(1 * MB)).status).toBe(200);
});

test("a body that does not say its length counts as the largest", async () => {
  await announce("Transfer-Encoding: chunked");
  expect((await post(3 * MB)).status).toBe(503);
  expect((await post(2 * MB)).status).toBe(200);
});

test("one that announces more than it may have is refused and costs nothing", async () => {
  const calls = await Promise.all([post(4 * MB + 1), post(4 * MB + 1)]);
  expect(calls.map(({ status }) => status)).toEqual([413, 413]);
  expect((await post(4 * MB)).status).toBe(200);
});

test("a request holds its share until it is answered", async () => {
  const finish = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  work = () => {
    started.resolve();
    return finish.promise;
  };
  const slow = post(4 * MB);
  await started.promise;
  expect((await post(4 * MB)).status).toBe(503);
  finish.resolve();
  expect((await slow).status).toBe(200);
});

test("a client that hangs up gives its share back", async () => {
  const socket = await announce(`Content-Length: ${4 * MB}`);
  expect((await post(4 * MB)).status).toBe(503);
  socket.destroy();
  let status = 503;
  while (status === 503) ({ status } = await post(4 * MB));
  expect(status).toBe(200);
});
