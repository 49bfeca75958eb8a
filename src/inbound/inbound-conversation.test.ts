import sql from "sql-template-tag";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { newCampaign } from "#test/support/campaigns.ts";
import { eventually } from "#test/support/eventually.ts";
import { BOUNCE_DOMAIN, deliveryReport, sendIn, startReturns } from "#test/support/returns.ts";
import { openSmtp, type SmtpClient } from "#test/support/smtp-client.ts";

/** The tests can disconnect the database of the port. */
let isAway = false;
const returns = await startReturns((database) => ({
  ...database,
  row: (...call) => (isAway ? Promise.reject(new Error("connection refused")) : database.row(...call)),
  run: (...call) => (isAway ? Promise.reject(new Error("connection refused")) : database.run(...call)),
}));
const { service, port, deliver, returnPath, token, receive } = returns;
const { database, clock, workspaceId } = service;

const clients: SmtpClient[] = [];
afterEach(() => {
  isAway = false;
  for (const client of clients.splice(0)) client.close();
});

async function begun(from = ""): Promise<SmtpClient> {
  const client = await openSmtp(port);
  clients.push(client);
  await client.say("EHLO mx.test");
  expect(await client.say(`MAIL FROM:<${from}>`)).toMatch(/^250/);
  return client;
}

const stored = async () =>
  (await database.row<{ count: number }>(sql`select count(*) from inbound_mails`))?.count ?? 0;

describe("at RCPT", () => {
  test("every form of relaying and every unknown mailbox is refused", async () => {
    const id = await deliver("ada@example.test");
    const genuine = token(id);
    const unknown = [
      `nobody@${BOUNCE_DOMAIN}`,
      `${genuine.slice(0, -1)}@${BOUNCE_DOMAIN}`,
      `${genuine.slice(0, -1)}${genuine.endsWith("0") ? "1" : "0"}@${BOUNCE_DOMAIN}`,
      `b.${id.replaceAll("-", "")}@${BOUNCE_DOMAIN}`,
      `${genuine}%example.test@${BOUNCE_DOMAIN}`,
      `victim%example.test@${BOUNCE_DOMAIN}`,
      `example.test!victim@${BOUNCE_DOMAIN}`,
      `"victim@example.test"@${BOUNCE_DOMAIN}`,
      `"fbl "@${BOUNCE_DOMAIN}`,
      `"fbl"x@${BOUNCE_DOMAIN}`,
      `u+@${BOUNCE_DOMAIN}`,
      `u+${"A".repeat(56)}@${BOUNCE_DOMAIN}`,
      `d-${"f".repeat(32)}@${BOUNCE_DOMAIN}`,
      `d-@${BOUNCE_DOMAIN}`,
      `fbl+x@${BOUNCE_DOMAIN}`,
    ];
    const foreign = [
      "victim@example.test",
      "victim@[127.0.0.1]",
      "victim@localhost",
      "ada@shop.test",
      "postmaster@shop.test",
      `${genuine}@bounce.example.test`,
      `${genuine}@shop.test`,
      `${genuine}@sub.${BOUNCE_DOMAIN}`,
      "victim@mail.posthaste.test",
      "fbl@bounce.shop.test",
      `fbl@${BOUNCE_DOMAIN}..`,
      `${genuine}@${BOUNCE_DOMAIN}@example.test`,
    ];
    const before = await stored();
    for (const from of ["", "a@b.test", `postmaster@${BOUNCE_DOMAIN}`]) {
      const client = await begun(from);
      for (const address of unknown) {
        expect(await client.say(`RCPT TO:<${address}>`), address).toMatch(/^550 5\.1\.1|^501/);
      }
      for (const address of foreign) {
        expect(await client.say(`RCPT TO:<${address}>`), address).toMatch(/^550 5\.7\.1|^501/);
      }
      expect(await client.say(`RCPT TO:<@${BOUNCE_DOMAIN}:victim@example.test>`)).toMatch(/^5/);
      expect(await client.say("RCPT TO:<>")).toMatch(/^5/);
      expect(await client.say("DATA")).toMatch(/^503/);
    }
    expect(await stored()).toBe(before);
  });

  test("our own addresses are accepted; at a customer's return path domain only signed ones", async () => {
    const id = await deliver("grace@example.test");
    const client = await begun();
    const reports = `d-${"0123456789abcdef".repeat(2)}`;
    for (const address of [
      returnPath(id),
      returnPath(id).toUpperCase(),
      `${token(id)}@bounce.shop.test`,
      `fbl@${BOUNCE_DOMAIN}`,
      `${reports.toUpperCase()}@${BOUNCE_DOMAIN}`,
      `postmaster@${BOUNCE_DOMAIN}`,
      "postmaster",
      `ABUSE@${BOUNCE_DOMAIN}`,
      `"fbl"@${BOUNCE_DOMAIN}`,
      `"post\\master"@${BOUNCE_DOMAIN}`,
      `Postmaster@${BOUNCE_DOMAIN.toUpperCase()}.`,
      `"${token(id)}"@${BOUNCE_DOMAIN}.`,
    ]) {
      expect(await client.say(`RCPT TO:<${address}>`), address).toMatch(/^250/);
    }
  });

  test("the name in EHLO does not matter, but there has to be one", async () => {
    const client = await openSmtp(port);
    clients.push(client);
    expect(await client.say("EHLO")).toMatch(/^501/);
    expect(await client.say("HELO my pc")).toMatch(/^250/);
    const offers = await client.say("EHLO my  other pc");
    expect(offers).toContain("STARTTLS");
    expect(await client.say("MAIL FROM:<a@b.test>")).toMatch(/^250/);
    expect(await client.say(`RCPT TO:<fbl@${BOUNCE_DOMAIN}>`)).toMatch(/^250/);
    const secured = await client.startTls();
    expect(secured).toMatch(/^250/);
    expect(await client.say("EHLO my pc")).toMatch(/^250/);
    expect(await client.say("MAIL FROM:<a@b.test>")).toMatch(/^250/);
  });

  test("the sender and its parameters do not matter: the recipient's signature does", async () => {
    const id = await deliver("any-sender@example.test");
    for (const from of [
      '<"John Doe"@example.com>',
      "<taro..yamada@carrier.example>",
      "<.taro@carrier.example>",
      "<root>",
      "<jörg@müller.example> SMTPUTF8",
      "<jörg@müller.example>",
      "<@relay.example:a@b.test>",
      `<${"x".repeat(500)}@example.com>`,
      "<a@b.test> ENVID=QQ RET=HDRS BODY=BINARYMIME AUTH=<> MT-PRIORITY=3 SIZE=1000",
      "<a@b.test> RET= X-UNKNOWN REQUIRETLS",
    ]) {
      const client = await openSmtp(port);
      clients.push(client);
      await client.say("EHLO mx.test");
      expect(await client.say(`MAIL FROM:${from}`), from).toMatch(/^250/);
      expect(await client.say(`RCPT TO:<${returnPath(id)}> NOTIFY=NEVER`), from).toMatch(/^250/);
    }
    const client = await openSmtp(port);
    clients.push(client);
    await client.say("EHLO mx.test");
    expect(await client.say("MAIL FROM:<a@b.test> SIZE=99999999999")).toMatch(/^552/);
    expect(await client.say("MAIL FROM:")).toMatch(/^501/);
    const unsubscribed = await sendIn(port, returnPath(id), "Subject: Hi\n\nhi", '"John Doe"@example.com');
    expect(unsubscribed).toMatch(/^250/);
    const [mail] = await database.rows(sql`select mail_from from inbound_mails order by id desc limit 1`);
    expect(mail).toEqual({ mail_from: '"John Doe"@example.com' });
  });

  describe("a return path at a domain that no workspace has any more", () => {
    let [id, ofCampaign, elsewhere] = ["", "", ""];

    beforeAll(async () => {
      await database.run(sql`
        insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified)
        values (${workspaceId}, gen_random_uuid(), 'gone.test', 'v', 'd', true)`);
      id = await deliver("gone@example.test", { from_email: "orders@gone.test" });
      elsewhere = await deliver("shop@example.test");
      ofCampaign = await deliver("list@example.test");
      const campaign = await newCampaign(database, workspaceId, null, { sender_email: "news@gone.test" });
      await database.run(sql`
        update messages set source = 'campaign', origin_id = ${campaign} where id = ${ofCampaign}`);
      await database.run(sql`delete from sending_domains where domain = 'gone.test'`);
    });

    test("is accepted and matched for messages sent from there by their From field or their envelope", async () => {
      const report = deliveryReport("gone@example.test");
      expect(await receive(`${token(id)}@bounce.gone.test`, report)).toMatchObject({ result: "bounced" });
      const client = await begun();
      expect(await client.say(`RCPT TO:<${token(ofCampaign)}@bounce.gone.test>`)).toMatch(/^250/);
    });

    test("is refused for messages sent from elsewhere, and for old ones", async () => {
      const client = await begun();
      expect(await client.say(`RCPT TO:<${token(elsewhere)}@bounce.gone.test>`)).toMatch(/^550 5\.7\.1/);
      expect(await client.say(`RCPT TO:<${token(id)}@gone.test>`)).toMatch(/^550 5\.7\.1/);
      clock.advance(31 * 86_400_000);
      expect(await client.say(`RCPT TO:<${token(ofCampaign)}@bounce.gone.test>`)).toMatch(/^550 5\.1\.1/);
      clock.advance(-31 * 86_400_000);
    });
  });

  test("the return path of an old message is refused, and the report address of a domain that collects no reports", async () => {
    const id = await deliver("old@example.test");
    const reports = `d-${"0123456789abcdef".repeat(2)}@${BOUNCE_DOMAIN}`;
    clock.advance(31 * 86_400_000);
    await database.run(sql`update sending_domains set dmarc_ingestion = false`);
    const client = await begun();
    expect(await client.say(`RCPT TO:<${returnPath(id)}>`)).toMatch(/^550 5\.1\.1/);
    expect(await client.say(`RCPT TO:<${reports}>`)).toMatch(/^550 5\.1\.1/);
    await database.run(sql`update sending_domains set dmarc_ingestion = true`);
    clock.advance(-31 * 86_400_000);
  });

  test("more than ten recipients, or a second report address, are deferred to another mail", async () => {
    const client = await begun();
    for (let count = 0; count < 10; count++) {
      const id = await deliver(`r${count}@example.test`);
      expect(await client.say(`RCPT TO:<${returnPath(id)}>`)).toMatch(/^250/);
    }
    expect(await client.say(`RCPT TO:<fbl@${BOUNCE_DOMAIN}>`)).toMatch(/^452 4\.5\.3/);
  });
});

test("a client that keeps guessing recipients is disconnected", async () => {
  const client = await begun();
  for (let count = 0; count < 50; count++) {
    expect(await client.say(`RCPT TO:<b.${count}@${BOUNCE_DOMAIN}>`)).toMatch(/^550/);
  }
  expect(await client.say(`RCPT TO:<b.50@${BOUNCE_DOMAIN}>`)).toMatch(/^421/);
  await client.ended;
});

describe("junk to open addresses", () => {
  const HOUR_MS = 3_600_000;
  const open = [
    `fbl@${BOUNCE_DOMAIN}`,
    `postmaster@${BOUNCE_DOMAIN}`,
    `d-${"0123456789abcdef".repeat(2)}@${BOUNCE_DOMAIN}`,
  ];
  /** Sets what this network has sent in this hour. */
  const use = async (name: "openMailsPerNetwork" | "openBytesPerNetwork", used: number) => {
    const ends = new Date(Math.floor(clock.now().getTime() / HOUR_MS) * HOUR_MS + HOUR_MS);
    await database.run(sql`
      insert into quota_uses (limit_name, holder, ends_at, used) values (${name}, '127.0.0.1', ${ends}, ${used})
      on conflict (limit_name, holder, ends_at) do update set used = excluded.used`);
  };
  afterEach(async () => {
    await database.run(sql`delete from quota_uses`);
    await database.run(sql`delete from inbound_mails where status = 'received'`);
  });

  test.each([
    ["openMailsPerNetwork", 1_999, "2,000 mails to open addresses"],
    ["openBytesPerNetwork", 256 * 1024 ** 2 - 20, "256 MiB of mails to open addresses"],
  ] as const)(
    "beyond %s are deferred until the hour ends; reports to return paths are not",
    async (name, used, what) => {
      const id = await deliver("ada@example.test");
      await use(name, used);
      expect(await sendIn(port, `fbl@${BOUNCE_DOMAIN}`, "Subject: Hi\n\nhi")).toMatch(/^250/);
      await use(name, used + (name === "openMailsPerNetwork" ? 1 : 20));
      for (const address of open) {
        const client = await begun();
        expect(await client.say(`RCPT TO:<${address}>`)).toContain(`451 4.7.1 There can be at most ${what}`);
        expect(await client.say(`RCPT TO:<${returnPath(id)}>`)).toMatch(/^250/);
      }
      clock.advance(HOUR_MS);
      expect(await sendIn(port, `fbl@${BOUNCE_DOMAIN}`, "Subject: Hi\n\nhi")).toMatch(/^250/);
      clock.advance(-HOUR_MS);
    },
  );

  test("count by the octets received, refused ones included", async () => {
    const most = 256 * 1024 ** 2;
    await use("openBytesPerNetwork", most - 2 * 1024 ** 2);
    const large = `Subject: large\r\n\r\n${`${"x".repeat(70)}\r\n`.repeat(20_000)}`;
    expect(await sendIn(port, `fbl@${BOUNCE_DOMAIN}`, Buffer.from(large))).toMatch(/^250/);
    const circle = `${"Received: by a\r\n".repeat(51)}${large}`;
    expect(await sendIn(port, `fbl@${BOUNCE_DOMAIN}`, Buffer.from(circle))).toMatch(/^554/);
    expect(await sendIn(port, `fbl@${BOUNCE_DOMAIN}`, "Subject: Hi\n\nhi")).toMatch(/^451 4\.7\.1/);
  });

  test("have a size limit that return paths do not have", async () => {
    const id = await deliver("size@example.test");
    const size = 15 * 1024 ** 2;
    for (const address of open) {
      const client = await openSmtp(port);
      clients.push(client);
      await client.say("EHLO mx.test");
      await client.say(`MAIL FROM:<a@b.test> SIZE=${size}`);
      expect(await client.say(`RCPT TO:<${address}>`)).toBe(
        "552 5.3.4 Mail to this address has at most 14680064 octets",
      );
      expect(await client.say(`RCPT TO:<${returnPath(id)}>`)).toMatch(/^250/);
    }
    const large = Buffer.from(`Subject: large\r\n\r\n${`${"x".repeat(70)}\r\n`.repeat(size / 72)}`);
    expect(await sendIn(port, `fbl@${BOUNCE_DOMAIN}`, large)).toMatch(/^552 5\.3\.4/);
    expect(await sendIn(port, returnPath(id), large)).toMatch(/^250/);
  });

  test("are stored once when the same address is named several times", async () => {
    const client = await begun();
    const before = await stored();
    for (const address of ["fbl", "FBL", "Fbl", '"fbl"', '"f\\bl"']) {
      expect(await client.say(`RCPT TO:<${address}@${BOUNCE_DOMAIN}>`)).toMatch(/^250/);
    }
    await client.say("DATA");
    client.write("Subject: a\r\n\r\nb\r\n.\r\n");
    expect(await client.reply()).toMatch(/^250/);
    expect(await stored()).toBe(before + 1);
  });

  test("that fill their backlog do not delay a report to a return path", async () => {
    await database.run(sql`
      insert into inbound_mails (id, kind, class, mail_from, rcpt_to, network, raw, bytes, stored_bytes, turn, due_at,
        received_at)
      select gen_random_uuid(), 'complaint', 'open', '', 'fbl', '192.0.2.' || n % 200, '', 0, 0, n,
        ${new Date(clock.now().getTime() + HOUR_MS)}, ${clock.now()}
      from generate_series(1, 20000) n`);
    const id = await deliver("grace@example.test");
    expect(await sendIn(port, `fbl@${BOUNCE_DOMAIN}`, "Subject: Hi\n\nhi")).toMatch(/^452 4\.3\.1/);
    expect(await sendIn(port, returnPath(id), deliveryReport("grace@example.test"))).toMatch(/^250/);
    await eventually("the bounce", async () => (await returns.message(id)).status === "bounced");
  });
});

describe("the port", () => {
  test("offers STARTTLS and no login, and accepts mail over TLS", async () => {
    const client = await openSmtp(port);
    clients.push(client);
    const offers = await client.say("EHLO mx.test");
    expect(offers).toContain("STARTTLS");
    expect(offers).not.toContain("AUTH");
    expect(await client.startTls()).not.toContain("AUTH");
    expect(await client.login("anything")).toMatch(/^5/);
    await client.say("MAIL FROM:<>");
    expect(await client.say(`RCPT TO:<postmaster@${BOUNCE_DOMAIN}>`)).toMatch(/^250/);
    await client.say("DATA");
    client.write("Subject: Hello\r\n\r\nover TLS\r\n.\r\n");
    expect(await client.reply()).toBe("250 2.0.0 Accepted");
  });

  test("disconnects a client that sends nonsense", async () => {
    const client = await openSmtp(port);
    clients.push(client);
    for (const line of ["VRFY root", "EXPN list", "XCLIENT ADDR=1.2.3.4", "ETRN x"]) {
      expect(await client.say(line)).toMatch(/^[45]/);
    }
    for (let count = 0; count < 10; count++) client.write("JUNK\r\n");
    await client.ended;
    const browser = await openSmtp(port);
    browser.write("GET / HTTP/1.1\r\nHost: mail.posthaste.test\r\n\r\n");
    await browser.ended;
  });

  test("replies 451 while the database is unreachable, and stores only what got 250", async () => {
    const id = await deliver("away@example.test");
    const before = await stored();
    isAway = true;
    expect(await sendIn(port, returnPath(id), deliveryReport("away@example.test"))).toMatch(/^451 4\.3\.0/);
    isAway = false;
    expect(await stored()).toBe(before);
  });

  test("refuses a mail in a loop", async () => {
    const raw = `${"Received: by mx.test\n".repeat(51)}Subject: Hello\n\nagain`;
    expect(await sendIn(port, `postmaster@${BOUNCE_DOMAIN}`, raw)).toMatch(/^554 5\.4\.6/);
  });

  test("stores one mail for every way of smuggling a second one into it", async () => {
    const id = await deliver("smuggler@example.test");
    for (const end of [
      "\n.\n",
      "\n.\r\n",
      "\r\n.\n",
      "\r.\r",
      "\r\n.\r",
      "\r.\r\n",
      "\r\n.\0\r\n",
      "\r\n. \r\n",
    ]) {
      const client = await begun();
      await client.say(`RCPT TO:<postmaster@${BOUNCE_DOMAIN}>`);
      await client.say("DATA");
      const before = await stored();
      client.write(
        `Subject: a\r\n\r\nb${end}MAIL FROM:<>\r\nRCPT TO:<${returnPath(id)}>\r\nDATA\r\nSubject: c\r\n\r\nd\r\n.\r\n`,
      );
      expect(await client.reply()).toMatch(/^250 2\.0\.0 Accepted/);
      expect(await stored()).toBe(before + 1);
      client.close();
    }
  });

  test("stores only the part of a large mail that is parsed", async () => {
    const raw = `Subject: large\r\n\r\n${`${"x".repeat(70)}\r\n`.repeat(40_000)}`;
    expect(await sendIn(port, `postmaster@${BOUNCE_DOMAIN}`, Buffer.from(raw))).toMatch(/^250/);
    const [mail] = await database.rows<{ bytes: number; kept: number }>(sql`
      select bytes, length(raw) as kept from inbound_mails order by id desc limit 1`);
    expect(mail?.bytes).toBeGreaterThan(2_500_000);
    expect(mail?.kept).toBe(1024 * 1024);
  });
});
