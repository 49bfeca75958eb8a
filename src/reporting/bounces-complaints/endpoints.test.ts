import { parse } from "csv-parse/sync";
import sql, { raw } from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { applyDeltas } from "#messages/counters/apply-deltas-store.ts";
import { type Outcome, unclassified } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { NewMessage } from "#messages/store.ts";
import { newId } from "#platform/ids.ts";
import { createReactions } from "#processes/reactions.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { draft } from "#test/support/drafts.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";

const service = await startService();
const { database: db, clock } = service;

const now = new Date("2026-06-15T12:07:00Z");
clock.set(now);
const minutes = (count: number) => count * 60_000;
const days = (count: number) => minutes(count * 24 * 60);
const ago = (ms: number) => new Date(now.getTime() - ms);

interface Told extends Partial<Outcome> {
  readonly to?: string;
  readonly message?: Partial<NewMessage>;
}

/** A workspace of its own, its API, and a way to have messages that came to something. */
async function newScene() {
  const { workspaceId, key } = await service.newWorkspace();
  const call = apiCaller(() => service.url, key);
  const send = async (status: Outcome["status"], acceptedAt: Date, time: Date, told: Told = {}) => {
    const { to = `${newId()}@a.test`, message = {}, ...change } = told;
    const accepted = draft(workspaceId, to, { createdAt: acceptedAt, ...message });
    await insertDrafts(db, [accepted]);
    const { id: messageId } = accepted.message;
    if (status === "complained")
      await tell({ workspaceId, messageId, status: "delivered", time: acceptedAt });
    await tell({ workspaceId, messageId, status, time, ...change });
    return messageId;
  };
  const get = async (path: string) => {
    const { status, body } = await call("GET", path);
    expect(status, body.error).toBe(200);
    return typeof body === "string" ? body : body.data;
  };
  return { workspaceId, get, send };
}

const tell = (news: Partial<Outcome> & Pick<Outcome, "workspaceId" | "messageId" | "status" | "time">) => {
  const plain = {
    attempts: 1,
    nextAttemptAt: null,
    detail: "550 5.1.1 No such user",
    mxHost: null,
    code: 550,
  };
  const outcome: Outcome = {
    ...plain,
    enhancedCode: "5.1.1",
    isAddressFault: false,
    ...unclassified,
    ...news,
  };
  return db.transaction((tx) => recordOutcomes(tx, [outcome], createReactions(clock)));
};

const csv = (text: string): Record<string, string>[] => parse(text, { columns: true });

const dashboard = "/bounces-complaints/dashboard";
const hard = { classification: { type: "hard", category: "NoEmail" } } as const;
const block = { classification: { type: "block", category: "Reputation" } } as const;

test("a workspace without mail has noughts and empty lists", async () => {
  const { get } = await newScene();
  expect(await get(dashboard)).toEqual({
    window_days: 30,
    bounce_stats: {
      total_bounces: 0,
      hard_bounces: 0,
      soft_bounces: 0,
      block_bounces: 0,
      bounce_rate: 0,
      last_24_hours: 0,
      last_7_days: 0,
      last_30_days: 0,
    },
    complaint_stats: {
      total_complaints: 0,
      complaint_rate: 0,
      last_24_hours: 0,
      last_7_days: 0,
      last_30_days: 0,
    },
    bounce_trends: [],
    complaint_trends: [],
    top_bounce_domains: [],
    complaint_sources: [],
  });
  for (const list of ["bounces", "complaints"]) {
    const answer = await get(`/${list}`);
    expect(answer).toEqual({
      [list]: [],
      pagination: { page: 1, limit: 50, total: 0, total_pages: 0, next_cursor: null },
    });
  }
});

test("spans keep their length whatever the window, and begin to the minute", async () => {
  const { get, send } = await newScene();
  for (const age of [
    days(1) - minutes(1),
    days(1) + minutes(1),
    days(7) + minutes(1),
    days(30) + minutes(1),
  ]) {
    await send("bounced", ago(age), ago(age));
    await send("complained", ago(age), ago(age));
  }
  const spans = { last_24_hours: 1, last_7_days: 2, last_30_days: 3 };
  for (const isFolded of [false, true]) {
    if (isFolded) await applyDeltas(db, 1_000);
    for (const window of [1, 30, 365]) {
      const { bounce_stats, complaint_stats } = await get(`${dashboard}?window_days=${window}`);
      expect(bounce_stats).toMatchObject({ total_bounces: 4, soft_bounces: 4, ...spans });
      expect(complaint_stats).toMatchObject({ total_complaints: 4, ...spans });
    }
  }
});

test("trends and top lists follow the window, to the minute, and add up", async () => {
  const { get, send } = await newScene();
  await send("bounced", ago(days(2)), ago(days(2) - minutes(1)), { to: "a@in.test", ...hard });
  await send("bounced", ago(days(2)), ago(days(2) + minutes(1)), { to: "a@out.test", ...hard });
  await send("bounced", ago(days(2)), ago(minutes(5)), { to: "b@in.test", ...block });
  await send("bounced", ago(days(2)), ago(minutes(5)), { to: "a@also.test" });
  await send("complained", ago(days(3)), ago(minutes(3)), { message: { source: "smtp" } });
  await send("complained", ago(days(3)), ago(days(1)));
  await send("complained", ago(days(3)), ago(days(1)));
  for (const isFolded of [false, true]) {
    if (isFolded) await applyDeltas(db, 1_000);
    expect(await get(`${dashboard}?window_days=2`)).toMatchObject({
      window_days: 2,
      bounce_trends: [
        { date: "2026-06-13", hard: 1, soft: 0, block: 0, total: 1 },
        { date: "2026-06-15", hard: 0, soft: 1, block: 1, total: 2 },
      ],
      complaint_trends: [
        { date: "2026-06-14", total: 2 },
        { date: "2026-06-15", total: 1 },
      ],
      top_bounce_domains: [
        { domain: "in.test", count: 2, percent: 66.67 },
        { domain: "also.test", count: 1, percent: 33.33 },
      ],
      complaint_sources: [
        { source: "api", count: 2, percent: 66.67 },
        { source: "smtp", count: 1, percent: 33.33 },
      ],
    });
  }
});

test("rates are of the messages accepted in the window", async () => {
  const { get, send } = await newScene();
  await send("bounced", ago(days(10)), ago(minutes(1)));
  for (const status of ["delivered", "delivered", "failed", "suppressed", "complained"] as const) {
    await send(status, ago(minutes(60)), ago(minutes(50)));
  }
  await send("bounced", ago(minutes(60)), ago(minutes(50)));
  const { bounce_stats, complaint_stats } = await get(`${dashboard}?window_days=1`);
  expect(bounce_stats.bounce_rate).toBeCloseTo(1 / 5, 5);
  expect(complaint_stats.complaint_rate).toBeCloseTo(1 / 3, 5);
});

test("days are those of the workspace's time zone", async () => {
  const { workspaceId, get, send } = await newScene();
  await changeWorkspace(db, workspaceId, { timezone: "Asia/Kathmandu" }, { clock, plans });
  const late = new Date("2026-06-13T18:20:00Z");
  await send("bounced", late, late);
  const { bounce_trends } = await get(dashboard);
  expect(bounce_trends).toMatchObject([{ date: "2026-06-14", total: 1 }]);
});

test.each(["0", "366", "-1", "abc", "7.5", "", "1e2", "%00", "999999999999999999999"])(
  "window_days=%s falls back to 30, and says so",
  async (bad) => {
    const { get } = await newScene();
    expect((await get(`${dashboard}?window_days=${bad}`)).window_days).toBe(30);
  },
);

test("365 days are the longest window", async () => {
  const { get, send } = await newScene();
  await send("bounced", ago(days(365) - minutes(1)), ago(days(365) - minutes(1)));
  const answer = await get(`${dashboard}?window_days=365`);
  expect(answer).toMatchObject({ window_days: 365, bounce_trends: [{ total: 1 }] });
});

test("bounces are listed newest first, with what is known of each", async () => {
  const { workspaceId, get, send } = await newScene();
  const campaignId = newId();
  const message = { source: "campaign", originId: campaignId, originName: "Spring" } as const;
  const old = await send("bounced", ago(days(400)), ago(days(400)), { to: "Bob@b.test", message, ...hard });
  const late = await send("delivered", ago(days(2)), ago(days(2)), { to: "eve@a.test" });
  await send("complained", ago(days(2)), ago(days(1)), { to: "ann@a.test" });
  expect((await get("/bounces")).pagination.total).toBe(1);
  await tell({ workspaceId, messageId: late, status: "bounced", time: ago(minutes(1)), code: null });
  const { bounces, pagination } = await get("/bounces");
  expect(pagination).toEqual({ page: 1, limit: 50, total: 2, total_pages: 1, next_cursor: null });
  expect(bounces).toMatchObject([
    { message_id: late, email: "eve@a.test", bounce_type: "soft", category: "Undetermined", smtp_code: null },
    {
      id: expect.any(String),
      message_id: old,
      email: "Bob@b.test",
      domain: "b.test",
      bounce_type: "hard",
      category: "NoEmail",
      smtp_code: 550,
      enhanced_code: "5.1.1",
      error_message: "550 5.1.1 No such user",
      source: "campaign",
      campaign_id: campaignId,
      origin_name: "Spring",
      created_at: ago(days(400)).toISOString(),
    },
  ]);
});

test("complaints are listed newest first, with what the report said", async () => {
  const { get, send } = await newScene();
  const complaint = { feedbackType: "fraud", provider: "mail.test" };
  const first = await send("complained", ago(days(2)), ago(days(2)), { to: "ada@a.test", complaint });
  const second = await send("complained", ago(days(2)), ago(days(1)));
  const { complaints, pagination } = await get("/complaints");
  expect(pagination.total).toBe(2);
  expect(complaints).toMatchObject([
    { message_id: second, feedback_type: "abuse", provider: null, source: "api", campaign_id: null },
    { message_id: first, email: "ada@a.test", feedback_type: "fraud", provider: "mail.test" },
  ]);
});

test.each(["bounced", "complained"] as const)(
  "pages of %s messages are bounded, and deep ones empty",
  async (status) => {
    const { get, send } = await newScene();
    const [path, list] = status === "bounced" ? ["/bounces", "bounces"] : ["/complaints", "complaints"];
    const ids: string[] = [];
    for (const age of [1, 2, 3]) ids.push(await send(status, ago(days(age)), ago(days(age))));
    const second = await get(`${path}?page=2&limit=2`);
    expect(second.pagination).toEqual({ page: 2, limit: 2, total: 3, total_pages: 2, next_cursor: null });
    expect(second[list].map((row: { message_id: string }) => row.message_id)).toEqual([ids[2]]);
    expect((await get(`${path}?page=1000000000&limit=200`))[list]).toEqual([]);
    expect((await get(`${path}?page=x&limit=201`)).pagination).toMatchObject({ page: 1, limit: 200 });
    expect((await get(`${path}?page=0&limit=-3`)).pagination).toMatchObject({ page: 1, limit: 50 });
  },
);

describe("filters", () => {
  test("of bounces select by type, cause, code, domain, campaign and time, alone and together", async () => {
    const { get, send } = await newScene();
    const campaign_id = newId();
    const message = { source: "campaign", originId: campaign_id, originName: "Spring" } as const;
    await send("bounced", ago(days(9)), ago(days(9)), { to: "bob@b.test", message, ...hard });
    await send("bounced", ago(days(5)), ago(days(5)), { to: "eve@b.test", code: 554, ...block });
    await send("bounced", ago(days(1)), ago(days(1)), { to: "ann@a.test", code: null });
    const found = async (filter: string) => {
      const { bounces, pagination } = await get(`/bounces?${filter}`);
      expect(pagination).toMatchObject({ total: bounces.length, total_is_exact: true });
      return bounces.map(({ email }: { email: string }) => email.split("@")[0]).join();
    };
    expect(await found("bounce_type=hard")).toBe("bob");
    expect(await found("category=Reputation")).toBe("eve");
    expect(await found("smtp_code=554")).toBe("eve");
    expect(await found("domain=B.test")).toBe("eve,bob");
    expect(await found(`campaign_id=${campaign_id}`)).toBe("bob");
    expect(await found(`from=${ago(days(5)).toISOString()}`)).toBe("ann,eve");
    expect(await found(`to=${ago(days(5)).toISOString()}`)).toBe("bob");
    expect(await found("domain=b.test&bounce_type=hard&smtp_code=550")).toBe("bob");
    expect(await found("domain=b.test&category=MailboxFull")).toBe("");
  });

  test("of complaints select by domain, type, campaign and time", async () => {
    const { get, send } = await newScene();
    const complaint = { feedbackType: "fraud", provider: null };
    await send("complained", ago(days(3)), ago(days(3)), { to: "bob@b.test", complaint });
    await send("complained", ago(days(3)), ago(days(1)), { to: "ann@a.test" });
    const found = async (filter: string) => (await get(`/complaints?${filter}`)).complaints.length;
    expect(await found("feedback_type=fraud")).toBe(1);
    expect(await found("domain=a.test")).toBe(1);
    expect(await found(`from=${ago(days(2)).toISOString()}`)).toBe(1);
    expect(await found(`campaign_id=${newId()}`)).toBe(0);
  });

  test.each([
    ["/bounces?category=Cats", "category"],
    ["/bounces?smtp_code=42", "smtp_code"],
    ["/bounces?campaign_id=1", "campaign_id"],
    ["/complaints?from=soon", "from"],
    ["/bounces/export?bounce_type=warm", "bounce_type"],
  ])("that are wrong are refused: %s", async (path, field) => {
    const { status, body } = await service.call("GET", path);
    expect(status).toBe(400);
    expect(body.details).toMatchObject([{ field }]);
  });
});

describe.each([
  ["bounces", "bounced"],
  ["complaints", "complained"],
] as const)("%s", (list, status) => {
  test("are paged with a cursor: rows of one moment come once each, and new ones move nothing", async () => {
    const { get, send } = await newScene();
    const at = ago(days(2));
    const ids = await Promise.all(
      [1, 2, 3, 4, 5].map(() => send(status, at, at, { to: `${newId()}@c.test` })),
    );
    const seen: string[] = [];
    for (let after = ""; ; ) {
      const page = await get(`/${list}?limit=2&domain=c.test${after}`);
      seen.push(...page[list].map((row: { message_id: string }) => row.message_id));
      await send(status, ago(minutes(1)), ago(minutes(1)), { to: `${newId()}@c.test` });
      if (page.pagination.next_cursor === null) break;
      after = `&after=${page.pagination.next_cursor}`;
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    const { pagination } = await get(`/${list}?limit=1`);
    const other = await service.call("GET", `/${list}?domain=c.test&after=${pagination.next_cursor}`);
    expect(other.body).toMatchObject({ code: "VALIDATION_ERROR", details: [{ field: "after" }] });
  });

  test("are downloaded as CSV with the same filters, more than the file reads at once", async () => {
    const { workspaceId, get, send } = await newScene();
    const campaign_id = newId();
    const message = { source: "campaign", originId: campaign_id, originName: "=1+1" } as const;
    const id = await send(status, ago(days(1)), ago(days(1)), { to: "ann@a.test", message });
    await db.run(sql`
      insert into ${raw(list)} select (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid(),
        'localpart', 'copy', 'campaign_id', null, 'created_at', b.created_at + make_interval(secs => n)))).*
      from ${raw(list)} b, generate_series(1, 1100) n where b.workspace_id = ${workspaceId}`);
    const whole = csv(await get(`/${list}/export`));
    expect(whole).toHaveLength(1101);
    expect(new Set(whole.map((row) => row.id)).size).toBe(1101);
    const [row, ...others] = csv(await get(`/${list}/export?campaign_id=${campaign_id}`));
    expect(others).toEqual([]);
    expect(row).toMatchObject({ email: "ann@a.test", message_id: id, campaign_id, origin_name: "'=1+1" });
  });
});

test("nothing is seen of another workspace, nor without the permission", async () => {
  const theirs = await newScene();
  await theirs.send("bounced", ago(days(1)), ago(days(1)));
  await theirs.send("complained", ago(days(1)), ago(days(1)));
  const { get } = await newScene();
  expect((await get("/bounces")).pagination.total).toBe(0);
  expect((await get("/complaints")).pagination.total).toBe(0);
  expect((await get(dashboard)).bounce_stats.last_30_days).toBe(0);
  const key = await service.newKey(["campaigns:read"]);
  const call = apiCaller(() => service.url, key);
  for (const path of ["/bounces", "/complaints", dashboard]) {
    expect((await call("GET", path)).status).toBe(403);
  }
});
