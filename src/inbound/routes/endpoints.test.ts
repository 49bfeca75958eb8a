import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { apiCaller } from "#test/support/api-caller.ts";
import { BOUNCE_DOMAIN, sendIn, startReturns } from "#test/support/returns.ts";
import { openSmtp } from "#test/support/smtp-client.ts";

const { service, port } = await startReturns();
const { database: db, call, clock, workspaceId } = service;

beforeEach(() => db.run(sql`truncate inbound_routes, received_emails, received_digests`));

const add = (pattern: string, settings: object = {}) =>
  call("POST", "/inbound-routes", { pattern, ...settings });

async function addDomain(domain: string, workspace: string, isVerified = true): Promise<void> {
  await db.run(sql`
    insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified)
    values (${workspace}, gen_random_uuid(), ${domain}, 'v', gen_random_uuid()::text, ${isVerified})`);
  if (!isVerified) return;
  await db.run(sql`
    insert into domain_claims (domain, workspace_id) values (${domain}, ${workspace})
    on conflict (domain) do update set workspace_id = excluded.workspace_id`);
}

/** The reply to RCPT. */
async function rcpt(...addresses: string[]): Promise<string[]> {
  const client = await openSmtp(port);
  await client.say("EHLO mx.test");
  await client.say("MAIL FROM:<ada@example.net>");
  const replies: string[] = [];
  for (const address of addresses) {
    replies.push((await client.say(`RCPT TO:<${address}>`)).replace(/^(\d{3} \d\.\d\.\d).*/, "$1"));
  }
  client.close();
  return replies;
}

/** The pattern of the route that a mail to the address took. */
async function routeOf(address: string): Promise<string | undefined> {
  const mail = `Message-ID: <${crypto.randomUUID()}@example.net>\nSubject: hello\n\nhi`;
  expect(await sendIn(port, address, mail, "ada@example.net")).toMatch(/^250/);
  const row = await db.row<{ pattern: string }>(sql`
    select r.local_part || '@' || r.domain as pattern from received_emails e
    join inbound_routes r on r.id = e.route_id order by e.id desc limit 1`);
  return row?.pattern;
}

describe("over HTTP", () => {
  test("a route is shown as it is kept: its pattern in one spelling, defaults filled in", async () => {
    const created = await add("Support@SHOP.test");
    expect([created.status, created.body.data]).toEqual([
      201,
      {
        id: expect.any(String),
        pattern: "support@shop.test",
        priority: 100,
        webhook: true,
        keep: true,
        max_bytes: 40 * 1024 * 1024,
        spam_threshold: null,
        spam_action: "mark",
        is_active: true,
        is_receiving: true,
        created_at: clock.now().toISOString(),
        updated_at: clock.now().toISOString(),
      },
    ]);
    const { id } = created.body.data;
    const changed = await call("PATCH", `/inbound-routes/${id}`, { keep: false, spam_threshold: 4.5 });
    expect(changed.body.data).toEqual({ ...created.body.data, keep: false, spam_threshold: 4.5 });
    expect((await call("PATCH", `/inbound-routes/${id}`, { spam_threshold: null })).body.data).toMatchObject({
      keep: false,
      spam_threshold: null,
    });
    expect((await call("DELETE", `/inbound-routes/${id}`)).body.data).toEqual({ id, deleted: true });
    expect((await call("GET", `/inbound-routes/${id}`)).status).toBe(404);
  });

  test.each([
    ["shop.test", "pattern: Enter an address with an @"],
    ["a*b*@shop.test", "pattern: Enter at most one * before the @."],
    ['"a b"@shop.test', "pattern: Enter a part before the @ that needs no quotes."],
    ["a@b@shop.test", "pattern: "],
    ["a\u0000@shop.test", ""],
    ["a@other.test", "pattern: other.test is not a verified sending domain of this workspace"],
    ["a@shop.test.evil.test", "pattern: shop.test.evil.test is not a verified"],
    ["a@xshop.test", "pattern: xshop.test is not a verified"],
    [`a@${BOUNCE_DOMAIN}`, `pattern: ${BOUNCE_DOMAIN} receives bounces for the whole service`],
  ])("the pattern %j is refused with what to do", async (pattern, error) => {
    const answer = await add(pattern);
    expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.body.error).toContain(error);
    expect((await call("GET", "/inbound-routes")).body.data.inbound_routes).toEqual([]);
  });

  test("a second route of a pattern, and one whose mail would reach no one, are refused", async () => {
    const { id } = (await add("support@shop.test")).body.data;
    expect((await add("SUPPORT@shop.test")).body).toMatchObject({ code: "CONFLICT" });
    expect((await add("sales@shop.test", { keep: false, webhook: false })).status).toBe(400);
    expect((await call("PATCH", `/inbound-routes/${id}`, { keep: false, webhook: false })).status).toBe(400);
    const other = (await add("sales@shop.test")).body.data.id;
    const same = await call("PATCH", `/inbound-routes/${other}`, { pattern: "support@shop.test" });
    expect([same.status, same.body.code]).toEqual([409, "CONFLICT"]);
  });

  test("changes at the same time are all kept, and only one of two routes gets a pattern", async () => {
    const one = (await add("one@shop.test")).body.data.id;
    const two = (await add("two@shop.test")).body.data.id;
    const change = (id: string, body: object) => call("PATCH", `/inbound-routes/${id}`, body);
    for (let n = 1; n <= 5; n++) {
      await Promise.all([
        change(one, { priority: n }),
        change(one, { max_bytes: 1_000_000 + n }),
        change(one, { spam_threshold: n }),
      ]);
      expect((await call("GET", `/inbound-routes/${one}`)).body.data).toMatchObject({
        priority: n,
        max_bytes: 1_000_000 + n,
        spam_threshold: n,
      });
      const same = await Promise.all([one, two].map((id) => change(id, { pattern: `same${n}@shop.test` })));
      expect(same.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
    }
    await call("DELETE", `/inbound-routes/${two}`);
    expect((await change(two, { priority: 1 })).status).toBe(404);
  });

  test("a workspace has at most 200 routes, listed by pages in the order in which they are tried", async () => {
    const patterns = ["*@shop.test", "ticket-*@shop.test", "t*@shop.test", "zoe@shop.test"];
    for (const pattern of patterns) await add(pattern);
    await add("last@shop.test", { priority: 200 });
    const first = (await call("GET", "/inbound-routes?limit=3")).body.data;
    expect(first.inbound_routes.map((route: { pattern: string }) => route.pattern)).toEqual([
      "zoe@shop.test",
      "ticket-*@shop.test",
      "t*@shop.test",
    ]);
    const second = (await call("GET", "/inbound-routes?limit=3&page=2")).body.data;
    expect(second.inbound_routes.map((route: { pattern: string }) => route.pattern)).toEqual([
      "*@shop.test",
      "last@shop.test",
    ]);
    expect(second.pagination).toMatchObject({ total: 5, total_pages: 2 });
    await db.run(sql`
      insert into inbound_routes select workspace_id, gen_random_uuid(), 'n' || n, domain, priority, webhook, keep, max_bytes,
        spam_threshold, spam_action, is_active, created_at, updated_at
      from inbound_routes, generate_series(1, 195) n where local_part = 'zoe'`);
    expect((await add("more@shop.test")).body).toMatchObject({ code: "CONFLICT" });
  });
});

describe("the DNS status of the domain", () => {
  const receiving = async () => {
    const [{ id }] = (await call("GET", "/sending-domains")).body.data;
    const { dns } = (await call("GET", `/sending-domains/${id}/dns-status`)).body.data;
    return {
      checks: dns.receiving,
      records: dns.records.filter(({ type }: { type: string }) => type === "MX"),
    };
  };

  test("names the MX record of each name that receives, expected beside found", async () => {
    expect(await receiving()).toEqual({ checks: [], records: [] });
    await add("*@in.shop.test");
    await add("support@shop.test");
    await add("off@off.shop.test", { is_active: false });
    const { dns } = service;
    dns.zone = {
      "shop.test": {
        MX: [
          [20, "mail.posthaste.test"],
          [10, "mx.mailboxes.test"],
        ],
      },
      "in.shop.test": { MX: [[5, "Mail.Posthaste.TEST"]] },
    };
    const { checks, records } = await receiving();
    expect(checks).toMatchObject([
      { host: "in.shop.test", status: "verified", type: "MX", found: ["5 mail.posthaste.test"] },
      {
        host: "shop.test",
        status: "mismatch",
        expected: "10 mail.posthaste.test",
        found: ["10 mx.mailboxes.test", "20 mail.posthaste.test"],
      },
    ]);
    expect(records).toMatchObject([
      { purpose: "receiving", host_in_zone: "in", value: "10 mail.posthaste.test", required: false },
      { purpose: "receiving", host_in_zone: "@", status: "mismatch" },
    ]);
    // Where BOUNCE_DOMAIN has other servers, customers' mail goes to the same.
    dns.zone = { [BOUNCE_DOMAIN]: { MX: [[1, "mx1.posthaste.test"]] }, "in.shop.test": "servfail" };
    expect((await receiving()).checks).toMatchObject([
      { host: "in.shop.test", status: "error", expected: "10 mx1.posthaste.test" },
      { host: "shop.test", status: "missing", message: expect.stringContaining("add the MX record") },
    ]);
    // While these cannot be looked up, nothing is known of a record that may be right.
    dns.zone = { [BOUNCE_DOMAIN]: "servfail", "in.shop.test": { MX: [[10, "mx1.posthaste.test"]] } };
    const [unknown] = (await receiving()).checks;
    expect(unknown).toMatchObject({
      host: "in.shop.test",
      status: "error",
      found: ["10 mx1.posthaste.test"],
    });
  });
});

describe("at RCPT", () => {
  test("a domain without active routes relays nothing; with one, its unknown addresses do not exist", async () => {
    expect(await rcpt("support@shop.test")).toEqual(["550 5.7.1"]);
    const { id } = (await add("support@shop.test")).body.data;
    expect(await rcpt("support@shop.test", "Support@Shop.TEST", '"support"@shop.test')).toEqual([
      "250 Accepted",
      "250 Accepted",
      "250 Accepted",
    ]);
    expect(await rcpt("sales@shop.test", "support@sub.shop.test", "support%x@shop.test")).toEqual([
      "550 5.1.1",
      "550 5.7.1",
      "550 5.7.1",
    ]);
    await call("PATCH", `/inbound-routes/${id}`, { is_active: false });
    expect(await rcpt("support@shop.test")).toEqual(["550 5.7.1"]);
  });

  test("the first route that matches takes the mail: exact, then the longest pattern, then the catch-all", async () => {
    for (const pattern of [
      "*@shop.test",
      "ticket-*@shop.test",
      "support@shop.test",
      "support+vip@shop.test",
    ]) {
      await add(pattern);
    }
    expect(await routeOf("support@shop.test")).toBe("support@shop.test");
    expect(await routeOf("support+1042@shop.test")).toBe("support@shop.test");
    expect(await routeOf("SUPPORT+VIP@shop.test")).toBe("support+vip@shop.test");
    expect(await routeOf("ticket-7@shop.test")).toBe("ticket-*@shop.test");
    expect(await routeOf("anyone@shop.test")).toBe("*@shop.test");
    await add("first@shop.test", { priority: 1 });
    await add("supp*@shop.test", { priority: 0 });
    expect(await routeOf("support@shop.test")).toBe("supp*@shop.test");
  });

  test("routes below a verified domain receive, and the nearest proven domain decides whose they are", async () => {
    const other = await service.newWorkspace();
    const callOther = apiCaller(() => service.url, other.key);
    await add("*@in.shop.test");
    expect(await rcpt("x@in.shop.test")).toEqual(["250 Accepted"]);
    // An unproven claim of another workspace changes nothing.
    await addDomain("in.shop.test", other.workspaceId, false);
    expect((await callOther("POST", "/inbound-routes", { pattern: "*@in.shop.test" })).status).toBe(400);
    expect(await rcpt("x@in.shop.test")).toEqual(["250 Accepted"]);
    await db.run(sql`delete from sending_domains where domain = 'in.shop.test'`);
    await addDomain("in.shop.test", other.workspaceId);
    expect(await rcpt("x@in.shop.test")).toEqual(["550 5.7.1"]);
    const [mine] = (await call("GET", "/inbound-routes")).body.data.inbound_routes;
    expect(mine).toMatchObject({ is_active: true, is_receiving: false });
    expect((await callOther("POST", "/inbound-routes", { pattern: "*@in.shop.test" })).status).toBe(201);
    expect(await rcpt("x@in.shop.test")).toEqual(["250 Accepted"]);
    await sendIn(port, "x@in.shop.test", "Subject: mine\n\nhi", "a@b.test");
    const row = await db.row(sql`select workspace_id from received_emails`);
    expect(row).toEqual({ workspace_id: other.workspaceId });
    await db.run(sql`delete from sending_domains where domain = 'in.shop.test'`);
    await db.run(sql`delete from domain_claims where domain = 'in.shop.test'`);
  });

  test("a suspended workspace's mail is deferred, and a domain that lost its verification receives nothing", async () => {
    await add("support@shop.test");
    await db.run(sql`update workspaces set is_suspended = true where id = ${workspaceId}`);
    expect(await rcpt("support@shop.test")).toEqual(["450 4.2.1"]);
    await db.run(sql`update workspaces set is_suspended = false where id = ${workspaceId}`);
    await db.run(sql`update sending_domains set is_verified = false where domain = 'shop.test'`);
    expect(await rcpt("support@shop.test")).toEqual(["550 5.7.1"]);
    await db.run(sql`update sending_domains set is_verified = true where domain = 'shop.test'`);
  });

  test("the postmaster of a receiving domain is the operator, unless a route takes the address", async () => {
    await add("support@shop.test");
    expect(await sendIn(port, "postmaster@shop.test", "Subject: hi\n\nhi", "a@b.test")).toMatch(/^250/);
    expect(await db.row(sql`select kind, rcpt_to from inbound_mails order by id desc limit 1`)).toEqual({
      kind: "operator",
      rcpt_to: "postmaster",
    });
    await add("*@shop.test");
    expect(await routeOf("postmaster@shop.test")).toBe("*@shop.test");
  });

  test("one mail has recipients of one workspace and one spam rule, and never a return path as well", async () => {
    await add("support@shop.test");
    await add("sales@shop.test");
    await add("strict@shop.test", { spam_action: "reject" });
    expect(
      await rcpt("support@shop.test", "sales@shop.test", "strict@shop.test", `fbl@${BOUNCE_DOMAIN}`),
    ).toEqual(["250 Accepted", "250 Accepted", "452 4.5.3", "452 4.5.3"]);
    expect(await rcpt(`fbl@${BOUNCE_DOMAIN}`, "support@shop.test")).toEqual(["250 Accepted", "452 4.5.3"]);
    const many = Array.from({ length: 11 }, (_, n) => `support+${n}@shop.test`);
    expect((await rcpt(...many)).at(-1)).toBe("452 4.5.3");
  });

  test("fifty guessed addresses end the connection", async () => {
    await add("support@shop.test");
    const guesses = Array.from({ length: 51 }, (_, n) => `guess${n}@shop.test`);
    const replies = await rcpt(...guesses);
    expect([replies[49], replies[50]]).toEqual(["550 5.1.1", "421 4.7.0"]);
  });
});
