import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, describe, expect, test } from "vitest";
import { forgetRemoved } from "#audience/subscribers/memberships/removed-people-store.ts";
import type { Outcome } from "#messages/message/outcome.ts";
import { type Engagement, recordEngagements, recordUnsubscribed } from "#messages/record-engagement.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { newId } from "#platform/ids.ts";
import { attemptJob } from "#platform/jobs/attempt.ts";
import { createLog } from "#platform/log/log.ts";
import { createEngagementReactions, createReactions } from "#processes/reactions.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { findMiscounts } from "#test/support/audience.ts";
import { draft } from "#test/support/drafts.ts";
import { requireOutcome } from "#test/support/ended-job.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { startService } from "#test/support/service.ts";
import { erasureHandler } from "./erasure-job.ts";

const service = await startService();
const { call, database: db, workspaceId, clock } = service;
const dataDir = await mkdtemp(join(tmpdir(), "posthaste-erasure-"));
afterAll(() => rm(dataDir, { recursive: true, force: true }));

/** A person on a new list. */
async function person(email = `ann${newId()}@people.example`) {
  const list = await call("POST", "/mailing-lists", { name: `List ${newId()}` });
  const mailingListId: string = list.body.data.id;
  const given = { email, first_name: "Ann", last_name: "Lee" };
  const added = await call("POST", `/mailing-lists/${mailingListId}/subscribers`, given);
  expect(added.status, added.body.error).toBe(201);
  return { id: added.body.data.subscriber_id as string, email, mailingListId };
}

const settle = (messageId: string, status: Outcome["status"], change: Partial<Outcome> = {}) =>
  db.transaction(async (tx) => {
    await tx.run(sql`delete from delivery_queue where message_id = ${messageId}`);
    await recordOutcomes(tx, [outcomeOf({ workspaceId, messageId }, status, change)], createReactions(clock));
  });

/** A message that was accepted, and is in the queue. */
async function mail(email: string, subject = "Your order, Ann"): Promise<string> {
  const one = draft(workspaceId, email, { subject });
  await insertDrafts(db, [one]);
  return one.message.id;
}

async function delivered(email: string): Promise<string> {
  const id = await mail(email);
  await settle(id, "delivered", { detail: `250 2.0.0 OK for <${email}>`, mxHost: "mx.people.example" });
  return id;
}

const engage = (messageId: string, kind: Engagement["kind"], change: Partial<Engagement> = {}) =>
  db.transaction((tx) =>
    recordEngagements(
      tx,
      [
        {
          workspaceId,
          messageId,
          kind,
          time: new Date(),
          times: 1,
          linkIndex: kind === "clicked" ? 0 : null,
          target: kind === "clicked" ? "https://shop.example/?who=ann" : null,
          userAgent: "A browser",
          machineSign: null,
          ...change,
        },
      ],
      createEngagementReactions(clock),
    ),
  );

const activities = async (id: string, query = "") =>
  (await call("GET", `/subscribers/${id}/activities${query}`)).body;

describe("the activities of a person", () => {
  test("are everything that happened, newest first, with machines, links, replies and changes", async () => {
    const { id, email, mailingListId } = await person();
    const first = await delivered(email);
    await engage(first, "opened", { machineSign: "agent" });
    await engage(first, "opened");
    await engage(first, "clicked");
    const second = await mail(email);
    await settle(second, "bounced", {
      detail: "550 5.1.1 no such user",
      code: 550,
      enhancedCode: "5.1.1",
      mxHost: "mx.people.example",
      isAddressFault: true,
    });
    await call("PUT", `/mailing-lists/${mailingListId}/subscribers/${id}`, { first_name: "Anna" });
    const { data, next_cursor } = await activities(id);
    expect(next_cursor).toBe(null);
    const kinds = data.map(({ kind }: { kind: string }) => kind);
    expect(kinds.toSorted()).toEqual(
      ["bounced", "changed", "clicked", "delivered", "joined", "opened", "opened", "sent", "sent"].toSorted(),
    );
    const times = data.map(({ timestamp }: { timestamp: string }) => timestamp);
    expect(times).toEqual(times.toSorted().reverse());
    const of = (kind: string) => data.find((one: { kind: string }) => one.kind === kind);
    const opens = data.filter(({ kind }: { kind: string }) => kind === "opened");
    expect(opens.map((one: { is_machine: boolean }) => one.is_machine).toSorted()).toEqual([false, true]);
    expect(of("clicked")).toMatchObject({
      url: "https://shop.example/?who=ann",
      message: { id: first, subject: "Your order, Ann", source: "api", origin_name: "Test key" },
    });
    expect(of("bounced")).toMatchObject({
      detail: "550 5.1.1 no such user",
      smtp_code: 550,
      enhanced_code: "5.1.1",
      mx_host: "mx.people.example",
      message: { id: second },
    });
    expect(of("joined")).toMatchObject({
      joined_from: "api",
      mailing_list: { id: mailingListId, name: expect.any(String) },
      message: null,
    });
    expect(of("changed")).toMatchObject({ operation: "updateMember", changed_fields: ["first_name"] });
  });

  test("can be read page by page and by kind, each once", async () => {
    const { id, email } = await person();
    for (let at = 0; at < 4; at += 1) await delivered(email);
    const all = (await activities(id)).data.map((one: { id: string }) => one.id);
    expect(all).toHaveLength(9);
    const read: string[] = [];
    for (let after = ""; ; ) {
      const { data, next_cursor } = await activities(id, `?limit=2${after}`);
      expect(data.length).toBeLessThanOrEqual(2);
      read.push(...data.map((one: { id: string }) => one.id));
      if (next_cursor === null) break;
      after = `&after=${next_cursor}`;
    }
    expect(read).toEqual(all);
    const some = (await activities(id, "?kinds=delivered,joined")).data;
    expect(some.map(({ kind }: { kind: string }) => kind)).toEqual([
      "delivered",
      "delivered",
      "delivered",
      "delivered",
      "joined",
    ]);
    const { next_cursor } = await activities(id, "?limit=2");
    const wrong = await call("GET", `/subscribers/${id}/activities?kinds=sent&after=${next_cursor}`);
    expect([wrong.status, wrong.body.details?.[0].field]).toEqual([400, "after"]);
    const unknown = await call("GET", `/subscribers/${id}/activities?kinds=sent,lost`);
    expect([unknown.status, unknown.body.details?.[0].field]).toEqual([400, "kinds"]);
  });

  test("show one departure through a message once, and one without a message", async () => {
    const { id, email, mailingListId } = await person();
    const message = await delivered(email);
    const now = clock.now();
    await call("PUT", `/mailing-lists/${mailingListId}/subscribers/${id}/status`, { status: "unsubscribed" });
    const left = async () =>
      (await activities(id, "?kinds=left")).data.map(
        (one: { message: { id: string } | null }) => one.message,
      );
    expect(await left()).toEqual([null]);
    await db.run(sql`update memberships set unsubscribed_at = ${now} where subscriber_id = ${id}`);
    await db.transaction((tx) => recordUnsubscribed(tx, workspaceId, message, now));
    expect(await left()).toMatchObject([{ id: message }]);
  });

  test("are closed to other workspaces", async () => {
    const { id } = await person();
    const { key } = await service.newWorkspace();
    for (const path of ["activities", "export"]) {
      expect((await call("GET", `/subscribers/${id}/${path}`, undefined, { key })).status).toBe(404);
    }
  });
});

/** Two mails of a person to an inbound route: one parsed, and one that only its envelope names. */
async function receivedFrom(email: string): Promise<void> {
  for (const [subject, from, envelope] of [
    [null, null, email.toUpperCase()],
    ["parsed", email, ""],
  ] as const) {
    await db.run(sql`
      insert into received_emails (workspace_id, id, route_id, keep, webhook, mail_from, rcpt_to, remote_ip, helo, network,
        raw, bytes, received_at, status, due_at, turn, from_email, subject)
      values (${workspaceId}, ${newId()}, ${newId()}, true, true, ${envelope}, 'support@shop.test', '', '', '',
        ${Buffer.from(email)}, 1, now(), 'parsed', now(), 0, ${from}, ${subject})`);
  }
}

test("a copy of a person's data has all of it as one JSON document", async () => {
  const { id, email } = await person();
  const message = await delivered(email);
  await db.run(sql`
    update messages set email_details = '{"recipient_type": "to", "tags": ["order"], "metadata": {"number": "7"}}'
    where id = ${message}`);
  await call("POST", "/suppression-lists", { name: "Own" });
  await db.run(sql`
    insert into validations (workspace_id, id, email, status, risk_score, cost, created_at)
    values (${workspaceId}, ${newId()}, ${email}, 'valid', 1, 1, now())`);
  await receivedFrom(email);
  const answer = await fetch(`${service.url}/api/v1/subscribers/${id}/export`, {
    headers: { "X-API-Key": service.key },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-disposition")).toContain(`subscriber-${id}.json`);
  const copy = (await answer.json()) as Record<string, unknown>;
  expect(copy).toMatchObject({
    subscriber: { id, email, first_name: "Ann", lists: [{ status: "active" }] },
    suppression_entries: [],
    signup_requests: [],
    validations: [{ email, status: "valid" }],
    received_emails: [{ subject: "parsed" }, { subject: null }],
    messages: [{ id: message, subject: "Your order, Ann", tags: ["order"], metadata: { number: "7" } }],
  });
  expect(JSON.stringify(copy.messages)).not.toContain("email_details");
  expect((copy.activities as { kind: string }[]).map(({ kind }) => kind).toSorted()).toEqual([
    "delivered",
    "joined",
    "sent",
  ]);
});

describe("parts of a person's data need the permission of their noun", () => {
  const kindsOf = (rows: { kind: string }[]) => [...new Set(rows.map(({ kind }) => kind))].toSorted();

  test("activities of messages and changes are left out, and refused where they are asked for", async () => {
    const { id, email, mailingListId } = await person();
    const message = await delivered(email);
    await call("PUT", `/mailing-lists/${mailingListId}/subscribers/${id}`, { first_name: "Anna" });
    await call("PUT", `/mailing-lists/${mailingListId}/subscribers/${id}/status`, { status: "unsubscribed" });
    const leftAt = clock.now();
    await db.run(sql`update memberships set unsubscribed_at = ${leftAt} where subscriber_id = ${id}`);
    await db.transaction((tx) => recordUnsubscribed(tx, workspaceId, message, leftAt));
    const read = async (permissions: string[], query = "") => {
      const key = await service.newKey(["subscribers:read", ...permissions]);
      return call("GET", `/subscribers/${id}/activities${query}`, undefined, { key });
    };
    const least = (await read([])).body.data;
    expect(kindsOf(least)).toEqual(["joined", "left"]);
    expect(least.map((one: { message: unknown }) => one.message)).toEqual([null, null]);
    expect(kindsOf((await read(["reports:read"])).body.data)).toEqual([
      "delivered",
      "joined",
      "left",
      "sent",
    ]);
    expect(kindsOf((await read(["audit:read"])).body.data)).toEqual(["changed", "joined", "left"]);
    for (const [kind, permission] of [
      ["bounced", "reports:read"],
      ["changed", "audit:read"],
    ]) {
      const { status, body } = await read([], `?kinds=${kind},joined`);
      expect([status, body.required_scopes]).toEqual([403, [permission]]);
    }
  });

  test("a copy names the parts that are left out", async () => {
    const { id, email } = await person();
    await delivered(email);
    const copyWith = async (permissions: string[]) => {
      const key = await service.newKey(["subscribers:read", ...permissions]);
      const answer = await fetch(`${service.url}/api/v1/subscribers/${id}/export`, {
        headers: { "X-API-Key": key },
      });
      return (await answer.json()) as Record<string, unknown>;
    };
    const least = await copyWith([]);
    expect(Object.keys(least)).toEqual([
      "exported_at",
      "subscriber",
      "activities",
      "is_complete",
      "left_out",
    ]);
    expect([least.is_complete, least.left_out]).toEqual([
      false,
      [
        { part: "suppression_entries", permission: "suppression_lists:read" },
        { part: "signup_requests", permission: "mailing_lists:read" },
        { part: "validations", permission: "validations:read" },
        { part: "received_emails", permission: "received_emails:read" },
        { part: "messages", permission: "reports:read" },
        { part: "activities of the kind changed", permission: "audit:read" },
      ],
    ]);
    expect(kindsOf(least.activities as { kind: string }[])).toEqual(["joined"]);
    const all = await copyWith(["*:*"]);
    expect([all.is_complete, all.left_out, (all.messages as unknown[]).length]).toEqual([true, [], 1]);
  });
});

describe("the erasure of a person", () => {
  const handler = erasureHandler({ db, clock, onMoved: createReactions(clock) });

  /** Runs the job once, and returns its record. */
  async function attempt(id: string) {
    const stopping = new AbortController().signal;
    const place = { database: db, dataDir, log: createLog("error"), stopping, turnMs: 60_000 };
    await attemptJob(place, handler as never, { workspace_id: workspaceId, id });
    const job = (await call("GET", `/jobs/${id}`)).body.data;
    requireOutcome(job);
    return job;
  }

  async function start(id: string, body?: object): Promise<string> {
    const answer = await call("POST", `/subscribers/${id}/erase`, body);
    expect(answer.status, answer.body.error).toBe(202);
    return answer.body.data.job_id;
  }

  /** The tables in which a text occurs, in any column, when no campaign is choosing its recipients. */
  async function tablesWith(text: string): Promise<string[]> {
    await forgetRemoved(db, sql`select null::uuid where false`, 1_000);
    const tables = await db.rows<{ name: string }>(sql`
      select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`);
    const found: string[] = [];
    for (const { name } of tables) {
      const { rows } = await db.pool.query(`select 1 from "${name}" t where t::text ilike $1 limit 1`, [
        `%${text}%`,
      ]);
      if (rows.length > 0) found.push(name);
    }
    return found.toSorted();
  }

  test("leaves the address nowhere but on the suppression list, and counts what it erased", async () => {
    const mark = `zoe${newId().slice(0, 8)}`;
    const { id, email } = await person(`${mark}@people.example`);
    const other = await person();
    const opened = await delivered(email);
    await engage(opened, "clicked", { target: `https://shop.example/?who=${mark}` });
    const bounced = await mail(email, `Hello ${mark}`);
    await settle(bounced, "bounced", { detail: `452 <${email}> is full`, code: 452 });
    const waiting = await mail(email);
    const theirs = await delivered(other.email);
    await db.run(sql`
      insert into validations (workspace_id, id, email, status, risk_score, cost, created_at)
      values (${workspaceId}, ${newId()}, ${email}, 'valid', 1, 1, now())`);
    await receivedFrom(email);
    const job = await attempt(await start(id));
    expect(job).toMatchObject({ status: "completed", type: "subscriber_erasure" });
    expect(job.result).toMatchObject({
      subscriber_id: id,
      erased: { messages: 3, cancelled: 1, memberships: 1, validations: 1, received_emails: 2 },
      is_suppressed: true,
      kept: expect.arrayContaining([expect.stringContaining("suppression lists")]),
    });
    expect((await call("GET", `/subscribers/${id}`)).status).toBe(404);
    expect(await tablesWith(mark)).toEqual(["suppression_entries"]);
    const { data } = (await call("GET", `/messages/${waiting}`)).body;
    expect([data.status, JSON.stringify(data).includes(mark)]).toEqual(["cancelled", false]);
    expect((await call("GET", `/messages/${opened}`)).body.data.status).toBe("delivered");
    expect(JSON.stringify((await call("GET", `/messages/${theirs}`)).body.data)).toContain(other.email);
    expect((await call("GET", `/subscribers/${other.id}`)).status).toBe(200);
    expect(await findMiscounts(db)).toEqual([]);
    const check = await call("POST", "/suppressions/find", { addresses: [email] });
    expect(JSON.stringify(check.body.data)).toContain("Bounces and complaints");
  });

  test("waits for received mail whose From field is not known yet", async () => {
    const { id, email } = await person();
    await receivedFrom(email);
    await db.run(sql`
      update received_emails set status = 'received', from_email = null where workspace_id = ${workspaceId} and from_email = ${email}`);
    const job = await start(id);
    await attempt(job);
    expect((await call("GET", `/jobs/${job}`)).body.data.status).toBe("processing");
    await db.run(sql`
      update received_emails set status = 'parsed', from_email = ${email} where workspace_id = ${workspaceId} and status = 'received'`);
    expect(await attempt(job)).toMatchObject({
      status: "completed",
      result: { erased: { received_emails: 2 } },
    });
  });

  test("takes the person out of mail to several recipients, and the last one's erasure takes its content", async () => {
    await db.run(sql`
      insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
      values (${workspaceId}, gen_random_uuid(), 'several.test', 'v', 'd', true, now())`);
    const marks = [1, 2, 3].map((place) => `several${place}x${newId().slice(-8)}`);
    const people = await Promise.all(marks.map((mark) => person(`${mark}@people.example`)));
    const [ann = "", bob = "", eve = ""] = marks.map((mark) => `Lady ${mark} <${mark}@people.example>`);
    const mailTo = async (given: object) => {
      const { body } = await call("POST", "/emails", {
        from_email: "shop@several.test",
        subject: "For all",
        text: "Our news",
        ...given,
      });
      for (const { id } of body.data.messages) await settle(id, "delivered");
      return body.data.messages.map(({ id }: { id: string }) => id) as string[];
    };
    const [, toBob = ""] = await mailTo({ to: ann, cc: [bob, eve], reply_to: ann });
    const kept = await db.rows(sql`select id from submissions`);
    const address = people[0]?.email ?? "";
    const list = (await call("POST", "/suppression-lists", { name: `List ${newId()}` })).body.data.id;
    await call("POST", `/suppression-lists/${list}/entries`, { entries: address });
    const [, alsoToBob = ""] = await mailTo({ to: [ann, bob] });
    const [first = "", second = "", third = ""] = marks;

    await attempt(await start(people[0]?.id ?? ""));
    expect(await tablesWith(first)).toEqual(["suppression_entries"]);
    for (const id of [toBob, alsoToBob]) {
      const { status, body } = await call("GET", `/messages/${id}/content`);
      const shown = JSON.stringify(body.data);
      expect([status, shown.includes(first), shown.includes(second), shown.includes("Our news")]).toEqual([
        200,
        false,
        true,
        true,
      ]);
    }
    await attempt(await start(people[1]?.id ?? ""));
    expect(await db.rows(sql`select id from submissions`)).toEqual(kept);
    await attempt(await start(people[2]?.id ?? ""));
    expect(await db.rows(sql`select id from submissions`)).toEqual([]);
    expect([await tablesWith(second), await tablesWith(third)]).toEqual([
      ["suppression_entries"],
      ["suppression_entries"],
    ]);
  });

  test("without suppression adds no entry, and keeps those that exist", async () => {
    const { id, email } = await person();
    await attempt(await start(id, { suppress: false }));
    expect(await tablesWith(email)).toEqual([]);
  });

  test("waits for a message that is being sent, and is whole when it runs again", async () => {
    const { id, email } = await person();
    const sending = await mail(email);
    await db.run(sql`update delivery_queue set leased_by = ${newId()} where message_id = ${sending}`);
    const job = await start(id);
    expect((await attempt(job)).status).not.toBe("completed");
    expect((await call("GET", `/subscribers/${id}`)).status).toBe(200);
    expect((await call("GET", `/messages/${sending}`)).body.data.status).toBe("sending");
    await settle(sending, "delivered");
    expect(await attempt(job)).toMatchObject({ status: "completed", result: { erased: { messages: 1 } } });
    expect(await tablesWith(email)).toEqual(["suppression_entries"]);
  });

  test("of one person is one job, also when it is asked for several times at once", async () => {
    const { id } = await person();
    const other = await person();
    const [first, second, third] = await Promise.all([start(id), start(id), start(other.id)]);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    await attempt(first);
    expect((await call("POST", `/subscribers/${id}/erase`)).status).toBe(404);
  });

  test("changes nothing when another run has erased the person", async () => {
    const { id } = await person();
    const [first, second] = [await start(id), await start(id, { suppress: false })];
    await attempt(first);
    expect(await attempt(second)).toMatchObject({
      status: "completed",
      result: { erased: { messages: 0, memberships: 0 } },
    });
    expect((await call("POST", `/subscribers/${id}/erase`)).status).toBe(404);
  });

  test("says that the address is suppressed, also when a run was interrupted after the person was deleted", async () => {
    const { id } = await person();
    const job = await start(id);
    expect((await attempt(job)).result.is_suppressed).toBe(true);
    // As a run leaves the record that ends between its last transaction and its result.
    await db.run(sql`
      update jobs set status = 'pending', result = null, completed_at = null, expires_at = null, due_at = now()
      where id = ${job}`);
    expect((await attempt(job)).result).toMatchObject({ is_suppressed: true, erased: { memberships: 1 } });
  });

  test("needs the right to write, and a person of the workspace", async () => {
    const { id } = await person();
    const reader = await service.newKey(["subscribers:read"]);
    expect((await call("POST", `/subscribers/${id}/erase`, {}, { key: reader })).status).toBe(403);
    const { key } = await service.newWorkspace();
    expect((await call("POST", `/subscribers/${id}/erase`, {}, { key })).status).toBe(404);
    expect((await call("GET", `/subscribers/${id}`)).status).toBe(200);
  });
});
