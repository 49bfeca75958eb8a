import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import type { AttemptResult } from "#delivery/message/attempt.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { type Decision, UnfitValues } from "#delivery/message/presend-decision.ts";
import { endUnsent, resultOfSmtp } from "#delivery/queue/decide-result.ts";
import { writeResultBatch } from "#delivery/worker/result-writer.ts";
import { recordOutcome } from "#inbound/returns/record-outcome.ts";
import { type OnMoved, suppressingAmong } from "#messages/message/outcome.ts";
import { systemClock } from "#platform/clock.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { findListMiscounts } from "#reporting/counters/list-miscounts-store.ts";
import { expandStep } from "#sending/campaigns/audience/expand.ts";
import { findExpanding } from "#sending/campaigns/audience/expansion-store.ts";
import type { CampaignSettings } from "#sending/campaigns/campaign.ts";
import { countMoved, countRecipients } from "#sending/campaigns/counters/count-outcomes-store.ts";
import { findOriginMiscounts } from "#sending/campaigns/counters/miscounts-store.ts";
import { advanceDueCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { purgeDeletedCampaigns } from "#sending/campaigns/purge-deleted-store.ts";
import { findCampaign, removeCampaign } from "#sending/campaigns/store.ts";
import { cancelCampaign, pauseCampaign, resumeCampaign } from "#sending/campaigns/transitions-store.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { testDatabase } from "#test/support/database.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { plans } from "#workspace/billing/plans.ts";
import { createCampaignMail } from "./campaign-presend-check.ts";
import { findCampaignToSend, listHaltedIds } from "./presend-store.ts";

const db = await testDatabase();
const log = createLog("silent");
let workspaceId: WorkspaceId;
let list: string;
let examine: ReturnType<typeof createCampaignMail>;

beforeEach(async () => {
  await db.run(sql`truncate delivery_queue`);
  await db.run(sql`update campaigns set status = 'cancelled' where status = 'sending'`);
  workspaceId = await insertBareWorkspace(db);
  await verifyShop(db, workspaceId);
  list = await newList(db, workspaceId);
  examine = createCampaignMail({
    db,
    clock: systemClock,
    log,
    linkBase: async () => "https://post.test",
    linksOf: ({ messageId }, base) => ({
      unsubscribe: `${base}/u/${messageId}`,
      view: `${base}/v/${messageId}`,
      viewWith: () => `${base}/v/${messageId}`,
      pixel: `${base}/o/${messageId}`,
      tracked: (index) => `${base}/c/${messageId}/${index}`,
    }),
  });
});

const people = (count: number, domain = "example.test") =>
  addPeople(
    db,
    workspaceId,
    list,
    Array.from({ length: count }, (_, at) => ({ email: `user${at}@${domain}`, first_name: `User${at}` })),
  );
const work = () => advanceDueCampaigns({ db, clock: systemClock, plans }, new AbortController().signal, log);
const begin = async (change: Partial<CampaignSettings> = {}): Promise<string> => {
  const id = await newCampaign(db, workspaceId, list, change);
  await db.run(sql`update campaigns set status = 'sending', sent_at = now() where id = ${id}`);
  await work();
  return id;
};
const lease = async (limit = 250): Promise<LeasedMessage[]> => {
  const { paused: halted } = await listHaltedIds(db);
  return leaseMessages(db, leaseOrder({ priority: 1, limit, bytes: 1e9, halted }));
};
const find = async (id: string) => (await findCampaign(db, workspaceId, id)) ?? expect.fail("no campaign");
const setStatus = (email: string, status: string) =>
  db.run(sql`
    update memberships m set status = ${status} from subscribers s
    where s.workspace_id = ${workspaceId} and s.email = ${email} and m.subscriber_id = s.id`);

/** As the delivery process does it, with the given results in turn. */
async function deliver(results: readonly AttemptResult[], limit = results.length): Promise<void> {
  const messages = await lease(limit);
  const findings = await examine(messages);
  const conclusions = messages.flatMap((message, at) => {
    const finding = findings.get(message.message_id);
    if (finding?.kind === "end") return endUnsent(message, new Date(), finding);
    const result = results[at % results.length];
    return finding?.kind === "email" && result
      ? resultOfSmtp(message, { result, mxHost: "mx" }, new Date(), 0)
      : [];
  });
  await writeResultBatch(db, conclusions, count);
}
const count: OnMoved = async (tx, moved) => {
  await countRecipients(tx, moved, suppressingAmong(moved));
  await countMoved(tx, moved);
};
/** One that was delivered comes back after all. */
async function bounceLate(): Promise<void> {
  const came = await db.row<{ id: string }>(sql`
    select id from messages where workspace_id = ${workspaceId} and status = 'delivered' limit 1`);
  const news = {
    workspaceId,
    messageId: came?.id ?? expect.fail("nothing was delivered"),
    status: "bounced",
    time: new Date(),
    attempts: null,
    nextAttemptAt: null,
    detail: "no such user after all",
    mxHost: null,
    code: 550,
    enhancedCode: "5.1.1",
    isAddressFault: true,
    classification: null,
    complaint: null,
    sourceIp: null,
    tls: null,
  } as const;
  await db.transaction((tx) => recordOutcome(tx, news, count));
}
const accepted = { outcome: "accepted", code: 250, enhanced: "2.0.0", text: "ok" } as const;
const refused = (code: number, enhanced: string) =>
  ({ outcome: "refused", stage: "rcpt", code, enhanced, text: "no" }) as const;
const broken = {
  outcome: "broken",
  stage: "data",
  fault: "closed",
  reason: "reset",
  dataSent: false,
} as const;
const ours = {
  outcome: "unroutable",
  status: "failed",
  enhanced: "5.3.0",
  reason: "internal error",
} as const;

const contentOf = (finding: Decision | undefined) =>
  finding?.kind === "email" ? finding.content() : expect.fail("nothing is written");

describe("a leased message of a campaign", () => {
  test.each(["plan_limit_reached", "insufficient_balance"] as const)(
    "that is paid for goes out while the campaign waits for money (%s)",
    async (reason) => {
      await people(3);
      const id = await begin();
      await db.transaction((tx) => pauseCampaign(tx, workspaceId, id, reason, new Date()));
      await deliver([accepted], 3);
      expect(await find(id)).toMatchObject({ pause_reason: reason, sent_count: 3, delivered_count: 3 });
    },
  );

  test("is written with its recipient's values and an unsubscribe link, and no body is stored", async () => {
    await people(1);
    await begin({ reply_to: "ask@shop.test", use_custom_headers: true, custom_headers: "X-Team: Spring" });
    const [message] = await lease();
    expect(message).toMatchObject({ has_content: false, html: null });
    const content = contentOf((await examine(message ? [message] : [])).get(message?.message_id ?? ""));
    expect(String(content.html)).toContain("Hello User0");
    expect(String(content.text)).toContain("Hello User0");
    expect(Object.fromEntries(content.headers)).toEqual({
      "List-Unsubscribe": `<https://post.test/u/${message?.message_id}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "List-Id": `<${list}.lists.shop.test>`,
      Precedence: "bulk",
      "Reply-To": "ask@shop.test",
      "X-Team": "Spring",
    });
  });

  test("fails for whom its template cannot be rendered, with the sentence that says why", async () => {
    await people(2);
    const loop = '{% if first_name == "User0" %}{% for i in (1..60000) %}x{% endfor %}{% endif %}ok';
    await begin({ html_content: null, text_content: loop });
    const findings = await examine(await lease());
    const texts = [...findings.values()].map((finding) => {
      try {
        return String(contentOf(finding).text).slice(0, 2);
      } catch (error) {
        return error;
      }
    });
    expect(texts).toContainEqual("ok");
    expect(texts).toContainEqual(
      new UnfitValues(
        "text_content, with this person's values: This could not be rendered: it takes too many steps: its loops run too often.",
      ),
    );
  });

  test.each([
    [
      "has the name and reply-to of its list, as they were when sending began",
      {},
      "The list",
      "list@shop.test",
    ],
    ["has its own instead", { from_name: "Shop", reply_to: "ask@shop.test" }, "Shop", "ask@shop.test"],
  ])("%s", async (_promise, own, fromName, replyTo) => {
    const listSender = (name: string, email: string) =>
      db.run(sql`update mailing_lists set from_name = ${name}, reply_to_email = ${email} where id = ${list}`);
    await people(1);
    await listSender("The list", "list@shop.test");
    await begin({ from_name: null, ...own });
    await listSender("Renamed", "other@shop.test");
    const messages = await lease();
    const content = contentOf((await examine(messages)).get(messages[0]?.message_id ?? ""));
    expect([content.fromName, Object.fromEntries(content.headers)["Reply-To"]]).toEqual([fromName, replyTo]);
  });

  test("carries the campaign's attachments, of which there is one copy", async () => {
    await people(2);
    const id = await begin({
      attachments: [
        {
          filename: "a.txt",
          content: Buffer.from("x".repeat(90)).toString("base64"),
          content_type: "text/plain",
          disposition: "attachment",
          content_id: null,
          size: 90,
        },
      ],
    });
    const messages = await lease();
    const batches = [await examine(messages.slice(0, 1)), await examine(messages.slice(1))];
    const [first, second] = messages.map(
      ({ message_id }, at) => contentOf(batches[at]?.get(message_id)).attachments,
    );
    expect(Buffer.from(String(first?.[0]?.encoded), "base64").toString()).toBe("x".repeat(90));
    expect(second?.[0]?.encoded).toBe(first?.[0]?.encoded);
    expect(messages[0]?.bytes).toBeGreaterThan(120);
    expect(await findCampaignToSend(db, workspaceId, id)).not.toHaveProperty("attachments");
  });

  test("is made in steps of which the first alone reads the content", async () => {
    await people(3);
    const id = await newCampaign(db, workspaceId, list);
    await db.run(sql`update campaigns set status = 'sending', sent_at = now() where id = ${id}`);
    const read = () => findExpanding(db, workspaceId, id);
    const before = await read();
    expect(before?.html_content).toContain("Hello");
    await expandStep({ db, clock: systemClock, plans, size: 2 }, workspaceId, id);
    const after = await read();
    expect(after).toMatchObject({ html_content: null, text_content: null, bytes: before?.bytes });
    expect(Object.keys(after ?? {})).not.toContain("attachments");
  });

  test.each([
    ["unsubscribed", () => setStatus("user0@example.test", "unsubscribed"), "The subscriber is unsubscribed"],
    ["bounced", () => setStatus("user0@example.test", "bounced"), "The subscriber is bounced"],
    ["complained", () => setStatus("user0@example.test", "complained"), "The subscriber is complained"],
    [
      "were suppressed for this list",
      async () => {
        await db.run(sql`
          with l as (
            insert into suppression_lists (workspace_id, id, name, suppression_scope, mailing_list_id, created_at, updated_at)
            values (${workspaceId}, gen_random_uuid(), 'Never', 'mailing_list', ${list}, now(), now()) returning id
          )
          insert into suppression_entries (workspace_id, suppression_list_id, id, entry_value, normalized_value, entry_type,
            reason, created_by, created_at)
          select ${workspaceId}, id, gen_random_uuid(), v, v, 'email', 'manual', 'x', now()
          from l, (values ('user0@example.test')) e (v)`);
      },
      "Suppressed (manual): on the list Never",
    ],
    [
      "left the list",
      () => db.run(sql`delete from memberships where mailing_list_id = ${list}`),
      "The subscriber is no longer on the list",
    ],
    [
      "were deleted",
      () => db.run(sql`delete from subscribers where workspace_id = ${workspaceId}`),
      "The subscriber was deleted",
    ],
  ])("is not sent to people who %s after it had been made", async (_what, happen, detail) => {
    await people(1);
    await begin();
    await happen();
    const [finding] = (await examine(await lease())).values();
    expect(finding).toEqual({ kind: "end", status: "suppressed", detail });
  });

  test("ends as cancelled when its campaign was cancelled or deleted", async () => {
    await people(2);
    const id = await begin();
    await cancelCampaign(db, workspaceId, id, new Date());
    const endOfNext = async () => [...(await examine(await lease(1))).values()];
    const over = { kind: "end", status: "cancelled" };
    expect(await endOfNext()).toEqual([{ ...over, detail: "The campaign was cancelled" }]);
    await removeCampaign(db, workspaceId, id, new Date());
    expect(await endOfNext()).toEqual([{ ...over, detail: "The campaign was deleted" }]);
  });

  test("goes on when its campaign is deleted after it was sent, until the service has to stop it", async () => {
    await people(2);
    const id = await begin();
    const later = refused(451, "4.3.0");
    await deliver([later, later]);
    await work();
    expect(await removeCampaign(db, workspaceId, id, new Date())).toBe(true);
    expect(await findCampaign(db, workspaceId, id)).toBeUndefined();
    const makeDue = () => db.run(sql`update delivery_queue set due_at = now() where leased_by is null`);
    await makeDue();
    expect([...(await examine(await lease(1))).values()]).toMatchObject([{ kind: "email" }]);
    await db.run(sql`update sending_domains set is_verified = false where workspace_id = ${workspaceId}`);
    const stopped = await lease(1);
    expect([...(await examine(stopped)).values()]).toMatchObject([{ kind: "requeue" }]);
    expect([...(await examine(stopped)).values()]).toEqual([
      { kind: "end", status: "cancelled", detail: "The campaign was deleted" },
    ]);
  });

  test("goes back when its campaign is paused, and is not leased until it is resumed", async () => {
    await people(2);
    const id = await begin();
    const before = await lease(1);
    await pauseCampaign(db, workspaceId, id, null, new Date());
    expect([...(await examine(before)).values()]).toMatchObject([{ kind: "requeue" }]);
    expect(await lease()).toEqual([]);
    await resumeCampaign(db, workspaceId, id, new Date());
    expect(await lease()).toHaveLength(1);
  });

  test("pauses its campaign when the sender is not verified any more", async () => {
    await people(1);
    const id = await begin();
    await db.run(sql`update sending_domains set is_verified = false where workspace_id = ${workspaceId}`);
    expect([...(await examine(await lease())).values()]).toMatchObject([{ kind: "requeue" }]);
    expect(await find(id)).toMatchObject({ status: "paused", pause_reason: "sender_not_verified" });
  });
});

describe("a pause", () => {
  const later = { ...refused(451, "4.3.0") };
  const dueNow = () => db.run(sql`update delivery_queue set due_at = now() where leased_by is null`);
  const setVerified = (isVerified: boolean) =>
    db.run(sql`update sending_domains set is_verified = ${isVerified} where workspace_id = ${workspaceId}`);

  test("keeps the deferred messages of a sent campaign that is paused, until it is resumed", async () => {
    await people(2);
    const id = await begin();
    await deliver([later, accepted]);
    await work();
    expect((await find(id)).status).toBe("sent");
    await setVerified(false);
    await dueNow();
    await examine(await lease());
    expect(await find(id)).toMatchObject({
      status: "paused",
      pause_reason: "sender_not_verified",
      completed_at: null,
    });
    await work();
    await db.run(sql`update delivery_queue set due_at = now(), leased_by = null`);
    expect(await lease()).toEqual([]);
    await setVerified(true);
    await resumeCampaign(db, workspaceId, id, new Date());
    await work();
    expect((await find(id)).status).toBe("sent");
    await deliver([accepted]);
    expect(await find(id)).toMatchObject({ delivered_count: 2, status: "sent" });
  });

  test("a pause ends when no deferred message is left", async () => {
    await people(1);
    const id = await begin();
    const [message] = await lease();
    await pauseCampaign(db, workspaceId, id, null, new Date());
    await work();
    expect((await find(id)).status).toBe("paused");
    if (message === undefined) expect.fail("nothing was leased");
    // Its conversation was under way.
    await writeResultBatch(
      db,
      [resultOfSmtp(message, { result: accepted, mxHost: "mx" }, new Date(), 0)],
      countMoved,
    );
    await work();
    expect(await find(id)).toMatchObject({ status: "sent", paused_at: null, delivered_count: 1 });
  });

  test("messages of a suspended workspace are not leased", async () => {
    await people(1);
    const id = await begin();
    const suspend = (isSuspended: boolean) =>
      db.run(sql`update workspaces set is_suspended = ${isSuspended} where id = ${workspaceId}`);
    await suspend(true);
    expect((await listHaltedIds(db)).paused).toContain(id);
    await suspend(false);
    expect((await listHaltedIds(db)).paused).not.toContain(id);
    expect(await lease()).toHaveLength(1);
  });
});

test("content that can no longer be rendered pauses its campaign, and delays no other mail", async () => {
  await people(1);
  const broken = await begin();
  const [first] = await lease(1);
  await db.run(
    sql`update campaigns set html_content = '{% for i in (1..90000000) %}x{% endfor %}' where id = ${broken}`,
  );
  const sound = await begin();
  const second = (await lease()).find(({ origin_id }) => origin_id === sound);
  if (first === undefined || second === undefined) throw new Error("nothing was leased");
  const findings = await examine([first, second]);
  expect(findings.get(first.message_id)).toMatchObject({ kind: "requeue" });
  expect(findings.get(second.message_id)).toMatchObject({ kind: "email" });
  expect(await find(broken)).toMatchObject({ status: "paused", pause_reason: "content_invalid" });
});

test("the hours for retries are the workspace's, and begin when a message is first taken", async () => {
  const set = (hours: number) =>
    db.run(sql`update workspaces set retry_hours = ${hours} where id = ${workspaceId}`);
  const leftOf = (message: LeasedMessage | undefined) =>
    Math.round(((message?.expires_at.getTime() ?? 0) - Date.now()) / 360_000) / 10;
  await set(6);
  await people(1);
  await begin();
  const queued = await db.row<{ left: string }>(sql`
    select round(extract(epoch from expires_at - now()) / 3600) as left from delivery_queue`);
  expect(Number(queued?.left)).toBe(6);
  // As after a pause of five hours.
  await db.run(sql`update delivery_queue set expires_at = expires_at - interval '5 hours'`);
  expect(leftOf((await lease(1))[0])).toBe(6);
  await set(72);
});

describe("auto-pause", () => {
  const bounces = (count: number) => [
    ...Array.from({ length: 500 - count }, () => accepted),
    ...Array.from({ length: count }, () => refused(550, "5.1.1")),
  ];

  test.each([
    ["more than a tenth of five hundred", 51, "paused"],
    ["a tenth of them", 50, "sending"],
  ])("with hard bounces of %s: the campaign is %s", async (_what, count, status) => {
    await people(501);
    const id = await begin();
    await deliver(bounces(count), 500);
    await examine(await lease());
    expect((await find(id)).status).toBe(status);
    if (status === "sending") return;
    expect((await find(id)).pause_reason).toBe("bounce_rate");
    await resumeCampaign(db, workspaceId, id, new Date());
    await db.run(sql`update delivery_queue set due_at = now(), leased_by = null`);
    const [finding] = (await examine(await lease())).values();
    expect(finding?.kind).toBe("email");
  });

  test("stops leased messages without another scan of the queue, and no completed ones", async () => {
    await people(502);
    const id = await begin();
    const [held] = await lease(1);
    await deliver(bounces(51), 500);
    await work();
    expect(await find(id)).toMatchObject({ status: "paused", pause_reason: "bounce_rate" });
    expect((await listHaltedIds(db)).paused).toContain(id);
    expect(held?.origin_id).toBe(id);
    await resumeCampaign(db, workspaceId, id, new Date());
    await db.run(sql`update delivery_queue set due_at = now(), leased_by = null`);
    await deliver([refused(550, "5.1.1")], 2);
    await work();
    expect(await find(id)).toMatchObject({ status: "sent", pause_reason: null });
  });

  test("stops after fifty failures of ours in a row", async () => {
    await people(60);
    const id = await begin();
    await deliver([ours], 30);
    await deliver([ours], 20);
    await examine(await lease());
    expect(await find(id)).toMatchObject({ status: "paused", pause_reason: "delivery_failures" });
  });
});

test("counters are at every moment what the log says", async () => {
  await people(40);
  await people(10, "other.test");
  const id = await begin();
  expect(await findOriginMiscounts(db, "campaign")).toEqual([]);
  const results = [accepted, refused(550, "5.1.1"), refused(451, "4.3.0"), broken, ours, accepted];
  for (let round = 0; round < 5; round++) {
    await deliver(results, 12);
    expect(await findOriginMiscounts(db, "campaign")).toEqual([]);
    await db.run(sql`update delivery_queue set due_at = now() where leased_by is null`);
  }
  await setStatus("user39@example.test", "unsubscribed");
  await db.run(sql`update delivery_queue set due_at = now(), leased_by = null`);
  await deliver([accepted], 50);
  await bounceLate();
  expect(await findOriginMiscounts(db, "campaign")).toEqual([]);
  await work();
  expect((await find(id)).status).toBe("sent");
  const campaign = await find(id);
  const figures = await db.row(sql`
    select sum(sent_count)::int as sent, sum(delivered_count)::int as delivered, sum(bounce_count)::int as bounced,
      count(last_sent_at)::int as reached
    from subscriber_stats where workspace_id = ${workspaceId}`);
  const wanted = {
    sent: campaign.sent_count,
    delivered: campaign.delivered_count,
    bounced: campaign.bounce_count,
  };
  expect(figures).toEqual({ ...wanted, reached: campaign.sent_count });
  expect(await findListMiscounts(db)).toEqual([]);
});

test("an interrupted expansion continues where it stopped, and reaches no one twice", async () => {
  await people(30);
  const id = await newCampaign(db, workspaceId, list);
  await db.run(sql`update campaigns set status = 'sending', sent_at = now() where id = ${id}`);
  const step = () => expandStep({ db, clock: systemClock, plans, size: 7 }, workspaceId, id);
  await step();
  const aborted = db.transaction(async (tx) => {
    await expandStep(
      { db: { ...db, transaction: (inside) => inside(tx) }, clock: systemClock, plans, size: 7 },
      workspaceId,
      id,
    );
    throw new Error("killed");
  });
  await expect(aborted).rejects.toThrow("killed");
  // Several machines at once.
  while ((await Promise.all([step(), step(), step()])).some(Boolean));
  expect(await find(id)).toMatchObject({ total_recipients: 30 });
  const rows = await db.row(sql`
    select count(*)::int as recipients, count(distinct subscriber_id)::int as people,
      (select count(*)::int from delivery_queue where campaign_id = ${id}) as queued
    from campaign_recipients where campaign_id = ${id}`);
  expect(rows).toEqual({ recipients: 30, people: 30, queued: 30 });
  expect(await findOriginMiscounts(db, "campaign")).toEqual([]);
});

test("what was taken out of the log is not called a miscount, and a deleted campaign goes with its last message", async () => {
  const rowsOf = async (id: string) =>
    (
      await db.row<{ rows: number[] }>(sql`
        select array[
          (select count(*)::int from campaigns where id = ${id}),
          (select count(*)::int from campaign_recipients where campaign_id = ${id}),
          (select count(*)::int from campaign_counters where campaign_id = ${id}),
          (select count(*)::int from campaign_domains where campaign_id = ${id}),
          (select count(*)::int from campaign_hours where campaign_id = ${id})] as rows`)
    )?.rows;
  const forget = () =>
    purgeDeletedCampaigns({ db, clock: systemClock }, new AbortController().signal, { step: 2 });
  await people(5);
  const id = await begin();
  await deliver([accepted], 5);
  await work();
  const kept = await begin();
  await db.run(sql`
    delete from messages where id < (
      select message_id from campaign_recipients where campaign_id = ${kept} order by message_id limit 1)`);
  expect(await findOriginMiscounts(db, "campaign")).toEqual([]);
  await forget();
  expect(await rowsOf(id)).toEqual([1, 5, 1, 1, 1]);
  await removeCampaign(db, workspaceId, id, new Date());
  await cancelCampaign(db, workspaceId, kept, new Date());
  await removeCampaign(db, workspaceId, kept, new Date());
  await forget();
  expect(await rowsOf(id)).toEqual([0, 0, 0, 0, 0]);
  expect((await rowsOf(kept))?.slice(0, 3)).toEqual([1, 5, 1]);
});
