/** Requests that are answered before their body has come: the sockets here announce a megabyte and send none of it. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Type } from "typebox";
import { afterEach, expect, it } from "vitest";
import { endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";

const things: Resource = { name: "things", label: "Things", group: "G" };
const database = await testDatabase();
const answer = Type.Object({});
const common = { summary: "A thing", needs: need(things, "write"), answer, message: "Done" } as const;
const api = await startBareServer(
  database,
  [
    endpoint({
      ...common,
      id: "createThing",
      method: "POST",
      path: "/things",
      body: Type.Object({ name: Type.String() }),
      handle: async () => ({}),
    }),
    endpoint({ ...common, id: "listThings", method: "GET", path: "/things", handle: async () => ({}) }),
    endpoint({
      ...common,
      id: "pauseThing",
      method: "POST",
      path: "/things/{id}/pause",
      handle: async () => ({}),
    }),
    endpoint({
      ...common,
      id: "deleteThing",
      method: "DELETE",
      path: "/things/{id}",
      handle: async () => ({}),
    }),
  ],
  { pages: (pages) => pages.get("/page", async () => "a page") },
);
const workspaceId = await insertBareWorkspace(database);
const key = api.newKey(workspaceId);
const reader = api.newKey(workspaceId, { permissions: ["things:read"] });
const id = "018f0000-0000-7000-8000-000000000000";
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const MEGABYTE = 1024 ** 2;

async function open(request: string, headers: readonly string[]): Promise<Socket> {
  const socket = connect(api.port, "127.0.0.1");
  socket.on("error", () => {});
  sockets.push(socket);
  await once(socket, "connect");
  socket.write([`${request} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n"));
  return socket;
}

/** Until the server has closed the connection. */
async function allOf(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  await once(socket, "close");
  return text;
}

const withKey = (secret: string) => `X-API-Key: ${secret}`;
const json = "Content-Type: application/json";
const megabyte = `Content-Length: ${MEGABYTE}`;

const cases: [what: string, request: string, headers: string[], status: number][] = [
  ["no such path", "POST /nothing", [json], 404],
  ["no such path in the API", "POST /api/v1/nothing", [json, withKey(key)], 404],
  ["no such path in the API, no key", "POST /api/v1/nothing", [json], 401],
  ["no key", "POST /api/v1/things", [json], 401],
  ["an unknown key", "POST /api/v1/things", [json, withKey(`efk_${"x".repeat(40)}`)], 401],
  ["a permission that is missing", "POST /api/v1/things", [json, withKey(reader)], 403],
  ["a wrong method", "PATCH /api/v1/things", [json, withKey(key)], 405],
  ["a wrong method for a page", "POST /page", [json], 405],
  ["a method that no path takes", "PROPFIND /page", [json], 405],
  ["a path that cannot be read", "POST /%zz", [json], 404],
  ["GET", "GET /api/v1/things", [json, withKey(key)], 200],
  ["GET of a page", "GET /page", [json], 200],
  ["DELETE", `DELETE /api/v1/things/${id}`, [json, withKey(key)], 200],
  ["POST to an endpoint that takes no body", `POST /api/v1/things/${id}/pause`, [json, withKey(key)], 200],
  ["a content type that is not taken", "POST /api/v1/things", ["Content-Type: text/xml", withKey(key)], 400],
];

it.each(cases)(
  "%s is answered without the body, and closes the connection",
  async (_what, request, headers, status) => {
    for (const length of [megabyte, "Transfer-Encoding: chunked"]) {
      const text = await allOf(await open(request, [...headers, length]));
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(text.toLowerCase()).toContain("connection: close");
    }
  },
);

it("a client with Expect: 100-continue gets the error and no 100", async () => {
  const text = await allOf(await open("POST /nothing", [json, megabyte, "Expect: 100-continue"]));
  expect(text).toMatch(/^HTTP\/1\.1 404 /);
  expect(text).not.toContain("100 Continue");
});

it("a client with Expect: 100-continue gets 100 if the body is wanted", async () => {
  const socket = await open("POST /api/v1/things", [
    json,
    withKey(key),
    "Content-Length: 12",
    "Expect: 100-continue",
  ]);
  const [first] = await once(socket, "data");
  expect(String(first)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  socket.write('{"name":"x"}');
  const [second] = await once(socket, "data");
  expect(String(second)).toMatch(/^HTTP\/1\.1 200 /);
});

it("a client that reads the response only after sending everything gets it", async () => {
  for (const [caller, size] of [
    [withKey(key), 40],
    ["Accept: */*", 6],
  ] as const) {
    const length = `Content-Length: ${size * MEGABYTE}`;
    const socket = await open("POST /api/v1/nothing", [json, caller, length]);
    socket.pause();
    for (let sent = 0; sent < size; sent += 1) {
      await new Promise((resolve) => socket.write(Buffer.alloc(MEGABYTE, " "), resolve));
    }
    expect(await allOf(socket.resume())).toMatch(/^HTTP\/1\.1 40[14] /);
  }
});

it("a client without a key that keeps sending is disconnected", async () => {
  const socket = await open("POST /nothing", [json, "Transfer-Encoding: chunked"]);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const chunk = `100000\r\n${" ".repeat(MEGABYTE)}\r\n`;
  socket.resume();
  let sent = 0;
  while (!socket.closed && sent < 1_000) {
    await Promise.race([new Promise((resolve) => socket.write(chunk, resolve)), closed]);
    sent += 1;
  }
  await closed;
  expect(sent).toBeLessThan(1_000);
});

it("a small body that nothing reads leaves the connection open for the next request", async () => {
  const socket = await open(`POST /api/v1/things/${id}/pause`, [json, withKey(key), "Content-Length: 2"]);
  socket.write("{}");
  await once(socket, "data");
  socket.write(["GET /api/v1/things HTTP/1.1", "Host: x", withKey(key), "", ""].join("\r\n"));
  const [second] = await once(socket, "data");
  expect(String(second)).toMatch(/^HTTP\/1\.1 200 /);
});
