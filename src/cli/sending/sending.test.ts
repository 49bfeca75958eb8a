import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { findMiscounts } from "#cli/doctor/counters.ts";
import { runCli } from "#cli/program.ts";
import { discardWaiting } from "#delivery/hold/discard-waiting.ts";
import { systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import { counted } from "#platform/count-phrase.ts";
import { createLog } from "#platform/log/log.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { createReactions } from "#processes/reactions.ts";
import { SendingHoldLog } from "#processes/sending-hold-log.ts";
import { sendingRecurring } from "#sending/assembly.ts";
import { newList } from "#test/support/audience.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { newDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { reportScene } from "#test/support/report-scene.ts";
import { insertVerifiedDomain } from "#test/support/sender-domain.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";

const service = await startService();
const { database: db, workspaceId, call } = service;
await insertVerifiedDomain(db, createSecrets(SECRET_KEY), workspaceId, "shop.test");

const sending = (...words: string[]) => sendingOn(db.url, ...words);

async function sendingOn(url: string, ...words: string[]) {
  let stdout = "";
  let stderr = "";
  const code = await runCli(["sending", ...words], {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    environment: { DATABASE_URL: url },
    endpoints: () => service.api.endpoints,
    serve: async () => {},
  });
  return { code, stdout, stderr };
}
const answer = async (...words: string[]) => JSON.parse((await sending(...words, "--json")).stdout);

async function send(to: string): Promise<string> {
  const { status, body } = await call("POST", "/emails/send", {
    to,
    from_email: "hello@shop.test",
    subject: "Hello",
    body: "<p>Hello</p>",
  });
  expect(status).toBe(201);
  return body.data.id;
}
const statusOf = async (id: string) => (await call("GET", `/messages/${id}`)).body.data.status;
const refunded = async () =>
  (
    await db.row<{ units: number }>(sql`
      select coalesce(sum(-quantity), 0)::int as units from meter_entries
      where workspace_id = ${workspaceId} and quantity < 0`)
  )?.units;

test("while held, mail is accepted and waits, and the state is shown to people, probes and programs", async () => {
  expect(await answer("status")).toMatchObject({ is_held: false, messages: 0 });
  const held = await answer("hold");
  expect(held).toMatchObject({ is_held: true, backup_at: null });
  expect(await answer("hold")).toEqual(held);
  await send("ada@people.test");
  expect((await sending("status")).stdout).toBe(
    `Sending is held since ${held.held_at}.\nWaiting:\n  1 message in the queue\n`,
  );
  const ready = await (await fetch(`${service.url}/readyz`)).json();
  expect(ready).toMatchObject({ status: "ready", notices: { sending: `held since ${held.held_at}` } });
  expect(await (await fetch(`${service.url}/metrics`)).text()).toContain("\nposthaste_sending_held 1\n");
  const events = await db.rows<{ operation: string }>(sql`
    select operation from audit_events where workspace_id = '00000000-0000-0000-0000-000000000000'`);
  expect(events.map(({ operation }) => operation)).toContain("sending hold");
  expect(await answer("release")).toMatchObject({ is_held: false, messages: 1, discarded_messages: 0 });
  expect(await answer("status")).toMatchObject({ is_held: false, held_at: null, messages: 1 });
});

test("a release says that messages leave, and which, and the state without a hold says so too", async () => {
  const sent = "messages leave when they are due.\n";
  const waiting = (await sending("status")).stdout;
  expect(waiting).toMatch(/^Sending is not held: messages leave when they are due\.\nBeing sent:\n {2}\d/);
  await sending("hold");
  expect((await sending("release")).stdout).toBe(
    waiting.replace(`Sending is not held: ${sent}`, `Sending is released: ${sent}`),
  );
});

test("a release does not say that messages of suspended workspaces and paused campaigns are sent", async () => {
  const other = await reportScene(service);
  await other.send("queued");
  const ofCampaign = await other.send("queued");
  const campaign = await newCampaign(db, other.workspaceId, await newList(db, other.workspaceId));
  await db.run(sql`
    update delivery_queue set campaign_id = ${campaign}, priority = 1 where message_id = ${ofCampaign}`);
  await db.run(sql`
    update campaigns set status = 'paused', paused_at = now(), sent_at = now() where id = ${campaign}`);
  const before = await answer("hold");
  const suspend = (is: boolean) =>
    db.run(sql`update workspaces set is_suspended = ${is} where id = ${other.workspaceId}`);
  expect(before.halted_messages).toBe(1);
  await suspend(true);
  expect(await answer("status")).toMatchObject({ messages: before.messages - 1, halted_messages: 2 });
  const halted = "Not sent before a resume: 2 messages of suspended workspaces or paused campaigns";
  expect((await sending("status")).stdout).toContain(halted);
  const { stdout } = await sending("release");
  expect(stdout).toContain(`Being sent:\n  ${counted(before.messages - 1, "message")} in the queue`);
  expect(stdout).toContain(halted);
  await db.run(sql`delete from delivery_queue where workspace_id = ${other.workspaceId}`);
  await suspend(false);
});

test("a release without a hold is refused, and discards nothing", async () => {
  const id = await send("bob@people.test");
  expect(await sending("release", "--discard-waiting")).toEqual({
    code: 1,
    stdout: "",
    stderr: "error: sending is not held, so there is nothing to release: messages leave when they are due\n",
  });
  expect(await statusOf(id)).toBe("queued");
});

test.each(["hold", "release", "status"])(
  "%s of a database without an installation is refused, and the database is as it was",
  async (command) => {
    await using other = await newDatabase();
    const { code, stderr } = await sendingOn(other.url, command);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("the database has no workspace: check DATABASE_URL"),
    ]);
    expect(await other.rows(sql`select from pg_tables where schemaname = 'public'`)).toEqual([]);
  },
);

test("--discard-waiting cancels what waited before the hold, refunds it once, and keeps what came later", async () => {
  const before = [await send("cy@people.test"), await send("di@people.test")];
  const scheduled = await send("fay@people.test");
  await db.run(sql`
    update delivery_queue set due_at = now() + interval '1 hour', lease_number = 1 where message_id = ${scheduled}`);
  const { messages, held_at } = await answer("hold");
  const [underWay] = await leaseMessages(db, leaseOrder({ limit: 1 }));
  const refunds = (await refunded()) ?? 0;
  const later = await send("eve@people.test");
  // The command was killed after a part and is run again.
  const stopped = new Error("killed");
  let parts = 0;
  const reactions = createReactions(systemClock);
  await expect(
    discardWaiting(
      db,
      { held_at: new Date(held_at), backup_at: null },
      async (...moved) => {
        await reactions(...moved);
        if (++parts === 2) throw stopped;
      },
      1,
    ),
  ).rejects.toBe(stopped);
  expect(await answer("release", "--discard-waiting")).toMatchObject({
    is_held: false,
    // One was discarded before the kill; of the others one is leased and one is scheduled.
    discarded_messages: messages - 3,
    not_due_messages: 1,
    leased_messages: 1,
  });
  for (const id of before.filter((one) => one !== underWay?.message_id)) {
    const { data } = (await call("GET", `/messages/${id}`)).body;
    expect(data.timeline.at(-1)).toMatchObject({
      type: "cancelled",
      detail: "Discarded by the operator: it waited when sending was held",
    });
  }
  expect(await statusOf(later)).toBe("queued");
  expect(await statusOf(scheduled)).toBe("queued");
  expect(await refunded()).toBe(refunds + messages - 2);
  expect(await findMiscounts(db)).toEqual([]);
});

test("a release after which nothing is left says that something was discarded, and that nothing else waited", async () => {
  await db.run(sql`delete from delivery_queue`);
  await send("gus@people.test");
  await sending("hold");
  expect((await sending("release", "--discard-waiting")).stdout).toBe(
    "1 message cancelled.\nSending is released: messages leave when they are due.\nNothing else was waiting.\n",
  );
  await sending("hold");
  expect((await sending("release", "--discard-waiting")).stdout).toBe(
    "Sending is released: messages leave when they are due.\nNothing was waiting.\n",
  );
});

test("a running service logs each hold and release once, with who ran the command", async () => {
  const lines: unknown[] = [];
  const log = new SendingHoldLog(db, { info: (...line: unknown[]) => lines.push(line) }, systemClock);
  await log.look();
  await sending("hold");
  await sending("release");
  await log.look();
  await log.look();
  const by = { by: expect.stringMatching(/^command line \(.+\)$/), at: expect.any(Date) };
  expect(lines).toEqual([
    [by, "sending is held: nothing leaves"],
    [by, "sending is released: messages leave when they are due"],
  ]);
});

test("a running service logs a release that discards messages when it has ended the hold, and not before", async () => {
  const lines: unknown[] = [];
  const log = new SendingHoldLog(db, { info: (...line: unknown[]) => lines.push(line.at(-1)) }, systemClock);
  await send("flo@people.test");
  await sending("hold");
  await db.run(sql`
    create function refuse_release() returns trigger language plpgsql as $$ begin raise 'stopped'; end $$`);
  await db.run(sql`
    create trigger refuse_release before delete on sending_hold for each row execute function refuse_release()`);
  expect(await sending("release", "--discard-waiting")).toMatchObject({ code: 1 });
  await log.look();
  await log.look();
  expect(lines).toEqual(["sending is held: nothing leaves"]);
  await db.run(sql`drop function refuse_release cascade`);
  expect(await sending("release")).toMatchObject({ code: 0 });
  await log.look();
  expect(lines.slice(1)).toEqual(["sending is released: messages leave when they are due"]);
});

test("a hold that ends while messages are discarded ends the discarding", async () => {
  const ids = [await send("jo@people.test"), await send("kim@people.test")];
  const { held_at } = await answer("hold");
  const reactions = createReactions(systemClock);
  const hold = { held_at: new Date(held_at), backup_at: null };
  let released: Promise<unknown> | undefined;
  const discarding = discardWaiting(
    db,
    hold,
    async (...moved) => {
      await reactions(...moved);
      // Waits for the part, and is in front of the next one.
      released ??= answer("release");
      await eventually("the release to wait for the part", () =>
        db.row(
          sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      );
    },
    1,
  );
  await expect(discarding).rejects.toThrow("another command has released the sending meanwhile");
  expect(await released).toMatchObject({ is_held: false });
  expect(await Promise.all(ids.map(statusOf))).toContain("queued");
});

test("the time of a hold does not count against the retries of a message", async () => {
  const [deferred, untried, scheduled] = [
    await send("gil@people.test"),
    await send("hal@people.test"),
    await send("ida@people.test"),
  ];
  await answer("hold");
  await db.run(sql`update sending_hold set backup_at = now() - interval '4 days'`);
  // At the backup's moment one was attempted and had an hour left, one was new, and one was due a day later.
  for (const [id, attempts, dueDaysAgo, hoursLeft] of [
    [deferred, 3, 4, 1 - 4 * 24],
    [untried, 0, 5, -24],
    [scheduled, 0, 3, 0],
  ] as const)
    await db.run(sql`
      update delivery_queue set attempts = ${attempts}, due_at = now() - make_interval(days => ${dueDaysAgo}),
        expires_at = now() + make_interval(hours => ${hoursLeft}) where message_id = ${id}`);
  await answer("release");
  const hoursLeft = async (id: string) =>
    (
      await db.row<{ hours: number }>(sql`
        select round(extract(epoch from expires_at - now()) / 3600)::int as hours
        from delivery_queue where message_id = ${id}`)
    )?.hours;
  expect([await hoursLeft(deferred), await hoursLeft(untried), await hoursLeft(scheduled)]).toEqual([
    1, 72, 72,
  ]);
});

test("a campaign that is due while sending is held begins after the release", async () => {
  const list = await newList(db, workspaceId);
  const id = await newCampaign(db, workspaceId, list);
  await db.run(sql`update campaigns set status = 'scheduled', scheduled_at = now() where id = ${id}`);
  const parts = { database: db, clock: systemClock, config: readConfig({}), plans, onLimit() {} };
  const tasks = sendingRecurring(parts, { onCampaignEvents: async () => {} });
  const advance = async () => {
    const context = { signal: new AbortController().signal, log: createLog("silent") };
    for (const task of tasks.filter(({ name }) => name.startsWith("advance-"))) await task.run(context);
    return (await db.row<{ status: string }>(sql`select status from campaigns where id = ${id}`))?.status;
  };
  await answer("hold");
  expect(await advance()).toBe("scheduled");
  await answer("release");
  expect(await advance()).not.toBe("scheduled");
});
