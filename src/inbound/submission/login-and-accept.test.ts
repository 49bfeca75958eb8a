import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { createTransport } from "nodemailer";
import PostalMime from "postal-mime";
import sql from "sql-template-tag";
import { afterEach, describe, expect, test } from "vitest";
import { openSmtp, type SmtpClient } from "#test/support/smtp-client.ts";
import { handIn, startSubmission } from "#test/support/submission.ts";

/** The tests can disconnect the database of the port. */
let isAway = false;
const submission = await startSubmission((database) => ({
  ...database,
  rows: (...call) => (isAway ? Promise.reject(new Error("connection refused")) : database.rows(...call)),
  transaction: (...call) =>
    isAway ? Promise.reject(new Error("connection refused")) : database.transaction(...call),
}));
const { service, port, tlsPort, loggedIn } = submission;
const { database, workspaceId } = service;

function canRun(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const clients: SmtpClient[] = [];
afterEach(() => {
  isAway = false;
  for (const client of clients.splice(0)) client.close();
});

async function opened(isImplicitTls = false): Promise<SmtpClient> {
  const client = await openSmtp(isImplicitTls ? tlsPort : port, isImplicitTls);
  clients.push(client);
  return client;
}
async function session(secret = service.key): Promise<SmtpClient> {
  const client = await loggedIn(secret);
  clients.push(client);
  return client;
}

const mail = (fields: readonly string[] = [], body = "Hello Ada") =>
  ["From: Shop <orders@shop.test>", "To: ada@example.test", "Subject: Hello", ...fields, "", body].join(
    "\r\n",
  );

interface Stored {
  localpart: string;
  source: string;
  origin_name: string;
  from_email: string;
  subject: string;
  status: string;
  raw: Buffer | null;
}

/** The messages logged since the last call, oldest first. */
async function stored(): Promise<Stored[]> {
  return database.rows(sql`
    select m.localpart, m.source, m.origin_name, m.from_email, m.subject, m.status, s.raw
    from messages m left join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
    left join submissions s on s.workspace_id = m.workspace_id and s.id = c.submission_id
    where m.workspace_id = ${workspaceId} order by m.id`);
}
afterEach(() => database.run(sql`delete from messages where workspace_id = ${workspaceId}`));

describe("logging in", () => {
  test("is offered over TLS only, and a key sent without TLS is ignored", async () => {
    const client = await opened();
    const offers = await client.say("EHLO client.test");
    expect(offers).toContain("STARTTLS");
    expect(offers).not.toContain("AUTH");
    expect(await client.login(service.key)).toMatch(/^5\d\d /);
    expect(await client.say("MAIL FROM:<a@shop.test>")).toMatch(/^530 /);
    const secured = await client.startTls();
    expect(secured).toContain("AUTH PLAIN LOGIN");
    expect(secured).toContain("SIZE 31457280");
    expect(await client.say("MAIL FROM:<a@shop.test>")).toMatch(/^530 5\.7\.0/);
    expect(await client.login(service.key)).toMatch(/^235 /);
  });

  test("works by AUTH LOGIN and on the port with implicit TLS", async () => {
    const client = await opened(true);
    expect(await client.say("EHLO client.test")).toContain("AUTH PLAIN LOGIN");
    await client.say("AUTH LOGIN");
    await client.say(Buffer.from("anybody").toString("base64"));
    expect(await client.say(Buffer.from(service.key).toString("base64"))).toMatch(/^235 /);
  });

  test("is refused with the reason, and after the same time whatever was wrong", async () => {
    const lacking = await service.newKey(["reports:read"]);
    const expired = await service.newKey(["emails:send"], "Expired");
    const inactive = await service.newKey(["emails:send"], "Inactive");
    await database.run(sql`update api_keys set expires_at = '2000-01-01' where name = 'Expired'`);
    await database.run(sql`update api_keys set is_active = false where name = 'Inactive'`);
    const suspended = await service.newWorkspace();
    await database.run(sql`update workspaces set is_suspended = true where id = ${suspended.workspaceId}`);
    const attempts = [lacking, expired, inactive, suspended.key, `efk_${"x".repeat(40)}`, "nonsense", ""];
    const answers = await Promise.all(
      attempts.map(async (secret) => {
        const client = await opened(true);
        await client.say("EHLO client.test");
        const began = performance.now();
        const answer = await client.login(secret);
        return { answer, ms: performance.now() - began };
      }),
    );
    expect(answers.map(({ answer }) => answer)).toEqual([
      "535 5.7.8 The API key lacks emails:send",
      "535 5.7.8 API key expired",
      "535 5.7.8 The API key has been deactivated",
      "535 5.7.8 The workspace is suspended",
      "535 5.7.8 The API key is not valid",
      "535 5.7.8 The API key is not valid",
      expect.stringMatching(/^535 5\.7\.8 /),
    ]);
    expect(Math.min(...answers.map(({ ms }) => ms))).toBeGreaterThan(950);
  });

  test("ends the session at the third wrong key", async () => {
    const client = await opened(true);
    await client.say("EHLO client.test");
    expect(await client.login("wrong")).toMatch(/^535 /);
    expect(await client.login("wrong")).toMatch(/^535 /);
    expect(await client.login("wrong")).toMatch(/^421 /);
    await client.ended;
  });

  test("is answered 454 when keys cannot be checked", async () => {
    const client = await opened(true);
    await client.say("EHLO client.test");
    isAway = true;
    expect(await client.login(`efk_${"y".repeat(40)}`)).toMatch(/^454 4\.7\.0/);
  });

  test.each([
    ["", 0],
    [", though the clock is set back three hours", -3 * 3_600_000],
  ])("ends with the key: an open session accepts no more messages%s", async (_, jump) => {
    const key = await service.newKey(["emails:send"], "Short-lived");
    const client = await session(key);
    expect(await handIn(client, mail())).toMatch(/^250 /);
    await database.run(sql`update api_keys set is_active = false where name = 'Short-lived'`);
    service.clock.advance(jump);
    service.clock.advance(2_000);
    expect(await client.say("MAIL FROM:<a@shop.test>")).toMatch(/^550 5\.7\.1 UNAUTHORIZED/);
    expect(await client.say("RCPT TO:<a@example.test>")).toMatch(/^503 /);
    service.clock.advance(-jump);
  });
});

describe("a submitted message", () => {
  test("of nodemailer is logged with its key, once per recipient, with one content", async () => {
    const transport = createTransport({
      host: "127.0.0.1",
      port,
      requireTLS: true,
      tls: { rejectUnauthorized: false },
      auth: { user: "api", pass: service.key },
    });
    const { response } = await transport.sendMail({
      from: "Jörg <jörg.shop@shop.test>".replace("jörg.shop", "joerg"),
      to: "ada@example.test",
      bcc: "grace@example.test",
      subject: "Grüße aus Köln",
      text: "Hello",
      html: "<p>Hello</p>",
    });
    transport.close();
    const rows = await stored();
    expect(rows.map(({ raw, ...row }) => ({ ...row, hasRaw: raw !== null }))).toEqual(
      ["ada", "grace"].map((localpart) => ({
        localpart,
        source: "smtp",
        origin_name: "First key",
        from_email: "joerg@shop.test",
        subject: "Grüße aus Köln",
        status: "queued",
        hasRaw: true,
      })),
    );
    const ids = await database.rows<{ id: string }>(
      sql`select id from messages where workspace_id = ${workspaceId} order by id`,
    );
    expect(response).toBe(`250 2.0.0 Queued as ${ids.map(({ id }) => id).join(" ")}`);
    const contents = await database.row<{ amount: number }>(sql`
      select count(distinct submission_id) as amount from message_contents
      where message_id = any (${ids.map(({ id }) => id)}::uuid[])`);
    expect(contents?.amount).toBe(1);
    expect(rows[0]?.raw?.toString()).not.toMatch(/^bcc:|grace/im);
  });

  test("keeps the client's fields; secret fields and ours are removed, missing ones added", async () => {
    const client = await session();
    const given = [
      "Bcc: grace@example.test",
      "Return-Path: <x@y.test>",
      "Feedback-ID: a:b:c:d",
      "CFBL-Address: evil@evil.test; report=arf",
      "CFBL-Feedback-ID: forged",
      "Authentication-Results: mail.posthaste.test; spf=pass",
      "X-Posthaste-Message: forged",
      "DKIM-Signature: v=1; a=rsa-sha256; d=other.test; s=x; h=from;",
      "\tbh=; b=",
      "X-Own:  two  blanks ",
    ];
    expect(await handIn(client, mail(given, "..\r\n a\t \r\n\r\n"))).toMatch(/^250 2\.0\.0 Queued as/);
    const [row] = await stored();
    const text = row?.raw?.toString() ?? "";
    const { submission_id: id } = (await database.row<{ submission_id: string }>(
      sql`select submission_id from message_contents order by message_id desc limit 1`,
    )) ?? { submission_id: "" };
    const date = service.clock.now().toUTCString().replace("GMT", "+0000");
    expect(text).toBe(
      [
        `Received: by mail.posthaste.test with ESMTPSA id ${id};`,
        ` ${date}`,
        `Date: ${date}`,
        `Message-ID: <${id}@shop.test>`,
        "MIME-Version: 1.0",
        "From: Shop <orders@shop.test>",
        "To: ada@example.test",
        "Subject: Hello",
        "DKIM-Signature: v=1; a=rsa-sha256; d=other.test; s=x; h=from;",
        "\tbh=; b=",
        "X-Own:  two  blanks ",
        "",
        ".",
        " a\t ",
        "",
        "",
        "",
      ].join("\r\n"),
    );
  });

  test("to a suppressed recipient ends at once; the others are sent", async () => {
    await database.run(sql`delete from messages where workspace_id = ${workspaceId}`);
    const { body } = await service.call("POST", "/suppression-lists", { name: "Left" });
    await service.call("POST", `/suppression-lists/${body.data.id}/entries`, {
      entries: [{ value: "gone@example.test" }],
    });
    const client = await session();
    const answer = await handIn(client, mail(), ["gone@example.test", "ada@example.test"]);
    expect(answer).toMatch(/^250 /);
    const rows = await stored();
    expect(rows.map(({ localpart }) => localpart)).toEqual(["gone", "ada"]);
    expect(rows[1]).toMatchObject({ status: "queued", raw: expect.any(Buffer) });
  });

  test("may follow another one in a session, pipelined or after RSET", async () => {
    const client = await session();
    for (const name of ["one", "two"]) {
      expect(await handIn(client, mail(), [`${name}@example.test`])).toMatch(/^250 /);
    }
    client.write("RSET\r\nMAIL FROM:<>\r\nRCPT TO:<three@example.test>\r\nDATA\r\n");
    const replies = [await client.reply(), await client.reply(), await client.reply(), await client.reply()];
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual(["250", "250", "250", "354"]);
    client.write(`${mail()}\r\n.\r\nQUIT\r\n`);
    expect(await client.reply()).toMatch(/^250 /);
    expect(await client.reply()).toMatch(/^221 /);
    expect((await stored()).map(({ localpart }) => localpart)).toEqual(["one", "two", "three"]);
  });

  test("is stored octet by octet when others share its commit", async () => {
    const names = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff"];
    const sessions = await Promise.all(names.map(async (name) => ({ name, client: await session() })));
    const bodyOf = (name: string) => `\u00fc\u{1f600} ${name.repeat(100)}`;
    const answers = sessions.map(({ name, client }) =>
      handIn(client, mail([], bodyOf(name)), [`${name}@example.test`]),
    );
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^250 /);
    const rows = await stored();
    expect(rows.map(({ localpart }) => localpart).sort()).toEqual(names);
    for (const { localpart, raw } of rows) {
      const text = raw?.toString() ?? "";
      expect(text).toMatch(/^Received: by mail\.posthaste\.test/);
      expect(text.slice(text.indexOf("\r\n\r\n"))).toBe(`\r\n\r\n${bodyOf(localpart)}\r\n`);
    }
  });

  test.each([
    ["at once", Number.POSITIVE_INFINITY],
    ["octet by octet", 1],
    ["by threes", 3],
  ])("has its dots unstuffed, and no others removed: sent %s", async (_how, size) => {
    const lines = [".", "", "..", "...", ".first", ". ", ".\t.", "a.", "..second", "", "."];
    const client = await session();
    await client.say("MAIL FROM:<a@shop.test>");
    await client.say("RCPT TO:<ada@example.test>");
    await client.say("DATA");
    const stuffed = lines.map((line) => (line.startsWith(".") ? `.${line}` : line));
    const sent = `${mail([], stuffed.join("\r\n"))}\r\n.\r\n`;
    // Over TLS each write is a separate record, which is read separately.
    for (let at = 0; at < sent.length; at += size) client.write(sent.slice(at, at + size));
    expect(await client.reply()).toMatch(/^250 /);
    const [row] = await stored();
    const text = row?.raw?.toString() ?? "";
    expect(text.slice(text.indexOf("\r\n\r\n") + 4)).toBe(`${lines.join("\r\n")}\r\n`);
  });

  test("keeps a dot that its client forgot to stuff", async () => {
    expect(await handIn(await session(), mail([], ".text\r\n. \r\n"))).toMatch(/^250 /);
    const [row] = await stored();
    expect(row?.raw?.toString()).toMatch(/\r\n\r\n\.text\r\n\. \r\n/);
  });

  test("is answered 451 while the database is unreachable, and is neither lost nor duplicated", async () => {
    const client = await session();
    await client.say("MAIL FROM:<a@shop.test>");
    await client.say("RCPT TO:<ada@example.test>");
    await client.say("DATA");
    isAway = true;
    client.write(`${mail()}\r\n.\r\n`);
    expect(await client.reply()).toMatch(/^451 4\.3\.0/);
    isAway = false;
    expect(await handIn(client, mail())).toMatch(/^250 /);
    expect(await stored()).toHaveLength(1);
  });
});

describe("From", () => {
  const froms: [string, string[], string][] = [
    ["on a verified domain in capitals", ["From: A@SHOP.test"], "250"],
    ["of a verified sender", ["From: <Me@elsewhere.test>"], "250"],
    ["with a name that is an address", ['From: "ceo@bank.test" <a@shop.test>'], "250"],
    ["folded", ["From: Shop", "\t<a@shop.test>"], "250"],
    ["with a name in encoded words", ["From: =?UTF-8?Q?J=C3=B6rg?= <a@shop.test>"], "250"],
    ["with an own Sender", ["From: a@shop.test", "Sender: me@elsewhere.test"], "250"],
    ["on a foreign domain", ["From: ceo@bank.test"], "550"],
    ["on an unproven domain", ["From: a@unproven.test"], "550"],
    ["on a subdomain", ["From: a@mail.shop.test"], "550"],
    ["missing", ["X: y"], "550"],
    ["empty", ["From:"], "550"],
    ["twice", ["From: a@shop.test", "From: ceo@bank.test"], "550"],
    ["twice, differently spelt", ["From: a@shop.test", "FROM: a@shop.test"], "550"],
    ["with two mailboxes", ["From: a@shop.test, ceo@bank.test"], "550"],
    ["with two addresses in brackets", ["From: <ceo@bank.test> <a@shop.test>"], "550"],
    ["in group syntax", ["From: Shop: a@shop.test;"], "550"],
    ["with a comment", ["From: ceo@bank.test (a@shop.test)"], "550"],
    ["with a source route", ["From: <@bank.test:a@shop.test>"], "550"],
    ["with a quoted @", ['From: "a@bank.test x"@shop.test'], "550"],
    ["with a blank before the colon", ["From : ceo@bank.test", "From: a@shop.test"], "550"],
    ["behind a line without a colon", ["nonsense", "From: a@shop.test"], "554"],
    ["behind a line of blanks", ["X: y", " ", "From: a@shop.test"], "554"],
    ["with a foreign Sender", ["From: a@shop.test", "Sender: ceo@bank.test"], "550"],
    ["with a foreign Resent-From", ["From: a@shop.test", "Resent-From: ceo@bank.test"], "550"],
    ["with two subjects", ["From: a@shop.test", "Subject: a", "Subject: b"], "550"],
    ["with a name in raw UTF-8 without SMTPUTF8", ["From: J\u00f6rg <a@shop.test>"], "250"],
    ["with a raw UTF-8 address without SMTPUTF8", ["From: J <j\u00f6rg@shop.test>"], "550"],
    ["with quoted words in its name", ['From: Bob "The Builder" Smith <a@shop.test>'], "250"],
    ["with a dot and an apostrophe", ["From: J. O'Neil <a@shop.test>"], "250"],
    ["with two encoded words", ["From: =?UTF-8?Q?a?= =?UTF-8?Q?b?= <a@shop.test>"], "250"],
    ["with its name in a comment", ["From: a@shop.test (Shop)"], "250"],
    ["with a comma outside quotes", ["From: Smith, Bob <a@shop.test>"], "550"],
  ];
  test.each(froms)("%s: %j is answered %s", async (_what, fields, code) => {
    const client = await session();
    const answer = await handIn(client, [...fields, "", "Hello"].join("\r\n"));
    expect(answer.slice(0, 3)).toBe(code);
    expect(await stored()).toHaveLength(code === "250" ? 1 : 0);
  });

  test.each([
    ["From: Smith, Bob <a@shop.test>", "because it holds a comma"],
    ["From: Bob a@shop.test", "Put the address in angle brackets"],
    ["From: Bob <a@shop.test", "Close the angle bracket"],
    ["From: Shop: a@shop.test;", "this is a group"],
    ["From: a@shop.test, b@shop.test", "not several"],
  ])("%s is refused with the reason", async (field, reason) => {
    expect(await handIn(await session(), `${field}\r\n\r\nHi`)).toContain(reason);
  });

  test("of another workspace is named in the refusal", async () => {
    expect(await handIn(await session(), "From: ceo@bank.test\r\n\r\nHi")).toMatch(
      /^550 5\.7\.1 VALIDATION_ERROR: From ceo@bank\.test is not on a verified sending domain/,
    );
  });

  test("may be the installation's sender, as over HTTP", async () => {
    const from = "posthaste@mail.posthaste.test";
    expect(await handIn(await session(), `From: ${from}\r\nSender: ${from}\r\n\r\nHi`)).toMatch(/^250 /);
    expect(await handIn(await session(), `From: x${from}\r\n\r\nHi`)).toMatch(/^550 .* VALIDATION_ERROR/);
  });

  test("on a domain of another workspace is refused", async () => {
    const other = await service.newWorkspace();
    const client = await session(other.key);
    expect(await handIn(client, mail())).toMatch(/^550 5\.7\.1 VALIDATION_ERROR/);
  });

  test("may be UTF-8 with SMTPUTF8", async () => {
    const answer = await handIn(
      await session(),
      "From: J\u00f6rg <a@shop.test>\r\n\r\nHi",
      undefined,
      " BODY=8BITMIME SMTPUTF8",
    );
    expect(answer).toMatch(/^250 /);
  });
});

describe("the end of a message", () => {
  const ends: [string, string][] = [
    ["LF . LF", "\n.\n"],
    ["LF . CRLF", "\n.\r\n"],
    ["CRLF . LF", "\r\n.\n"],
    ["CR . CR", "\r.\r"],
    ["CRLF . CR", "\r\n.\r"],
    ["CR . CRLF", "\r.\r\n"],
    ["CRLF NUL . CRLF", "\r\n\0.\r\n"],
    ["CRLF . blank CRLF", "\r\n. \r\n"],
  ];
  test.each(ends)("is CRLF . CRLF only: nothing can be smuggled after %s", async (_name, end) => {
    const client = await session();
    const smuggled = `MAIL FROM:<x@shop.test>\r\nRCPT TO:<eve@example.test>\r\nDATA\r\n${mail()}`;
    const answer = await handIn(client, `${mail()}${end}${smuggled}`);
    expect(answer).toMatch(/^(?:250|554 5\.6\.0) /);
    expect(await client.say("NOOP")).toMatch(/^250 OK/);
    expect((await stored()).map(({ localpart }) => localpart)).toEqual(
      answer.startsWith("250") ? ["ada"] : [],
    );
  });

  test("is not a NUL, which is refused", async () => {
    const answer = await handIn(await session(), mail([], "a\0b"));
    expect(answer).toMatch(/^554 5\.6\.0 .*NUL/);
  });

  test.each([
    ["a bare LF", "a\nb", "a\r\nb"],
    ["a bare CR", "a\rb", "a\r\nb"],
    ["a bare CR at the end of a line", "a\r\r\nb", "a\r\nb"],
    ["a dot between bare LFs", "a\n.\nb", "a\r\n.\r\nb"],
    ["a dot, doubled or not, behind a bare LF", "a\n.b\n..c", "a\r\n.b\r\n.c"],
  ])("%s in it becomes CRLF", async (_what, body, repaired) => {
    expect(await handIn(await session(), mail([], body))).toMatch(/^250 /);
    const [row] = await stored();
    const text = row?.raw?.toString() ?? "";
    expect(text.slice(text.indexOf("\r\n\r\n") + 4)).toBe(`${repaired}\r\n`);
  });

  test("a line of 999 octets is encoded", async () => {
    expect(await handIn(await session(), mail([], "x".repeat(999)))).toMatch(/^250 /);
    const [row] = await stored();
    expect(row?.raw?.toString()).toContain("\r\nContent-Transfer-Encoding: quoted-printable\r\n");
  });

  test("a line of 998 octets is legal", async () => {
    expect(await handIn(await session(), mail([], "x".repeat(998)))).toMatch(/^250 /);
  });
});

describe("a recipient", () => {
  const taken = [
    "ada@example.test",
    "Ada.Byron+tag@Example.TEST",
    '"taro..yamada"@example.test',
    '".taro."@example.test',
    '"two words"@example.test',
    '"a\\"b"@example.test',
    '"bob"@example.test',
    "o'neil@example.test",
    "#$&'*+-/=?^_`{|}~@example.test",
    "j\u00f6rg@m\u00fcller.example",
    "a@xn--mller-kva.example",
    `${"a".repeat(64)}@example.test`,
  ];
  const refused = [
    "a..b@example.test",
    ".a@example.test",
    "a%b@example.test",
    "a!b@example.test",
    '"a@b"@example.test',
    '"a%b"@example.test',
    '""@example.test',
    "a@localhost",
    "a@[192.0.2.1]",
    "a@-x.test",
    "a@example.test.",
    "a@ex_ample.test",
    "a(x)@example.test",
    `${"a".repeat(65)}@example.test`,
    "postmaster",
  ];
  test.each([...taken.map((to) => [to, true] as const), ...refused.map((to) => [to, false] as const)])(
    "%s is accepted by SMTP and by the API: %j",
    async (to, isTaken) => {
      const { status } = await service.call("POST", "/emails/send?dry_run=true", {
        to,
        from_email: "a@shop.test",
        subject: "Hello",
        body: "Hello",
      });
      expect(status).toBe(isTaken ? 200 : 400);
      const client = await session();
      await client.say("MAIL FROM:<a@shop.test> SMTPUTF8");
      expect(await client.say(`RCPT TO:<${to}>`)).toMatch(isTaken ? /^250/ : /^5(?:01|53)/);
    },
  );

  test.each([
    ['Bob "The Builder" Smith <bob@example.test>', "Bob The Builder Smith"],
    ["Jane (work) <bob@example.test>", "Jane (work)"],
    ["bob@example.test (Jane Doe)", "Jane Doe"],
  ])("%s has the name %j by the API", async (to, name) => {
    const answer = await service.call("POST", "/emails/send", {
      to,
      from_email: "a@shop.test",
      subject: "Hello",
      body: "Hello",
    });
    expect(answer.status).toBe(201);
    const rows = await database.rows(sql`
      select c.to_name from messages m join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
      where m.id = ${answer.body.data.id}`);
    expect(rows).toEqual([{ to_name: name }]);
  });

  test.each([
    ["to", "Smith, Bob <bob@example.test>", "because it holds a comma"],
    ["to", "Bob bob@example.test", "Put the address in angle brackets"],
    ["from_email", "Shop <a@shop.test>", "Enter only the address, a@shop.test"],
    ["bounce_email", "Shop <a@shop.test>", "Enter only the address, a@shop.test"],
  ])("%s: %s is refused by the API with the reason", async (field, value, reason) => {
    const email = { to: "bob@example.test", from_email: "a@shop.test", subject: "Hello", body: "Hello" };
    const answer = await service.call("POST", "/emails/send", { ...email, [field]: value });
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining(reason)]);
  });
});

describe("another client program", () => {
  const script =
    "From: Wächter <a@shop.test>\nTo: ada@example.test\nSubject: Größe 例\n\nZeile 1\n.\nZeile 3\n";

  /** Runs a program with the message on its standard input. @returns the stored message */
  async function handInBy(program: string, args: readonly string[]): Promise<string> {
    const child = execFile(program, args, { env: { ...process.env, KEY: service.key, PORT: String(port) } });
    const [code] = await Promise.all([
      once(child, "exit").then(([status]: unknown[]) => status),
      new Promise<void>((resolve) => child.stdin?.end(script, () => resolve())),
    ]);
    expect(code).toBe(0);
    const [row] = await stored();
    expect(row?.subject).toBe("Größe 例");
    return row?.raw?.toString() ?? "";
  }

  test.skipIf(!canRun("curl", ["--version"]))(
    "curl may upload a file of LF lines with raw UTF-8",
    async () => {
      const raw = await handInBy("sh", [
        "-c",
        'exec curl --silent --show-error --insecure --ssl-reqd --url "smtp://127.0.0.1:$PORT" --user "api:$KEY" --mail-from a@shop.test --mail-rcpt ada@example.test --upload-file -',
      ]);
      const { subject, from, text } = await PostalMime.parse(raw);
      expect({ subject, name: from?.name, text: text?.trimEnd() }).toEqual({
        subject: "Größe 例",
        name: "Wächter",
        text: "Zeile 1\n.\nZeile 3",
      });
      expect(raw).not.toMatch(/(?<!\r)\n|\r(?!\n)/);
    },
  );

  test.skipIf(!canRun("python3", ["-c", "import smtplib"]))(
    "smtplib may send raw UTF-8 in octets",
    async () => {
      const program = `import os, smtplib, ssl, sys
with smtplib.SMTP("127.0.0.1", int(os.environ["PORT"])) as smtp:
    smtp.starttls(context=ssl._create_unverified_context())
    smtp.login("api", os.environ["KEY"])
    smtp.sendmail("a@shop.test", ["ada@example.test"], sys.stdin.buffer.read())`;
      const { subject, from, text } = await PostalMime.parse(await handInBy("python3", ["-c", program]));
      expect({ subject, name: from?.name, text: text?.trimEnd() }).toEqual({
        subject: "Größe 例",
        name: "Wächter",
        text: "Zeile 1\n.\nZeile 3",
      });
    },
  );
});

describe("relaying and commands", () => {
  const attempts: [string, RegExp][] = [
    ["RCPT TO:<eve%evil.test@shop.test>", /^553 5\.1\.3/],
    ["RCPT TO:<evil.test!eve@shop.test>", /^553 5\.1\.3/],
    ['RCPT TO:<"eve@evil.test"@shop.test>', /^50[13] /],
    ['RCPT TO:<"eve evil"@shop.test', /^501 /],
    ["RCPT TO:<eve@[127.0.0.1]>", /^553 5\.1\.3/],
    ["RCPT TO:<eve@127.0.0.1>", /^553 5\.1\.3/],
    ["RCPT TO:<eve@evil.test@shop.test>", /^501 /],
    ["RCPT TO:<eve>", /^501 /],
    ["RCPT TO:<postmaster>", /^553 /],
    ["RCPT TO:<>", /^501 /],
    ["RCPT TO:<@shop.test>", /^501 /],
    ["RCPT TO:<eve@evil.test> NOTIFY=SUCCESS", /^555 /],
    ["RCPT TO:<eve@evil.test> ORCPT=rfc822;a@b.test", /^555 /],
    ["RCPT TO:<a@b.test>,<eve@evil.test>", /^501 /],
    ["RCPT TO:<eve@evil.test\u0000>", /^501 /],
    ["RCPT TO:<eve@-evil.test>", /^5\d\d /],
    ["RCPT TO:eve@evil.test", /^501 /],
    ["RCPT TO:<eve@localhost>", /^553 /],
  ];
  test.each(attempts)("%j names no recipient", async (command, answer) => {
    const client = await session();
    await client.say("MAIL FROM:<a@shop.test>");
    expect(await client.say(command)).toMatch(answer);
    expect(await client.say("DATA")).toMatch(/^503 /);
  });

  test.each([
    "MAIL FROM:<a@shop.test>",
    "MAIL FROM:<>",
    "MAIL FROM:<postmaster@mail.posthaste.test>",
    "RCPT TO:<eve@evil.test>",
    "RCPT TO:<@mail.posthaste.test:eve@evil.test>",
    "DATA",
  ])("%j needs a login", async (command) => {
    const client = await opened(true);
    await client.say("EHLO client.test");
    expect(await client.say(command)).toMatch(/^530 5\.7\.0/);
  });

  test.each([
    ["MAIL FROM:<no address>", /^501 /],
    ["MAIL FROM:<a@b>", /^553 5\.1\.3/],
    ["MAIL FROM:<a@shop.test> SIZE=31457281", /^552 /],
    ["MAIL FROM:<a@shop.test> REQUIRETLS", /^555 5\.5\.4/],
    ["MAIL FROM:<a@shop.test> RET=FULL", /^555 5\.5\.4/],
    ["MAIL FROM:<a@shop.test> BODY=BINARYMIME", /^501 /],
    ["VRFY ada", /^50[02] /],
    ["EXPN staff", /^50[02] /],
    ["ETRN shop.test", /^50[02] /],
    ["XCLIENT ADDR=10.0.0.1", /^50[02] /],
    ["XFORWARD ADDR=10.0.0.1", /^50[02] /],
    ["BDAT 10 LAST", /^50[02] /],
    ["PROXY TCP4 10.0.0.1 10.0.0.2 1 2", /^50[02] /],
    ["WIZ x", /^50[02] /],
    ["GET / HTTP/1.1", /^421 /],
    [`NOOP ${"x".repeat(5_000)}`, /^421 /],
  ])("%j is refused", async (command, answer) => {
    expect(await (await session()).say(command)).toMatch(answer);
  });

  test("a client that sends junk is disconnected", async () => {
    const client = await session();
    client.write("JUNK\r\n".repeat(50));
    let last = "";
    for (let reply = await client.reply(); reply !== ""; reply = await client.reply()) last = reply;
    expect(last).toMatch(/^421 /);
  });

  test("a message has at most a hundred recipients, each with a message of its own", async () => {
    const client = await session();
    const names = Array.from({ length: 100 }, (_, at) => `r${at}@example.test`);
    expect(await handIn(client, mail(), [...names, "one-more@example.test"])).toMatch(/^452 4\.5\.3/);
    await client.say("RSET");
    expect(await handIn(client, mail(), names)).toMatch(/^250 2\.0\.0 Queued as (?:\S{36} ){10}and 90 more$/);
    expect(await stored()).toHaveLength(100);
  });

  test("commands after STARTTLS in the same packet are discarded", async () => {
    const client = await opened();
    await client.say("EHLO client.test");
    const answer = await client.startTls("JUNK\r\nEHLO injected.test\r\nMAIL FROM:<x@shop.test>\r\n");
    expect(answer).toContain("AUTH PLAIN LOGIN");
    expect(await client.say("NOOP")).toBe("250 OK");
    await client.login(service.key);
    expect(await client.say("RCPT TO:<a@example.test>")).toMatch(/^503 /);
  });
});

describe("limits", () => {
  test("a message beyond 30 MB is 552, and the session goes on", async () => {
    const client = await session();
    const body = `${"x".repeat(76)}\r\n`.repeat(Math.ceil((30 * 1024 * 1024) / 78));
    expect(await handIn(client, mail([], body))).toMatch(/^552 5\.3\.4/);
    expect(await handIn(client, mail())).toMatch(/^250 /);
  });

  test("a header beyond 100 kB is 552", async () => {
    const field = `X-Long: ${"x".repeat(900)}`;
    expect(await handIn(await session(), mail(Array.from({ length: 120 }, () => field)))).toMatch(/^552 /);
  });

  test("a message with more than 50 Received fields is refused as a loop", async () => {
    const received = (count: number) =>
      mail(
        Array.from(
          { length: count },
          (_, at) => `Received: by hop${at}.test; Sat, 1 Jan 2000 00:00:00 +0000`,
        ),
      );
    const client = await session();
    expect(await handIn(client, received(50))).toMatch(/^250 /);
    expect(await handIn(client, received(51))).toMatch(/^554 5\.4\.6/);
  });

  test("a submission that the plan does not cover is refused as a whole", async () => {
    const poor = await service.newWorkspace();
    await database.run(sql`
      insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
      values (${poor.workspaceId}, gen_random_uuid(), 'poor.test', 'v', 'd', true, ${service.clock.now()})`);
    await database.run(sql`update workspaces set hourly_cap = 2 where id = ${poor.workspaceId}`);
    await database.run(sql`update billing_accounts set email_headroom = 0, headroom_until = '-infinity'
      where workspace_id = ${poor.workspaceId}`);
    const client = await session(poor.key);
    const text = "From: a@poor.test\r\n\r\nHi";
    const three = ["a@example.test", "b@example.test", "c@example.test"];
    expect(await handIn(client, text, three)).toMatch(/^451 4\.7\.1 RATE_LIMIT_EXCEEDED/);
    expect(await handIn(client, text, three.slice(0, 2))).toMatch(/^250 /);
    const rows = await database.rows(sql`select from messages where workspace_id = ${poor.workspaceId}`);
    expect(rows).toHaveLength(2);
  });
});
