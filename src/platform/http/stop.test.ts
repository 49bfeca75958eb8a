import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Type } from "typebox";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type BareServer, insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { endpoint, need, type Resource } from "./endpoint.ts";
import { fileField } from "./request/uploads.ts";

const things: Resource = { name: "things", label: "Things", group: "G" };
const database = await testDatabase();
const workspaceId = await insertBareWorkspace(database);
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-unfinished-"));
afterAll(() => rm(dataDir, { recursive: true, force: true }));
const lying = () => readdir(join(dataDir, "uploads")).catch(() => []);
/** A stop that waited for its clients would take as long as their patience. */
const QUICK_MS = 5_000;
let handled: string[];
let work: Promise<void>;
let api: BareServer;
let key: string;

const common = {
  method: "POST",
  needs: need(things, "write"),
  answer: Type.Object({}),
  message: "Made",
} as const;
const createThing = endpoint({
  ...common,
  id: "createThing",
  path: "/things",
  summary: "Make a thing",
  body: Type.Object({ name: Type.String() }),
  async handle({ body }) {
    handled.push(body.name);
    await work;
    return {};
  },
});
const importThings = endpoint({
  ...common,
  id: "importThings",
  path: "/things/import",
  summary: "Import things",
  body: Type.Object({ csvFile: fileField("The things.") }),
  bodyLimit: 40_000_000,
  async handle({ body }) {
    handled.push(body.csvFile.name);
    return {};
  },
});

beforeEach(async () => {
  handled = [];
  work = Promise.resolve();
  api = await startBareServer(database, [createThing, importThings], { dataDir });
  key = api.newKey(workspaceId);
});

/** Sends this much of a request, whatever its headers announce. */
async function begin(path: string, type: string, length: number, body: string): Promise<Socket> {
  const socket = connect(api.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  write(socket, path, type, length, body);
  return socket;
}

function write(socket: Socket, path: string, type: string, length: number, body: string): void {
  const headers = ["Host: x", `X-API-Key: ${key}`, `Content-Length: ${length}`, `Content-Type: ${type}`];
  socket.write([`POST /api/v1${path} HTTP/1.1`, ...headers, "", body].join("\r\n"));
}

async function stop(): Promise<number> {
  const begun = performance.now();
  await api.server.close();
  return performance.now() - begun;
}

const refusal = /^HTTP\/1\.1 503 .*connection: close\r\n.*"success":false.*The service is stopping/is;

test("when the service stops, a stalled upload gets 503 and its file is deleted", async () => {
  const opening = '--x\r\nContent-Disposition: form-data; name="csvFile"; filename="a.csv"\r\n\r\nemail\r\n';
  const socket = await begin("/things/import", "multipart/form-data; boundary=x", 40_000_000, opening);
  await eventually("the file to be begun", async () => (await lying()).length === 1);
  const answer = text(socket);
  expect(await stop()).toBeLessThan(QUICK_MS);
  expect(await answer).toMatch(refusal);
  expect(await lying()).toEqual([]);
  expect(handled).toEqual([]);
});

test("when the service stops, an endless upload gets 503, too", async () => {
  const opening = '--x\r\nContent-Disposition: form-data; name="csvFile"; filename="a.csv"\r\n\r\nemail\r\n';
  const socket = await begin("/things/import", "multipart/form-data; boundary=x", 40_000_000, opening);
  await eventually("the file to be begun", async () => (await lying()).length === 1);
  const trickle = setInterval(() => socket.write("a"), 50);
  const answer = text(socket);
  expect(await stop()).toBeLessThan(QUICK_MS);
  clearInterval(trickle);
  expect(await answer).toMatch(refusal);
});

test("when the service stops, any other incomplete body gets 503", async () => {
  const socket = await begin("/things", "application/json", 1_000, '{"name":');
  await eventually("the request to be read", async () => socket.bytesWritten > 0);
  // A request after it has been answered, so this one has been begun.
  await api.call("POST", "/things", key, { name: "whole" });
  const answer = text(socket);
  expect(await stop()).toBeLessThan(QUICK_MS);
  expect(await answer).toMatch(refusal);
  expect(handled).toEqual(["whole"]);
});

test("when the service stops, it does not wait for incomplete headers", async () => {
  const socket = connect(api.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write("POST /api/v1/things HTTP/1.1\r\nHost: x\r\n");
  await api.call("POST", "/things", key, { name: "whole" });
  expect(await stop()).toBeLessThan(QUICK_MS);
});

test("when the service stops, complete requests are handled and answered", async () => {
  const finish = Promise.withResolvers<void>();
  work = finish.promise;
  const body = '{"name":"whole"}';
  const socket = await begin("/things", "application/json", body.length, body);
  await eventually("the work to begin", async () => handled.length === 1);
  const answer = text(socket);
  const stopped = stop();
  finish.resolve();
  await stopped;
  expect(await answer).toMatch(/^HTTP\/1\.1 200 .*"success":true/s);
});

test("when the service stops, complete pipelined requests are handled and answered", async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const body = '{"name":"whole"}';
  work = first.promise;
  const socket = await begin("/things", "application/json", body.length, body);
  await eventually("the first work to begin", async () => handled.length === 1);
  work = second.promise;
  let answers = "";
  socket.on("data", (data) => {
    answers += data;
  });
  write(socket, "/things", "application/json", body.length, body);
  first.resolve();
  await eventually("the first answer", async () => answers.includes("200"));
  await eventually("the second work to begin", async () => handled.length === 2);
  const ended = once(socket, "close");
  const stopped = stop();
  await eventually("the stop to begin", async () => !api.server.server.listening);
  second.resolve();
  await ended;
  expect(await stopped).toBeLessThan(QUICK_MS);
  expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
});
