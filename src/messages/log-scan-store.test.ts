import sql from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import { unclassified } from "#messages/message/outcome.ts";
import { newId } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { startService } from "#test/support/service.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";
import { MOST_SCANNED } from "./log-scan-store.ts";
import { recordOutcomes } from "./record-outcomes.ts";

const service = await startService();
const { call, database, workspaceId } = service;
const key = newId();

/** The local parts of the messages that a filter finds. */
async function found(query: string): Promise<string[]> {
  const { status, body } = await call("GET", `/messages?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.data.pagination.total).toBe(body.data.messages.length);
  return body.data.messages.map(({ localpart }: { localpart: string }) => localpart).sort();
}

const at = (time: string) => new Date(`2026-03-${time}Z`);

beforeAll(async () => {
  const drafts = [
    draft(workspaceId, "ada@one.example", { subject: "Your RECEIPT 100%", createdAt: at("01T10:00") }),
    draft(workspaceId, "bob@two.example", { originId: key, requestId: "req-7", createdAt: at("01T11:00") }),
    draft(workspaceId, "eve@xn--bcher-kva.example", {
      fromEmail: "Desk@Shop.Test",
      createdAt: at("02T10:00"),
    }),
    draft(workspaceId, "kim@one.example", { source: "smtp", subject: "Alert", createdAt: at("03T10:00") }),
  ].map((one, number) => {
    // Ids carry the time, as those of acceptance do.
    const id = `${newIdAt(one.message.createdAt)}-7000-8000-00000000000${number}`;
    return { ...one, message: { ...one.message, id } };
  });
  await insertDrafts(database, drafts);
  const outcome = (index: number, more: object) => ({
    ...unclassified,
    workspaceId,
    messageId: drafts[index]?.message.id ?? "",
    time: at("04T10:00"),
    attempts: 1,
    nextAttemptAt: null,
    detail: "said the server",
    mxHost: null,
    code: null,
    enhancedCode: null,
    isAddressFault: false,
    ...more,
  });
  const record = (...outcomes: ReturnType<typeof outcome>[]) =>
    database.transaction((tx) => recordOutcomes(tx, outcomes as never, nobodyElse));
  await record(
    outcome(0, { status: "deferred", code: 421, enhancedCode: "4.7.28" }),
    outcome(1, { status: "bounced", code: 550, enhancedCode: "5.1.1" }),
    outcome(2, { status: "delivered", code: 250, enhancedCode: "2.0.0" }),
  );
  await record(outcome(0, { status: "delivered", attempts: 2, code: 250 }));
});

const newIdAt = (time: Date) =>
  time
    .getTime()
    .toString(16)
    .padStart(12, "0")
    .replace(/^(.{8})/, "$1-");

test.each([
  ["subject=receipt", ["ada"]],
  ["subject=100%25", ["ada"]],
  ["subject=100_", []],
  ["domain=ONE.example", ["ada", "kim"]],
  ["domain=b%C3%BCcher.example", ["eve"]],
  ["domain=example", []],
  ["from_email=desk@shop.test", ["eve"]],
  ["from_email=desk@shop", []],
  [`origin_id=${key}`, ["bob"]],
  ["request_id=req-7", ["bob"]],
  ["request_id=REQ-7", []],
  ["code=550", ["bob"]],
  ["code=421", ["ada"]],
  ["code=4.7.28", ["ada"]],
  ["code=250", ["ada", "eve"]],
  ["code=551", []],
  ["accepted_from=2026-03-01T11:00:00Z", ["bob", "eve", "kim"]],
  ["accepted_before=2026-03-01T11:00:00Z", ["ada"]],
  ["accepted_from=2026-03-02&accepted_before=2026-03-03", ["eve"]],
  ["domain=one.example&source=smtp", ["kim"]],
  ["domain=one.example&status=delivered", ["ada"]],
  ["domain=one.example&status=queued", ["kim"]],
  ["domain=one.example&email=ada@one.example", ["ada"]],
  ["domain=two.example&email=ada@one.example", []],
  ["subject=alert&email=kim@one.example", ["kim"]],
  ["subject=alert&email=im@one", ["kim"]],
  ["code=250&email=ada@one.example&status=delivered", ["ada"]],
])("GET /messages?%s finds exactly %j", async (query, people) => {
  expect(await found(query)).toEqual(people);
});

test("a row names its subject, its sender and its origin", async () => {
  const { body } = await call("GET", "/messages?request_id=req-7");
  expect(body.data.messages).toMatchObject([
    { subject: "Hello", from_email: "shop@sender.test", origin_id: key },
  ]);
});

test("the messages of a campaign are found by its id", async () => {
  const { campaignId, mails } = await sentCampaign(database, workspaceId, {
    base: service.url,
    people: 3,
    deliveredAt: new Date(),
  });
  const { body } = await call("GET", `/messages?origin_id=${campaignId}&limit=2`);
  expect(body.data.pagination).toMatchObject({ total: mails.length });
  const rest = await call(
    "GET",
    `/messages?origin_id=${campaignId}&limit=2&after=${body.data.pagination.next_cursor}`,
  );
  expect(rest.body.data.messages).toHaveLength(1);
  expect(rest.body.data.pagination.next_cursor).toBeNull();
});

test.each([
  ["code=55", "code"],
  ["code=5.1", "code"],
  ["code=1.1.1", "code"],
  ["origin_id=me", "origin_id"],
  ["accepted_from=yesterday", "accepted_from"],
  ["accepted_before=1901-01-01", "accepted_before"],
  [`subject=${"x".repeat(201)}`, "subject"],
])("GET /messages?%s is refused by name", async (query, field) => {
  const { status, body } = await call("GET", `/messages?${query}`);
  expect([status, body.code, body.details?.[0]?.field]).toEqual([400, "VALIDATION_ERROR", field]);
});

test("another workspace finds none of them", async () => {
  const other = await service.newWorkspace();
  const { body } = await call("GET", "/messages?domain=one.example", undefined, { key: other.key });
  expect(body.data.messages).toEqual([]);
});

test("a search that stops says where, and its cursor finds the rest", async () => {
  const { workspaceId: many, key: ofMany } = await service.newWorkspace();
  const rows = 2 * MOST_SCANNED + 500;
  await database.run(sql`
    insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, status,
      created_at, updated_at)
    select ${many}, (lpad(to_hex(${Date.UTC(2026, 2, 1)}::bigint + number), 12, '0') || '70008' || lpad(to_hex(number), 15, '0'))::uuid,
      'api', 'Key', 'shop@sender.test', 'p' || number, 'a.test', case when number % 5000 = 1 then 'Needle' else 'Hay' end,
      'delivered', timestamptz '2026-03-01Z' + number * interval '1 ms', now()
    from generate_series(1, ${rows}::int) number`);
  const seen: string[] = [];
  let calls = 0;
  let since: unknown = "first";
  for (let cursor: string | null = ""; cursor !== null; calls += 1) {
    const { body } = await call("GET", `/messages?subject=needle&limit=1&after=${cursor}`, undefined, {
      key: ofMany,
    });
    seen.push(...body.data.messages.map(({ localpart }: { localpart: string }) => localpart));
    since = body.data.searched_since;
    cursor = body.data.pagination.next_cursor;
  }
  expect(seen).toEqual(["p20001", "p15001", "p10001", "p5001", "p1"]);
  expect(since).toBeNull();
  expect(calls).toBeLessThan(9);
});

test("a search for a person's delivered mail is not cut short by mail that waits for others", async () => {
  const { workspaceId: many, key: ofMany } = await service.newWorkspace();
  await database.run(sql`
    insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, status,
      created_at, updated_at)
    select ${many}, (lpad(to_hex(${Date.UTC(2026, 2, 1)}::bigint + number), 12, '0') || '70008' || lpad(to_hex(number), 15, '0'))::uuid,
      'api', 'Key', 'shop@sender.test', case when number = 1 then 'ada' else 'p' end,
      'a.test', 'Hello', case when number = 1 then 'delivered' else 'queued' end,
      timestamptz '2026-03-01Z' + number * interval '1 ms', now()
    from generate_series(1, ${MOST_SCANNED + 10}::int) number`);
  const ask = async (status: string) => {
    const query = `email=ada@a.test&subject=hello${status}`;
    const { body } = await call("GET", `/messages?${query}`, undefined, { key: ofMany });
    return { found: body.data.messages.length, isComplete: body.data.searched_since === null };
  };
  expect(await ask("&status=delivered")).toEqual({ found: 1, isComplete: true });
  expect(await ask("")).toEqual({ found: 0, isComplete: false });
});
