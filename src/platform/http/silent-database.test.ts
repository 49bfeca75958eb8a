/** Responses while the database does not answer: it is frozen, locked, or cut off with an answer under way. */
import { randomUUID } from "node:crypto";
import sql, { raw } from "sql-template-tag";
import { afterEach, describe, expect, test } from "vitest";
import { createRequestDatabase } from "#platform/database/request-database.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { type DatabaseProxy, openDatabaseProxy } from "#test/support/database-proxy.ts";
import { eventually } from "#test/support/eventually.ts";
import { insertVerifiedDomain } from "#test/support/sender-domain.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";

/** The deadline is below five seconds; without it there is no answer at all. */
const ANSWER_MS = 20_000;

let way: DatabaseProxy | undefined;
const service = await startService({
  async requests(url) {
    way = await openDatabaseProxy(url);
    return createRequestDatabase(way.url, { size: 6, name: "silent test", onError: () => {} });
  },
});
const { database, workspaceId, call } = service;
await insertVerifiedDomain(database, createSecrets(SECRET_KEY), workspaceId, "shop.test");
afterEach(() => {
  if (way) way.lost = "nothing";
  way?.thaw();
});

const email = (subject: string) => ({
  to: "ada@example.test",
  from_email: "orders@shop.test",
  subject,
  body: "<p>Hello</p>",
});
const send = (subject: string, key?: string) =>
  call("POST", "/emails/send", email(subject), key ? { headers: { "Idempotency-Key": key } } : {});
const stored = async (subject: string) =>
  (await database.rows(sql`select from messages where subject = ${subject}`)).length;
/** With the time that it took. */
const timed = async <Answer extends { readonly status: number; readonly headers: Headers }>(
  asked: Promise<Answer>,
) => {
  const began = performance.now();
  const { status, headers } = await asked;
  return { status, retryAfter: headers.get("retry-after"), isInTime: performance.now() - began < ANSWER_MS };
};
const refused = { status: 503, retryAfter: "5", isInTime: true };

describe("a frozen database", () => {
  test("is answered with 503 in time by every kind of call, and works after its return", async () => {
    expect((await send("before")).status).toBe(201);
    way?.freeze();
    const answers = await Promise.all(
      [
        send("frozen"),
        call("GET", "/mailing-lists"),
        call("GET", "/stats/chart"),
        call("GET", "/subscribers"),
        call("POST", "/mailing-lists", { name: "Frozen" }),
        call("GET", "/emails/none", undefined, { key: `efk_${"x".repeat(40)}` }),
      ].map(timed),
    );
    expect(answers).toEqual(answers.map(() => refused));
    way?.thaw();
    await eventually("a message to be accepted", async () => (await send("after")).status === 201);
  });

  test("sends nothing twice for a caller with an Idempotency-Key, whenever the database returns", async () => {
    const key = randomUUID();
    await send("warm up");
    way?.freeze();
    expect(await timed(send("with a key", key))).toEqual(refused);
    way?.thaw();
    await eventually("the key to be answered", async () => (await send("with a key", key)).status === 201);
    expect(await stored("with a key")).toBe(1);
  });
});

test("a lost response is replayed for its Idempotency-Key", async () => {
  const key = randomUUID();
  await send("warm up");
  if (way) way.lost = "answers";
  expect(await timed(send("lost answer", key))).toEqual(refused);
  if (way) way.lost = "nothing";
  await eventually("the key to be answered", async () => (await send("lost answer", key)).status === 201);
  expect(await stored("lost answer")).toBe(1);
});

test.each([
  ["messages", () => send("locked")],
  ["idempotency_keys", () => send("locked", randomUUID())],
  ["mailing_lists", () => call("GET", "/mailing-lists")],
  ["subscribers", () => call("GET", "/subscribers")],
  ["api_keys", () => call("GET", "/mailing-lists", undefined, { key: `efk_${"y".repeat(40)}` })],
])(
  "a locked table is answered 503 in time, and no statement goes on waiting for it: %s",
  async (table, ask) => {
    await send("warm up");
    await database.transaction(async (tx) => {
      await tx.run(sql`${raw(`lock table ${table} in access exclusive mode`)}`);
      expect(await timed(ask())).toEqual(refused);
      await eventually("the statement to end", async () => {
        const waiting = await database.rows(sql`
        select from pg_stat_activity where application_name = 'silent test' and wait_event_type = 'Lock'`);
        return waiting.length === 0;
      });
    });
    expect((await ask()).status).not.toBe(503);
    expect(await stored("locked")).toBeLessThanOrEqual(2);
  },
);
