import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { HOUR_MS, MINUTE_MS } from "#platform/time-units.ts";
import { statusesOf } from "#test/support/api-caller.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { senderLinkKeys, signSenderLink } from "./confirmation-token.ts";

const service = await startService({ env: { PUBLIC_URL: "https://mail.example.test/post/" } });
let count = 0;
let email: string;

beforeEach(() => {
  count += 1;
  email = `sender${count}@example.test`;
});

const create = (body: unknown = { email, from_name: "Ada" }, key = service.key) =>
  service.call("POST", "/verified-senders", body, { key });
const resend = (id: string, key = service.key) =>
  service.call("POST", `/verified-senders/${id}/resend`, undefined, { key });
const list = async (key = service.key) =>
  (await service.call("GET", "/verified-senders", undefined, { key })).body.data;
const rowOf = async (id: string) => (await list()).find((row: { id: string }) => row.id === id);

/** The mails to an address, oldest first. */
const mailsTo = (address: string) =>
  service.database.pool
    .query<{ subject: string; html: string; text: string; source: string }>(
      `select subject, source, html, text from messages
       join message_contents on message_contents.workspace_id = messages.workspace_id and message_id = messages.id
       where localpart || '@' || domain = $1 order by messages.id`,
      [address],
    )
    .then(({ rows }) => rows);

/** The path of the newest link that was sent to an address. */
async function linkTo(address: string): Promise<string> {
  const mail = (await mailsTo(address)).at(-1);
  return /https:\/\/mail\.example\.test\/post(\/verify-sender\/[\w-]+)/.exec(mail?.text ?? "")?.[1] ?? "";
}

const page = (method: string, path: string) =>
  fetch(service.url + path, {
    method,
    ...(method === "POST" && { headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "" }),
  });

describe("adding a sender", () => {
  test("answers the row and mails one link to the address", async () => {
    const { status, body } = await create({ email: ` ${email.toUpperCase()} `, from_name: " Ada " });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.any(String),
      email,
      from_name: "Ada",
      is_verified: false,
      verified_at: null,
      token_expires_at: new Date(service.clock.now().getTime() + 48 * HOUR_MS).toISOString(),
      created_at: service.clock.now().toISOString(),
      warnings: [],
    });
    const { warnings: _, ...row } = body.data;
    expect(await rowOf(row.id)).toEqual(row);
    const mails = await mailsTo(email);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatchObject({ source: "platform", subject: "Confirm your sender address" });
    expect(mails[0]?.html).toContain(await linkTo(email));
  });

  test("says nothing of the caller's choice in the mail but the address", async () => {
    const hostile = `<img src=x onerror=alert(1)> https://evil.test "quoted"`;
    expect((await create({ email, from_name: hostile })).status).toBe(201);
    const [mail] = await mailsTo(email);
    expect(`${mail?.subject}${mail?.html}${mail?.text}`).not.toMatch(/evil|onerror/);
  });

  test("escapes an address that looks like markup", async () => {
    const odd = `a&b'c{${count}}@example.test`;
    expect((await create({ email: odd })).status).toBe(201);
    const [mail] = await mailsTo(odd);
    expect(mail?.html).toContain("a&amp;b&#39;c{");
    const shown = await (await page("GET", await linkTo(odd))).text();
    expect(shown).toContain("a&amp;b&#39;c{");
    expect(shown).not.toContain("a&b'c");
  });

  test("warns of a free-mail domain", async () => {
    const { body } = await create({ email: `ada${count}@gmail.com`, from_name: null });
    expect(body.data.warnings).toEqual([expect.stringContaining("DMARC")]);
  });

  test("refuses the same address twice, in any case, and mails once", async () => {
    await create();
    const again = await create({ email: email.toUpperCase(), from_name: "" });
    expect([again.status, again.body.code]).toEqual([409, "CONFLICT"]);
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test("of twenty calls at once one adds the sender, and one mail is sent", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create()));
    expect(statusesOf(answers)).toEqual([201, ...Array(19).fill(409)]);
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test.each([
    [{}, "email"],
    [{ email: 1 }, "email"],
    [{ email: "no address" }, "email"],
    [{ email: "a@b.test, c@d.test" }, "email"],
    [{ email: "Ada <ada@b.test>" }, "email"],
    [{ email: "ada@b.test\r\nBcc: x@y.test" }, "email"],
    [{ email: "ada@[127.0.0.1]" }, "email"],
    [{ email: "ada@b.test", from_name: "Ada\nBcc: x@y.test" }, "from_name"],
    [{ email: "ada@b.test", from_name: "x".repeat(201) }, "from_name"],
  ])("refuses %j by its field", async (input, field) => {
    const before = (await list()).length;
    const { status, body } = await create(input);
    expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", field]);
    expect(await list()).toHaveLength(before);
  });
});

describe("the confirmation page", () => {
  test("asks on GET and changes nothing, however often a scanner looks", async () => {
    const { id } = (await create()).body.data;
    const link = await linkTo(email);
    for (const method of ["GET", "HEAD", "GET"]) expect((await page(method, link)).status).toBe(200);
    expect(await (await page("GET", link)).text()).toMatch(/<form method="post"><button>/);
    expect((await rowOf(id)).is_verified).toBe(false);
  });

  test("confirms on POST, once", async () => {
    const { id } = (await create()).body.data;
    const link = await linkTo(email);
    const confirmed = await page("POST", link);
    expect(confirmed.status).toBe(200);
    expect(confirmed.headers.get("cache-control")).toBe("no-store");
    expect(await rowOf(id)).toMatchObject({
      is_verified: true,
      verified_at: service.clock.now().toISOString(),
    });
    for (const method of ["GET", "POST"]) expect((await page(method, link)).status).toBe(404);
  });

  test("of twenty confirmations at once one succeeds", async () => {
    await create();
    const link = await linkTo(email);
    const answers = await Promise.all(Array.from({ length: 20 }, () => page("POST", link)));
    expect(statusesOf(answers)).toEqual([200, ...Array(19).fill(404)]);
  });

  test("answers every link that does not work with the same page and confirms nothing", async () => {
    const { id } = (await create()).body.data;
    const link = await linkTo(email);
    const last = link.endsWith("A") ? "B" : "A";
    const expired = (await create({ email: `late${count}@example.test` })).body.data;
    const expiredLink = await linkTo(expired.email);
    service.clock.advance(48 * HOUR_MS);
    const { id: freshId } = (await create({ email: `fresh${count}@example.test` })).body.data;
    const stolenKey = senderLinkKeys(createSecrets("a key that is not the service's own key")).signing;
    const forged = signSenderLink(
      {
        workspaceId: service.workspaceId,
        senderId: freshId,
        number: 1,
        expiresAt: new Date(Date.now() + 96 * HOUR_MS),
      },
      stolenKey,
    );
    const dead = [
      link.slice(0, -1) + last,
      expiredLink,
      `/verify-sender/${forged}`,
      "/verify-sender/x",
      `/verify-sender/${"A".repeat(96)}`,
      `/verify-sender/${"A".repeat(5000)}`,
      "/verify-sender/%00",
      "/verify-sender/a/b",
    ];
    const pages = new Set<string>();
    for (const path of dead) {
      for (const method of ["GET", "POST"]) {
        const answer = await page(method, path);
        expect([path, answer.status]).toEqual([path, 404]);
        pages.add(await answer.text());
      }
    }
    expect(pages.size).toBe(1);
    for (const one of [id, expired.id, freshId]) expect((await rowOf(one)).is_verified).toBe(false);
  });

  test("takes no link of a deleted sender", async () => {
    const { id } = (await create()).body.data;
    const link = await linkTo(email);
    await service.call("DELETE", `/verified-senders/${id}`);
    expect((await page("POST", link)).status).toBe(404);
  });
});

describe("sending the link again", () => {
  test("ends the link before and renews the expiry", async () => {
    const { id } = (await create()).body.data;
    const first = await linkTo(email);
    service.clock.advance(2 * MINUTE_MS);
    const { status, body } = await resend(id);
    expect(status).toBe(200);
    expect(body.data.token_expires_at).toBe(
      new Date(service.clock.now().getTime() + 48 * HOUR_MS).toISOString(),
    );
    const second = await linkTo(email);
    expect(second).not.toBe(first);
    expect((await page("POST", first)).status).toBe(404);
    expect((await page("POST", second)).status).toBe(200);
  });

  test("of twenty calls at once one sends; the next may after a minute", async () => {
    const { id } = (await create()).body.data;
    const answers = await Promise.all(Array.from({ length: 20 }, () => resend(id)));
    expect(statusesOf(answers)).toEqual([200, ...Array(19).fill(429)]);
    expect(await mailsTo(email)).toHaveLength(2);
    service.clock.advance(MINUTE_MS - 1);
    const early = await resend(id);
    expect([early.body.code, early.headers.get("retry-after")]).toEqual(["RATE_LIMIT_EXCEEDED", "1"]);
    service.clock.advance(1);
    expect((await resend(id)).status).toBe(200);
  });

  test("is a conflict once the sender is verified", async () => {
    const { id } = (await create()).body.data;
    await page("POST", await linkTo(email));
    const { status, body } = await resend(id);
    expect([status, body.code]).toEqual([409, "CONFLICT"]);
  });
});

describe("a stranger's mailbox", () => {
  const remove = (id: string) => service.call("DELETE", `/verified-senders/${id}`);
  const refusalOf = ({ status, body, headers }: Awaited<ReturnType<typeof create>>) => [
    status,
    body.code,
    headers.get("retry-after"),
  ];

  test("gets no second mail at once because its sender was deleted and added again", async () => {
    await remove((await create()).body.data.id);
    service.clock.advance(MINUTE_MS - 1);
    const early = await create();
    expect(refusalOf(early)).toEqual([429, "RATE_LIMIT_EXCEEDED", "1"]);
    expect(early.body.error).toBe(
      "A link was sent to this mailbox less than 60 s ago: look there first, or wait 1 s",
    );
    expect(await list()).not.toContainEqual(expect.objectContaining({ email }));
    service.clock.advance(1);
    expect((await create()).status).toBe(201);
    expect(await mailsTo(email)).toHaveLength(2);
  });

  test("gets five mails a day, from however many workspaces and under whatever tag", async () => {
    const [name, host] = email.split("@");
    const tagged = (tag: string) => `${name}+${tag}@${host}`;
    for (const tag of ["a", "b", "c"]) {
      expect((await create({ email: tagged(tag) })).status).toBe(201);
      service.clock.advance(MINUTE_MS);
    }
    const { id } = (await create()).body.data;
    const other = await service.newWorkspace();
    expect((await create({ email }, other.key)).status).toBe(201);
    const third = await service.newWorkspace();
    const nextDay = String(86_400 - (Math.floor(service.clock.now().getTime() / 1_000) % 86_400));
    expect(refusalOf(await create({ email }, third.key))).toEqual([429, "RATE_LIMIT_EXCEEDED", nextDay]);
    expect(refusalOf(await resend(id))).toEqual([429, "RATE_LIMIT_EXCEEDED", nextDay]);
    service.clock.advance(24 * HOUR_MS);
    expect((await create({ email }, third.key)).status).toBe(201);
    expect((await resend(id)).status).toBe(200);
  });

  test("is one of a hundred that a workspace may write to in a day, even all at once", async () => {
    const { key } = await service.newWorkspace();
    const calls = Array.from({ length: 110 }, (_, at) => create({ email: `n${at}@many${count}.test` }, key));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect(await list(key)).toHaveLength(100);
    service.clock.advance(24 * HOUR_MS);
    expect((await create({ email: `late@many${count}.test` }, key)).status).toBe(201);
  });
});

test("a workspace whose name reads like an advertisement is not named in the mail", async () => {
  const other = await service.newWorkspace();
  await service.database.run(sql`
    update workspaces set name = 'You have won 1,000 USD: claim at evil.example' where id = ${other.workspaceId}`);
  expect((await create({ email }, other.key)).status).toBe(201);
  const [mail] = await mailsTo(email);
  expect(`${mail?.subject} ${mail?.html} ${mail?.text}`).not.toMatch(/won|evil/);
  expect(mail?.text).toContain(`A workspace of this service asks to send mail as ${email}`);
});

test("the tag of an address, which may say anything, does not stand in the mail", async () => {
  const tagged = email.replace("@", "+won.1000.at.evil.com@");
  expect((await create({ email: tagged })).status).toBe(201);
  const [mail] = await mailsTo(tagged);
  expect(`${mail?.subject} ${mail?.html} ${mail?.text}`).not.toMatch(/won|evil/);
});

test("another workspace sees, resends and deletes nothing", async () => {
  const { id } = (await create()).body.data;
  const other = await service.newWorkspace();
  expect(await list(other.key)).toEqual([]);
  expect((await resend(id, other.key)).status).toBe(404);
  expect(
    (await service.call("DELETE", `/verified-senders/${id}`, undefined, { key: other.key })).status,
  ).toBe(404);
  expect((await create({ email }, other.key)).status).toBe(201);
  expect(await rowOf(id)).toBeDefined();
});

test("a sender stays while a scheduled campaign sends as it, unless a verified domain does", async () => {
  const { id } = (await create({ email: "news@shop.test" })).body.data;
  const campaign = await newCampaign(service.database, service.workspaceId, null, {
    from_email: "News@shop.test",
  });
  await service.database.run(sql`update campaigns set status = 'scheduled' where id = ${campaign}`);
  const refused = await service.call("DELETE", `/verified-senders/${id}`);
  expect([refused.status, refused.body.code]).toEqual([409, "CONFLICT"]);
  expect(await rowOf(id)).toBeDefined();
  await verifyShop(service.database, service.workspaceId);
  expect((await service.call("DELETE", `/verified-senders/${id}`)).status).toBe(200);
});

test("a sender is deleted once", async () => {
  const { id } = (await create()).body.data;
  const first = await service.call("DELETE", `/verified-senders/${id}`);
  expect(first.body.data).toEqual({ id, deleted: true });
  expect((await service.call("DELETE", `/verified-senders/${id}`)).status).toBe(404);
  expect((await resend(newId())).status).toBe(404);
});

test("a workspace has a thousand verified senders at most, and nobody is mailed for one more", async () => {
  const { workspaceId, key } = await service.newWorkspace();
  await service.database.run(sql`
    insert into verified_senders
      (workspace_id, id, email, from_name, token_expires_at, link_sent_at, created_at)
    select ${workspaceId}, gen_random_uuid(), 'many' || n || '@example.test', '', now(), now(), now()
    from generate_series(1, 999) n`);
  expect((await create({ email }, key)).status).toBe(201);
  const refused = await create({ email: `one-more-${email}` }, key);
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({
    code: "BAD_REQUEST",
    error: "There can be 1000 verified senders; delete one first",
  });
  expect(await list(key)).toHaveLength(1_000);
  expect(await mailsTo(`one-more-${email}`)).toEqual([]);
});
