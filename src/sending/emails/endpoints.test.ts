import sql from "sql-template-tag";
import { beforeAll, describe, expect, test } from "vitest";
import { errorCodesOf } from "#platform/http/endpoint-error-codes.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";

const service = await startService({ env: { PLATFORM_FROM: "hello@posthaste.test" } });
const { database, workspaceId } = service;

const email = { to: "ada@example.com", subject: "Welcome", body: "<p>Hello Ada</p>" };
const png = Buffer.from("89504e470d0a1a0a", "hex").toString("base64");
const file = { filename: "a.png", content: png, content_type: "image/png" };

const send = (body: unknown, headers: Record<string, string> = {}) =>
  service.call("POST", "/emails/send", body, { headers });
const countMessages = async () =>
  (await database.row<{ total: number }>(sql`select count(*) as total from messages`))?.total ?? 0;

beforeAll(async () => {
  const at = new Date();
  await database.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
    values (${service.workspaceId}, gen_random_uuid(), 'shop.test', 'v', 'd', true, ${at}),
           (${service.workspaceId}, gen_random_uuid(), 'unproven.test', 'v', 'd', false, null)`);
  await database.run(sql`
    insert into verified_senders (workspace_id, id, email, is_verified, verified_at, token_expires_at)
    values (${service.workspaceId}, gen_random_uuid(), 'me@elsewhere.test', true, ${at}, ${at})`);
});

describe("an unknown name", () => {
  test.each([
    ["from", "from is not a known field: did you mean from_email?"],
    ["Subject", "Subject is not a known field: did you mean subject?"],
    ["fromName", "fromName is not a known field: did you mean from_name?"],
    ["dry_run", "dry_run is a query parameter: send it in the URL"],
    ["reply_to", "reply_to is not supported here: replies go to from_email; POST /emails has it"],
  ])("is refused where it is near to a known one, or is not supported: %s", async (name, message) => {
    const before = await countMessages();
    const { status, body } = await send({ ...email, [name]: "x" });
    expect([status, body.code, body.details]).toEqual([400, "VALIDATION_ERROR", [{ field: name, message }]]);
    expect(await countMessages()).toBe(before);
  });

  test("is told together with what is missing instead of it", async () => {
    const { body } = await send({ ...email, body: undefined, html: "<p>Hi</p>" });
    expect(body.details.map(({ field }: { field: string }) => field)).toEqual(["body", "html"]);
  });

  test("in an attachment is refused with its path", async () => {
    const { body } = await send({ ...email, attachments: [{ ...file, fileName: "b.png" }] });
    expect(body.error).toBe(
      "attachments[0].fileName is not a known field: did you mean attachments[0].filename?",
    );
  });

  test("that is near to none is told in the answer", async () => {
    const { status, body } = await send({ ...email, campaign_tag: "x" });
    expect([status, body.warnings]).toEqual([
      201,
      [{ field: "campaign_tag", message: "campaign_tag is not a known field and was ignored" }],
    ]);
  });
});

describe("a message that is accepted", () => {
  test("is in the log, in the queue and has its content, once the 201 is there", async () => {
    const { status, body, headers } = await send({ ...email, from_email: "Shop@shop.test" });
    expect(status).toBe(201);
    expect(body).toMatchObject({ success: true, data: { status: "queued" } });
    const row = await database.row(sql`
      select m.source, m.origin_name, m.from_email, m.localpart, m.domain, m.status, m.request_id, q.priority, c.html, c.text
      from messages m join delivery_queue q on q.message_id = m.id join message_contents c on c.message_id = m.id
      where m.workspace_id = ${service.workspaceId} and m.id = ${body.data.id}`);
    expect(row).toEqual({
      source: "api",
      origin_name: "First key",
      from_email: "Shop@shop.test",
      localpart: "ada",
      domain: "example.com",
      status: "queued",
      request_id: headers.get("x-request-id"),
      priority: 0,
      html: "<p>Hello Ada</p>",
      text: null,
    });
  });

  test.each([
    ["a verified domain", "anyone@shop.test"],
    ["a verified domain in capitals", "anyone@SHOP.test"],
    ["a verified sender", "me@elsewhere.test"],
    ["a verified sender in capitals", "Me@Elsewhere.test"],
  ])("may come from %s, and its bounces may be copied there", async (_kind, address) => {
    expect((await send({ ...email, from_email: address })).status).toBe(201);
    expect((await send({ ...email, bounce_email: address })).status).toBe(201);
  });

  test("comes from the platform's sender when none is named", async () => {
    const { body } = await send(email);
    const row = await database.row(sql`select from_email from messages where id = ${body.data.id}`);
    expect(row).toEqual({ from_email: "hello@posthaste.test" });
  });

  test.each(["hello@posthaste.test", "Hello@POSTHASTE.test"])(
    "may name the platform's sender, which it may use unnamed: %s",
    async (from_email) => {
      expect((await send({ ...email, from_email })).status).toBe(201);
      expect((await send({ ...email, from_email: `x${from_email}` })).body.code).toBe("VALIDATION_ERROR");
    },
  );

  test("comes from the workspace's default sender if there is one, checked like a given sender", async () => {
    const set = async (default_sender: string | null) => {
      await changeWorkspace(database, workspaceId, { default_sender }, { clock: service.clock, plans });
      service.clock.advance(2_000);
    };
    await set("orders@shop.test");
    const { body } = await send(email);
    const row = await database.row(sql`select from_email from messages where id = ${body.data.id}`);
    expect(row).toEqual({ from_email: "orders@shop.test" });
    await set("orders@bank.test");
    expect((await send(email)).body.details).toMatchObject([{ field: "from_email" }]);
    await set(null);
    expect((await send(email)).status).toBe(201);
  });

  test("is tried again for as long as the workspace wants", async () => {
    const hoursOf = async () => {
      const { body } = await send(email);
      const row = await database.row<{ hours: number }>(sql`
        select round(extract(epoch from q.expires_at - m.created_at) / 3600)::int as hours
        from messages m join delivery_queue q on q.workspace_id = m.workspace_id and q.message_id = m.id
        where m.id = ${body.data.id}`);
      return row?.hours;
    };
    expect(await hoursOf()).toBe(72);
    const set = (retry_hours: number) =>
      changeWorkspace(database, workspaceId, { retry_hours }, { clock: service.clock, plans });
    await set(6);
    service.clock.advance(2_000);
    expect(await hoursOf()).toBe(6);
    await set(72);
    service.clock.advance(2_000);
  });

  test("may be nothing but a picture", async () => {
    expect((await send({ ...email, body: '<img src="cid:logo" alt="">' })).status).toBe(201);
  });

  test("takes null for what may be left out", async () => {
    const left = { from_email: null, from_name: null, bounce_email: null, attachments: null };
    expect((await send({ ...email, ...left })).status).toBe(201);
    const attachments = [{ ...file, disposition: null, content_id: null }];
    expect((await send({ ...email, attachments })).status).toBe(201);
  });

  test("keeps the recipient's name", async () => {
    const { body } = await send({ ...email, to: "Ada Lovelace <ada@example.com>" });
    const row = await database.row(
      sql`select to_name from message_contents where message_id = ${body.data.id}`,
    );
    expect(row).toEqual({ to_name: "Ada Lovelace" });
  });

  test.each([
    ["plain text with a heart", "I <3 you", false],
    ["plain text with an address", "write to <ada@example.com>", false],
    ["a closing tag", "Hello <b>Ada</b>", true],
    ["a void tag", "Hello<br>Ada", true],
    ["a doctype", "<!DOCTYPE html>Hello", true],
  ])("of %s is told HTML from text", async (_kind, body, isHtml) => {
    const { body: answer } = await send({ ...email, body });
    const row = await database.row(
      sql`select html, text from message_contents where message_id = ${answer.data.id}`,
    );
    expect(row).toEqual(isHtml ? { html: body, text: null } : { html: null, text: body });
  });

  test("is made once for one Idempotency-Key, and answered alike, however many calls there are at once", async () => {
    const before = await countMessages();
    const calls = Array.from({ length: 20 }, () => send(email, { "Idempotency-Key": "order-1" }));
    const answers = await Promise.all(calls);
    const ids = new Set(answers.filter((one) => one.status === 201).map((one) => one.body.data.id));
    expect(ids.size).toBe(1);
    expect(answers.every((one) => one.status === 201 || one.status === 409)).toBe(true);
    const replay = await send(email, { "Idempotency-Key": "order-1" });
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
    expect([...ids]).toEqual([replay.body.data.id]);
    expect(await countMessages()).toBe(before + 1);
  });

  test("is not confused with another body under the same Idempotency-Key", async () => {
    await send(email, { "Idempotency-Key": "order-2" });
    const { status, body } = await send({ ...email, subject: "Other" }, { "Idempotency-Key": "order-2" });
    expect([status, body.code]).toEqual([409, "CONFLICT"]);
  });
});

describe("a dry run", () => {
  const rehearse = (body: object, headers = {}) =>
    service.call("POST", "/emails/send?dry_run", { ...email, ...body }, { headers });

  test("says that the message would be accepted, and leaves nothing behind", async () => {
    const before = await countMessages();
    const { status, body } = await rehearse({ from_email: "a@shop.test" });
    expect([status, body.data]).toEqual([200, { status: "valid", id: null }]);
    expect(await countMessages()).toBe(before);
  });

  test("refuses what the real one refuses", async () => {
    expect((await rehearse({ from_email: "ceo@bank.test" })).status).toBe(400);
    expect((await rehearse({ subject: "two\nlines" })).status).toBe(400);
  });

  test("does not use an Idempotency-Key up", async () => {
    const headers = { "Idempotency-Key": "rehearsed" };
    await rehearse({}, headers);
    expect((await send(email, headers)).status).toBe(201);
  });
});

test.each(["a@x.test, b@x.test", "Ada <a@x.test>; Bob <b@x.test>"])(
  "several recipients are told to have a request each: %s",
  async (to) => {
    const { status, body } = await send({ ...email, to });
    expect([status, body.error]).toEqual([400, "to: one recipient per request; send a request for each"]);
  },
);

test("an unverified bounce_email is refused with an Idempotency-Key and in a dry run, with advice", async () => {
  const foreign = { ...email, bounce_email: "victim@example.net" };
  const before = await countMessages();
  for (const { status, body } of [
    await send(foreign, { "Idempotency-Key": "bounces-to-a-stranger" }),
    await service.call("POST", "/emails/send?dry_run=true", foreign),
  ]) {
    expect([status, body.code, body.error]).toEqual([
      400,
      "VALIDATION_ERROR",
      "bounce_email victim@example.net is not on a verified sending domain and is no verified sender of this workspace: use an address there, or add and verify the domain (POST /sending-domains) or the address (POST /verified-senders)",
    ]);
  }
  expect(await countMessages()).toBe(before);
});

test("a body of 2,000,000 characters is accepted, and a longer one is refused with the field, the limit and its size", async () => {
  expect((await send({ ...email, body: "x".repeat(2_000_000) })).status).toBe(201);
  for (const body of ["x".repeat(2_000_001), `<p>${"x".repeat(1_999_998)}`, "x".repeat(25_000_000)]) {
    const refused = await send({ ...email, body });
    const error = `body must have at most 2,000,000 characters, and has ${body.length.toLocaleString("en")}`;
    expect([refused.status, refused.body.code, refused.body.error]).toEqual([400, "VALIDATION_ERROR", error]);
  }
});

test("a body of 2,000,000 emoji has 2,000,000 characters", async () => {
  expect((await send({ ...email, body: "🙂".repeat(2_000_000) })).status).toBe(201);
});

describe("a message that is refused", () => {
  const refused: [string, Record<string, unknown>, string][] = [
    ["a from_email on a foreign domain", { from_email: "ceo@bank.test" }, "from_email"],
    ["a from_email on a domain that is not verified", { from_email: "a@unproven.test" }, "from_email"],
    ["a from_email on a subdomain of a verified domain", { from_email: "a@mail.shop.test" }, "from_email"],
    ["a from_email that is none", { from_email: "nobody" }, "from_email"],
    ["several recipients in one string", { to: "a@example.com, b@example.com" }, "to"],
    ["recipients as an array", { to: ["a@example.com"] }, "to"],
    ["a recipient without a domain", { to: "ada" }, "to"],
    ["a recipient at an address literal", { to: "ada@[127.0.0.1]" }, "to"],
    ["a missing subject", { subject: undefined }, "subject"],
    ["a blank subject", { subject: "   " }, "subject"],
    ["a subject with a line break", { subject: "Hi\r\nBcc: eve@example.com" }, "subject"],
    ["a subject with a Unicode line break", { subject: "Hi\u2028Bcc: eve@example.com" }, "subject"],
    ["a sender name with a line break", { from_name: "Shop\nBcc: eve@example.com" }, "from_name"],
    ["an unverified bounce_email", { bounce_email: "victim@example.net" }, "bounce_email"],
    ["a bounce_email on a domain that is not verified", { bounce_email: "a@unproven.test" }, "bounce_email"],
    ["a bounce_email on a subdomain of a verified domain", { bounce_email: "a@b.shop.test" }, "bounce_email"],
    ["a bounce_email on a name that ends like it", { bounce_email: "a@notshop.test" }, "bounce_email"],
    [
      "an unverified bounce_email beside a verified sender",
      { bounce_email: "victim@example.net", from_email: "a@shop.test" },
      "bounce_email",
    ],
    ["a bounce address with a line break", { bounce_email: "a@b.test\r\nX: y" }, "bounce_email"],
    ["a blank body", { body: " \n " }, "body"],
    ["a body of nothing visible", { body: "\u200b" }, "body"],
    ["HTML that shows nothing", { body: "<p>&nbsp;</p><script>1</script>" }, "body"],
    ["html_body", { html_body: "<p>x</p>" }, "html_body"],
    ["a NUL in the body", { body: "a\0b" }, "body"],
    ["cc", { cc: "eve@example.com" }, "cc"],
    ["bcc", { bcc: ["eve@example.com"] }, "bcc"],
    ["reply_to", { reply_to: "eve@example.com" }, "reply_to"],
    ["replyTo", { replyTo: "eve@example.com" }, "replyTo"],
    ["headers", { headers: { "X-A": "b" } }, "headers"],
    ["scheduled_at", { scheduled_at: "2030-01-01T00:00:00Z" }, "scheduled_at"],
    ["an html part of its own", { html: "<p>x</p>" }, "html"],
    ["a template", { template_id: "welcome" }, "template_id"],
    ["values of a template", { variables: { name: "Ada" } }, "variables"],
    ["values of a template for each recipient", { personalizations: [{}] }, "personalizations"],
    ["one attachment", { attachment: file }, "attachment"],
    ["attachments in another case", { Attachments: [file] }, "Attachments"],
    [
      "an attachment that is no Base64",
      { attachments: [file, { ...file, content: "§§§" }] },
      "attachments[1].content",
    ],
    [
      "an attachment in the URL alphabet",
      { attachments: [{ ...file, content: "_-_-" }] },
      "attachments[0].content",
    ],
    ["an attachment without content", { attachments: [{ ...file, content: "" }] }, "attachments[0].content"],
    [
      "an attachment without a type",
      { attachments: [{ filename: "a", content: png }] },
      "attachments[0].content_type",
    ],
    [
      "an attachment in a folder",
      { attachments: [{ ...file, filename: "../../x.png" }] },
      "attachments[0].filename",
    ],
    ...[".", "..", " . .. "].map((filename): [string, Record<string, unknown>, string] => [
      `an attachment called ${JSON.stringify(filename)}, which is a folder`,
      { attachments: [{ ...file, filename }] },
      "attachments[0].filename",
    ]),
    [
      "a program as attachment",
      { attachments: [{ ...file, filename: "invoice.pdf.exe" }] },
      "attachments[0].filename",
    ],
    [
      "a program as attachment, whose ending is followed by nothing visible",
      { attachments: [{ ...file, filename: "invoice.exe\u200b" }] },
      "attachments[0].filename",
    ],
    [
      "an attachment of a type that is a program's",
      { attachments: [{ ...file, content_type: "application/x-msdownload" }] },
      "attachments[0].content_type",
    ],
    [
      "a file name with a line break",
      { attachments: [{ ...file, filename: "a\r\nX: y.png" }] },
      "attachments[0]",
    ],
    [
      "a content type with a line break",
      { attachments: [{ ...file, content_type: "a/b\r\nX: y" }] },
      "attachments[0]",
    ],
    [
      "one content id for two images",
      { attachments: [1, 2].map(() => ({ ...file, disposition: "inline", content_id: "logo" })) },
      "attachments[1].content_id",
    ],
    [
      "more files than a mail should hold",
      { attachments: Array.from({ length: 101 }, () => file) },
      "attachments",
    ],
  ];

  test.each(refused)("for %s names the field and leaves nothing behind", async (_what, change, field) => {
    const before = await countMessages();
    const { status, body } = await send({ ...email, ...change });
    expect(status).toBe(400);
    expect(body).toMatchObject({ success: false, code: "VALIDATION_ERROR", details: [{ field }] });
    expect(await countMessages()).toBe(before);
  });

  test("for more than 20 MB of attachments", async () => {
    const half = { ...file, content: Buffer.alloc(10.5 * 1024 * 1024).toString("base64") };
    const { status, body } = await send({ ...email, attachments: [half, half] });
    expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
  });

  test("for a body of 40 MB is answered 413", async () => {
    const { status, body } = await send({ ...email, body: "x".repeat(40 * 1024 * 1024) });
    expect([status, body.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });
});

test("another workspace's verified domain is foreign", async () => {
  const other = await service.newWorkspace();
  const { status } = await service.call(
    "POST",
    "/emails/send",
    { ...email, from_email: "a@shop.test" },
    { key: other.key },
  );
  expect(status).toBe(400);
});

test("what nothing covers is refused with a code that the endpoint declares", async () => {
  const { workspaceId, key } = await service.newWorkspace();
  await database.run(sql`update workspaces set plan = 'free' where id = ${workspaceId}`);
  await database.run(sql`
    insert into meters (workspace_id, kind, period_start, used)
    values (${workspaceId}, 'email', date_trunc('month', ${service.clock.now()}::timestamptz, 'UTC'), 3000)`);
  const { status, body } = await service.call("POST", "/emails/send", email, { key });
  expect([status, body.code]).toEqual([402, "PLAN_LIMIT_REACHED"]);
  const declared = service.api.endpoints.filter(({ id }) => id === "sendEmail").flatMap(errorCodesOf);
  expect(declared).toEqual(expect.arrayContaining([body.code, "INSUFFICIENT_BALANCE"]));
});
