import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { AttemptResult } from "#delivery/message/attempt.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Decision } from "#delivery/message/presend-decision.ts";
import { resultOfSmtp } from "#delivery/queue/decide-result.ts";
import { writeResultBatch } from "#delivery/worker/result-writer.ts";
import { unclassified } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { createReactions } from "#processes/reactions.ts";
import { findListMiscounts } from "#reporting/counters/list-miscounts-store.ts";
import { findOriginMiscounts } from "#sending/campaigns/counters/miscounts-store.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { leaseMessages } from "#test/support/lease-order.ts";
import { startService } from "#test/support/service.ts";
import { linkKey } from "#test/support/tracked-campaign.ts";
import { mailLinks } from "#tracking/link-tokens.ts";
import { plans } from "#workspace/billing/plans.ts";
import { advanceDueAutoresponders } from "./advance.ts";
import { createAutoresponderMail } from "./presend-check.ts";
import { listStoppedAutoresponders } from "./store.ts";

const service = await startService();
const { database: db, workspaceId, clock } = service;
await verifyShop(db, workspaceId);
const log = createLog("silent");
const examine = createAutoresponderMail({
  db,
  clock,
  log,
  linkBase: async () => service.url,
  linksOf: (mail, base) => mailLinks(mail, base, linkKey),
});

let list: string;
let series: string;
let email: string;

const set = (what: string) => service.call("POST", `/autoresponders/${series}/${what}`);
const show = async () => (await service.call("GET", `/autoresponders/${series}`)).body.data;
const member = async () =>
  (await service.call("GET", `/mailing-lists/${list}/subscribers`)).body.data.subscribers[0];
const setStatus = async (status: string) => {
  const { subscriber_id } = await member();
  const { status: code } = await service.call(
    "PUT",
    `/mailing-lists/${list}/subscribers/${subscriber_id}/status`,
    {
      status,
    },
  );
  expect(code).toBe(200);
};
const lease = async (): Promise<LeasedMessage[]> =>
  leaseMessages(db, {
    workerId: newId(),
    priority: 1,
    limit: 250,
    bytes: 1e9,
    seconds: 60,
    saturated: [],
    halted: (await listStoppedAutoresponders(db)).paused,
  });
const leaseOne = async (): Promise<LeasedMessage> => (await lease())[0] ?? expect.fail("nothing is due");
const findingOf = async (message: LeasedMessage) => (await examine([message])).get(message.message_id);
const contentOf = (finding: Decision | undefined) =>
  finding?.kind === "email"
    ? finding.content()
    : expect.fail(`nothing is written: ${JSON.stringify(finding)}`);
const end = (message: LeasedMessage, result: AttemptResult) =>
  writeResultBatch(
    db,
    [resultOfSmtp(message, { result, mxHost: "mx" }, clock.now(), 0)],
    createReactions(clock),
  );
const deliver = (message: LeasedMessage) =>
  end(message, { outcome: "accepted", code: 250, enhanced: "2.0.0", text: "ok" });
const bounce = (message: LeasedMessage) =>
  end(message, {
    outcome: "refused",
    code: 550,
    enhanced: "5.1.1",
    text: "5.1.1 No such user here",
    stage: "rcpt",
  });
const outcome = ({ message_id: messageId }: LeasedMessage) => ({
  ...unclassified,
  workspaceId,
  messageId,
  time: clock.now(),
  attempts: null,
  nextAttemptAt: null,
  detail: "said",
  mxHost: null,
  code: null,
  enhancedCode: null,
  isAddressFault: false,
});
const person = async () =>
  (await service.call("GET", `/subscribers/${(await member()).subscriber_id}`)).body.data;
const visit = (address: string, init: RequestInit = {}) =>
  fetch(address, {
    redirect: "manual",
    headers: { "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" },
    ...init,
  });

beforeEach(async () => {
  await db.run(sql`truncate delivery_queue`);
  await db.run(sql`update autoresponders set status = 'inactive'`);
  list = await newList(db, workspaceId);
  const { body } = await service.call("POST", "/autoresponders", {
    name: "Welcome series",
    mailing_list_id: list,
    from_email: "news@shop.test",
    from_name: "Shop",
    reply_to: "ask@shop.test",
    trigger: { type: "subscribed" },
    steps: [
      {
        subject: "Hi {{ first_name }}",
        html_content: '<p>{{ list_name }} <a href="https://a.test/x">x</a></p>',
      },
    ],
  });
  series = body.data.id;
  await set("activate");
  email = `${newId()}@people.test`;
  await addPeople(db, workspaceId, list, [{ email, first_name: "Ada" }], { now: clock.now() });
  await advanceDueAutoresponders({ db, clock, plans }, new AbortController().signal, log);
});

test("a mail is written like a campaign's, with its links and its unsubscribe link", async () => {
  const message = await leaseOne();
  expect(message).toMatchObject({ source: "autoresponder", origin_id: series, has_content: false });
  const content = contentOf(await findingOf(message));
  const links = mailLinks({ workspaceId, messageId: message.message_id }, service.url, linkKey);
  expect([content.subject, content.fromName]).toEqual(["Hi Ada", "Shop"]);
  for (const part of ["News", links.pixel, links.tracked(0), links.unsubscribe]) {
    expect(String(content.html)).toContain(part);
  }
  expect(Object.fromEntries(content.headers)).toEqual({
    "List-Unsubscribe": `<${links.unsubscribe}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "List-Id": `<${list}.lists.shop.test>`,
    Precedence: "bulk",
    "Reply-To": "ask@shop.test",
  });
  const { body } = await service.call("GET", `/messages/${message.message_id}`);
  expect(body.data).toMatchObject({ source: "autoresponder", origin_name: "Welcome series", to: email });
});

test("a mail has its list's name and reply-to where the autoresponder has none", async () => {
  const sender = { from_name: "List Name", reply_to_email: "reply@shop.test" };
  expect((await service.call("PUT", `/mailing-lists/${list}`, sender)).status).toBe(200);
  await db.run(sql`update autoresponders set from_name = null, reply_to = null where id = ${series}`);
  const content = contentOf(await findingOf(await leaseOne()));
  expect(content.fromName).toBe("List Name");
  expect(Object.fromEntries(content.headers)["Reply-To"]).toBe("reply@shop.test");
});

test("what was sent is counted, opened, clicked, seen in the browser and left by", async () => {
  const message = await leaseOne();
  await deliver(message);
  clock.advance(HOUR_MS);
  const links = mailLinks({ workspaceId, messageId: message.message_id }, service.url, linkKey);
  expect((await visit(links.pixel)).status).toBe(200);
  expect((await visit(links.tracked(0))).headers.get("location")).toBe("https://a.test/x");
  expect(await (await visit(links.view)).text()).toContain("News");
  const left = await visit(links.unsubscribe, {
    method: "POST",
    body: "List-Unsubscribe=One-Click",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
  expect(left.status).toBe(200);
  await expect.poll(show).toMatchObject({
    sent_count: 1,
    delivered_count: 1,
    open_count: 1,
    unique_open_count: 1,
    click_count: 1,
    unique_click_count: 1,
    unsubscribe_count: 1,
  });
  expect(await member()).toMatchObject({ status: "unsubscribed" });
  const person = await db.row(sql`
    select sent_count, delivered_count, unique_open_count, unique_click_count
    from subscribers s join subscriber_stats t on t.workspace_id = s.workspace_id and t.subscriber_id = s.id
    where s.workspace_id = ${workspaceId} and email = ${email}`);
  expect(person).toEqual({ sent_count: 1, delivered_count: 1, unique_open_count: 1, unique_click_count: 1 });
  expect(await findListMiscounts(db)).toEqual([]);
  expect(await findOriginMiscounts(db, "autoresponder")).toEqual([]);
  await db.run(
    sql`update autoresponder_counters set opens = 2, delivered = 0, hard_bounced = 1 where autoresponder_id = ${series}`,
  );
  const origin = { counter_of: "autoresponder", origin_id: series, domain: null };
  expect(await findOriginMiscounts(db, "autoresponder")).toEqual([
    { ...origin, counter: "delivered", kept: 0, counted: 1 },
    { ...origin, counter: "hard_bounced", kept: 1, counted: 0 },
    { ...origin, counter: "opens", kept: 2, counted: 1 },
  ]);
  await service.call("DELETE", `/autoresponders/${series}`);
  expect((await visit(links.tracked(0))).headers.get("location")).toBe("https://a.test/x");
});

test("the outcome of a mail is in its recipient's history and counts", async () => {
  const message = await leaseOne();
  const message_id = message.message_id;
  await deliver(message);
  clock.advance(HOUR_MS);
  const links = mailLinks({ workspaceId, messageId: message_id }, service.url, linkKey);
  await visit(links.pixel);
  await visit(links.tracked(0));
  await expect.poll(async () => (await person()).stats).toMatchObject({ sent: 1, opens: 1, clicks: 1 });
  const { recent_activity, bounces } = await person();
  const of = { campaign_id: null, campaign_name: null, message_id };
  expect(
    recent_activity.toSorted((a: { type: string }, b: { type: string }) => (a.type < b.type ? -1 : 1)),
  ).toMatchObject([
    { ...of, type: "clicked", description: "Clicked https://a.test/x" },
    { ...of, type: "opened" },
    { ...of, type: "sent", description: "Delivered to mx" },
  ]);
  expect(bounces).toEqual([]);
});

test("a bounced mail is among its recipient's bounces", async () => {
  const message = await leaseOne();
  await bounce(message);
  expect(await person()).toMatchObject({
    status: "bounced",
    stats: { sent: 1, bounced: 1 },
    recent_activity: [{ type: "bounced", campaign_id: null, message_id: message.message_id }],
    bounces: [
      { bounce_type: "hard", category: "NoEmail", smtp_code: 550, enhanced_code: "5.1.1", campaign_id: null },
    ],
  });
});

test.each(["deleted", "given another list"])(
  "the list of a mail keeps its figures when its autoresponder is %s",
  async (fate) => {
    const message = await leaseOne();
    await deliver(message);
    clock.advance(HOUR_MS);
    if (fate === "deleted")
      expect((await service.call("DELETE", `/autoresponders/${series}`)).status).toBe(200);
    else
      await db.run(
        sql`update autoresponders set mailing_list_id = ${await newList(db, workspaceId)} where id = ${series}`,
      );
    await visit(mailLinks({ workspaceId, messageId: message.message_id }, service.url, linkKey).pixel);
    const stats = async () => {
      const { body } = await service.call("GET", "/mailing-lists/stats");
      return body.data.find(({ id }: { id: string }) => id === list);
    };
    await expect.poll(stats).toMatchObject({ engagement_rate: 1, bounce_rate: 0 });
    const complained = { ...outcome(message), status: "complained" as const };
    await db.transaction((tx) => recordOutcomes(tx, [complained], createReactions(clock)));
    expect(await stats()).toMatchObject({ engagement_rate: 1, complaint_rate: 1 });
  },
);

test("a subscriber who left after the mail was made gets nothing", async () => {
  const message = await leaseOne();
  await setStatus("unsubscribed");
  expect(await findingOf(message)).toEqual({
    kind: "end",
    status: "suppressed",
    detail: "The subscriber is unsubscribed",
  });
  clock.advance(HOUR_MS);
  await setStatus("active");
  expect(await findingOf(message)).toMatchObject({ kind: "end", status: "suppressed" });
});

test("a deactivated autoresponder's mail waits in the queue, an activated one's goes on", async () => {
  await set("deactivate");
  expect(await lease()).toEqual([]);
  await set("activate");
  const message = await leaseOne();
  await set("deactivate");
  expect(await findingOf(message)).toMatchObject({ kind: "requeue" });
  await set("activate");
  contentOf(await findingOf(message));
});

test("a deleted autoresponder's mail is cancelled, what workers hold of it as well", async () => {
  expect(await listStoppedAutoresponders(db)).toEqual({ paused: [], cancelled: [] });
  await service.call("DELETE", `/autoresponders/${series}`);
  expect(await listStoppedAutoresponders(db)).toEqual({ paused: [], cancelled: [series] });
  expect(await findingOf(await leaseOne())).toMatchObject({ kind: "end", status: "cancelled" });
});

test("while its workspace is suspended an autoresponder's mail waits, what workers hold of it as well", async () => {
  const suspend = (isSuspended: boolean) =>
    db.run(sql`update workspaces set is_suspended = ${isSuspended} where id = ${workspaceId}`);
  await suspend(true);
  expect((await listStoppedAutoresponders(db)).paused).toContain(series);
  await suspend(false);
  expect((await listStoppedAutoresponders(db)).paused).not.toContain(series);
});

test("a sender that is no longer verified deactivates the autoresponder", async () => {
  await db.run(sql`update sending_domains set is_verified = false where workspace_id = ${workspaceId}`);
  expect(await findingOf(await leaseOne())).toMatchObject({ kind: "requeue" });
  expect(await show()).toMatchObject({ status: "inactive", deactivation_reason: "sender_not_verified" });
  expect((await set("activate")).body.code).toBe("EMAIL_NOT_VERIFIED");
  await db.run(sql`update sending_domains set is_verified = true where workspace_id = ${workspaceId}`);
});

test("content that can no longer be rendered deactivates the autoresponder and delays no other; after a change its messages are cancelled", async () => {
  const other = await leaseOne();
  await db.run(sql`update delivery_queue set due_at = now(), leased_by = null`);
  const broken = "{% for i in (1..90000000) %}x{% endfor %}";
  // As when time has passed, or a newer version is stricter: it was checked when it was stored.
  await db.run(sql`
    update autoresponder_contents set id = gen_random_uuid(), html_content = ${broken}
    where workspace_id = ${workspaceId} and autoresponder_id = ${series}`);
  await db.run(sql`
    update autoresponder_steps s set content_id = c.id from autoresponder_contents c
    where c.autoresponder_id = ${series} and s.autoresponder_id = ${series}`);
  await db.run(sql`
    update autoresponder_mails m set content_id = c.id from autoresponder_contents c
    where c.autoresponder_id = ${series} and m.autoresponder_id = ${series}`);
  const message = await leaseOne();
  expect(message.message_id).toBe(other.message_id);
  const findings = await examine([message, { ...message, message_id: newId() }]);
  expect(findings.get(message.message_id)).toMatchObject({ kind: "requeue" });
  expect(await show()).toMatchObject({ status: "inactive", deactivation_reason: "content_invalid" });
  await db.run(sql`
    update autoresponder_steps set content_id = gen_random_uuid() where autoresponder_id = ${series}`);
  await db.run(sql`update autoresponders set status = 'active' where id = ${series}`);
  expect(await findingOf(message)).toMatchObject({ kind: "end", status: "cancelled" });
  expect(await show()).toMatchObject({ status: "active" });
});

test("mail of a sender who was given up does not deactivate it again", async () => {
  const update = (isVerified: boolean) =>
    db.run(sql`
    update sending_domains set is_verified = ${isVerified} where workspace_id = ${workspaceId} and domain = 'shop.test'`);
  const message = await leaseOne();
  await update(false);
  await findingOf(message);
  await db.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
    values (${workspaceId}, gen_random_uuid(), 'other.test', 'v', 'd', true, now())`);
  const { body: before } = await service.call("GET", `/autoresponders/${series}`);
  const { name, mailing_list_id, trigger, steps } = before.data;
  const changed = { name, mailing_list_id, trigger, steps, from_email: "news@other.test" };
  expect((await service.call("PUT", `/autoresponders/${series}`, changed)).status).toBe(200);
  expect((await set("activate")).status).toBe(200);
  expect(await findingOf(message)).toEqual({
    kind: "end",
    status: "cancelled",
    detail: "The sender news@shop.test is no longer verified; the autoresponder now sends as news@other.test",
  });
  expect(await show()).toMatchObject({ status: "active", deactivation_reason: null });
  await update(true);
});
