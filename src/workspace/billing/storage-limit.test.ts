import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ensurePartitions } from "#messages/partitions/create-partitions.ts";
import { removeOldPartitions } from "#messages/partitions/retention.ts";
import type { NewMessage } from "#messages/store.ts";
import { systemClock } from "#platform/clock.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createAcceptor } from "#sending/acceptance/acceptor.ts";
import { apiCaller, type CallApi } from "#test/support/api-caller.ts";
import { draft } from "#test/support/drafts.ts";
import { idOfTime } from "#test/support/id-of-time.ts";
import { startService } from "#test/support/service.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { settleAccount } from "./meter.ts";
import { plans as shipped } from "./plans.ts";
import { readPlans } from "./plans-file.ts";
import { addContents, measureBytes, removeDroppedDays } from "./storage-store.ts";

const LIMIT = 100_000;
/** No attachments, as a campaign stores them. */
const EMPTY_LIST = 5;
const file = {
  free: { storage: { bytes: LIMIT, subscribers: 3, suppression_entries: 3 } },
  growth: { storage: { bytes: 10 * 1024 ** 3 } },
};
const plans = readPlans(file);
const folder = await mkdtemp(join(tmpdir(), "posthaste-plans-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const plansFile = join(folder, "plans.json");
await writeFile(plansFile, JSON.stringify(file));
const service = await startService({ env: { PLANS_FILE: plansFile } });
const { database: db } = service;
let workspaceId: WorkspaceId;
let call: CallApi;

const setPlan = (plan: "free" | "growth" | "enterprise") =>
  changeWorkspace(db, workspaceId, { plan }, { clock: systemClock, plans });

beforeEach(async () => {
  const made = await service.newWorkspace();
  ({ workspaceId } = made);
  call = apiCaller(() => service.url, made.key);
  await setPlan("free");
});

const acceptor = createAcceptor({ db, clock: systemClock, plans, onCommitted: () => {} });
const accept = (bytes: number, change: Partial<NewMessage> = {}) =>
  acceptor.accept(draft(workspaceId, "ada@a.test", { html: "x".repeat(bytes), ...change }));
const storage = async () => (await call("GET", "/billing/overview")).body.data.storage;
const refusal = { code: "PLAN_LIMIT_REACHED" };

/** What is really there, of messages that the workspace pays for. */
async function truth(): Promise<number> {
  const row = await db.row<{ bytes: number }>(sql`
    select ((select coalesce(sum(coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0)
        + (select coalesce(sum(length(a ->> 'content')), 0) from jsonb_array_elements(coalesce(attachments, '[]')) a)), 0)
      from message_contents c join messages m on m.workspace_id = c.workspace_id and m.id = c.message_id
      where c.workspace_id = ${workspaceId} and m.source <> 'platform')
      + (select coalesce(sum(octet_length(raw)), 0) from submissions where workspace_id = ${workspaceId}))::bigint as bytes`);
  return row?.bytes ?? 0;
}
const counted = async () => (await measureBytes(db, [workspaceId])).get(workspaceId)?.messages;

describe("contents of messages", () => {
  test("are accepted up to the limit; only what goes beyond it is refused, and nothing accepted is lost", async () => {
    await accept(60_000);
    await expect(accept(60_000)).rejects.toMatchObject({
      code: "PLAN_LIMIT_REACHED",
      message: expect.stringMatching(
        /plan Free allows 97.7 KiB .* 58.6 KiB are stored.*takes 58.6 KiB.*bigger plan/s,
      ),
    });
    await accept(30_000);
    expect(await storage()).toMatchObject({ bytes: { used: 90_000, limit: LIMIT } });
    expect(await truth()).toBe(90_000);
  });

  test("that arrive together are accepted as far as there is room, however many there are", async () => {
    const answers = await Promise.allSettled(Array.from({ length: 40 }, () => accept(9_000)));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(11);
    expect([await counted(), await truth()]).toEqual([99_000, 99_000]);
  });

  test("are noted far from the limit, and added up when the meter is read", async () => {
    await setPlan("growth");
    await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
    await accept(60_000);
    await accept(70_000);
    expect(
      await db.rows(sql`select bytes from meter_entries where workspace_id = ${workspaceId} order by bytes`),
    ).toEqual([{ bytes: 60_000 }, { bytes: 70_000 }]);
    await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
    expect(await db.rows(sql`select bytes from content_days where workspace_id = ${workspaceId}`)).toEqual([
      { bytes: 130_000 },
    ]);
    expect(await counted()).toBe(130_000);
  });

  test("are counted as they are stored: letters, attachments, a submission once, not what is suppressed or ours", async () => {
    await setPlan("enterprise");
    const { body } = await call("POST", "/suppression-lists", { name: "Out", suppression_scope: "global" });
    await call("POST", `/suppression-lists/${body.data.id}/entries`, { entries: "gone@a.test" });
    const attachment = {
      filename: "a.txt",
      content: Buffer.from("a file").toString("base64"),
      content_type: "text/plain",
      disposition: "attachment",
      content_id: null,
    } as const;
    await accept(0, { html: "żółw 🐢", text: "żółw", attachments: [attachment] });
    const submission = { id: newId(), raw: Buffer.from("Subject: Hello\r\n\r\nHello\r\n") };
    const people = ["ada@a.test", "bob@a.test", "gone@a.test"];
    await acceptor.acceptTogether(people.map((to) => draft(workspaceId, to, { html: null, submission })));
    await acceptor.accept(draft(workspaceId, "gone@a.test", { html: "never stored" }));
    await accept(500, { source: "platform" });
    await Promise.all(["gone@a.test", "ada@a.test"].map((to) => acceptor.accept(draft(workspaceId, to))));
    expect(await counted()).toBe(await truth());
    await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
    expect(await counted()).toBe(await truth());
  });

  test("of a day that got no partition count until the retention has removed them", async () => {
    await setPlan("growth");
    const day = new Date("2029-06-15T12:00:00Z");
    const id = idOfTime(day);
    await accept(5_000, { id, createdAt: day });
    await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
    const later = new Date("2029-08-01T00:00:00Z");
    await removeDroppedDays(db, later);
    expect([await counted(), await truth()]).toEqual([5_000, 5_000]);
    await db.run(sql`delete from delivery_queue`);
    await removeOldPartitions(db, { contents: 30, log: null }, later);
    await removeDroppedDays(db, later);
    expect([await counted(), await truth()]).toEqual([0, 0]);
  });

  test("that the retention has dropped make room", async () => {
    const old = new Date("2030-01-15T00:00:00Z");
    await ensurePartitions(db, old);
    await db.transaction((tx) => addContents(tx, [{ workspaceId, time: old, bytes: 70_000 }]));
    await expect(accept(60_000)).rejects.toMatchObject({ code: "PLAN_LIMIT_REACHED" });
    const later = new Date("2030-08-01T00:00:00Z");
    await removeDroppedDays(db, later);
    expect(await counted()).toBe(70_000);
    await db.run(sql`delete from delivery_queue`);
    await removeOldPartitions(db, { contents: 30, log: null }, later);
    await removeDroppedDays(db, later);
    expect(await counted()).toBe(0);
    await accept(60_000);
  });
});

describe("drafts", () => {
  const campaign = async (bytes: number, name = "News") => ({
    name,
    subject: "Hello",
    from_email: "news@shop.example.com",
    message_type: "email",
    recipient_type: "mailing_list",
    mailing_list_id: (await call("POST", "/mailing-lists", { name })).body.data.id,
    html_content: `<p>${"x".repeat(bytes)}</p>`,
  });
  beforeEach(async () => {
    await call("POST", "/sending-domains", { domain: "shop.example.com" });
    await db.run(sql`update sending_domains set is_verified = true, verified_at = now()`);
    await db.run(sql`delete from domain_claims`);
  });

  test("count; one that goes beyond the limit is refused, and deleting one frees its room", async () => {
    const first = await call("POST", "/campaigns", await campaign(60_000));
    expect(first.status).toBe(201);
    const id = first.body.data.id;
    const second = await call("POST", "/campaigns", await campaign(60_000));
    expect([second.status, second.body]).toMatchObject([402, refusal]);
    expect([(await call("POST", `/campaigns/${id}/duplicate`)).status]).toEqual([402]);
    expect((await call("PUT", `/campaigns/${id}`, await campaign(120_000))).status).toBe(402);
    expect((await call("GET", `/campaigns/${id}`)).body.data.html_content).toHaveLength(60_007);
    await expect(accept(60_000)).rejects.toMatchObject({ code: "PLAN_LIMIT_REACHED" });
    expect(await storage()).toMatchObject({ bytes: { used: 60_007 + EMPTY_LIST, limit: LIMIT } });
    expect((await call("DELETE", `/campaigns/${id}`)).status).toBe(200);
    expect(await storage()).toMatchObject({ bytes: { used: 0 } });
    await accept(60_000);
  });

  test("of a workspace above its limit may become smaller, and stay as large as they are", async () => {
    await setPlan("enterprise");
    const { body } = await call("POST", "/campaigns", await campaign(150_000));
    await setPlan("free");
    const path = `/campaigns/${body.data.id}`;
    expect((await call("PUT", path, await campaign(150_000))).status).toBe(200);
    expect((await call("PUT", path, await campaign(150_001))).status).toBe(402);
    expect((await call("PUT", path, await campaign(120_000))).status).toBe(200);
    expect((await storage()).bytes.used).toBeLessThan(120_100);
  });

  test("of autoresponders count as well", async () => {
    const list = (await call("POST", "/mailing-lists", { name: "News" })).body.data.id;
    const body = (bytes: number) => ({
      name: "Welcome",
      mailing_list_id: list,
      from_email: "news@shop.example.com",
      trigger: { type: "subscribed" },
      steps: [{ delay: { days: 1 }, subject: "Hello", html_content: "x".repeat(bytes) }],
    });
    const made = await call("POST", "/autoresponders", body(60_000));
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    expect((await call("POST", "/autoresponders", body(60_000))).status).toBe(402);
  });

  test("are at most ten thousand campaigns", async () => {
    await setPlan("enterprise");
    const first = await call("POST", "/campaigns", await campaign(10));
    await db.run(sql`
      insert into campaigns (workspace_id, id, name, subject, from_email, message_type, recipient_type,
        use_custom_headers, created_at, updated_at)
      select workspace_id, gen_random_uuid(), name, subject, from_email, message_type, recipient_type, false, now(), now()
      from campaigns, generate_series(1, 9999) where id = ${first.body.data.id}`);
    const beyond = await call("POST", "/campaigns", await campaign(10));
    expect([beyond.status, beyond.body.error]).toEqual([400, expect.stringContaining("10000 campaigns")]);
  });
});

describe("rows", () => {
  test("of subscribers are bounded; those who are known may join other lists", async () => {
    const lists = await Promise.all(
      ["One", "Two"].map(async (name) => (await call("POST", "/mailing-lists", { name })).body.data.id),
    );
    const add = (list: string, email: string) =>
      call("POST", `/mailing-lists/${list}/subscribers`, { email }).then(({ status }) => status);
    for (const name of ["a", "b", "c"]) expect(await add(lists[0], `${name}@a.test`)).toBe(201);
    expect(await add(lists[0], "d@a.test")).toBe(402);
    expect(await add(lists[1], "a@a.test")).toBe(201);
    expect(await storage()).toMatchObject({ subscribers: { used: 3, limit: 3 } });
  });

  test("of suppression entries are bounded for what callers add", async () => {
    const { body } = await call("POST", "/suppression-lists", { name: "Out", suppression_scope: "global" });
    const add = (entries: string) => call("POST", `/suppression-lists/${body.data.id}/entries`, { entries });
    expect((await add("a@a.test b@a.test".replace(" ", "\n"))).status).toBe(201);
    expect((await add("c@a.test\nd@a.test")).body).toMatchObject(refusal);
    expect(await storage()).toMatchObject({ suppression_entries: { used: 2, limit: 3 } });
    expect((await add("c@a.test")).status).toBe(201);
  });
});

test("a file that does not fit is refused before a job starts", async () => {
  const list = (await call("POST", "/mailing-lists", { name: "News" })).body.data.id;
  const form = new FormData();
  form.append("csvFile", new Blob([`Email\n${"ada@a.test\n".repeat(10_000)}`]), "people.csv");
  const refused = await call("POST", `/mailing-lists/${list}/subscribers/import-async`, form);
  expect([refused.status, refused.body]).toMatchObject([402, refusal]);
  expect((await call("GET", "/jobs")).body.data.jobs).toEqual([]);
});

test("Enterprise has no limit, and each smaller plan less than the next", () => {
  expect(shipped.enterprise.storage).toEqual({ bytes: null, subscribers: null, suppression_entries: null });
  const { free, growth, scale } = shipped;
  for (const kind of ["bytes", "subscribers", "suppression_entries"] as const) {
    const figures = [free, growth, scale].map((plan) => Number(plan.storage[kind]));
    expect(figures).toEqual(figures.toSorted((a, b) => a - b));
  }
});
