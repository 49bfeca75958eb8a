import { createHash } from "node:crypto";
import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { removeOldInboundMail } from "#inbound/retention.ts";
import { createLog } from "#platform/log/log.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { eventually } from "#test/support/eventually.ts";
import { sendIn, startReturns } from "#test/support/returns.ts";
import { openSmtp } from "#test/support/smtp-client.ts";
import { isSwaksInstalled, runSwaksExample } from "#test/support/swaks.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";

const { service, port, deliver, returnPath, message } = await startReturns();
const { database: db, call, workspaceId, clock } = service;

const log = createLog("silent");
let route = "";
beforeEach(async () => {
  await db.run(
    sql`truncate inbound_routes, received_emails, received_digests, received_storage, webhook_deliveries`,
  );
  route = await addRoute("support@shop.test");
});

async function addRoute(pattern: string, settings: object = {}): Promise<string> {
  const { status, body } = await call("POST", "/inbound-routes", { pattern, ...settings });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.data.id;
}

let mails = 0;
/** Sends a mail and waits until it is parsed. */
async function receive(raw: string | Buffer, { to = "support@shop.test", from = "ada@example.net" } = {}) {
  mails += 1;
  const id = `Message-ID: <m${mails}@example.net>\n`;
  const whole = typeof raw === "string" && !/^message-id:/im.test(raw) ? id + raw : raw;
  const reply = await sendIn(port, to, whole, from);
  if (!reply.startsWith("250")) throw new Error(reply);
  return newest();
}

async function newest() {
  return eventually("the mail to be parsed", async () => {
    const [row] = (await call("GET", "/received-emails")).body.data.received_emails;
    if (row === undefined || row.status === "received") return undefined;
    return (await call("GET", `/received-emails/${row.id}`)).body.data;
  });
}

const download = async (path: string) => {
  const answer = await fetch(`${service.url}/api/v1${path}`, { headers: { "X-API-Key": service.key } });
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
};

const storage = async () =>
  (
    await db.row<{ bytes: number }>(
      sql`select bytes from received_storage where workspace_id = ${workspaceId}`,
    )
  )?.bytes ?? 0;

/** A mail with a text, HTML and a file. */
const whole = [
  "From: =?utf-8?q?Ada_L=C3=B6velace?= <Ada@Example.net>",
  'To: Support <support@shop.test>, "Last, First" <x@y.test>',
  "Cc: team: one@a.test, two@a.test;",
  "Reply-To: <reply@example.net>",
  "Subject: =?iso-8859-1?q?Gr=FC=DFe?=",
  "Date: Thu, 26 Nov 2026 10:00:00 +0100 (CET)",
  "Message-ID: <whole@example.net>",
  "MIME-Version: 1.0",
  'Content-Type: multipart/mixed; boundary="m"',
  "",
  "--m",
  'Content-Type: multipart/alternative; boundary="a"',
  "",
  "--a",
  "Content-Type: text/plain; charset=utf-8",
  "Content-Transfer-Encoding: quoted-printable",
  "",
  "Hello =E2=9C=93",
  "--a",
  "Content-Type: text/html; charset=utf-8",
  "",
  "<p>Hello</p>",
  "--a--",
  "--m",
  "Content-Type: application/pdf",
  "Content-Disposition: attachment; filename*=utf-8''b%C3%BCro.pdf",
  "Content-Transfer-Encoding: base64",
  "",
  Buffer.from("%PDF-1.7 not really").toString("base64"),
  "--m--",
].join("\n");

describe("a received mail", () => {
  test("is listed and shown with its addresses, texts, files and envelope", async () => {
    const mail = await receive(whole, { to: "Support+1042@shop.test" });
    expect(mail).toMatchObject({
      route_id: route,
      recipient: "Support+1042@shop.test",
      tag: "1042",
      from: { email: "Ada@Example.net", name: "Ada Lövelace" },
      to: [
        { email: "support@shop.test", name: "Support" },
        { email: "x@y.test", name: "Last, First" },
      ],
      cc: [
        { email: "one@a.test", name: null },
        { email: "two@a.test", name: null },
      ],
      reply_to: [{ email: "reply@example.net", name: null }],
      subject: "Grüße",
      date: "2026-11-26T09:00:00.000Z",
      message_id: "whole@example.net",
      text: expect.stringMatching(/^Hello ✓\s*$/),
      html: expect.stringContaining("<p>Hello</p>"),
      attachments: [{ filename: "büro.pdf", content_type: "application/pdf", size: 19, is_inline: false }],
      attachment_count: 1,
      status: "parsed",
      automatic: null,
      is_spam: false,
      spam_score: null,
      in_reply_to_message_id: null,
      own_message_id: null,
      mail_from: "ada@example.net",
      remote_ip: "127.0.0.1",
      helo: "mx.test",
      cut: [],
      size: whole.replaceAll("\n", "\r\n").length + 2,
    });
    expect(mail.headers).toContainEqual({ name: "Subject", value: "Grüße" });
    expect(Date.parse(mail.expires_at) - Date.parse(mail.received_at)).toBe(30 * 86_400_000);
    const { received_emails: rows, pagination } = (await call("GET", "/received-emails")).body.data;
    expect(rows).toMatchObject([{ id: mail.id, subject: "Grüße", attachment_count: 1 }]);
    expect(pagination).toMatchObject({ total: 1, total_is_exact: true, next_cursor: null });
  });

  test("is downloaded octet by octet, and its files one by one as octets that no browser runs", async () => {
    const { id, attachments } = await receive(whole);
    const source = await download(`/received-emails/${id}/source`);
    expect(source.body.toString("latin1")).toBe(`${whole.replaceAll("\n", "\r\n")}\r\n`);
    const file = await download(`/received-emails/${id}/attachments/${attachments[0].id}`);
    expect(file.body.toString()).toBe("%PDF-1.7 not really");
    expect(file.headers.get("content-type")).toMatch(/^application\/octet-stream/);
    expect(file.headers.get("content-disposition")).toContain("filename*=UTF-8''b%C3%BCro.pdf");
    expect((await download(`/received-emails/${id}/attachments/${id}`)).status).toBe(404);
  });

  test("counts as storage of the workspace until it is deleted", async () => {
    const { id, size } = await receive(whole);
    expect(await storage()).toBe(size);
    const used = async () => (await call("GET", "/billing/overview")).body.data.storage.bytes.used;
    const before = await used();
    expect((await call("DELETE", `/received-emails/${id}`)).body.data).toEqual({ id, deleted: true });
    expect([await storage(), before - (await used())]).toEqual([0, size]);
    expect((await call("DELETE", `/received-emails/${id}`)).status).toBe(404);
    expect((await call("GET", `/received-emails/${id}`)).status).toBe(404);
  });

  test("is found by sender, recipient, subject, route, time, and walked by cursor", async () => {
    const other = await addRoute("sales@shop.test");
    const first = await receive("From: ada@example.net\nSubject: An Invoice 100%\n\n1");
    clock.advance(60_000);
    const second = await receive("From: BOB@example.net\nSubject: Question\n\n2", {
      to: "sales+a@shop.test",
    });
    const found = async (query: string) =>
      (await call("GET", `/received-emails?${query}`)).body.data.received_emails.map(
        ({ id }: { id: string }) => id,
      );
    expect(await found("from=ADA@example.net")).toEqual([first.id]);
    expect(await found("to=Sales%2Ba@shop.test")).toEqual([second.id]);
    expect(await found("subject=invoice")).toEqual([first.id]);
    expect(await found("subject=100%25")).toEqual([first.id]);
    expect(await found("subject=100_")).toEqual([]);
    expect(await found(`route_id=${other}`)).toEqual([second.id]);
    expect(await found(`received_from=${second.received_at}`)).toEqual([second.id]);
    expect(await found(`received_before=${second.received_at}`)).toEqual([first.id]);
    expect(await found("is_spam=true")).toEqual([]);
    const page = (await call("GET", "/received-emails?limit=1")).body.data;
    expect(page.received_emails[0].id).toBe(second.id);
    expect(await found(`limit=1&after=${page.pagination.next_cursor}`)).toEqual([first.id]);
    expect((await call("GET", `/received-emails?from=x&after=${page.pagination.next_cursor}`)).status).toBe(
      400,
    );
  });

  test("is of its workspace alone, and needs its own permission", async () => {
    const { id, attachments } = await receive(whole);
    const other = await service.newWorkspace();
    const callOther = apiCaller(() => service.url, other.key);
    const weak = await service.newKey(["message_content:read", "inbound_routes:read"]);
    for (const path of ["", "/source", `/attachments/${attachments[0].id}`]) {
      expect((await callOther("GET", `/received-emails/${id}${path}`)).status).toBe(404);
      expect((await call("GET", `/received-emails/${id}${path}`, undefined, { key: weak })).status).toBe(403);
    }
    expect((await callOther("DELETE", `/received-emails/${id}`)).status).toBe(404);
    expect((await callOther("GET", "/received-emails")).body.data.received_emails).toEqual([]);
  });

  test("repeated after a lost reply is stored once; another body, sender or recipient is another mail", async () => {
    const count = async () => (await call("GET", "/received-emails")).body.data.pagination.total;
    const mail = "Message-ID: <same@example.net>\nSubject: x\n\nbody";
    for (let n = 0; n < 3; n++) await receive(mail);
    expect(await count()).toBe(1);
    await receive(mail.replace("body", "other"));
    await receive(mail, { from: "bob@example.net" });
    await receive(mail, { to: "support+x@shop.test" });
    expect(await count()).toBe(4);
    const bare = (n: number) => sendIn(port, "support@shop.test", `Subject: alert ${n}\n\ndown`, "a@b.test");
    await bare(1);
    await bare(2);
    await bare(2);
    expect(await count()).toBe(6);
    // A field without a value names no mail, whatever the next line is.
    for (const from of ["one", "two"])
      await receive(`Message-ID:\nSubject: same\nFrom: ${from}@b.test\n\nbody`);
    expect(await count()).toBe(8);
    // A folded value is a value.
    for (const date of [1, 2])
      await receive(`Date: ${date}\nMessage-ID:\n <folded@b.test>\nSubject: x\n\nbody`);
    expect(await count()).toBe(9);
  });

  test("of one transaction reaches each of its recipients", async () => {
    const client = await openSmtp(port);
    await client.say("EHLO mx.test");
    await client.say("MAIL FROM:<ada@example.net>");
    for (const to of ["support+a@shop.test", "support+b@shop.test", "SUPPORT+A@shop.test"]) {
      await client.say(`RCPT TO:<${to}>`);
    }
    await client.say("DATA");
    client.write("Subject: two\r\n\r\nhi\r\n.\r\n");
    expect(await client.reply()).toMatch(/^250/);
    client.close();
    const rows = await db.rows(sql`select lower(rcpt_to) as rcpt_to from received_emails order by id`);
    expect(rows).toEqual([{ rcpt_to: "support+a@shop.test" }, { rcpt_to: "support+b@shop.test" }]);
  });
});

test.skipIf(!isSwaksInstalled)("the example of docs/receiving.md is received", async () => {
  await db.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified)
    values (${workspaceId}, gen_random_uuid(), 'acme.example', 'v', 'd', true)`);
  await db.run(sql`insert into domain_claims (domain, workspace_id) values ('acme.example', ${workspaceId})`);
  const taken = await addRoute("support@in.acme.example");
  await runSwaksExample("receiving.md", port);
  expect(await newest()).toMatchObject({
    route_id: taken,
    subject: "A question",
    text: expect.stringMatching(/^Do you ship to Iceland\?/),
    from: { email: "ada@example.com" },
  });
});

describe("odd mail", () => {
  const part = (headers: string, body: string) => `--b\n${headers}\n\n${body}\n`;
  const multipart = (parts: string) =>
    `From: ada@example.net\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n${parts}--b--\n`;

  test("8-bit text and header fields without a charset, or with a wrong one, are read by their letters", async () => {
    const latin = (text: string) => Buffer.from(text.replaceAll("\n", "\r\n"), "latin1");
    const bare = await receive(
      latin(
        "From: J\xf6rg <j@example.net>\nSubject: Gr\xfc\xdfe\nMessage-ID: <l1@x>\n\nSch\xf6ne Gr\xfc\xdfe aus M\xfcnchen\n",
      ),
    );
    expect(bare).toMatchObject({
      from: { name: "Jörg" },
      subject: "Grüße",
      text: expect.stringMatching(/^Schöne Grüße aus München\s+$/),
    });
    const wrong = await receive(
      latin(
        "From: a@b.test\nMessage-ID: <l2@x>\nContent-Type: text/plain; charset=utf-8\n\nSch\xf6ne Gr\xfc\xdfe aus M\xfcnchen\n",
      ),
    );
    expect(wrong.text.trim()).toBe("Schöne Grüße aus München");
    const oneBad = await receive(
      Buffer.concat([
        Buffer.from(
          "From: a@b.test\r\nMessage-ID: <l3@x>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGrüße \u2713 ",
        ),
        Buffer.from([0xff]),
      ]),
    );
    expect(oneBad.text.trim()).toBe("Grüße \u2713 \ufffd");
    const unknown = await receive(
      "From: a@b.test\nContent-Type: text/plain; charset=x-no-such\nContent-Transfer-Encoding: 8bit\n\nGrüße\n",
    );
    expect(unknown.text.trim()).toBe("Grüße");
  });

  test("without From, with several, with nothing at all, with a huge subject and date nonsense", async () => {
    const none = await receive("Subject: no sender\nDate: yesterday-ish\n\nhi");
    expect(none).toMatchObject({ from: null, date: null, to: [], status: "parsed" });
    const several = await receive("From: a@b.test, c@d.test\nFrom: second@x.test\n\nhi");
    expect(several.from).toEqual({ email: "a@b.test", name: null });
    expect(several.authentication.dmarc).not.toBe("pass");
    const huge = await receive(`From: a@b.test\nSubject: ${"x".repeat(9_000)}\n\nhi`);
    expect([huge.subject.length, huge.cut]).toEqual([2_000, ["subject", "headers"]]);
    await sendIn(port, "support@shop.test", "", "a@b.test");
    expect(await newest()).toMatchObject({
      subject: "",
      from: null,
      text: null,
      html: null,
      attachments: [],
    });
  });

  test("a pair of surrogates at a limit, and an envelope of thousands of characters, are cut and stored", async () => {
    const emoji = "\u{1f600}".repeat(3_000);
    const odd = `=?utf-8?b?${Buffer.from(emoji).toString("base64")}?=`;
    const mail = await receive(`X-Odd: x${odd}\nSubject: x${odd}\nFrom: "${odd}" <a@b.test>\n\nhi`, {
      from: `${"x".repeat(3_000)}@example.net`,
    });
    expect(mail).toMatchObject({ status: "parsed", cut: ["subject", "headers"] });
    expect([mail.subject.length, mail.mail_from.length]).toEqual([2_000, 500]);
  });

  test("NUL, lone surrogates and names such as __proto__ are stored and shown as text", async () => {
    const nul =
      "From: a@b.test\nSubject: =?utf-8?q?a=00b?= __proto__\n__proto__: x\nContent-Type: text/plain; charset=utf-16\nContent-Transfer-Encoding: base64\n\n";
    const mail = await receive(nul + Buffer.from([0x61, 0, 0, 0xd8, 0x62, 0, 0, 0]).toString("base64"));
    expect(mail.subject).toBe("ab __proto__");
    expect(mail.text.trim()).toBe("aØb");
    expect(mail.headers).toContainEqual({ name: "__proto__", value: "x" });
  });

  test("1,000 attachments are all listed, and more are cut; the last one can be downloaded", async () => {
    const files = (count: number) =>
      multipart(
        Array.from({ length: count }, (_, n) =>
          part(`Content-Type: text/csv; name=f${n}.csv\nContent-Disposition: attachment`, `row ${n}`),
        ).join(""),
      );
    const mail = await receive(files(1_000));
    expect([mail.attachments.length, mail.attachment_count, mail.cut]).toEqual([1_000, 1_000, []]);
    const last = await download(`/received-emails/${mail.id}/attachments/${mail.attachments[999].id}`);
    expect(last.body.toString().trim()).toBe("row 999");
    const more = await receive(files(1_001));
    expect([more.attachments.length, more.cut]).toEqual([1_000, ["attachments"]]);
  });

  test("winmail.dat and mails in mails are files, and the texts inside them are not the mail's own", async () => {
    const mail = await receive(
      multipart(
        part("Content-Type: text/plain", "outer") +
          part(
            "Content-Type: application/ms-tnef; name=winmail.dat\nContent-Transfer-Encoding: base64",
            "eJ8+IgAA",
          ) +
          part("Content-Type: message/rfc822", "Subject: inner\n\ninner text"),
      ),
    );
    expect(mail.text.trim()).toBe("outer");
    expect(mail.attachments).toMatchObject([
      { filename: "winmail.dat", content_type: "application/ms-tnef", size: 6 },
      { filename: "unnamed", content_type: "message/rfc822" },
    ]);
  });

  test("a flood of header fields, of levels and of addresses is bounded and named", async () => {
    const flood = Array.from({ length: 5_000 }, (_, n) => `X-${n}: ${"v".repeat(50)}`).join("\n");
    const to = Array.from({ length: 500 }, (_, n) => `p${n}@example.net`).join(",\n ");
    const mail = await receive(`From: a@b.test\nTo: ${to}\n${flood}\n\nhi`);
    expect([mail.headers.length, mail.to.length, mail.cut]).toEqual([200, 100, ["headers", "addresses"]]);
    let deep = "Content-Type: text/plain\n\ninnermost\n";
    for (let n = 0; n < 300; n++) {
      deep = `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n${deep}\n--b${n}--\n`;
    }
    expect(await receive(`From: a@b.test\n${deep}`)).toMatchObject({
      status: "parsed",
      cut: ["attachments"],
    });
  });

  test("a mail with more than fifty Received fields is in a loop", async () => {
    const loop = "Received: from a by b; Thu, 26 Nov 2026 10:00:00 +0000\n".repeat(51);
    expect(await sendIn(port, "support@shop.test", `${loop}Subject: x\n\nhi`, "a@b.test")).toMatch(
      /^554 5\.4\.6/,
    );
  });
});

describe("mail of programs", () => {
  test.each([
    ["auto_reply", "Auto-Submitted: auto-replied", "ada@example.net"],
    ["auto_reply", "X-Autoreply: yes", "ada@example.net"],
    ["generated", "Auto-Submitted: auto-generated", "ada@example.net"],
    ["generated", "Precedence: bulk", "ada@example.net"],
    ["mailing_list", "List-Id: <l.example.net>", "ada@example.net"],
    [
      "read_receipt",
      "Content-Type: multipart/report; report-type=disposition-notification; boundary=b",
      "a@b.test",
    ],
    ["bounce", "Content-Type: multipart/report; report-type=delivery-status; boundary=b", ""],
    ["bounce", "From: MAILER-DAEMON@mx.test\nSubject: Undelivered Mail Returned to Sender", ""],
    ["generated", "Subject: something", ""],
    [null, "Auto-Submitted: no", "ada@example.net"],
    [null, "Subject: Automatic reply does not work", "ada@example.net"],
  ])("is marked %s: %s", async (automatic, header, from) => {
    const text = "I did not get it: 550 5.1.1 <x@y.test> user unknown";
    const mail = await receive(`${header}\n\n${automatic === "bounce" ? text : "hello"}`, { from });
    expect(mail.automatic).toBe(automatic);
  });

  test("a mail of the workspace that comes back to one of its routes names the message", async () => {
    const id = await deliver("support@shop.test");
    const mail = await receive(`From: orders@shop.test\nMessage-ID: <${id}@shop.test>\n\nThanks`, {
      from: returnPath(id),
    });
    expect(mail).toMatchObject({ own_message_id: id, in_reply_to_message_id: null });
  });
});

describe("an answer to a message", () => {
  const answer = (field: string, extra = "") =>
    `From: Grace <grace@example.test>\nSubject: Re: Your order\n${field}\n${extra}\nI like it`;

  test("names the message by In-Reply-To or References, and is in its timeline", async () => {
    const id = await deliver("grace@example.test");
    const mail = await receive(answer(`In-Reply-To: <${id}@shop.test>`));
    expect(mail.in_reply_to_message_id).toBe(id);
    expect((await message(id)).timeline).toContainEqual(
      expect.objectContaining({ type: "replied", detail: mail.id }),
    );
    const later = await receive(answer(`References: <${id}@shop.test> <x@example.test>`));
    expect(later.in_reply_to_message_id).toBe(id);
    const list = await call("GET", `/received-emails?in_reply_to_message_id=${id}`);
    expect(list.body.data.received_emails.map((row: { id: string }) => row.id)).toEqual([later.id, mail.id]);
  });

  test("to a mail with several recipients names the message of the one who answers", async () => {
    const { body } = await call("POST", "/emails", {
      from_email: "orders@shop.test",
      to: ["ada@example.test", "grace@example.test"],
      subject: "Both",
      text: "hi",
    });
    const { id, messages } = (await call("GET", `/emails/${body.data.id}`)).body.data;
    const mail = await receive(answer(`In-Reply-To: <${id}@shop.test>`));
    const hers = messages.find((one: { to: string }) => one.to === "grace@example.test");
    expect(mail.in_reply_to_message_id).toBe(hers.id);
  });

  test("that is automatic names the message, but is no answer in its timeline", async () => {
    const id = await deliver("grace@example.test");
    const mail = await receive(answer(`In-Reply-To: <${id}@shop.test>`, "Auto-Submitted: auto-replied\n"));
    expect([mail.in_reply_to_message_id, mail.automatic]).toEqual([id, "auto_reply"]);
    expect((await message(id)).timeline.some(({ type }) => type === "replied")).toBe(false);
  });

  test("to a message of another workspace, or to anything else, names none", async () => {
    const other = await service.newWorkspace();
    const theirs = await deliver("grace@example.test");
    await db.run(sql`update messages set workspace_id = ${other.workspaceId} where id = ${theirs}`);
    for (const id of [`${theirs}@shop.test`, `${crypto.randomUUID()}@shop.test`, "x", "<<>>", "a b@c"]) {
      expect((await receive(answer(`In-Reply-To: <${id}>`))).in_reply_to_message_id).toBeNull();
    }
  });
});

describe("what becomes of a mail", () => {
  const events = () =>
    db.rows<{ body: { type: string; data: Record<string, unknown> } }>(sql`
      select body from webhook_deliveries where workspace_id = ${workspaceId}`);
  const listen = () =>
    call("POST", "/webhooks", { url: "https://hooks.example.com/", events: ["email.received"] });

  test("it is announced once to webhooks that listen, if the route says so", async () => {
    const { id: webhook } = (await listen()).body.data;
    await addRoute("quiet@shop.test", { webhook: false });
    await receive("Subject: quiet\n\nhi", { to: "quiet@shop.test" });
    expect(await events()).toEqual([]);
    const { id } = await receive(whole);
    expect(await events()).toMatchObject([
      {
        body: {
          type: "email.received",
          data: {
            received_email_id: id,
            url: expect.stringMatching(new RegExp(`^http.*/api/v1/received-emails/${id}$`)),
            route_id: route,
            subject: "Grüße",
            text: expect.stringMatching(/^Hello ✓/),
            attachments: [{ filename: "büro.pdf", url: expect.stringContaining(`${id}/attachments/`) }],
          },
        },
      },
    ]);
    await call("DELETE", `/webhooks/${webhook}`);
  });

  test("it is deleted when its event is written, if the route keeps none", async () => {
    const { id: webhook } = (await listen()).body.data;
    await addRoute("gone@shop.test", { keep: false });
    await sendIn(port, "gone@shop.test", "Message-ID: <gone@x>\nSubject: once\n\nhi", "a@b.test");
    const [event] = await eventually("the event", async () => {
      const written = await events();
      return written.length > 0 ? written : undefined;
    });
    expect(event?.body.data).toMatchObject({
      subject: "once",
      text: expect.stringMatching(/^hi/),
      url: null,
    });
    expect(await db.rows(sql`select from received_emails`)).toEqual([]);
    expect(await storage()).toBe(0);
    // Its repetition is recognised although nothing of it is stored.
    await sendIn(port, "gone@shop.test", "Message-ID: <gone@x>\nSubject: once\n\nhi", "a@b.test");
    expect(await db.rows(sql`select from received_emails`)).toEqual([]);
    await call("DELETE", `/webhooks/${webhook}`);
  });

  test("it is kept against its route when no webhook is told of it", async () => {
    const unheard = await addRoute("unheard@shop.test", { keep: false });
    const mail = await receive("Subject: unheard\n\nhi", { to: "unheard@shop.test" });
    expect(mail).toMatchObject({ route_id: unheard, subject: "unheard" });
    expect(await storage()).toBe(mail.size);
  });

  test("it is deleted after the days that it is kept, and its storage is free", async () => {
    const { id } = await receive(whole);
    const clean = () =>
      removeOldInboundMail({ db, clock, receivedDays: 30 }).run({
        signal: new AbortController().signal,
        log,
      });
    clock.advance(29 * 86_400_000);
    await clean();
    expect((await call("GET", `/received-emails/${id}`)).status).toBe(200);
    clock.advance(2 * 86_400_000);
    await clean();
    expect((await call("GET", `/received-emails/${id}`)).status).toBe(404);
    expect([await storage(), await db.rows(sql`select from received_digests`)]).toEqual([0, []]);
    clock.advance(-31 * 86_400_000);
  });

  test.each([true, false])(
    "its processing is given up after eight attempts, and only its source is there (keep: %s)",
    async (keep) => {
      const { id: webhook } = (await listen()).body.data;
      const raw = Buffer.from("Subject: poison\r\n\r\nhi");
      const id = crypto.randomUUID();
      await db.run(sql`
      insert into received_emails (workspace_id, id, route_id, keep, webhook, mail_from, rcpt_to, remote_ip, helo, network,
        raw, bytes, received_at, status, due_at, turn, lease_number)
      values (${workspaceId}, ${id}, ${route}, ${keep}, true, 'a@b.test', 'support@shop.test', '192.0.2.1', 'mx', '192.0.2.1',
        ${raw}, ${raw.length}, ${clock.now()}, 'received', ${clock.now()}, 0, 8)`);
      expect(await newest()).toMatchObject({
        id,
        status: "unreadable",
        subject: null,
        from: null,
        headers: [],
      });
      expect((await download(`/received-emails/${id}/source`)).body).toEqual(raw);
      const [event] = await events();
      expect(event?.body.data).toMatchObject({
        received_email_id: id,
        url: expect.stringContaining(`/received-emails/${id}`),
      });
      await call("DELETE", `/webhooks/${webhook}`);
    },
  );
});

describe("limits", () => {
  test("a mail larger than its route takes is refused, at RCPT where MAIL declares its size", async () => {
    await addRoute("small@shop.test", { max_bytes: 2_000 });
    const big = `Subject: big\n\n${"x".repeat(70)}\n`.padEnd(2_100, "y\n");
    expect(await sendIn(port, "small@shop.test", big, "a@b.test")).toMatch(/^552 5\.3\.4/);
    expect(await sendIn(port, "small@shop.test", "Subject: s\n\nhi", "a@b.test> SIZE=2001 BODY=<8")).toMatch(
      /^5/,
    );
    const client = await openSmtp(port);
    await client.say("EHLO mx.test");
    await client.say("MAIL FROM:<a@b.test> SIZE=2001");
    expect(await client.say("RCPT TO:<small@shop.test>")).toMatch(/^552 5\.3\.4/);
    expect(await client.say("RCPT TO:<support@shop.test>")).toMatch(/^250/);
    client.close();
  });

  test.each(["Network", "Workspace"] as const)(
    "beyond the hourly mails of a %s mail is deferred, and returned mail is not",
    async (holder) => {
      const id = await deliver("busy@example.test");
      const name = `receivedMailsPer${holder}`;
      const of = holder === "Network" ? "127.0.0.1" : workspaceId;
      await db.run(sql`
        insert into quota_uses values (${name}, ${of}, ${new Date(Math.ceil((clock.now().getTime() + 1) / 3_600_000) * 3_600_000)}, 1000000)
        on conflict (limit_name, holder, ends_at) do update set used = 1000000`);
      expect(await sendIn(port, "support@shop.test", "Subject: x\n\nhi", "a@b.test")).toMatch(/^451 4\.7\.1/);
      expect(await sendIn(port, returnPath(id), "Subject: x\n\nhi", "")).toMatch(/^250/);
      await db.run(sql`delete from quota_uses where limit_name = ${name}`);
    },
  );

  test("mail is deferred while the storage of the plan is full, and nothing of it is stored", async () => {
    await changeWorkspace(db, workspaceId, { plan: "free" }, { clock, plans });
    await db.run(sql`
      insert into received_storage values (${workspaceId}, ${2 * 1024 ** 4})
      on conflict (workspace_id) do update set bytes = excluded.bytes`);
    const send = () =>
      sendIn(port, "support@shop.test", "Message-ID: <full@x>\nSubject: x\n\nhi", "a@b.test");
    expect(await send()).toMatch(/^452 4\.2\.2/);
    expect(await db.rows(sql`select from received_digests`)).toEqual([]);
    await db.run(sql`update received_storage set bytes = 0`);
    expect(await send()).toMatch(/^250/);
    await changeWorkspace(db, workspaceId, { plan: "enterprise" }, { clock, plans });
  });

  test("a mail that is large times its recipients is refused, and its copies count for the quotas", async () => {
    const client = await openSmtp(port);
    await client.say("EHLO mx.test");
    await client.say(`MAIL FROM:<a@b.test> SIZE=${30 * 1024 * 1024}`);
    for (const tag of ["a", "b", "A"]) {
      expect(await client.say(`RCPT TO:<support+${tag}@shop.test>`)).toMatch(/^250/);
    }
    expect(await client.say("RCPT TO:<support+c@shop.test>")).toMatch(/^452 4\.5\.3/);
    const used = async () =>
      (
        await db.row<{ used: number }>(sql`
          select sum(used) as used from quota_uses
          where limit_name = 'receivedMailsPerWorkspace' and holder = ${workspaceId}`)
      )?.used ?? 0;
    const before = await used();
    await client.say("DATA");
    client.write(`Message-ID: <${crypto.randomUUID()}>\r\n\r\nhi\r\n.\r\n`);
    expect(await client.reply()).toMatch(/^250/);
    client.close();
    expect((await used()) - before).toBe(2);
  });

  test("a workspace with too many unparsed octets delays only itself", async () => {
    const send = () =>
      sendIn(port, "support@shop.test", `Message-ID: <${crypto.randomUUID()}>\n\nhi`, "a@b.test");
    const fill = (workspace: string) =>
      db.run(sql`
        insert into received_emails (workspace_id, id, route_id, keep, webhook, mail_from, rcpt_to, remote_ip, helo, network,
          raw, bytes, received_at, status, due_at, turn)
        select ${workspace}, gen_random_uuid(), ${route}, true, false, '', 'x@y', '', '', '', '', 1073741824, now(), 'received',
          ${new Date(clock.now().getTime() + 3_600_000)}, n
        from generate_series(1, 2) n`);
    await fill((await service.newWorkspace()).workspaceId);
    expect(await send()).toMatch(/^250/);
    await fill(workspaceId);
    expect(await send()).toMatch(/^451 4\.7\.1 .*2 GiB/);
  });

  test("a workspace with too much unparsed mail delays only itself", async () => {
    const other = await service.newWorkspace();
    const fill = (workspace: string, count: number) =>
      db.run(sql`
        insert into received_emails (workspace_id, id, route_id, keep, webhook, mail_from, rcpt_to, remote_ip, helo, network,
          raw, bytes, received_at, status, due_at, turn)
        select ${workspace}, gen_random_uuid(), ${route}, true, false, '', 'x@y', '', '', '', '', 1, now(), 'received',
          ${new Date(clock.now().getTime() + 3_600_000)}, n
        from generate_series(1, ${count}::int) n`);
    await fill(other.workspaceId, 2_000);
    const send = () =>
      sendIn(port, "support@shop.test", `Message-ID: <${crypto.randomUUID()}>\n\nhi`, "a@b.test");
    expect(await send()).toMatch(/^250/);
    await fill(workspaceId, 2_000);
    expect(await send()).toMatch(/^451 4\.7\.1/);
  });

  test("40 MiB arrive whole", async () => {
    const line = `${"x".repeat(998)}\r\n`;
    const raw = Buffer.from(`From: a@b.test\r\nMessage-ID: <large@x>\r\n\r\n${line.repeat(41_000)}`);
    const mail = await receive(raw);
    expect([mail.size, mail.cut]).toEqual([raw.length + 2, ["text"]]);
    const source = await download(`/received-emails/${mail.id}/source`);
    const hash = (octets: Buffer) => createHash("sha256").update(octets).digest("hex");
    expect(hash(source.body.subarray(0, raw.length))).toBe(hash(raw));
  });
});
