import { connect, type Socket } from "node:net";
import { Type } from "typebox";
import { afterEach, expect, test } from "vitest";
import { endpoint } from "#platform/http/endpoint.ts";
import { httpLimits } from "#platform/limits/http-limits.ts";
import { type BareServer, insertBareWorkspace, startBareServer } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { EventReader } from "#test/support/event-reader.ts";
import { eventually } from "#test/support/eventually.ts";
import { type EventSink, EventStream, eventStreamShape, eventText } from "./event-stream.ts";

const database = await testDatabase();
const workspaceId = await insertBareWorkspace(database);
const sinks: EventSink[] = [];
const sockets: Socket[] = [];
let ended = 0;
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  sinks.length = 0;
  ended = 0;
});

const watch = endpoint({
  id: "watchThings",
  method: "GET",
  path: "/watch",
  summary: "Watch",
  needs: "authenticated",
  answer: eventStreamShape("Events.", { thing: Type.Object({}) }),
  handle: async () =>
    new EventStream((sink) => {
      sinks.push(sink);
      sink.onEnd(() => {
        ended += 1;
      });
    }),
});
const gate = Promise.withResolvers<void>();
let discarded = 0;
const watchLate = endpoint({
  id: "watchLate",
  method: "GET",
  path: "/watch-late",
  summary: "Watch late",
  needs: "authenticated",
  answer: eventStreamShape("Events.", { thing: Type.Object({}) }),
  handle: async () => {
    await gate.promise;
    return new EventStream(
      (sink) => void sinks.push(sink),
      () => {
        discarded += 1;
      },
    );
  },
});
const large = endpoint({
  id: "getLarge",
  method: "GET",
  path: "/large",
  summary: "Large",
  needs: "authenticated",
  answer: Type.String(),
  message: "Large",
  handle: async () => "x".repeat(100_000),
});

const start = (options: Parameters<typeof startBareServer>[2] = {}) =>
  startBareServer(database, [watch, watchLate, large], options);
const open = (api: BareServer) =>
  EventReader.open(`${api.url}/api/v1/watch`, { key: api.newKey(workspaceId) });

/** A connection that asks for the stream and reads nothing. */
async function unread(api: BareServer): Promise<Socket> {
  const socket = connect(api.port, "127.0.0.1").pause();
  sockets.push(socket);
  socket.on("error", () => {});
  socket.write(`GET /api/v1/watch HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.newKey(workspaceId)}\r\n\r\n`);
  await eventually("the stream", async () => sinks.length > 0);
  return socket;
}

test("a quiet stream has a comment now and then", async () => {
  const api = await start({ patience: { heartbeatMs: 50 } });
  const reader = await open(api);
  await eventually("two comments", async () => reader.comments.length >= 2);
  reader.close();
});

test("a stream that comes after its deadline is discarded, and one that comes in time is not", async () => {
  const api = await start({ databaseMs: 200 });
  const answer = await api.call("GET", "/watch-late", api.newKey(workspaceId));
  expect([answer.status, discarded]).toEqual([503, 0]);
  gate.resolve();
  await eventually("the end of the late stream", async () => discarded === 1);
  const reader = await EventReader.open(`${api.url}/api/v1/watch-late`, { key: api.newKey(workspaceId) });
  expect([reader.response.status, sinks.length, discarded]).toEqual([200, 1, 1]);
  reader.close();
});

test("a reader that does not keep up is cut off, and its events are not collected", async () => {
  const api = await start();
  await unread(api);
  const event = eventText("thing", JSON.stringify("x".repeat(60_000)));
  await eventually("the cut", async () => {
    for (const sink of sinks) sink.send(event);
    return ended === 1;
  });
  expect(process.memoryUsage().external).toBeLessThan(500 * 1024 ** 2);
});

test("the server stops at once although streams are open, and says so in them", async () => {
  const api = await start();
  const readers = [await open(api), await open(api)];
  await eventually("the streams", async () => sinks.length === 2);
  await unread(api);
  const from = performance.now();
  await api.server.close();
  expect(performance.now() - from).toBeLessThan(5_000);
  for (const reader of readers) {
    expect((await reader.next("end")).data).toEqual({ reason: "stopping" });
    await eventually("the end", async () => reader.hasEnded);
  }
});

test("open streams take nothing of the limit on unread answers", async () => {
  const limits = { unsentOfNetwork: { ...httpLimits.unsentOfNetwork, most: 200_000 } };
  const api = await start({ limits });
  const readers = await Promise.all(Array.from({ length: 20 }, () => open(api)));
  const { status } = await api.call("GET", "/large", api.newKey(workspaceId));
  expect(status).toBe(200);
  for (const reader of readers) reader.close();
});

test("a stream that is read is not cut off, however long it lives", async () => {
  const api = await start({ patience: { unreadMs: 2_000, requestMs: 1_500, headersMs: 1_000, checkMs: 50 } });
  const reader = await open(api);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  for (const sink of sinks) sink.send(eventText("thing", "{}"));
  expect((await reader.next("thing")).data).toEqual({});
  reader.close();
});

test("a duration in the metrics ends with the headers, not with the stream", async () => {
  const seconds: number[] = [];
  const api = await start({
    onAnswer: (operation, _status, one) => void (operation === "watchThings" && seconds.push(one)),
  });
  const begun = performance.now();
  const readers = [await open(api), await open(api)];
  const opening = (performance.now() - begun) / 1_000;
  await new Promise((resolve) => setTimeout(resolve, 200));
  readers[0]?.close();
  for (const sink of sinks) sink.end();
  await eventually("the end", async () => readers[1]?.hasEnded);
  expect(seconds).toHaveLength(2);
  expect(Math.max(...seconds)).toBeLessThanOrEqual(opening);
});
