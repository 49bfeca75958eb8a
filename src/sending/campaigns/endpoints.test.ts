import { createSecretKey } from "node:crypto";
import sql from "sql-template-tag";
import { beforeAll, describe, expect, test } from "vitest";
import { withDeadline } from "#audience/segments/members-store.ts";
import { prepare } from "#delivery/compose/compose-leased-message.ts";
import { inTime, PATIENCE_MS } from "#platform/in-time.ts";
import { createLog } from "#platform/log/log.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { startService } from "#test/support/service.ts";
import { recordTransport } from "#test/support/transport-recorder.ts";
import { untilWaiting } from "#test/support/waiting.ts";
import { plans } from "#workspace/billing/plans.ts";
import { advanceDueCampaigns } from "./lifecycle/advance.ts";

const service = await startService();
const { call, database, clock, workspaceId } = service;
const log = createLog("silent");
let list: string;

const minimal = { name: "June", subject: "Hello {{first_name}}", from_email: "news@shop.test" };
const complete = () => ({ ...minimal, mailing_list_id: list, html_content: "<p>Hello</p>" });
const create = async (body: object = complete()): Promise<string> => {
  const answer = await call("POST", "/campaigns", body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.data.id;
};
const act = (id: string, action: string, body?: object) => call("POST", `/campaigns/${id}/${action}`, body);
const read = async (id: string) => (await call("GET", `/campaigns/${id}`)).body.data;
const work = () => advanceDueCampaigns({ db: database, clock, plans }, new AbortController().signal, log);
const setStatus = (id: string, status: string) =>
  database.run(sql`update campaigns set status = ${status} where id = ${id}`);

beforeAll(async () => {
  await database.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
    values (${workspaceId}, gen_random_uuid(), 'shop.test', 'v', 'd', true, now())`);
  list = await newList(database, workspaceId);
  await addPeople(database, workspaceId, list, [
    { email: "ada@example.test", first_name: "Ada" },
    { email: "bob@example.test" },
    { email: "left@example.test", status: "unsubscribed" },
  ]);
});

test.each(["html_content", "text_content"])(
  "%s beyond 2,000,000 characters is refused with the limit and its size",
  async (field) => {
    const { status, body } = await call("POST", "/campaigns", { ...minimal, [field]: "x".repeat(2_000_001) });
    const error = `${field} must have at most 2,000,000 characters, and has 2,000,001`;
    expect([status, body.code, body.error]).toEqual([400, "VALIDATION_ERROR", error]);
  },
);

describe("an unknown name", () => {
  test.each(["schedule_at", "scheduledAt", "send_at", "sendAt", "at", "timezone", "note"])(
    "keeps an order to send from being carried out: %s",
    async (name) => {
      const id = await create();
      const time = "2040-01-01T00:00:00Z";
      const inBody = await act(id, "send", { [name]: time });
      const inQuery = await call("POST", `/campaigns/${id}/send?${name}=${time}`);
      for (const { status, body } of [inBody, inQuery]) {
        expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", name]);
      }
      expect((await read(id)).status).toBe("draft");
      const meant = await act(id, "send", { scheduled_at: time });
      expect([meant.status, meant.body.data.status]).toEqual([200, "scheduled"]);
    },
  );

  test("an order to send has its time in the body, not in the URL", async () => {
    const id = await create();
    const { status, body } = await call("POST", `/campaigns/${id}/send?scheduled_at=2040-01-01T00:00:00Z`);
    expect([status, body.error]).toEqual([400, "scheduled_at is a field of the body: send it there"]);
  });

  test("near to one of a campaign's is refused, also in its attachments and conditions", async () => {
    const file = { filename: "a.txt", content: "YQ==", content_type: "text/plain", fileName: "b.txt" };
    for (const [body, field, meant] of [
      [{ html: "<p>Hi</p>" }, "html", "html_content"],
      [{ sendAt: "2040-01-01T00:00:00Z" }, "sendAt", "scheduled_at"],
      [{ attachments: [file] }, "attachments[0].fileName", "attachments[0].filename"],
      [
        { segment_conditions: { logic: "and", rules: [{ field: "email", op: "contains", value: "a" }] } },
        "segment_conditions.rules[0].op",
        "segment_conditions.rules[0].operator",
      ],
    ] as const) {
      const answer = await call("POST", "/campaigns", { ...complete(), ...body });
      const message = `${field} is not a known field: did you mean ${meant}?`;
      expect([answer.status, answer.body.details]).toEqual([400, [{ field, message }]]);
    }
  });

  test("that is near to none is told in the answer; what an answer holds may be sent back", async () => {
    const made = await call("POST", "/campaigns", { ...complete(), colour: "red" });
    expect([made.status, made.body.warnings]).toEqual([
      201,
      [{ field: "colour", message: "colour is not a known field and was ignored" }],
    ]);
    const { data } = made.body;
    const sentBack = { ...data, subject: "New", colour: "red" };
    const replaced = await call("PUT", `/campaigns/${data.id}`, sentBack);
    expect([replaced.status, replaced.body.data.subject]).toEqual([200, "New"]);
    expect(replaced.body.warnings.slice(0, 2)).toEqual([
      { field: "colour", message: "colour is not a known field and was ignored" },
      { field: "id", message: "id cannot be set here and was ignored" },
    ]);
  });

  test("is part of what an Idempotency-Key replays", async () => {
    const headers = { "Idempotency-Key": "told-once" };
    const answers = [1, 2].map(() => ({ ...complete(), colour: "red" }));
    const first = await call("POST", "/campaigns", answers[0], { headers });
    const second = await call("POST", "/campaigns", answers[1], { headers });
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(first.body.warnings).toHaveLength(1);
    expect(second.body).toEqual(first.body);
  });
});

describe("a draft", () => {
  test("needs a name, a subject and a verified sender, and has no counts", async () => {
    const { status, body } = await call("POST", "/campaigns", minimal);
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      ...minimal,
      status: "draft",
      recipient_type: "mailing_list",
      message_type: "email",
      total_recipients: 0,
      sent_count: 0,
      open_rate: 0,
      mailing_list_name: null,
      excluded: { suppressed: 0, unsubscribed: 0, invalid: 0, duplicate: 0 },
    });
  });

  test("tells how many people it is for, and what it is called on its list", async () => {
    const campaign = await read(await create());
    expect(campaign).toMatchObject({ total_recipients: 2, mailing_list_name: "News" });
  });

  test.each([
    ["no name", { name: undefined }, "name"],
    ["no subject", { subject: undefined }, "subject"],
    ["a subject with a line break", { subject: "a\r\nBcc: b@c.test" }, "subject"],
    ["a foreign sender", { from_email: "ceo@bank.test" }, "from_email"],
    ["an unverified address for its bounces", { bounce_email: "victim@example.net" }, "bounce_email"],
    ["no sender", { from_email: undefined }, "from_email"],
    ["a merge tag in the from_name", { from_name: "{{ first_name }} at Shop" }, "from_name"],
    ["a reply_to that is none", { reply_to: "nobody" }, "reply_to"],
    ["an sms without the field of the number", { message_type: "sms" }, "phone_field_name"],
    ["a segment without its id", { recipient_type: "segment" }, "segment_id"],
    ["custom recipients without conditions", { recipient_type: "custom" }, "segment_conditions"],
    [
      "conditions that mean nothing",
      { segment_conditions: { logic: "and", rules: [{ field: "email", operator: "smells", value: "x" }] } },
      "segment_conditions.rules[0]",
    ],
    ["a segment that is not there", { segment_id: "0197a0c0-0000-7000-8000-000000000000" }, "segment_id"],
    [
      "a tracking domain that is not there",
      { url_domain_id: "0197a0c0-0000-7000-8000-000000000000" },
      "url_domain_id",
    ],
    ["a sending IP", { virtual_mta_ip: "192.0.2.1" }, "virtual_mta_ip"],
    ["a routing rule", { routing_rule_id: "0197a0c0-0000-7000-8000-000000000000" }, "routing_rule_id"],
    ["an envelope sender elsewhere", { sender_email: "a@elsewhere.test" }, "sender_email"],
    ["a protected header", { use_custom_headers: true, custom_headers: "Bcc: a@b.test" }, "custom_headers"],
    ["a time that is none", { scheduled_at: "tomorrow" }, "scheduled_at"],
    [
      "a program as attachment",
      { attachments: [{ filename: "a.exe", content: "AAAA", content_type: "a/b" }] },
      "attachments[0].filename",
    ],
  ])("is refused with %s", async (_what, change, field) => {
    const { status, body } = await call("POST", "/campaigns", { ...minimal, ...change });
    expect([status, body.code, body.details?.[0]?.field]).toEqual([400, "VALIDATION_ERROR", field]);
  });

  test("may name a list that is not there: it is looked for when it is sent", async () => {
    const id = await create({ ...complete(), mailing_list_id: "0197a0c0-0000-7000-8000-000000000000" });
    const { status, body } = await act(id, "send");
    expect([status, body.details[0].field]).toEqual([400, "mailing_list_id"]);
  });

  test("finds out for whom it is by what is given", async () => {
    const conditions = { logic: "and", rules: [{ field: "email", operator: "starts_with", value: "ada" }] };
    const custom = await read(await create({ ...complete(), segment_conditions: conditions }));
    expect(custom).toMatchObject({
      recipient_type: "custom",
      segment_conditions: conditions,
      total_recipients: 1,
    });
    const { body } = await call("POST", `/mailing-lists/${list}/segments`, { name: "A", conditions });
    const segment = await read(await create({ ...complete(), segment_id: body.data.id }));
    expect(segment).toMatchObject({ recipient_type: "segment", segment_name: "A", total_recipients: 1 });
  });

  test("is to one list: with another beside its segment it is kept, and refused when it is sent, with the list that it is of", async () => {
    const conditions = { logic: "and", rules: [{ field: "email", operator: "contains", value: "a" }] };
    const segment = await call("POST", `/mailing-lists/${list}/segments`, { name: "Adas", conditions });
    const other = await newList(database, workspaceId, "Other");
    const own = { ...complete(), segment_id: segment.body.data.id };
    const named = (mailing_list_id: string, mailing_list_name: string | null) => ({
      recipient_type: "segment",
      mailing_list_id,
      mailing_list_name,
      segment_name: "Adas",
      total_recipients: 2,
    });
    for (const [listId, name] of [
      [other, "Other"],
      ["0197a0c0-0000-7000-8000-000000000000", null],
    ] as const) {
      const id = await create({ ...own, mailing_list_id: listId });
      expect(await read(id)).toMatchObject(named(listId, name));
      const { status, body } = await act(id, "send");
      expect([status, body.code, body.details]).toEqual([
        400,
        "VALIDATION_ERROR",
        [
          {
            field: "mailing_list_id",
            message: `mailing_list_id is not News, the list of the segment Adas: omit it, or give ${list}`,
          },
        ],
      ]);
      expect((await call("PUT", `/campaigns/${id}`, own)).body.data).toMatchObject(named(list, "News"));
      expect((await act(id, "send")).status).toBe(200);
    }
  });

  test("counts only people who may get mail, whatever its conditions match", async () => {
    const rules = [{ field: "status", operator: "is_one_of", value: ["active", "unsubscribed"] }];
    const conditions = { logic: "and", rules };
    expect(await read(await create({ ...complete(), segment_conditions: conditions }))).toMatchObject({
      total_recipients: 2,
    });
  });

  test("the segments of its conditions cannot be deleted until it has others or is complete", async () => {
    const rules = [{ field: "email", operator: "contains", value: "a" }];
    const segment = async () => {
      const conditions = { logic: "and", rules };
      return (await call("POST", `/mailing-lists/${list}/segments`, { name: "S", conditions })).body.data.id;
    };
    const remove = async (id: string) =>
      (await call("DELETE", `/mailing-lists/${list}/segments/${id}`)).status;
    const naming = (id: string) => ({
      ...complete(),
      segment_conditions: { logic: "and", rules: [{ field: "segment", operator: "is_in", value: id }] },
    });
    const [first, second] = [await segment(), await segment()];
    const id = await create(naming(first));
    expect(await remove(first)).toBe(409);
    expect((await call("PUT", `/campaigns/${id}`, naming(second))).status).toBe(200);
    expect(await remove(first)).toBe(200);
    await act(id, "send", { scheduled_at: "2040-01-01T00:00:00Z" });
    expect(await remove(second)).toBe(409);
    expect((await call("DELETE", `/mailing-lists/${list}`)).status).toBe(409);
    await act(id, "cancel");
    expect(await remove(second)).toBe(200);
  });

  test.each(["aGk=", "aGk", "aG\r\nk="])("shows the attachment %j as complete Base64", async (content) => {
    const attachments = [{ filename: "a.txt", content_type: "text/plain", content }];
    const { attachments: shown } = await read(await create({ ...complete(), attachments }));
    expect(shown).toMatchObject([{ filename: "a.txt", content: "aGk=" }]);
  });

  test("is replaced whole: what is omitted returns to its default", async () => {
    const id = await create({
      ...complete(),
      from_name: "Shop",
      text_content: "Hi",
      enable_open_tracking: false,
    });
    const { status, body } = await call("PUT", `/campaigns/${id}`, minimal);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id,
      from_name: null,
      text_content: null,
      html_content: null,
      mailing_list_id: null,
      enable_open_tracking: null,
      total_recipients: 0,
    });
  });

  test.each(["scheduled", "sending", "sent", "paused", "cancelled"])(
    "is one no more when it is %s",
    async (state) => {
      const id = await create();
      await setStatus(id, state);
      const before = await read(id);
      const { status, body } = await call("PUT", `/campaigns/${id}`, { ...complete(), name: "Other" });
      expect([status, body.code]).toEqual([409, "CONFLICT"]);
      expect(await read(id)).toEqual(before);
      await setStatus(id, "cancelled");
    },
  );

  test("to a segment, or across lists, knows the custom fields of the lists its people are on", async () => {
    const fields = { field_name: "town", field_label: "Town", field_type: "text" };
    expect((await call("POST", `/mailing-lists/${list}/custom-fields`, fields)).status).toBe(201);
    const conditions = { logic: "and", rules: [{ field: "email", operator: "contains", value: "@" }] };
    const segment = await call("POST", `/mailing-lists/${list}/segments`, { name: "All", conditions });
    const subject = "{{ town }}{{ twon }}";
    for (const audience of [
      { mailing_list_id: list.toUpperCase() },
      { segment_id: segment.body.data.id.toUpperCase() },
      { segment_conditions: conditions },
    ]) {
      const campaign = await read(
        await create({ ...minimal, subject, html_content: "<p>Hi</p>", ...audience }),
      );
      expect(campaign.warnings).toMatchObject([
        { field: "subject", message: expect.stringContaining("twon") },
      ]);
      expect(campaign.total_recipients).toBe(2);
    }
  });

  test("says which of its merge tags show nothing, and where they are broken", async () => {
    const { warnings } = await read(await create({ ...complete(), html_content: "<p>{{ citty }}</p>" }));
    expect(warnings).toMatchObject([{ field: "html_content", line: 1 }]);
    const id = await create({ ...complete(), html_content: "<p>{{ city </p>" });
    const { status, body } = await act(id, "send");
    expect([status, body.details[0].field]).toEqual([400, "html_content"]);
  });

  test("a duplicate has the estimate of the time when it is made", async () => {
    const changing = await newList(database, workspaceId);
    const id = await create({ ...complete(), mailing_list_id: changing });
    await addPeople(database, workspaceId, changing, [
      { email: "one@copy.test" },
      { email: "two@copy.test" },
    ]);
    const copy = async () => (await act(id, "duplicate")).body.data.total_recipients;
    expect([(await read(id)).total_recipients, await copy()]).toEqual([0, 2]);
    await call("DELETE", `/mailing-lists/${changing}/subscribers/all`);
    expect(await copy()).toBe(0);
  });

  test("warns that a text is not tracked though it asks for that, and goes on warning when it is sent", async () => {
    const asked = { enable_open_tracking: true, enable_click_tracking: true };
    const fieldsOf = (campaign: { warnings: { field: string }[] }) =>
      campaign.warnings.map(({ field }) => field);
    const text = { ...complete(), html_content: null, text_content: "See https://shop.test/" };
    const id = await create({ ...text, ...asked });
    expect(fieldsOf(await read(id))).toEqual(Object.keys(asked));
    expect(fieldsOf((await act(id, "send")).body.data)).toEqual(Object.keys(asked));
    await act(id, "cancel");
    for (const silent of [text, { ...complete(), ...asked }]) {
      expect(fieldsOf(await read(await create(silent)))).toEqual([]);
    }
  });

  test("goes into a new one, with its content and without its time", async () => {
    const id = await create({ ...complete(), scheduled_at: "2040-01-01T00:00:00Z" });
    const { status, body } = await act(id, "duplicate");
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      name: "June (copy)",
      status: "draft",
      scheduled_at: null,
      html_content: "<p>Hello</p>",
    });
    expect(body.data.id).not.toBe(id);
  });

  test("says that it takes no body, when it gets fields", async () => {
    const id = await create(complete());
    expect((await act(id, "duplicate", {})).body.warnings).toBeUndefined();
    const { status, body } = await act(id, "duplicate", { name: "July" });
    expect([status, body.data.name]).toEqual([201, "June (copy)"]);
    expect(body.warnings).toEqual([{ field: "body", message: "body was ignored: this call takes none" }]);
  });
});

describe("sending", () => {
  test("of fifty calls at once one sends", async () => {
    const id = await create();
    const answers = await Promise.all(Array.from({ length: 50 }, () => act(id, "send")));
    const codes = answers.map(({ status }) => status);
    expect(codes.filter((status) => status === 200)).toHaveLength(1);
    expect(codes.filter((status) => status === 409)).toHaveLength(49);
    await act(id, "cancel");
  });

  test.each([
    ["without a body", { html_content: null }, 400, "VALIDATION_ERROR"],
    ["without a list", { mailing_list_id: null }, 400, "VALIDATION_ERROR"],
    [
      "an sms, for which there is no gateway",
      { message_type: "sms", phone_field_name: "phone" },
      400,
      "BAD_REQUEST",
    ],
  ])("is refused %s", async (_what, change, status, code) => {
    const answer = await act(await create({ ...complete(), ...change }), "send");
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test("is refused without recipients", async () => {
    const empty = await newList(database, workspaceId);
    const answer = await act(await create({ ...complete(), mailing_list_id: empty }), "send");
    expect([answer.status, answer.body.code]).toEqual([400, "BAD_REQUEST"]);
  });

  test("is refused when all recipients are suppressed or inactive", async () => {
    const lone = await newList(database, workspaceId, "Lone");
    await addPeople(database, workspaceId, lone, [
      { email: "never@lone.test" },
      { email: "gone@lone.test", status: "unsubscribed" },
    ]);
    const { body } = await call("POST", "/suppression-lists", { name: "Never" });
    await call("POST", `/suppression-lists/${body.data.id}/entries`, { entries: "never@lone.test" });
    const rules = [{ field: "status", operator: "is", value: "unsubscribed" }];
    const conditions = { segment_conditions: { logic: "and", rules } };
    for (const change of [{}, conditions]) {
      const answer = await act(await create({ ...complete(), mailing_list_id: lone, ...change }), "send");
      expect([answer.status, answer.body.code]).toEqual([400, "BAD_REQUEST"]);
    }
  });

  test("to a list does not wait for those who ask about segments", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const questions = [1, 2].map(() => withDeadline(database, workspaceId, 5_000, () => promise));
    const id = await create();
    expect(await read(id)).toMatchObject({ total_recipients: 2 });
    expect((await act(id, "send")).status).toBe(200);
    resolve();
    await Promise.all(questions);
    await act(id, "cancel");
  });

  test("reaches exactly those whom preview and members of a segment name", async () => {
    const place = await newList(database, workspaceId, "Place");
    const members = Array.from({ length: 40 }, (_, at) => ({
      email: `${at % 3 === 0 ? "ada" : "bob"}${at}@${at % 5 === 0 ? "one" : "two"}.test`,
      status: at % 7 === 0 ? ("unsubscribed" as const) : null,
    }));
    await addPeople(database, workspaceId, place, members);
    const conditions = {
      logic: "or",
      rules: [
        { field: "email", operator: "starts_with", value: "ada" },
        { field: "email_domain", operator: "equals", value: "one.test" },
      ],
    };
    const wanted = members
      .filter(({ email, status }) => status === null && /^ada|@one/.test(email))
      .map(({ email }) => email)
      .sort();
    const segments = `/mailing-lists/${place}/segments`;
    const preview = await call("POST", `${segments}/preview`, { conditions });
    expect(preview.body.data).toEqual({ subscriber_count: wanted.length });
    const { body } = await call("POST", segments, { name: "Some", conditions });
    const shown = await call("GET", `${segments}/${body.data.id}/subscribers?limit=100`);
    expect(shown.body.data.subscribers.map((one: { email: string }) => one.email).sort()).toEqual(wanted);
    for (const audience of [{ segment_id: body.data.id }, { segment_conditions: conditions }]) {
      const id = await create({ ...complete(), mailing_list_id: place, ...audience });
      expect((await read(id)).total_recipients).toBe(wanted.length);
      await act(id, "send");
      await work();
      expect((await read(id)).total_recipients).toBe(wanted.length);
      const rows = await database.rows<{ email: string }>(sql`
        select s.email from campaign_recipients r join subscribers s on s.id = r.subscriber_id
        where r.campaign_id = ${id} order by s.email`);
      expect(rows.map(({ email }) => email)).toEqual(wanted);
      await act(id, "cancel");
    }
  });

  test("is refused when the sender's domain lost its verification", async () => {
    const id = await create();
    await database.run(sql`update sending_domains set is_verified = false`);
    const { status, body } = await act(id, "send");
    expect([status, body.code]).toEqual([403, "EMAIL_NOT_VERIFIED"]);
    await database.run(sql`update sending_domains set is_verified = true`);
  });

  test("is refused when the address for its bounces is not the workspace's any more", async () => {
    const sender = sql`
      insert into verified_senders (workspace_id, id, email, is_verified, verified_at, token_expires_at)
      values (${workspaceId}, gen_random_uuid(), 'bounces@elsewhere.test', true, now(), now())`;
    await database.run(sender);
    const id = await create({ ...complete(), bounce_email: "bounces@elsewhere.test" });
    await database.run(sql`delete from verified_senders where email = 'bounces@elsewhere.test'`);
    const { status, body } = await act(id, "send");
    expect([status, body.code, body.error]).toEqual([
      403,
      "EMAIL_NOT_VERIFIED",
      "bounce_email bounces@elsewhere.test is no longer verified",
    ]);
  });

  test("is refused, and a test as well, when the envelope sender's return path is switched off", async () => {
    const switchOn = (isOn: boolean) =>
      database.run(
        sql`update sending_domains set custom_return_path = ${isOn}, return_path_verified = ${isOn}`,
      );
    await switchOn(true);
    const id = await create({ ...complete(), sender_email: "returns@shop.test" });
    await switchOn(false);
    for (const answer of [await act(id, "send"), await act(id, "test", { emails: ["ada@example.test"] })]) {
      const { status, body } = answer;
      expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", "sender_email"]);
    }
  });

  test("makes one recipient of each active member, with a row in log and queue", async () => {
    const id = await create();
    expect((await act(id, "send")).body.data).toMatchObject({ status: "sending" });
    await work();
    expect(await read(id)).toMatchObject({
      status: "sending",
      total_recipients: 2,
      excluded: { unsubscribed: 1, suppressed: 0 },
    });
    const rows = await database.rows(sql`
      select m.localpart, m.domain, m.status, m.source, m.origin_name, q.priority, q.campaign_id = m.origin_id as is_bulk
      from campaign_recipients r join messages m on m.id = r.message_id join delivery_queue q on q.message_id = m.id
      where r.campaign_id = ${id} order by m.localpart`);
    const bulk = {
      domain: "example.test",
      status: "queued",
      source: "campaign",
      origin_name: "June",
      priority: 1,
      is_bulk: true,
    };
    expect(rows).toEqual([
      { localpart: "ada", ...bulk },
      { localpart: "bob", ...bulk },
    ]);
    await act(id, "cancel");
  });

  test("keeps its list, its segment and itself from being deleted", async () => {
    const other = await newList(database, workspaceId, "Other");
    await addPeople(database, workspaceId, other, [{ email: "eve@example.test" }]);
    const conditions = { logic: "and", rules: [{ field: "email", operator: "contains", value: "eve" }] };
    const { body } = await call("POST", `/mailing-lists/${other}/segments`, { name: "E", conditions });
    const id = await create({ ...complete(), mailing_list_id: null, segment_id: body.data.id });
    await act(id, "send");
    expect((await call("DELETE", `/mailing-lists/${other}`)).status).toBe(409);
    expect((await call("DELETE", `/mailing-lists/${other}/segments/${body.data.id}`)).status).toBe(409);
    expect((await call("DELETE", `/campaigns/${id}`)).status).toBe(409);
    await act(id, "pause");
    expect((await call("DELETE", `/campaigns/${id}`)).status).toBe(200);
    expect((await call("GET", `/campaigns/${id}`)).status).toBe(404);
  });
});

describe("a schedule", () => {
  const later = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();

  test("a scheduled campaign starts at its time", async () => {
    const id = await create();
    const { body } = await act(id, "send", { scheduled_at: later(3_600_000) });
    expect(body.data).toMatchObject({ status: "scheduled", sent_at: null });
    await work();
    expect((await read(id)).status).toBe("scheduled");
    clock.advance(3_600_000);
    await work();
    expect(await read(id)).toMatchObject({
      status: "sending",
      sent_at: clock.now().toISOString(),
      total_recipients: 2,
    });
    await act(id, "cancel");
  });

  test("is made in time with the estimate of the draft where counting the recipients takes too long", async () => {
    const id = await create();
    const { sent } = await database.transaction(async (tx) => {
      await tx.run(sql`lock table billing_accounts in access exclusive mode`);
      const sent = act(id, "send", { scheduled_at: later(3_600_000) });
      await untilWaiting(database, 1);
      // The check for recipients is done. Counting them takes ten seconds from here.
      await database.run(sql`alter table suppression_entries rename to quick_entries`);
      await database.run(sql`
        create view suppression_entries as select * from quick_entries where (select pg_sleep(10)) is not null`);
      return { sent };
    });
    // In the service a request without an answer gets 503 after this time.
    const answer = await inTime(PATIENCE_MS, sent).catch(String);
    await database.run(sql`drop view suppression_entries`);
    await database.run(sql`alter table quick_entries rename to suppression_entries`);
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { status: "scheduled", total_recipients: 2 } },
    });
    await act(id, "cancel");
  });

  test("says to how many by who is there when it is scheduled", async () => {
    const empty = await newList(database, workspaceId);
    const id = await create({ ...complete(), mailing_list_id: empty });
    expect((await read(id)).total_recipients).toBe(0);
    await addPeople(database, workspaceId, empty, [{ email: "one@late.test" }, { email: "two@late.test" }]);
    const { body } = await act(id, "send", { scheduled_at: later(3_600_000) });
    expect(body.data).toMatchObject({ status: "scheduled", total_recipients: 2 });
    await act(id, "cancel");
  });

  test("a schedule can be cancelled, and has no effect before the campaign is sent", async () => {
    const id = await create({ ...complete(), scheduled_at: later(1_000) });
    clock.advance(2_000);
    await work();
    expect((await read(id)).status).toBe("draft");
    await act(id, "send", { scheduled_at: later(60_000) });
    expect((await act(id, "unschedule")).body.data).toMatchObject({ status: "draft" });
    clock.advance(120_000);
    await work();
    expect((await read(id)).status).toBe("draft");
  });

  test("a campaign that missed its time by more than six hours is paused, and is sent when resumed", async () => {
    const id = await create();
    await act(id, "send", { scheduled_at: later(1_000) });
    clock.advance(6 * 3_600_000 + 2_000);
    await work();
    expect(await read(id)).toMatchObject({
      status: "paused",
      pause_reason: "missed_schedule",
      total_recipients: 2,
    });
    expect((await act(id, "resume")).body.data).toMatchObject({ status: "sending", pause_reason: null });
    await act(id, "cancel");
  });

  test("that lies in the past is now, and send_now overrules any", async () => {
    const past = await create({ ...complete(), scheduled_at: "2020-01-01T00:00:00Z" });
    expect((await act(past, "send")).body.data.status).toBe("sending");
    const future = await create({ ...complete(), scheduled_at: later(86_400_000) });
    const both = await act(future, "send", { send_now: true, scheduled_at: later(86_400_000) });
    expect([both.status, both.body.details[0].field]).toEqual([400, "send_now"]);
    expect((await act(future, "send", { send_now: true })).body.data.status).toBe("sending");
    await Promise.all([act(past, "cancel"), act(future, "cancel")]);
  });

  test.each(["", "  ", "\t", "\u00a0", null])(
    "that is empty (%j) is refused, and is not now",
    async (empty) => {
      const id = await create();
      const { status, body } = await act(id, "send", { scheduled_at: empty });
      expect([status, body.details?.[0]?.field]).toEqual([400, "scheduled_at"]);
      expect((await read(id)).status).toBe("draft");
    },
  );

  test("that is empty is refused beside a time or send_now; null is then as good as left out", async () => {
    const id = await create({ ...complete(), scheduled_at: later(86_400_000) });
    expect((await act(id, "send", { scheduled_at: "" })).status).toBe(400);
    expect((await act(id, "send", { scheduled_at: "", send_now: true })).status).toBe(400);
    expect((await act(id, "send", { scheduled_at: null })).body.data.status).toBe("scheduled");
    const now = await create();
    expect((await act(now, "send", { scheduled_at: null, send_now: true })).body.data.status).toBe("sending");
    await Promise.all([act(id, "cancel"), act(now, "cancel")]);
  });

  test("of a draft may be empty: a draft has no time then, and sends nothing", async () => {
    const drafts = [
      await create({ ...complete(), scheduled_at: "" }),
      await create({ ...complete(), scheduled_at: null }),
    ];
    for (const id of drafts) expect(await read(id)).toMatchObject({ status: "draft", scheduled_at: null });
  });
});

describe("every state", () => {
  const allowed: Readonly<Record<string, readonly string[]>> = {
    send: ["draft"],
    pause: ["sending"],
    resume: ["paused"],
    cancel: ["scheduled", "sending", "paused"],
    unschedule: ["scheduled"],
  };
  const states = ["draft", "scheduled", "sending", "sent", "paused", "cancelled"];

  test.each(Object.keys(allowed).flatMap((action) => states.map((state) => [action, state] as const)))(
    "%s of a campaign that is %s does what the table says",
    async (action, state) => {
      const id = await create();
      await setStatus(id, state);
      const { status, body } = await act(id, action);
      if (allowed[action]?.includes(state)) expect(status).toBe(200);
      else expect([status, body.code, (await read(id)).status]).toEqual([409, "CONFLICT", state]);
      await setStatus(id, "cancelled");
    },
  );
});

test("campaigns are listed newest first, by state and by a part of their name", async () => {
  const id = await create({ ...complete(), name: "Needle in June" });
  const { body } = await call("GET", "/campaigns?search=nEEdle&status=draft");
  expect(body.data.campaigns.map((one: { id: string }) => one.id)).toEqual([id]);
  expect(body.data.pagination).toMatchObject({ total: 1, total_pages: 1 });
  expect(body.data.campaigns[0]).not.toHaveProperty("html_content");
});

test("a test goes to a few addresses as transactional mail, with the values of known subscribers", async () => {
  const id = await create();
  const { status, body } = await act(id, "test", { emails: ["Ada@example.test", "boss@shop.test"] });
  expect([status, body.data.messages.length]).toEqual([200, 2]);
  const rows = await database.rows(sql`
    select m.source, m.subject, q.priority from messages m join delivery_queue q on q.message_id = m.id
    where m.id = any(${body.data.messages.map((one: { id: string }) => one.id)}::uuid[]) order by m.id`);
  expect(rows).toEqual([
    { source: "api", subject: "[Test] Hello Ada", priority: 0 },
    { source: "api", subject: "[Test] Hello Ada", priority: 0 },
  ]);
  expect((await act(id, "test", { emails: Array.from({ length: 6 }, () => "a@b.test") })).status).toBe(400);
  const twice = await act(id, "test", { emails: ["boss@shop.test", "boss@SHOP.test"] });
  expect(twice.body.data.messages).toHaveLength(1);
});

test("the addresses of ours in a test lead to pages that say so, and change nothing", async () => {
  const html_content =
    '<p>Hi</p><a href="{{ view_in_browser_url }}">b</a> <a href="{{ unsubscribe_url }}">u</a>';
  const { body } = await act(await create({ ...complete(), html_content }), "test", {
    emails: ["ada@example.test"],
  });
  const mail = await database.row<{ html: string }>(sql`
    select html from message_contents where message_id = ${body.data.messages[0].id}`);
  const [view = "", leave = ""] = [...(mail?.html ?? "").matchAll(/href="([^"]+)"/g)].map(([, href]) => href);
  for (const [address, method, words] of [
    [view, "GET", "which shows the mail as they received it"],
    [leave, "GET", "no one has been unsubscribed"],
    [leave, "POST", "no one has been unsubscribed"],
  ] as const) {
    const page = await fetch(address, { method });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(words)]);
  }
});

test("is not sent with links of a tracking domain that was deleted since", async () => {
  const made = await call("POST", "/tracking-domains", { domain: "gone.shop.test" });
  const id = await create({ ...complete(), url_domain_id: made.body.data.id });
  await call("DELETE", `/tracking-domains/${made.body.data.id}`);
  const { status, body } = await act(id, "send");
  expect([status, body.details[0].field]).toEqual([400, "url_domain_id"]);
});

test("a test is made and routed as the campaign's mail, but does not unsubscribe", async () => {
  await database.run(sql`update sending_domains set custom_return_path = true, return_path_verified = true`);
  const ip = "192.0.2.7";
  expect((await call("POST", "/sending-ips", { ip, pool: "test" })).status).toBe(201);
  const conditions = { logic: "and", rules: [{ field: "email", operator: "contains", value: "ada" }] };
  const segment = await call("POST", `/mailing-lists/${list}/segments`, { name: "T", conditions });
  const id = await create({
    ...complete(),
    mailing_list_id: null,
    segment_id: segment.body.data.id,
    html_content: "<p>{{ list_name }}</p>",
    reply_to: "ask@shop.test",
    use_custom_headers: true,
    custom_headers: "X-Team: Spring",
    sender_email: "returns@shop.test",
    virtual_mta_ip: ip,
  });
  await database.run(sql`truncate delivery_queue`);
  expect((await act(id, "test", { emails: ["boss@shop.test"] })).status).toBe(200);
  const order = leaseOrder({ limit: 1, bytes: 1e9 });
  const [message] = await leaseMessages(database, order);
  if (message === undefined) expect.fail("nothing is queued");
  expect(message.particulars).toMatchObject({ sending_ip: ip, routing_rule_id: null });
  const composed = await prepare(
    { ...message, content: null },
    {
      findIdentity: async () => ({ signingKey: null, returnPathHost: "bounce.us.test" }),
      returnPathKey: createSecretKey(Buffer.alloc(32)),
    },
    recordTransport(),
  );
  expect(composed?.mailFrom).toMatch(/@bounce\.shop\.test$/);
  const text = String(composed?.message);
  for (const line of ["Reply-To: ask@shop.test", "X-Team: Spring", `List-Id: <${list}.lists.shop.test>`]) {
    expect(text).toContain(`${line}\r\n`);
  }
  expect(text).toContain("<p>News</p>");
  expect(text).not.toContain("List-Unsubscribe");
});

test.each(["the list", "a segment of it"])(
  "a test of a campaign to %s has the list's name and reply-to, and the campaign shows none of them",
  async (audience) => {
    const { body } = await call("POST", "/mailing-lists", {
      name: "Defaults",
      from_name: "List Name",
      reply_to_email: "reply@shop.test",
    });
    const conditions = { logic: "and", rules: [{ field: "email", operator: "contains", value: "ada" }] };
    const listId = body.data.id;
    const segment = await call("POST", `/mailing-lists/${listId}/segments`, { name: "S", conditions });
    const target =
      audience === "the list" ? { mailing_list_id: listId } : { segment_id: segment.body.data.id };
    const id = await create({ ...complete(), mailing_list_id: null, ...target });
    await database.run(sql`truncate delivery_queue`);
    expect((await act(id, "test", { emails: ["boss@shop.test"] })).status).toBe(200);
    const order = leaseOrder({ limit: 1, bytes: 1e9 });
    const [message] = await leaseMessages(database, order);
    expect(message?.from_name).toBe("List Name");
    expect(message?.particulars?.headers).toContainEqual(["Reply-To", "reply@shop.test"]);
    expect(await read(id)).toMatchObject({ from_name: null, reply_to: null });
  },
);

test("a campaign to a segment shows the same names as a draft, under way, and without the segment", async () => {
  const conditions = { logic: "and", rules: [{ field: "email", operator: "contains", value: "ada" }] };
  const segment = async () =>
    (await call("POST", `/mailing-lists/${list}/segments`, { name: "Adas", conditions })).body.data.id;
  const names = { mailing_list_id: null, mailing_list_name: null, segment_name: "Adas" };
  const [first, second] = [await segment(), await segment()];
  const begun = await create({ ...complete(), mailing_list_id: null, segment_id: first });
  expect(await read(begun)).toMatchObject(names);
  await act(begun, "send");
  await work();
  expect(await read(begun)).toMatchObject({ ...names, total_recipients: 1 });
  const never = await create({ ...complete(), mailing_list_id: null, segment_id: second });
  await act(never, "send", { scheduled_at: "2040-01-01T00:00:00Z" });
  await Promise.all([act(begun, "cancel"), act(never, "cancel")]);
  for (const one of [first, second]) {
    expect((await call("DELETE", `/mailing-lists/${list}/segments/${one}`)).status).toBe(200);
  }
  for (const id of [begun, never]) expect(await read(id)).toMatchObject(names);
});

test("a test's body says nothing about its caller: a key cannot send another workspace's campaign", async () => {
  const other = await service.newWorkspace();
  await verifyShop(database, other.workspaceId);
  const id = await newCampaign(database, other.workspaceId, null);
  const caller = { workspaceId: other.workspaceId, timezone: "UTC" };
  const { status, body } = await call("POST", `/campaigns/${id}/test`, {
    emails: ["ada@example.test"],
    caller,
    requestId: "forged",
  });
  expect([status, body.code]).toEqual([404, "NOT_FOUND"]);
  expect(await database.rows(sql`select from messages where workspace_id = ${other.workspaceId}`)).toEqual(
    [],
  );
});

test("a test whose last message nothing covers sends none", async () => {
  const other = await service.newWorkspace();
  await verifyShop(database, other.workspaceId);
  await database.run(sql`update workspaces set plan = 'free' where id = ${other.workspaceId}`);
  await database.run(sql`
    insert into meters (workspace_id, kind, period_start, used)
    values (${other.workspaceId}, 'email', date_trunc('month', ${clock.now()}::timestamptz, 'UTC'), 2999)`);
  const id = await newCampaign(database, other.workspaceId, null);
  const { status, body } = await call(
    "POST",
    `/campaigns/${id}/test`,
    { emails: ["ada@example.test", "bob@example.test"] },
    { key: other.key },
  );
  expect([status, body.code]).toEqual([402, "PLAN_LIMIT_REACHED"]);
  expect(
    await database.rows(sql`select from messages where workspace_id = ${other.workspaceId}`),
  ).toHaveLength(0);
});

test("a test is refused, like sending, when the sender's domain lost its verification", async () => {
  const other = await service.newWorkspace();
  const id = await newCampaign(database, other.workspaceId, null);
  const { status, body } = await call(
    "POST",
    `/campaigns/${id}/test`,
    { emails: ["ada@example.test"] },
    { key: other.key },
  );
  expect([status, body.code]).toEqual([403, "EMAIL_NOT_VERIFIED"]);
});

test("an action answers with what it made of the campaign, whatever others do to it meanwhile", async () => {
  const id = await create();
  await setStatus(id, "sending");
  const { paused, cancelled } = await database.transaction(async (tx) => {
    // The first action waits for its event in the audit log, and the second one for the row of the campaign.
    await tx.run(sql`lock table audit_events in share mode`);
    const paused = act(id, "pause");
    await untilWaiting(database, 1);
    const cancelled = act(id, "cancel");
    await untilWaiting(database, 2);
    return { paused, cancelled };
  });
  expect((await paused).body.data.status).toBe("paused");
  expect((await cancelled).body.data.status).toBe("cancelled");
});
