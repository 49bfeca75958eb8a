import sql from "sql-template-tag";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eraseRecipient } from "#messages/erase-recipient-store.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { newId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { leaseMessages } from "#test/support/lease-order.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { startService } from "#test/support/service.ts";
import { announceMoved } from "#webhooks/events/announce-message-events.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";

const service = await startService({ env: { PLATFORM_FROM: "hello@posthaste.test" } });
const { call, database, workspaceId, clock } = service;

const mail = { to: ["Ada <ada@example.com>"], subject: "Your order", html: "<p>Thank you</p>" };
const send = (body: object, headers: Record<string, string> = {}) =>
  call("POST", "/emails", body, { headers });
const batch = (emails: readonly unknown[], headers: Record<string, string> = {}) =>
  call("POST", "/emails/batch", { emails }, { headers });
const countMessages = async () =>
  (await database.row<{ total: number }>(sql`select count(*) as total from messages`))?.total ?? 0;
const later = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();
const suppress = async (address: string) => {
  const { body } = await call("POST", "/suppression-lists", { name: `List ${newId()}` });
  await call("POST", `/suppression-lists/${body.data.id}/entries`, { entries: address });
};
const lease = () =>
  leaseMessages(database, {
    workerId: newId(),
    priority: 0,
    limit: 200,
    bytes: 10_000_000,
    seconds: 60,
    saturated: [],
  });
const leased = async (id: string) => (await lease()).find(({ message_id }) => message_id === id);

beforeAll(async () => {
  await database.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
    values (${workspaceId}, gen_random_uuid(), 'shop.test', 'v', 'd', true, ${new Date()})`);
});
beforeEach(() => database.run(sql`delete from delivery_queue`));

describe("an email to several recipients", () => {
  test("is a message for each of them, with the id of the email and its neighbours", async () => {
    const { status, body } = await send({
      ...mail,
      to: ["Ada <ada@example.com>", "Bob <bob@example.net>"],
      cc: ["cy@example.org"],
      bcc: ["di@example.org"],
    });
    expect([status, body.error]).toEqual([201, undefined]);
    const { id, messages } = body.data;
    expect(body.data).toMatchObject({ status: "queued", scheduled_at: null });
    expect(messages).toEqual([
      { id, to: "ada@example.com", recipient_type: "to" },
      { id: expect.any(String), to: "bob@example.net", recipient_type: "to" },
      { id: expect.any(String), to: "cy@example.org", recipient_type: "cc" },
      { id: expect.any(String), to: "di@example.org", recipient_type: "bcc" },
    ]);
    const rows = await database.rows<{ id: string }>(sql`
      select m.id from messages m join delivery_queue q on q.message_id = m.id
        join message_contents c on c.message_id = m.id
      where m.id = any (${messages.map((one: { id: string }) => one.id)}::uuid[]) order by m.id`);
    expect(rows.map((row) => row.id)).toEqual(messages.map((one: { id: string }) => one.id));
  });

  test("is stored once, and leased whole for each recipient", async () => {
    const file = { filename: "a.txt", content: "QUJD", content_type: "text/plain" };
    const { body } = await send({
      ...mail,
      to: ["a@x.test", "b@x.test"],
      text: "Thanks",
      attachments: [file],
    });
    const stored = await database.rows(sql`
      select s.html, c.html as own from submissions s join message_contents c on c.submission_id = s.id
      where c.message_id in (${body.data.messages[0].id}, ${body.data.messages[1].id})`);
    expect(stored).toEqual([0, 1].map(() => ({ html: mail.html, own: null })));
    expect(await lease()).toMatchObject(
      [0, 1].map(() => ({
        html: mail.html,
        text: "Thanks",
        attachments: [{ filename: "a.txt", content: "QUJD" }],
        has_content: true,
        is_stale: false,
      })),
    );
  });

  test("is tracked for each recipient if the workspace wants it and there is HTML", async () => {
    const track = async (tracks_transactional: boolean) => {
      await changeWorkspace(database, workspaceId, { tracks_transactional }, { clock, plans });
      clock.advance(2_000);
    };
    await track(true);
    await send({ ...mail, to: ["a@x.test", "b@x.test"] });
    await send({ ...mail, to: ["c@x.test"], html: undefined, text: "Hello" });
    await track(false);
    const tracked = (await lease()).map((one) => [one.localpart, one.particulars?.is_tracked ?? false]);
    expect(Object.fromEntries(tracked)).toEqual({ a: true, b: true, c: false });
  });

  test("reaches an address once, in the first field that names it", async () => {
    const { body } = await send({
      ...mail,
      to: ["ada@example.com"],
      cc: ["Ada <ADA@Example.com>", "b@x.test"],
    });
    expect(body.data.messages.map(({ to }: { to: string }) => to)).toEqual(["ada@example.com", "b@x.test"]);
  });

  test("may name one recipient without a list", async () => {
    const { status, body } = await send({ ...mail, to: "ada@example.com", cc: "b@x.test" });
    expect([status, body.data.messages.length]).toEqual([201, 2]);
  });

  test("is not sent to a suppressed recipient, and is to the others", async () => {
    await suppress("gone@example.com");
    const { status, body } = await send({ ...mail, to: ["gone@example.com", "here@example.com"] });
    expect(status).toBe(201);
    const { data } = (await call("GET", `/emails/${body.data.id}`)).body;
    expect(data.messages.map((one: { status: string }) => one.status)).toEqual(["suppressed", "queued"]);
    expect((await lease()).map(({ localpart }) => localpart)).toEqual(["here"]);
  });

  test("takes one place in the allowance for each recipient that is not suppressed", async () => {
    await suppress("gone2@example.com");
    const used = async () =>
      (
        await database.row<{ used: number }>(sql`
        select coalesce(sum(quantity), 0)::int as used from meter_entries where workspace_id = ${workspaceId} and kind = 'email'`)
      )?.used ?? 0;
    const before = await used();
    const { body } = await send({ ...mail, to: ["gone2@example.com", "a@x.test"], bcc: ["b@x.test"] });
    expect(await used()).toBe(before + 2);
    expect((await call("POST", `/emails/${body.data.id}/cancel`)).status).toBe(200);
    expect(await used()).toBe(before);
  });

  test.each([
    ["no recipient", { to: [] }, ["to"]],
    ["a wrong address", { to: ["ada@example.com", "nobody"], cc: ["also wrong@"] }, ["to[1]", "cc[0]"]],
    ["no address at all", { to: [5] }, ["to[0]"]],
    ["an object in place of a list", { to: { email: "a@x.test" } }, ["to"]],
    ["a list in one text", { to: "a@x.test, b@x.test" }, ["to"]],
    [
      "more than 50 recipients",
      {
        to: Array.from({ length: 40 }, (_, at) => `a${at}@x.test`),
        bcc: Array.from({ length: 11 }, (_, at) => `b${at}@x.test`),
      },
      ["to"],
    ],
    [
      "more than ten addresses for replies",
      { reply_to: Array.from({ length: 11 }, (_, at) => `a${at}@x.test`) },
      ["reply_to"],
    ],
    ["no body", { html: undefined }, ["html"]],
    ["a blank body", { html: "<p> </p>", text: " " }, ["html"]],
    ["a blank text", { html: undefined, text: "\n" }, ["text"]],
    ["a blank subject", { subject: " " }, ["subject"]],
    ["a line break in a header", { headers: { "X-Order": "1\r\nBcc: eve@x.test" } }, ["headers.X-Order"]],
    [
      "a header that the service writes",
      { headers: { "DKIM-Signature": "v=1" } },
      ["headers.DKIM-Signature"],
    ],
    ["Bcc among the headers", { headers: { Bcc: "eve@x.test" } }, ["headers.Bcc"]],
    ["a header twice", { headers: { "X-A": "1", "x-a": "2" } }, ["headers.x-a"]],
    [
      "headers that are too long",
      { headers: Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`X-${at}`, "x".repeat(990)])) },
      ["headers"],
    ],
    ["a foreign sender", { from_email: "ceo@bank.test" }, ["from_email"]],
    ["a tag with a line break", { tags: ["a", "b\nc"] }, ["tags[1]"]],
    ["too many tags", { tags: Array.from({ length: 11 }, (_, at) => `t${at}`) }, ["tags"]],
    ["a tag that is too long", { tags: ["x".repeat(51)] }, ["tags[0]"]],
    ["a name of metadata with a blank", { metadata: { "order id": "1" } }, ["metadata.order id"]],
    ["metadata that is no text", { metadata: { order: 7 } }, ["metadata.order"]],
    [
      "too much metadata",
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`n${at}`, "1"])) },
      ["metadata"],
    ],
    ["a past time", { scheduled_at: "2020-01-01T00:00:00Z" }, ["scheduled_at"]],
    ["a time without a zone", { scheduled_at: "2099-01-01T00:00:00" }, ["scheduled_at"]],
    ["a time in years", { scheduled_at: "2099-01-01T00:00:00Z" }, ["scheduled_at"]],
    ["the body of POST /emails/send", { html: undefined, body: "Hello" }, ["body"]],
  ])("is refused with %s, and nothing is stored", async (_what, change, fields) => {
    const before = await countMessages();
    const { status, body } = await send({ ...mail, ...change });
    expect([status, body.code, body.details?.map((one: { field: string }) => one.field)]).toEqual([
      400,
      "VALIDATION_ERROR",
      fields,
    ]);
    expect(await countMessages()).toBe(before);
  });

  test("with an Idempotency-Key is sent once, and the second answer is the first", async () => {
    const key = { "Idempotency-Key": newId() };
    const body = { ...mail, to: ["a@x.test", "b@x.test"] };
    const first = await send(body, key);
    const before = await countMessages();
    const second = await send(body, key);
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await countMessages()).toBe(before);
    expect((await send({ ...body, subject: "Other" }, key)).status).toBe(409);
  });
});

describe("tags and metadata", () => {
  const found = async (query: string) =>
    (await call("GET", `/messages?${query}`)).body.data.messages.map(({ id }: { id: string }) => id);

  test("find the message, alone and with other filters, and page newest first", async () => {
    const ids: string[] = [];
    for (const order of ["1", "2", "3"]) {
      const { body } = await send({ ...mail, tags: ["welcome", "été"], metadata: { order, shop: "north" } });
      ids.unshift(body.data.id);
    }
    await send({ ...mail, tags: ["other"] });
    expect(await found("tag=welcome")).toEqual(ids);
    expect(await found(`tag=${encodeURIComponent("été")}&limit=2`)).toEqual(ids.slice(0, 2));
    expect(await found("metadata=order%3D2")).toEqual([ids[1]]);
    expect(await found("tag=welcome&metadata=order%3D3&status=queued&source=api")).toEqual([ids[0]]);
    expect(await found("tag=welcome&subject=nothing")).toEqual([]);
    expect(await found("tag=Welcome")).toEqual([]);
    expect(await found("metadata=order%3D4")).toEqual([]);
    expect(await found("tag=other&metadata=order%3D1")).toEqual([]);
    const { body } = await call("GET", "/messages?tag=welcome&limit=2");
    expect(await found(`tag=welcome&limit=2&after=${body.data.pagination.next_cursor}`)).toEqual([ids[2]]);
  });

  test("are not found by other workspaces", async () => {
    await send({ ...mail, tags: ["private"] });
    const { key } = await service.newWorkspace();
    const { body } = await call("GET", "/messages?tag=private", undefined, { key });
    expect(body.data.messages).toEqual([]);
  });

  test("are shown with the message and the email", async () => {
    const { body } = await send({
      ...mail,
      cc: ["b@x.test"],
      tags: ["a", "a", "b"],
      metadata: { order: "7" },
    });
    const { id, messages } = body.data;
    const labels = { tags: ["a", "b"], metadata: { order: "7" } };
    const shown = await call("GET", `/messages/${messages[1].id}`);
    expect(shown.body.data).toMatchObject({
      ...labels,
      email: {
        id,
        recipient_type: "cc",
        messages: [
          { id, to: "ada@example.com", recipient_type: "to", status: "queued" },
          { id: messages[1].id, to: "b@x.test", recipient_type: "cc", status: "queued" },
        ],
      },
    });
    expect((await call("GET", `/emails/${id}`)).body.data).toMatchObject({
      id,
      subject: "Your order",
      from_email: "hello@posthaste.test",
      ...labels,
      messages: [{ id }, { id: messages[1].id }],
    });
    const [row] = (await call("GET", `/messages?tag=a`)).body.data.messages;
    expect(row).toMatchObject({ id: messages[1].id, tags: ["a", "b"], scheduled_at: null });
    expect(row).not.toHaveProperty("email_details");
  });

  test("are in the events of webhooks", async () => {
    await call("POST", "/webhooks", { url: "https://hooks.example.com/", events: ["*"] });
    await suppress("gone3@example.com");
    const labels = { tags: ["a"], metadata: { order: "8" } };
    const { body } = await send({ ...mail, to: ["b@x.test", "gone3@example.com"], ...labels });
    const { id, messages } = body.data;
    await database.transaction((tx) =>
      recordOutcomes(tx, [outcomeOf({ workspaceId, messageId: id }, "delivered")], announceMoved),
    );
    const events = await database.rows<{ type: string; data: object }>(sql`
      select type, body::jsonb -> 'data' as data from webhook_deliveries where body::text like ${`%${id.slice(0, -2)}%`} order by type`);
    expect(events).toMatchObject([
      { type: "message.delivered", data: { message_id: id, email_id: id, ...labels } },
      { type: "message.suppressed", data: { message_id: messages[1].id, email_id: id, ...labels } },
    ]);
  });

  test("of an erased recipient are gone, from the index as well", async () => {
    const { body } = await send({ ...mail, tags: ["erased"], metadata: { person: "ada" } });
    await database.run(sql`delete from delivery_queue`);
    await database.transaction((tx) => eraseRecipient(tx, workspaceId, [body.data.id]));
    const rows = await database.rows(
      sql`select from message_labels where workspace_id = ${workspaceId} and message_id = ${body.data.id}`,
    );
    expect(rows).toEqual([]);
    expect((await call("GET", `/messages/${body.data.id}`)).body.data).toMatchObject({
      tags: [],
      metadata: {},
    });
  });
});

describe("a scheduled email", () => {
  test("waits for its time, shows it, and is retried from then on", async () => {
    const scheduled_at = later(2 * DAY_MS);
    const { body } = await send({ ...mail, scheduled_at });
    expect(body.data.scheduled_at).toBe(scheduled_at);
    const row = await database.row<{ hours: number; retry: number }>(sql`
      select round(extract(epoch from q.due_at - now()) / 3600)::int as hours,
        round(extract(epoch from q.expires_at - m.created_at) / 3600)::int as retry
      from delivery_queue q join messages m on m.id = q.message_id where q.message_id = ${body.data.id}`);
    expect(row).toEqual({ hours: 48, retry: 48 + 72 });
    expect(await leased(body.data.id)).toBeUndefined();
    const { data } = (await call("GET", `/messages/${body.data.id}`)).body;
    expect(data).toMatchObject({ status: "queued", scheduled_at });
  });

  test("is checked against the suppression lists again when it is due", async () => {
    const { body } = await send({ ...mail, scheduled_at: later(DAY_MS) });
    await database.run(sql`update delivery_queue set due_at = now() where message_id = ${body.data.id}`);
    expect((await leased(body.data.id))?.is_stale).toBe(true);
  });

  test("is cancelled for all recipients that wait, and once", async () => {
    const { body } = await send({
      ...mail,
      cc: ["b@x.test"],
      bcc: ["c@x.test"],
      scheduled_at: later(DAY_MS),
    });
    const { id, messages } = body.data;
    await call("POST", `/messages/${messages[1].id}/cancel`);
    const cancelled = await call("POST", `/emails/${id}/cancel`);
    expect(cancelled.body.data).toEqual({
      id,
      cancelled: [id, messages[2].id],
      not_cancelled: [messages[1].id],
    });
    const { data } = (await call("GET", `/emails/${id}`)).body;
    expect(data.messages.map((one: { status: string }) => one.status)).toEqual(Array(3).fill("cancelled"));
    expect((await call("POST", `/emails/${id}/cancel`)).status).toBe(409);
  });

  test("that is being sent is not cancelled", async () => {
    const { body } = await send(mail);
    expect(await leased(body.data.id)).toBeDefined();
    const { status, body: refusal } = await call("POST", `/emails/${body.data.id}/cancel`);
    expect([status, refusal.code]).toEqual([409, "CONFLICT"]);
  });
});

test("the ids of other messages are no emails", async () => {
  const single = await call("POST", "/emails/send", { to: "ada@example.com", subject: "Hi", body: "Hi" });
  const { body } = await send({ ...mail, cc: ["b@x.test"] });
  for (const id of [single.body.data.id, body.data.messages[1].id, newId()]) {
    expect((await call("GET", `/emails/${id}`)).status).toBe(404);
    expect((await call("POST", `/emails/${id}/cancel`)).status).toBe(404);
  }
  expect((await call("GET", `/messages/${single.body.data.id}`)).body.data).toMatchObject({
    email: null,
    tags: [],
  });
});

describe("a batch", () => {
  test("accepts the good emails and has an error for each of the others", async () => {
    const { status, body } = await batch([
      mail,
      { ...mail, to: ["nobody"] },
      { ...mail, from_email: "ceo@bank.test" },
      { ...mail, subject: undefined },
      "no email",
      { ...mail, from_email: "a@shop.test", to: ["b@x.test", "c@x.test"], tags: ["batched"], campaign: "x" },
    ]);
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body.data).toMatchObject({ accepted: 2, refused: 4 });
    const shown = body.data.results.map(
      (one: { success: boolean; code: string; details: { field: string }[] }) => [
        one.success,
        one.code,
        one.details.map(({ field }) => field),
      ],
    );
    expect(shown).toEqual([
      [true, null, []],
      [false, "VALIDATION_ERROR", ["to[0]"]],
      [false, "VALIDATION_ERROR", ["from_email"]],
      [false, "VALIDATION_ERROR", ["subject"]],
      [false, "VALIDATION_ERROR", ["body"]],
      [true, null, []],
    ]);
    const [first, , , , , last] = body.data.results;
    expect(first).toMatchObject({
      error: null,
      data: { status: "queued", messages: [{ to: "ada@example.com" }] },
    });
    expect(last.warnings).toMatchObject([{ field: "campaign" }]);
    expect((await lease()).map(({ localpart }) => localpart).sort()).toEqual(["ada", "b", "c"]);
  });

  test("of 500 emails is one transaction", async () => {
    const before = await countMessages();
    const mails = Array.from({ length: 500 }, (_, at) => ({ ...mail, to: [`u${at}@example.com`] }));
    const { body } = await batch(mails);
    expect(body.data).toMatchObject({ accepted: 500, refused: 0 });
    expect(await countMessages()).toBe(before + 500);
    const transactions = await database.row(sql`
      select count(distinct xmin::text)::int as total from messages where id = any (${body.data.results.map(
        (one: { data: { id: string } }) => one.data.id,
      )}::uuid[])`);
    expect(transactions).toEqual({ total: 1 });
  });

  test.each([
    ["none", []],
    ["501 emails", Array.from({ length: 501 }, () => mail)],
    [
      "too many recipients",
      Array.from({ length: 51 }, () => ({
        ...mail,
        to: Array.from({ length: 50 }, (_, at) => `a${at}@x.test`),
      })),
    ],
  ])("of %s is refused, and nothing is stored", async (_what, mails) => {
    const before = await countMessages();
    const { status, body } = await batch(mails);
    expect([status, body.details[0].field]).toEqual([400, "emails"]);
    expect(await countMessages()).toBe(before);
  });

  test("counts the recipients before it reads them", async () => {
    const unreadable = { ...mail, to: Array.from({ length: 50 }, () => "nobody") };
    const { status, body } = await batch(Array.from({ length: 51 }, () => unreadable));
    expect([status, body.error]).toEqual([
      400,
      "emails must have at most 2500 recipients in all, and have 2550",
    ]);
    const tooMany = { ...mail, to: Array.from({ length: 3_000 }, () => "nobody") };
    const named = await batch([tooMany, mail]);
    expect(named.body.data.results.map(({ error }: { error: string | null }) => error)).toEqual([
      "to, cc and bcc must have at most 50 addresses together, and have 3000",
      null,
    ]);
    const replies = await batch([{ ...mail, reply_to: Array.from({ length: 11 }, () => "nobody") }]);
    expect(replies.body.data.results[0].error).toBe("reply_to must have at most 10 addresses");
  });

  test("with an Idempotency-Key is sent once, with its refusals", async () => {
    const key = { "Idempotency-Key": newId() };
    const mails = [mail, { ...mail, to: ["nobody"] }];
    const first = await batch(mails, key);
    const before = await countMessages();
    const second = await batch(mails, key);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(await countMessages()).toBe(before);
    const refused = await batch([{ ...mail, to: [] }], { "Idempotency-Key": newId() });
    expect(refused.body.data).toMatchObject({ accepted: 0, refused: 1 });
  });

  test("gives the allowance to its emails in their order", async () => {
    const { workspaceId: small, key } = await service.newWorkspace();
    const settings = { clock, plans };
    await changeWorkspace(database, small, { hourly_cap: 3 }, settings);
    const mails = [["a@x.test"], ["b@x.test", "c@x.test"], ["d@x.test"]].map((to) => ({ ...mail, to }));
    const { status, body } = await call("POST", "/emails/batch", { emails: mails }, { key });
    expect([status, body.data.results.map((one: { code: string | null }) => one.code)]).toEqual([
      200,
      [null, null, "RATE_LIMIT_EXCEEDED"],
    ]);
    const rows = await database.rows(
      sql`select localpart from messages where workspace_id = ${small} order by 1`,
    );
    expect(rows).toEqual([{ localpart: "a" }, { localpart: "b" }, { localpart: "c" }]);
  });

  test("holds scheduled and tagged emails beside others", async () => {
    const { body } = await batch([
      mail,
      { ...mail, scheduled_at: later(DAY_MS), tags: ["mixed"] },
      { ...mail, cc: ["b@x.test"] },
    ]);
    expect(body.data.accepted).toBe(3);
    expect((await lease()).length).toBe(3);
  });
});

test("keys without the permission to send are refused", async () => {
  const key = await service.newKey(["reports:read", "messages:send"]);
  for (const [path, body] of [
    ["/emails", mail],
    ["/emails/batch", { emails: [mail] }],
    [`/emails/${newId()}/cancel`, undefined],
  ] as const) {
    const answer = await call("POST", path, body, { key });
    expect([answer.status, answer.body.required_scopes]).toEqual([403, ["emails:send"]]);
  }
});
