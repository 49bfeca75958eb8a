import fc from "fast-check";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { applyDeltas } from "#messages/counters/apply-deltas-store.ts";
import { type Outcome, unclassified } from "#messages/message/outcome.ts";
import { type Engagement, recordEngagements, recordUnsubscribed } from "#messages/record-engagement.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { NewMessage } from "#messages/store.ts";
import { systemClock } from "#platform/clock.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { createReactions } from "#processes/reactions.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { advanceDueCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { plans } from "#workspace/billing/plans.ts";

import { countsByCategory, countsByDomain, countsByIp, countsBySender } from "./breakdowns-store.ts";
import { countsByOrigin, countsOfOrigins, totalsEver } from "./by-origin-store.ts";
import { findReportMiscounts } from "./miscounts-store.ts";
import { countsByDay, totals, totalsSince } from "./totals-store.ts";

const db = await testDatabase();

const outcomeOf = (
  workspaceId: WorkspaceId,
  messageId: string,
  status: Outcome["status"],
  change: Partial<Outcome> = {},
): Outcome => ({
  workspaceId,
  messageId,
  status,
  time: new Date(),
  attempts: 1,
  nextAttemptAt: null,
  detail: "said so",
  mxHost: null,
  code: 550,
  enhancedCode: null,
  isAddressFault: false,
  ...unclassified,
  ...change,
});

const engagementOf = (
  workspaceId: WorkspaceId,
  messageId: string,
  kind: Engagement["kind"],
  change: Partial<Engagement> = {},
): Engagement => ({
  workspaceId,
  messageId,
  kind,
  time: new Date(),
  times: 1,
  linkIndex: kind === "clicked" ? 0 : null,
  target: null,
  userAgent: "A browser",
  machineSign: null,
  ...change,
});

const record = (outcomes: readonly Outcome[]) =>
  db.transaction((tx) => recordOutcomes(tx, outcomes, createReactions(systemClock)), { mayRepeat: true });
const engage = (engagements: readonly Engagement[]) =>
  db.transaction((tx) => recordEngagements(tx, engagements, async () => {}), { mayRepeat: true });

async function accept(
  workspaceId: WorkspaceId,
  to: string,
  change: Partial<NewMessage> = {},
): Promise<string> {
  const accepted = draft(workspaceId, to, change);
  await insertDrafts(db, [accepted]);
  return accepted.message.id;
}

async function foldAll(): Promise<void> {
  while ((await applyDeltas(db, 1_000)) > 0);
}

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);

/** Everything that can be read. */
async function readAll(workspaceId: WorkspaceId) {
  const page = { limit: 1_000, offset: 0 };
  const byOrigin = await countsByOrigin(db, workspaceId, "api", page);
  return {
    totals: await totalsEver(db, workspaceId),
    spans: await totalsSince(db, workspaceId, [3_000, 1_500, 100].map(ago)),
    days: await countsByDay(db, workspaceId, "Asia/Kathmandu", { from: ago(3_000), to: ago(-15) }),
    domains: await countsByDomain(db, workspaceId, null, page),
    senders: await countsBySender(db, workspaceId, null, page),
    ips: await countsByIp(db, workspaceId, null, page),
    categories: await countsByCategory(db, workspaceId, null),
    byOrigin,
    ofOrigins: await countsOfOrigins(
      db,
      workspaceId,
      "api",
      byOrigin.rows.map((row) => row.origin_id),
    ),
  };
}

const origins = [newId(), newId(), null];
const somebody = fc.record({
  name: fc.constantFrom("ada", "bob", "eve"),
  domain: fc.constantFrom("a.test", "b.test"),
  fromEmail: fc.constantFrom("shop@sender.test", "News@Other.test"),
  source: fc.constantFrom("api", "smtp", "platform"),
  originId: fc.constantFrom(...origins),
  minutesAgo: fc.integer({ min: 0, max: 3_000 }),
});
const which = fc.nat(30);
const news = fc.record({
  which,
  status: fc.constantFrom(
    "delivered",
    "deferred",
    "bounced",
    "failed",
    "suppressed",
    "cancelled",
    "complained",
  ),
  minutesAgo: fc.integer({ min: 0, max: 100 }),
  isAddressFault: fc.boolean(),
  sourceIp: fc.constantFrom("192.0.2.1", "2001:db8::1", "fe80::1%eth0", "nonsense", null),
  classification: fc.constantFrom(
    null,
    { type: "block", category: "PolicyRejected" },
    {
      type: "soft",
      category: "MailboxFull",
    },
  ),
  complaint: fc.constantFrom(null, { feedbackType: "fraud", provider: "mail.test" }),
} as const);
const deed = fc.record({
  which,
  kind: fc.constantFrom("opened", "clicked"),
  times: fc.integer({ min: 1, max: 3 }),
  machineSign: fc.constantFrom(null, null, "agent"),
  linkIndex: fc.nat(2),
});
const step = fc.oneof(
  fc.record({ accepted: fc.array(somebody, { minLength: 1, maxLength: 8 }) }),
  fc.record({ news: fc.array(news, { maxLength: 6 }) }),
  fc.record({ deeds: fc.array(deed, { maxLength: 6 }), again: fc.boolean() }),
  fc.record({ left: which }),
  fc.record({ folded: fc.integer({ min: 1, max: 20 }) }),
);

test("whatever happens to messages, counters and notes agree with the log, folded or not", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const workspaceId = await insertBareWorkspace(db);
      const ids: string[] = [];
      const idOf = (at: number) => ids[at % Math.max(1, ids.length)] ?? newId();
      const once = <One extends { readonly which: number }>(all: readonly One[]) => [
        ...new Map(all.map((one) => [idOf(one.which), one])),
      ];
      for (const one of steps) {
        if ("accepted" in one) {
          const drafts = one.accepted.map(({ name, domain, minutesAgo, ...change }) =>
            draft(workspaceId, `${name}@${domain}`, { ...change, createdAt: ago(minutesAgo) }),
          );
          await insertDrafts(db, drafts);
          ids.push(...drafts.map(({ message }) => message.id));
        } else if ("news" in one) {
          await record(
            once(one.news).map(([id, { minutesAgo, which: _which, status, ...change }]) =>
              outcomeOf(workspaceId, id, status, { ...change, time: ago(minutesAgo) }),
            ),
          );
        } else if ("deeds" in one) {
          const deeds = one.deeds.map(({ which: at, kind, ...change }) =>
            engagementOf(workspaceId, idOf(at), kind, change),
          );
          await Promise.all([engage(deeds), one.again ? engage(deeds.toReversed()) : applyDeltas(db, 3)]);
        } else if ("left" in one) await recordUnsubscribed(db, workspaceId, idOf(one.left), new Date());
        else await Promise.all([applyDeltas(db, one.folded), applyDeltas(db, one.folded)]);
      }
      expect(await findReportMiscounts(db)).toEqual([]);
      const before = await readAll(workspaceId);
      await Promise.all([applyDeltas(db, 4), applyDeltas(db, 4)]);
      expect(await readAll(workspaceId)).toEqual(before);
      await foldAll();
      expect(await readAll(workspaceId)).toEqual(before);
      expect(await findReportMiscounts(db)).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

test("several recorders, settlers and folders at once lose nothing and count nothing twice", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const drafts = Array.from({ length: 60 }, (_, at) => draft(workspaceId, `person${at}@a.test`));
  await insertDrafts(db, drafts);
  const ids = drafts.map(({ message }) => message.id);
  const delivered = ids.map((id) => outcomeOf(workspaceId, id, "delivered"));
  await Promise.all([
    record(delivered.slice(0, 40)),
    record(delivered.slice(20).toReversed()),
    applyDeltas(db, 10),
  ]);
  const opened = ids.map((id) => engagementOf(workspaceId, id, "opened"));
  const bounced = ids.slice(0, 10).map((id) => outcomeOf(workspaceId, id, "bounced"));
  await Promise.all([
    engage(opened),
    engage(opened.toReversed()),
    record(bounced.toReversed()),
    applyDeltas(db, 5),
    applyDeltas(db, 5),
  ]);
  expect(await totalsEver(db, workspaceId)).toMatchObject({
    queued: 0,
    delivered: 50,
    bounced: 10,
    soft_bounces: 10,
    opens: 120,
    unique_opens: 60,
  });
  await foldAll();
  expect(await findReportMiscounts(db)).toEqual([]);
});

test("a message counts when it was accepted, a bounce when it came", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const at = (time: string) => new Date(`2026-03-${time}:00Z`);
  const id = await accept(workspaceId, "ada@a.test", { createdAt: at("01T10:05") });
  await record([outcomeOf(workspaceId, id, "delivered", { time: at("01T10:06") })]);
  await record([outcomeOf(workspaceId, id, "bounced", { time: at("04T18:20"), isAddressFault: true })]);
  const from = at("01T00:00");
  // In Kathmandu a day begins there.
  const begin = at("04T18:15");
  const days = await countsByDay(db, workspaceId, "Asia/Kathmandu", { from, to: at("08T00:00") });
  expect(days).toMatchObject([
    { date: "2026-03-01", queued: 0, delivered: 0, bounced: 1, hard_bounces: 0 },
    { date: "2026-03-05", queued: 0, delivered: 0, bounced: 0, hard_bounces: 1 },
  ]);
  const came = { bounced: 0, hard_bounces: 1 };
  expect(await totals(db, workspaceId, { from: begin, to: null })).toMatchObject(came);
  expect(await totals(db, workspaceId, { from, to: begin })).toMatchObject({ bounced: 1, hard_bounces: 0 });
});

test("a campaign's messages are counted as it reaches its audience", async () => {
  const workspaceId = await insertBareWorkspace(db);
  await verifyShop(db, workspaceId);
  const list = await newList(db, workspaceId);
  await addPeople(
    db,
    workspaceId,
    list,
    ["ada@a.test", "bob@a.test", "eve@b.test"].map((email) => ({ email })),
  );
  const id = await newCampaign(db, workspaceId, list);
  await db.run(sql`update campaigns set status = 'sending', sent_at = now() where id = ${id}`);
  await advanceDueCampaigns(
    { db, clock: systemClock, plans },
    new AbortController().signal,
    createLog("silent"),
  );
  const page = { limit: 10, offset: 0 };
  const { rows } = await countsByDomain(db, workspaceId, new Date(), page);
  expect(rows).toMatchObject([
    { domain: "a.test", queued: 2 },
    { domain: "b.test", queued: 1 },
  ]);
  expect(await countsByOrigin(db, workspaceId, "campaign", page)).toMatchObject({
    total: 1,
    rows: [{ origin_id: id, queued: 3 }],
  });
  expect(await findReportMiscounts(db)).toEqual([]);
});

test("an address of ours has all whose last attempt was made from it, also what was put off, and what comes back later", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const sourceIp = "192.0.2.7";
  const id = await accept(workspaceId, "ada@a.test");
  await record([outcomeOf(workspaceId, id, "deferred", { sourceIp: "192.0.2.8" })]);
  const page = { limit: 10, offset: 0 };
  await foldAll();
  // A message without an attempt leaves the counters of its source address unchanged.
  await record([outcomeOf(workspaceId, id, "deferred")]);
  expect(await countsByIp(db, workspaceId, null, page)).toMatchObject({
    rows: [{ source_ip: "192.0.2.8", deferred: 1 }],
    total: 1,
  });
  await record([outcomeOf(workspaceId, id, "delivered", { sourceIp })]);
  await foldAll();
  await record([outcomeOf(workspaceId, id, "complained")]);
  expect(await countsByIp(db, workspaceId, null, page)).toMatchObject({
    rows: [{ source_ip: sourceIp, queued: 0, deferred: 0, delivered: 0, complained: 1 }],
    total: 1,
  });
});

test("the largest domains come first, and a page behind the last still has the total", async () => {
  const workspaceId = await insertBareWorkspace(db);
  for (const to of ["a@small.test", "a@large.test", "b@large.test"]) await accept(workspaceId, to);
  const first = await countsByDomain(db, workspaceId, new Date(), { limit: 1, offset: 0 });
  expect(first).toMatchObject({ total: 2, rows: [{ domain: "large.test", queued: 2 }] });
  const behind = await countsByDomain(db, workspaceId, new Date(), { limit: 1, offset: 2 });
  expect(behind).toEqual({ total: 2, rows: [] });
});

test("nothing of another workspace is counted", async () => {
  const [ours, theirs] = [await insertBareWorkspace(db), await insertBareWorkspace(db)];
  await accept(theirs, "ada@a.test");
  const id = await accept(theirs, "bob@a.test");
  await record([outcomeOf(ours, id, "delivered")]);
  await engage([engagementOf(ours, id, "opened")]);
  const nothing = await readAll(await insertBareWorkspace(db));
  expect(await readAll(ours)).toEqual(nothing);
});

test("a log that was shortened lowers no counter and is no miscount; a wrong counter is", async () => {
  const workspaceId = await insertBareWorkspace(db);
  await accept(workspaceId, "ada@a.test", { createdAt: new Date("2026-01-10T10:00:00Z") });
  await foldAll();
  const before = await totalsEver(db, workspaceId);
  await db.run(sql`delete from messages where created_at < '2026-02-01'`);
  expect(await totalsEver(db, workspaceId)).toEqual(before);
  expect(await findReportMiscounts(db)).toEqual([]);
  const soon = new Date(Date.now() + 2 * 86_400_000);
  await accept(workspaceId, "bob@a.test", { createdAt: soon });
  await foldAll();
  await db.run(
    sql`update report_quarters set delivered = 1 where workspace_id = ${workspaceId} and quarter > ${new Date()}`,
  );
  expect(await findReportMiscounts(db)).toMatchObject([{ counter: "delivered", kept: 1, counted: 0 }]);
  await db.run(sql`delete from messages`);
});
