import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import sql from "sql-template-tag";
import { afterAll, describe, expect, test } from "vitest";
import { settleLeases } from "#delivery/queue/settle-leases-store.ts";
import { createMailParser } from "#inbound/parsing/parse-mail-in-threads.ts";
import { createLog } from "#platform/log/log.ts";
import { PurposeKeys } from "#platform/secrets/secrets.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { BOUNCE_DOMAIN, complaintReport, deliveryReport, startReturns } from "#test/support/returns.ts";
import { linkKey, sentCampaign } from "#test/support/tracked-campaign.ts";
import { interpretMail } from "./interpret-mail.ts";

const returns = await startReturns();
const { service, deliver, settle, returnPath, token, receive, message } = returns;
const { database, workspaceId, call, clock } = service;
const parser = createMailParser();
afterAll(() => parser.close());

const isQueued = async (id: string) =>
  (await database.rows(sql`select from delivery_queue where message_id = ${id}`)).length > 0;

/** A message that a worker has leased and not settled. @returns what settles it later */
async function unsettled(to: string, status: "queued" | "deferred") {
  const { body } = await call("POST", "/emails/send", {
    to,
    from_email: "orders@shop.test",
    subject: "Your order",
    body: "Thanks",
  });
  const id: string = body.data.id;
  await database.run(sql`update messages set status = ${status} where id = ${id}`);
  const order = leaseOrder({ limit: 1 });
  const [lease] = await leaseMessages(database, order);
  expect(lease?.message_id).toBe(id);
  const held = { workspaceId, messageId: id, leaseNumber: lease?.lease_number ?? 0 };
  const lateSettlement = () =>
    settleLeases(database, [
      { ...held, attempts: 1, dueAt: clock.now(), decidedAt: clock.now(), isDelivered: false },
    ]);
  return { id, lateSettlement };
}

async function suppressedFor(address: string): Promise<string | undefined> {
  const row = await database.row<{ reason: string }>(sql`
    select reason from suppression_entries
    where workspace_id = ${workspaceId} and normalized_value = ${address}`);
  return row?.reason;
}

describe("a report to a signed return path", () => {
  test("about an address that does not exist bounces the message and suppresses its recipient, once", async () => {
    const id = await deliver("ada@example.test");
    const report = deliveryReport("ADA@example.test");
    expect(await receive(returnPath(id), report)).toEqual({ status: "processed", result: "bounced" });
    const { status, timeline } = await message(id);
    expect(status).toBe("bounced");
    expect(timeline.at(-1)).toMatchObject({ type: "bounced", mx_host: "store.example.test", code: 550 });
    const bounces = (await call("GET", "/bounces")).body.data;
    expect(bounces.bounces[0]).toMatchObject({
      message_id: id,
      email: "ada@example.test",
      bounce_type: "hard",
      category: "NoEmail",
      smtp_code: 550,
      enhanced_code: "5.1.1",
    });
    expect(await suppressedFor("ada@example.test")).toBe("hard_bounce");

    expect(await receive(returnPath(id).toUpperCase(), report)).toMatchObject({ result: "known" });
    expect((await call("GET", "/bounces")).body.data.pagination.total).toBe(bounces.pagination.total);
  });

  test.each([
    ["a full mailbox", "5.2.2", "552 5.2.2 Mailbox full", "soft", "MailboxFull"],
    [
      "a block",
      "5.7.1",
      "554 5.7.1 Service unavailable; client host blocked using zen.spamhaus.org",
      "block",
      "Reputation",
    ],
  ])(
    "of %s bounces the message and suppresses no address",
    async (_, status, diagnostic, bounceType, category) => {
      const to = `${bounceType}@example.test`;
      const id = await deliver(to);
      expect(await receive(returnPath(id), deliveryReport(to, { status, diagnostic }))).toMatchObject({
        result: "bounced",
      });
      const [bounce] = (await call("GET", "/bounces")).body.data.bounces;
      expect(bounce).toMatchObject({ message_id: id, bounce_type: bounceType, category });
      expect(await suppressedFor(to)).toBeUndefined();
    },
  );

  test.each(["queued", "deferred"] as const)(
    "about a message that is still %s ends it: it is not sent again",
    async (status) => {
      const to = `${status}.bounces@example.test`;
      const { id, lateSettlement } = await unsettled(to, status);
      expect(await receive(returnPath(id), deliveryReport(to))).toMatchObject({ result: "bounced" });
      expect((await message(id)).status).toBe("bounced");
      expect(await isQueued(id)).toBe(false);
      expect(await lateSettlement()).toEqual(new Set());
    },
  );

  test("of a delay leaves a message in the queue", async () => {
    const { id } = await unsettled("waiting@example.test", "deferred");
    const late = deliveryReport("waiting@example.test", { action: "delayed", status: "4.4.1" });
    expect(await receive(returnPath(id), late)).toMatchObject({ result: "delayed" });
    expect(await isQueued(id)).toBe(true);
  });

  test("of two other recipients changes nothing", async () => {
    const id = await deliver("grace@example.test");
    const report = deliveryReport("victim@example.test").replace(
      "Action:",
      "Action: failed\n\nFinal-Recipient: rfc822; bystander@example.test\nAction:",
    );
    expect(await receive(returnPath(id), report)).toMatchObject({ result: "other_recipient" });
    expect((await message(id)).status).toBe("delivered");
    expect(await suppressedFor("victim@example.test")).toBeUndefined();
    expect(await suppressedFor("grace@example.test")).toBeUndefined();
  });

  test("of a delay is one event per day, and does not change the state", async () => {
    const id = await deliver("late@example.test");
    const late = deliveryReport("late@example.test", {
      action: "delayed",
      status: "4.4.1",
      diagnostic: "451 4.4.1 Connection timed out",
    });
    expect(await receive(returnPath(id), late)).toMatchObject({ result: "delayed" });
    expect(await receive(returnPath(id), late)).toMatchObject({ result: "known" });
    const { status, timeline } = await message(id);
    expect(status).toBe("delivered");
    expect(timeline.filter(({ type }) => type === "delayed")).toHaveLength(1);
  });

  test.each([
    ["a success", deliveryReport("fine@example.test", { action: "delivered", status: "2.0.0" }), "delivered"],
    [
      "an absence note",
      "From: fine@example.test\nAuto-Submitted: auto-replied\nSubject: Out of office\n\nBack on Monday",
      "auto_reply",
    ],
  ])("that is %s does not change the state", async (_, raw, result) => {
    const id = await deliver("fine@example.test");
    expect(await receive(returnPath(id), raw)).toEqual({ status: "processed", result });
    expect((await message(id)).status).toBe("delivered");
  });

  test.each(["queued", "deferred"] as const)(
    "of a success does not change a message that is %s",
    async (status) => {
      const to = `${status}.success@example.test`;
      const { id } = await unsettled(to, status);
      const success = deliveryReport(to, { action: "delivered", status: "2.0.0" });
      expect(await receive(returnPath(id), success)).toEqual({ status: "processed", result: "delivered" });
      const row = await database.row<{ status: string }>(sql`select status from messages where id = ${id}`);
      expect(row?.status).toBe(status);
      expect(await isQueued(id)).toBe(true);
    },
  );

  test("that is a mail of a person is quarantined with the reason", async () => {
    const id = await deliver("talker@example.test");
    expect(
      await receive(returnPath(id), "From: talker@example.test\nSubject: Re: Your order\n\nThank you!"),
    ).toEqual({
      status: "quarantined",
      result: "not a delivery report",
    });
    expect((await message(id)).status).toBe("delivered");
  });

  test("counts for thirty days after the message was sent, however long it waited before", async () => {
    const { id } = await unsettled("waited@example.test", "deferred");
    clock.advance(31 * DAY_MS);
    await settle(id, "delivered");
    clock.advance(29 * DAY_MS);
    const report = deliveryReport("waited@example.test");
    expect(await receive(returnPath(id), report)).toMatchObject({ result: "bounced" });
    clock.advance(-60 * DAY_MS);
  });

  test("about a message that is no longer in the log is processed without effect", async () => {
    const id = await deliver("old@example.test");
    await database.run(sql`delete from messages where id = ${id}`);
    expect(await receive(returnPath(id), deliveryReport("old@example.test"))).toMatchObject({
      result: "message_gone",
    });
  });

  test("is copied once to bounce_email; a bounce of the copy is not copied", async () => {
    const id = await deliver("copied@example.test", { bounce_email: "returns@shop.test" });
    const report = deliveryReport("copied@example.test");
    await receive(returnPath(id), report);
    await receive(returnPath(id), report);
    const copies = () =>
      database.rows<{
        id: string;
        localpart: string;
        subject: string;
        attachments: { content: string }[];
      }>(sql`
        select m.id, m.localpart, m.subject, c.attachments from messages m
        join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
        where m.workspace_id = ${workspaceId} and m.source = 'platform'`);
    const [copy, ...more] = await copies();
    expect(more).toEqual([]);
    expect(copy).toMatchObject({ localpart: "returns", subject: "Undelivered: copied@example.test" });
    expect(Buffer.from(copy?.attachments[0]?.content ?? "", "base64").toString()).toContain(
      "Final-Recipient",
    );

    await returns.settle(copy?.id ?? "", "delivered");
    expect(await receive(returnPath(copy?.id ?? ""), deliveryReport("returns@shop.test"))).toMatchObject({
      result: "bounced",
    });
    expect(await copies()).toHaveLength(1);
  });
});

describe("a copy for bounce_email", () => {
  const bounceEmail = () => `returns${Math.random().toString(36).slice(2)}@shop.test`;
  const copiesTo = (address: string) =>
    database.rows<{ subject: string; text: string; html: string }>(sql`
      select m.subject, c.text, c.html from messages m
      join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
      where m.source = 'platform' and m.localpart || '@' || m.domain = ${address} order by m.id`);

  // Other tests lease the next message of the queue.
  afterAll(() => database.run(sql`delete from delivery_queue`));

  test("is not sent to an unverified address that was stored before such addresses were refused", async () => {
    const id = await deliver("own@attacker.test");
    await database.run(
      sql`update message_contents set bounce_email = 'victim@example.net' where message_id = ${id}`,
    );
    const report = deliveryReport("own@attacker.test", {
      diagnostic: "550 Claim at http://evil.example/now",
    });
    expect(await receive(returnPath(id), report)).toMatchObject({ result: "bounced" });
    expect(await copiesTo("victim@example.net")).toEqual([]);
  });

  test("is not sent once the workspace has lost the domain", async () => {
    const bounce_email = bounceEmail();
    const id = await deliver("lost@example.test", { bounce_email });
    await database.run(sql`update sending_domains set is_verified = false`);
    expect(await receive(returnPath(id), deliveryReport("lost@example.test"))).toMatchObject({
      result: "bounced",
    });
    await database.run(sql`update sending_domains set is_verified = true`);
    expect(await copiesTo(bounce_email)).toEqual([]);
  });

  test("is sent for the first report of each kind only, also on later days", async () => {
    const bounce_email = bounceEmail();
    const id = await deliver("late@example.test", { bounce_email });
    const late = deliveryReport("late@example.test", { action: "delayed", status: "4.4.1" });
    for (let day = 0; day < 3; day++) {
      expect(await receive(returnPath(id), late)).toMatchObject({ result: "delayed" });
      clock.advance(DAY_MS);
    }
    const soft = { status: "5.2.2", diagnostic: "552 5.2.2 Mailbox full" };
    for (const said of [soft, {}]) {
      const report = deliveryReport("late@example.test", said);
      expect(await receive(returnPath(id), report)).toMatchObject({ result: "bounced" });
    }
    expect((await copiesTo(bounce_email)).map(({ subject }) => subject)).toEqual([
      "Delayed: late@example.test",
      "Undelivered: late@example.test",
    ]);
  });

  test("quotes a limited part of the report, without working links", async () => {
    const bounce_email = bounceEmail();
    const subject = "See https://evil.example/subject";
    const id = await deliver("phish@example.test", { bounce_email, subject });
    const diagnostic = `550 Claim at https://evil.example/a or www.evil.example or evil.example/b ${"x".repeat(5_000)}`;
    await receive(returnPath(id), deliveryReport("phish@example.test", { diagnostic }));
    const [copy] = await copiesTo(bounce_email);
    expect(copy?.text).toContain("https[:]//evil[.]example/a");
    expect(copy?.text).not.toMatch(/:\/\/|www\.|evil\.example\//);
    expect(copy?.html).not.toContain("href");
    expect(copy?.text.length).toBeLessThan(1_200);
  });

  test("counts against the limit of a hundred per mailbox and day", async () => {
    const bounce_email = bounceEmail();
    await database.run(sql`
      insert into quota_uses (limit_name, holder, ends_at, used)
      values ('bounceCopiesToMailbox', ${bounce_email}, date_trunc('day', ${clock.now()}::timestamptz, 'UTC') + interval '1 day', 99)`);
    for (const to of ["hundred@example.test", "more@example.test"]) {
      const id = await deliver(to, { bounce_email: bounce_email.replace("@", "+x@") });
      expect(await receive(returnPath(id), deliveryReport(to))).toMatchObject({ result: "bounced" });
    }
    expect(await copiesTo(bounce_email.replace("@", "+x@"))).toHaveLength(1);
  });
});

describe("a complaint", () => {
  test("with our signed token changes the message and suppresses its recipient, once", async () => {
    const id = await deliver("annoyed@example.test");
    const report = complaintReport(token(id), "abuse", ["Original-Rcpt-To: somebody-else@example.test"]);
    expect(await receive(`fbl@${BOUNCE_DOMAIN}`, report, "fbl@provider.test")).toMatchObject({
      result: "complained",
    });
    expect((await message(id)).status).toBe("complained");
    const [complaint] = (await call("GET", "/complaints")).body.data.complaints;
    expect(complaint).toMatchObject({ message_id: id, feedback_type: "abuse", provider: "provider.test" });
    expect(await suppressedFor("annoyed@example.test")).toBe("complaint");
    expect(await suppressedFor("somebody-else@example.test")).toBeUndefined();
    expect(await receive(`fbl@${BOUNCE_DOMAIN}`, report)).toMatchObject({ result: "known" });
    expect((await call("GET", "/complaints")).body.data.pagination.total).toBe(1);
  });

  test("counts as long as the message is in the log", async () => {
    const id = await deliver("late@example.test");
    clock.advance(100 * DAY_MS);
    expect(await receive(`fbl@${BOUNCE_DOMAIN}`, complaintReport(token(id)))).toMatchObject({
      result: "complained",
    });
    clock.advance(-100 * DAY_MS);
    expect(await suppressedFor("late@example.test")).toBe("complaint");
  });

  test("is recognised by the return path alone, and when it is sent to the return path", async () => {
    const [first, second] = [await deliver("first@example.test"), await deliver("second@example.test")];
    const hidden = complaintReport("redacted", "abuse", [`Original-Mail-From: <${returnPath(first)}>`]);
    expect(await receive(`FBL@${BOUNCE_DOMAIN}`, hidden)).toMatchObject({ result: "complained" });
    expect(await receive(returnPath(second), complaintReport("redacted"))).toMatchObject({
      result: "complained",
    });
    expect((await message(first)).status).toBe("complained");
    expect((await message(second)).status).toBe("complained");
  });

  test("without a signed token of a message, or that is not a complaint, changes nothing", async () => {
    const id = await deliver("content@example.test");
    const genuine = token(id);
    const altered = `${genuine.slice(0, -1)}${genuine.endsWith("0") ? "1" : "0"}`;
    const fbl = `fbl@${BOUNCE_DOMAIN}`;
    expect(await receive(fbl, complaintReport(genuine, "not-spam"))).toEqual({
      status: "processed",
      result: "not_counted: not-spam",
    });
    for (const forged of [altered, genuine.slice(0, 20), id, ""]) {
      expect(await receive(fbl, complaintReport(forged))).toMatchObject({ status: "quarantined" });
    }
    expect(await receive(fbl, deliveryReport("content@example.test", { token: genuine }))).toMatchObject({
      status: "quarantined",
      result: "not a complaint",
    });
    expect((await message(id)).status).toBe("delivered");
  });

  test.each(["queued", "deferred"] as const)(
    "about a message that is still %s counts: it was delivered, and is not sent again",
    async (status) => {
      const to = `${status}.complains@example.test`;
      const { id, lateSettlement } = await unsettled(to, status);
      expect(await receive(`fbl@${BOUNCE_DOMAIN}`, complaintReport(token(id)))).toMatchObject({
        result: "complained",
      });
      const { status: now, timeline } = await message(id);
      expect(now).toBe("complained");
      expect(timeline.map(({ type }) => type).slice(-2)).toEqual(["delivered", "complained"]);
      expect(timeline.at(-2)?.detail).toContain("complained about it");
      expect(await suppressedFor(to)).toBe("complaint");
      expect(await isQueued(id)).toBe(false);
      expect(await lateSettlement()).toEqual(new Set());
    },
  );
});

test("a mail to a List-Unsubscribe address unsubscribes its recipient, whatever its sender is", async () => {
  const { mails, listId } = await sentCampaign(database, workspaceId, {
    base: "https://x.test",
    people: 2,
    deliveredAt: clock.now(),
  });
  const [left, stays] = mails;
  const unsubscribe = left?.links.unsubscribe.split("/").at(-1) ?? "";
  const mail = `From: ${stays?.email}\nSubject: whatever\n\nDo not unsubscribe me`;
  expect(await receive(`u+${unsubscribe}@${BOUNCE_DOMAIN}`, mail, stays?.email)).toMatchObject({
    result: "unsubscribed",
  });
  const statuses = await database.rows<{ email: string; status: string }>(sql`
    select s.email, m.status from memberships m
    join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.workspace_id = ${workspaceId} and m.mailing_list_id = ${listId}`);
  expect(Object.fromEntries(statuses.map(({ email, status }) => [email, status]))).toEqual({
    [left?.email ?? ""]: "unsubscribed",
    [stays?.email ?? ""]: "active",
  });
});

test("mail to postmaster and abuse is kept for the operator", async () => {
  for (const mailbox of ["postmaster", "Abuse"]) {
    expect(await receive(`${mailbox}@${BOUNCE_DOMAIN}`, "Subject: Hello\n\nAnybody there?")).toMatchObject({
      status: "kept",
    });
  }
});

const corpora = process.env.POSTHASTE_CORPORA ?? resolve(import.meta.dirname, "../../../../shared/corpora");
test.skipIf(!existsSync(corpora))("every mail of the corpora is processed at every address", async () => {
  const id = await deliver("innocent@example.test");
  const folders = ["bounces/files", "dsn-arf/rfc3464", "dsn-arf/rfc5965", "dmarc/samples"];
  for (const folder of folders) {
    for (const name of readdirSync(join(corpora, folder))) {
      const raw = readFileSync(join(corpora, folder, name));
      for (const rcpt_to of [
        returnPath(id),
        `fbl@${BOUNCE_DOMAIN}`,
        `d-${"0123456789abcdef".repeat(2)}@${BOUNCE_DOMAIN}`,
      ]) {
        await database
          .transaction(async (tx) => {
            const settled = await (await interpretMail(deps(), { rcpt_to, raw }))(tx);
            expect(settled, `${name} to ${rcpt_to}`).toMatchObject({ result: expect.any(String) });
            throw new Undone();
          })
          .catch((fault: unknown) => {
            if (!(fault instanceof Undone)) throw fault;
          });
      }
    }
  }
  expect((await message(id)).status).toBe("delivered");
});

class Undone extends Error {}

function deps() {
  return {
    parser,
    db: database,
    clock,
    bounceDomain: BOUNCE_DOMAIN,
    keys: { returnPath: new PurposeKeys(returns.returnPathKey, []), link: new PurposeKeys(linkKey, []) },
    onMoved: async () => {},
    onUnsubscribed: async () => false,
    sendPlatformMail: async () => null,
    log: createLog("silent"),
  };
}
