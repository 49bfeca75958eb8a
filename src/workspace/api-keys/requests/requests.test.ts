import { expect, test } from "vitest";
import type { KeyAnswer } from "#platform/http/server.ts";
import { firstIdAt, newId, nilId, type WorkspaceId } from "#platform/ids.ts";
import { forgetOld } from "#platform/jobs/forget-old.ts";
import { createLog } from "#platform/log/log.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { testDatabase } from "#test/support/database.ts";
import { startService } from "#test/support/service.ts";
import { RequestLog } from "./request-log.ts";
import {
  insertRequests,
  listRequests,
  REQUEST_DAYS,
  type RecordedRequest,
  removeOldRequests,
} from "./store.ts";

const service = await startService();
const { call, workspaceId } = service;

interface Row {
  readonly id: string;
  readonly operation: string | null;
  readonly status: number;
  readonly key_id: string;
  readonly request_id: string;
}

async function keyIdOf(name: string): Promise<string> {
  const { body } = await call("GET", "/api-keys");
  return body.data.find((key: { name: string }) => key.name === name).id;
}

const requests = async (query: string): Promise<Row[]> =>
  (await call("GET", `/api-keys/requests?${query}`)).body.data;

test("each request of a key is listed with what it asked and how it was answered, newest first", async () => {
  const mine = apiCaller(() => service.url, await service.newKey(["campaigns:read"], "Shop"));
  const id = await keyIdOf("Shop");
  const ids = [
    await mine("GET", "/campaigns"),
    await mine("GET", `/campaigns/${nilId}`),
    await mine("POST", "/emails/send", {}),
    await mine("GET", "/no/such/path"),
  ].map(({ headers }) => headers.get("x-request-id"));
  await expect.poll(() => requests(`key_id=${id}`), { timeout: 30_000 }).toHaveLength(4);
  const rows = await requests(`key_id=${id}`);
  expect(rows.map(({ operation, status }) => [operation, status])).toEqual([
    [null, 404],
    ["sendEmail", 403],
    ["getCampaign", 404],
    ["listCampaigns", 200],
  ]);
  expect(rows.map(({ request_id }) => request_id)).toEqual(ids.toReversed());
  expect(rows[0]).toMatchObject({ key_id: id, key_name: "Shop", left_out: 0, ms: expect.any(Number) });

  const found = async (query: string) =>
    (await requests(`key_id=${id}&${query}`)).map(({ status }) => status);
  expect(await found("status=4xx")).toEqual([404, 403, 404]);
  expect(await found("status=403")).toEqual([403]);
  expect(await found("operation=listCampaigns")).toEqual([200]);
  expect(await found("from=2999-01-01")).toEqual([]);
  expect(await found("to=2999-01-01&limit=1")).toEqual([404]);
  const first = (await call("GET", `/api-keys/requests?key_id=${id}&limit=3`)).body;
  expect(await found(`limit=3&after=${first.next_cursor}`)).toEqual([200]);
});

test("requests of people and of callers without a valid key are not listed", async () => {
  const person = await service.newPerson(["*:*"]);
  await person.call("GET", "/mailing-lists");
  await call("GET", "/mailing-lists", undefined, { key: `efk_${"x".repeat(40)}` });
  await call("GET", "/mailing-lists?marker=1");
  await expect.poll(() => requests("operation=listMailingLists"), { timeout: 30_000 }).toHaveLength(1);
});

test("another workspace sees none of them", async () => {
  const other = await service.newWorkspace();
  const theirs = apiCaller(() => service.url, other.key);
  const { body } = await theirs("GET", "/api-keys/requests");
  expect(body.data).toEqual([]);
});

test.each([
  ["status=", 200],
  ["status=0xx", 400],
  ["status=40", 400],
  ["status=4xx%00", 400],
  ["operation=noSuchOperation", 400],
  ["operation=__proto__", 400],
  ["key_id=1", 400],
  [`key_id=${nilId}`, 200],
  ["from=yesterday-ish", 400],
  ["after=abc", 400],
])("the filter %s answers %i", async (query, status) => {
  expect((await call("GET", `/api-keys/requests?${query}`)).status).toBe(status);
});

const request = (change: Partial<KeyAnswer> = {}): KeyAnswer => ({
  workspaceId,
  keyId: nilId,
  operation: "sendEmail",
  status: 200,
  ms: 3,
  requestId: "r",
  ...change,
});

function logWith(write: (written: readonly RecordedRequest[]) => Promise<unknown>) {
  let now = 0;
  const log = new RequestLog({ write, monotonicMs: () => now, log: createLog("silent") });
  const pass = (ms: number) => {
    now += ms;
  };
  return { log, pass };
}

test("a flood of a key is recorded in part, its failures apart, and the next row counts the others", async () => {
  const written: RecordedRequest[] = [];
  const { log, pass } = logWith(async (rows) => written.push(...rows));
  for (let n = 0; n < 1_000; n++) log.note(request());
  log.note(request({ status: 403 }));
  await log.flush();
  expect(written.map(({ status }) => status)).toEqual([...Array(200).fill(200), 403]);
  pass(6_000);
  log.note(request());
  log.note(request());
  await log.flush();
  expect(written.slice(201)).toMatchObject([{ leftOut: 800 }]);
});

test("many keys of one workspace cannot record without end, and take nothing from another workspace", async () => {
  const written: RecordedRequest[] = [];
  const { log } = logWith(async (rows) => written.push(...rows));
  for (let n = 0; n < 5_000; n++) log.note(request({ keyId: newId() }));
  log.note(request({ workspaceId: newId() as WorkspaceId }));
  await log.flush();
  const mine = written.filter((row) => row.workspaceId === workspaceId);
  expect([mine.length, written.length - mine.length]).toEqual([1_000, 1]);
});

test("successes of many keys leave out no failure of the workspace", async () => {
  const written: RecordedRequest[] = [];
  const { log } = logWith(async (rows) => written.push(...rows));
  for (let n = 0; n < 2_000; n++) log.note(request({ keyId: newId() }));
  log.note(request({ status: 403 }));
  await log.flush();
  expect(written.filter(({ status }) => status === 403)).toMatchObject([{ leftOut: 0 }]);
});

test("rows that cannot be written are lost, and the next ones are written", async () => {
  const written: RecordedRequest[] = [];
  let isBroken = true;
  const { log } = logWith(async (rows) => {
    if (isBroken) throw new Error("no database");
    written.push(...rows);
  });
  log.note(request());
  await log.flush();
  isBroken = false;
  log.note(request({ requestId: "later" }));
  await log.flush();
  expect(written.map(({ requestId }) => requestId)).toEqual(["later"]);
});

test("requests are deleted after seven days", async () => {
  const db = await testDatabase();
  const at = (days: number) => firstIdAt(new Date(service.clock.now().getTime() - days * DAY_MS));
  const row = (id: string) => ({ ...request(), id, leftOut: 0 });
  await insertRequests(db, [row(at(8)), row(at(6))]);
  const { signal } = new AbortController();
  const retention = { name: "requests", days: REQUEST_DAYS, remove: removeOldRequests };
  await forgetOld({ db, clock: service.clock }, retention).run({ signal, log: createLog("silent") });
  const filter = {
    keyId: undefined,
    operation: undefined,
    status: undefined,
    from: undefined,
    to: undefined,
  };
  expect(await listRequests(db, workspaceId, filter, { limit: 9 })).toMatchObject([{ id: at(6) }]);
});
