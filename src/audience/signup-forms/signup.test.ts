import sql from "sql-template-tag";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HOUR_MS } from "#platform/time-units.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { type FormFields, signupVisits, tokenIn } from "#test/support/signup-visits.ts";

const service = await startService({
  env: { PLATFORM_FROM: "hello@posthaste.test", TRUSTED_PROXIES: "127.0.0.1" },
});
const { database: db, clock } = service;

beforeAll(() => verifyShop(db, service.workspaceId));

let list: string;
let email: string;
let count = 0;
/** The address that requests come from: each test has a network of its own. */
let network: string;
beforeEach(async () => {
  count += 1;
  network = networkNumber(count);
  email = `ada${count}@example.test`;
  list = (await service.call("POST", "/mailing-lists", { name: `Weekly <${count}>` })).body.data.id;
});

const form = (method: "GET" | "PUT", body?: unknown, id = list) =>
  service.call(method, `/mailing-lists/${id}/signup-form`, body);
const openForm = async (): Promise<string> => (await form("PUT", { is_active: true })).body.data.url;

const networkNumber = (number: number) => `192.0.${number >> 8}.${number & 255}`;
const visits = signupVisits(service);
const { mailsTo } = visits;
const post = (url: string, fields: FormFields = {}, from = network) => visits.post(url, fields, from);
const ask = (url: string, fields: FormFields = {}, from = network) =>
  visits.ask(url, { email, ...fields }, from);
const linkTo = (address = email) => visits.linkTo(address);

async function member(address = email) {
  const { body } = await service.call("GET", `/mailing-lists/${list}/subscribers?search=${address}`);
  return body.data.subscribers[0];
}
const add = async (more: object = {}): Promise<string> =>
  (await service.call("POST", `/mailing-lists/${list}/subscribers`, { email, ...more })).body.data
    .subscriber_id;
const setStatus = (id: string, status: string) =>
  service.call("PUT", `/mailing-lists/${list}/subscribers/${id}/status`, { status });

describe("a list's form", () => {
  test("is closed until it is opened, and after closing its page and links do not work", async () => {
    const standard = {
      title: null,
      description: null,
      button_text: null,
      consent_text: null,
      language: null,
      thank_you_url: null,
      fields: ["first_name", "last_name"].map((field) => ({ field, is_required: false, label: null })),
    };
    expect((await form("GET")).body.data).toEqual({
      mailing_list_id: list,
      is_active: false,
      url: null,
      abuse: null,
      ...standard,
    });
    const url = await openForm();
    expect((await form("GET")).body.data).toEqual({
      mailing_list_id: list,
      is_active: true,
      url,
      abuse: null,
      ...standard,
    });
    expect((await form("PUT", { is_active: true })).body.data.url).toBe(url);
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining(`Weekly &lt;${count}&gt;`),
    ]);
    await ask(url);
    const link = await linkTo();
    await form("PUT", { is_active: false });
    expect((await fetch(url)).status).toBe(404);
    expect((await ask(url)).status).toBe(404);
    expect((await post(link)).status).toBe(404);
    await openForm();
    expect((await post(link)).status).toBe(404);
    expect(await member()).toBeUndefined();
  });

  test("is deleted with its list, and cannot be opened by another workspace", async () => {
    const url = await openForm();
    const { key } = await service.newWorkspace();
    const path = `/mailing-lists/${list}/signup-form`;
    expect((await service.call("GET", path, undefined, { key })).status).toBe(404);
    expect((await service.call("PUT", path, { is_active: true }, { key })).status).toBe(404);
    await service.call("DELETE", `/mailing-lists/${list}`);
    expect((await fetch(url)).status).toBe(404);
  });

  test("cannot be opened while the list requires a field that it does not ask for", async () => {
    const field = { field_name: "city", field_label: "City", field_type: "text", is_required: true };
    const made = await service.call("POST", `/mailing-lists/${list}/custom-fields`, field);
    const refused = await form("PUT", { is_active: true });
    expect([refused.status, refused.body.code, refused.body.details[0].field]).toEqual([
      400,
      "VALIDATION_ERROR",
      "is_active",
    ]);
    await service.call("PUT", `/mailing-lists/${list}/custom-fields/${made.body.data.id}`, {
      default_value: "unknown",
    });
    await ask(await openForm());
    expect((await post(await linkTo())).status).toBe(200);
    expect(JSON.parse((await member()).custom_fields)).toEqual({ city: "unknown" });
  });

  test("is closed while the list requires a field that it does not ask for, and mails no address", async () => {
    const url = await openForm();
    const field = { field_name: "city", field_label: "City", field_type: "text", is_required: true };
    const path = `/mailing-lists/${list}/custom-fields`;
    const { id } = (await service.call("POST", path, field)).body.data;
    expect([(await fetch(url)).status, (await ask(url)).status]).toEqual([404, 404]);
    expect(await mailsTo(email)).toEqual([]);
    await service.call("PUT", `${path}/${id}`, { is_required: false });
    expect((await fetch(url)).status).toBe(200);
  });

  test("has no other URL than its own", async () => {
    const url = await openForm();
    const token = url.slice(url.lastIndexOf("/") + 1);
    const changed = (token.startsWith("A") ? "B" : "A") + token.slice(1);
    for (const other of [changed, token.slice(1), `${token}A`, "", `confirm/${token}`]) {
      expect((await fetch(url.replace(token, other))).status).toBe(404);
    }
  });
});

describe("a person who fills in the form", () => {
  test("gets one mail without typed text, and joins the list by pressing its button", async () => {
    const url = await openForm();
    const answer = await ask(url, { first_name: "Buy <b>pills</b>", last_name: "Now" });
    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringContaining("look into your mailbox"),
    ]);
    const [mail, ...others] = await mailsTo(email);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ from_email: "hello@posthaste.test", source: "platform" });
    expect(`${mail?.subject} ${mail?.html} ${mail?.text}`).not.toMatch(/pills|Now/);
    expect(mail?.html).toContain(`Weekly &lt;${count}&gt;`);

    const link = await linkTo();
    expect((await fetch(link, { method: "HEAD" })).status).toBe(200);
    expect(await (await fetch(link)).text()).toContain('value="Buy &lt;b&gt;pills&lt;/b&gt;"');
    expect(await member()).toBeUndefined();
    const joined = await post(link, { first_name: "Ada", last_name: "" });
    expect([joined.status, await joined.text()]).toEqual([
      200,
      expect.stringContaining("You are subscribed"),
    ]);
    expect(await member()).toMatchObject({
      email,
      status: "active",
      source: "form",
      first_name: "Ada",
      last_name: null,
    });
  });

  test("brings the names they confirm, unless the workspace has them already", async () => {
    const other = (await service.call("POST", "/mailing-lists", { name: "Other" })).body.data.id;
    const known = { email, first_name: "Grace" };
    await service.call("POST", `/mailing-lists/${other}/subscribers`, known);
    await ask(await openForm(), { first_name: "Evil" });
    expect((await post(await linkTo(), { first_name: "Evil", last_name: "two\nlines" })).status).toBe(400);
    expect(await member()).toBeUndefined();
    await post(await linkTo(), { first_name: "Evil", last_name: "Hopper" });
    expect(await member()).toMatchObject({ first_name: "Grace", last_name: "Hopper" });
  });

  test("from a list with a sender of its own gets it from there", async () => {
    await service.call("PUT", `/mailing-lists/${list}`, {
      from_email: "news@shop.test",
      from_name: "The Shop",
    });
    await ask(await openForm());
    expect(await mailsTo(email)).toMatchObject([{ from_email: "news@shop.test" }]);
  });

  test("with an invalid address is told so and gets no mail", async () => {
    const url = await openForm();
    for (const typed of ["", "ada", "ada@", "a@b.test\r\nBcc: c@d.test", `${"a".repeat(300)}@example.test`]) {
      const answer = await post(url, { email: typed });
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('role="alert"')]);
    }
    expect((await fetch(url, { method: "POST", body: JSON.stringify({ email }) })).status).toBe(400);
    expect(await mailsTo(email)).toEqual([]);
  });

  test("with a body that is not a form is told so by the page", async () => {
    const url = await openForm();
    const multipart = new FormData();
    multipart.set("email", email);
    const json = {
      method: "POST",
      body: JSON.stringify({ email }),
      headers: { "content-type": "application/json" },
    };
    for (const answer of [await fetch(url, { method: "POST", body: multipart }), await fetch(url, json)]) {
      expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
        400,
        expect.stringContaining("text/html"),
        expect.stringContaining("application/x-www-form-urlencoded"),
      ]);
    }
    expect(await mailsTo(email)).toEqual([]);
  });

  test("with another charset than UTF-8 is told so by the page, and no mail is sent", async () => {
    const url = await openForm();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    for (const typed of ["caf%e9", "%ED%A0%80", Buffer.from("caf\xe9", "latin1")]) {
      const body = Buffer.concat([Buffer.from("email="), Buffer.from(typed), Buffer.from(email)]);
      const answer = await fetch(url, { method: "POST", headers, body });
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("UTF-8")]);
    }
    const sent = sql`select from messages where workspace_id = ${service.workspaceId} and localpart like '%' || ${email.split("@")[0] ?? ""}`;
    expect(await db.rows(sent)).toEqual([]);
  });

  test("including the hidden field is a program, and no mail is sent", async () => {
    const answer = await ask(await openForm(), { website: "https://spam.example/" });
    expect(answer.status).toBe(200);
    expect(await mailsTo(email)).toEqual([]);
  });
});

describe("the form says the same and mails nothing", () => {
  const same = async (url: string) => {
    const answer = await ask(url);
    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringContaining("look into your mailbox"),
    ]);
    expect(await mailsTo(email)).toEqual([]);
  };

  test("to a member", async () => {
    await add();
    await same(await openForm());
  });

  test.each(["bounced", "complained"])("to an address that %s", async (status) => {
    await setStatus(await add(), status);
    await same(await openForm());
  });

  test("to a suppressed address", async () => {
    const { body } = await service.call("POST", "/suppression-lists", { name: "Never" });
    await service.call("POST", `/suppression-lists/${body.data.id}/entries`, { entries: email });
    await same(await openForm());
  });

  test("while the workspace is suspended, and its links do not work until it is resumed", async () => {
    const url = await openForm();
    const [waiting, other] = [email, `other${email}`];
    await ask(url);
    const link = await linkTo(waiting);
    await db.run(sql`update workspaces set is_suspended = true where id = ${service.workspaceId}`);
    email = other;
    await same(url);
    expect((await post(link)).status).toBe(404);
    await db.run(sql`update workspaces set is_suspended = false where id = ${service.workspaceId}`);
    expect((await post(link)).status).toBe(200);
  });
});

/** Uses up a part of a limit in the present window. */
const use = (limit: string, holder: string, used: number, per: "hour" | "day") =>
  db.run(sql`
    insert into quota_uses (limit_name, holder, ends_at, used)
    values (${limit}, ${holder}, date_trunc(${per}, ${clock.now()}::timestamptz, 'UTC') + ('1 ' || ${per})::interval, ${used})
    on conflict (limit_name, holder, ends_at) do update set used = excluded.used`);
const nextHour = () => clock.advance(HOUR_MS - (clock.now().getTime() % HOUR_MS));
const nextDay = () => clock.advance(24 * HOUR_MS - (clock.now().getTime() % (24 * HOUR_MS)));

describe("mailboxes are protected from floods", () => {
  test("an address gets one mail a day from a workspace, however it is spelled and for whatever list", async () => {
    nextDay();
    const url = await openForm();
    const other = (await service.call("POST", "/mailing-lists", { name: "Other" })).body.data.id;
    const otherUrl = (await form("PUT", { is_active: true }, other)).body.data.url;
    const [local = "", domain = ""] = email.split("@");
    const spellings = [email, email.toUpperCase(), `${local}+x@${domain}`, ` ${email} `];
    for (const spelling of spellings) await ask(url, { email: spelling });
    await ask(otherUrl);
    for (let hour = 1; hour <= 3; hour++) {
      clock.advance(HOUR_MS);
      await ask(url);
    }
    expect(await mailsTo(email)).toHaveLength(1);
    expect(await mailsTo(`${local}+x@${domain}`)).toEqual([]);
    clock.advance(24 * HOUR_MS);
    await ask(url);
    expect(await mailsTo(email)).toHaveLength(2);
  });

  test("a confirmed mail does not count: its recipient may join another list", async () => {
    await ask(await openForm());
    const link = await linkTo();
    await Promise.all([post(link), post(link), post(link)]);
    const other = (await service.call("POST", "/mailing-lists", { name: "Other" })).body.data.id;
    await ask((await form("PUT", { is_active: true }, other)).body.data.url);
    expect(await mailsTo(email)).toHaveLength(2);
  });

  test("an address gets three mails a day from all workspaces", async () => {
    for (let number = 0; number < 4; number++) {
      const { key } = await service.newWorkspace();
      const made = await service.call("POST", "/mailing-lists", { name: "Weekly" }, { key });
      const path = `/mailing-lists/${made.body.data.id}/signup-form`;
      const { url } = (await service.call("PUT", path, { is_active: true }, { key })).body.data;
      expect((await ask(url)).status).toBe(200);
    }
    expect(await mailsTo(email)).toHaveLength(3);
  });

  test("of many requests at once one is mailed", async () => {
    const url = await openForm();
    await Promise.all(Array.from({ length: 20 }, () => ask(url)));
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test("a list with 200 sign-ups in an hour takes no more, and says so for every address", async () => {
    const url = await openForm();
    await add();
    await use("signupsOfList", `${service.workspaceId} ${list}`, 199, "hour");
    expect((await ask(url, { email: "first@many.test" })).status).toBe(200);
    for (const typed of ["second@many.test", email]) {
      const full = await ask(url, { email: typed });
      expect([full.status, await full.text()]).toEqual([
        429,
        expect.stringContaining("takes no more sign-ups this hour"),
      ]);
    }
    expect(await mailsTo("first@many.test")).toHaveLength(1);
    expect(await mailsTo("second@many.test")).toEqual([]);
  });

  test("a workspace with a thousand mails from the service's sender in a day has no more, and says so", async () => {
    const { workspaceId, key } = await service.newWorkspace();
    const made = await service.call("POST", "/mailing-lists", { name: "Weekly" }, { key });
    const path = `/mailing-lists/${made.body.data.id}/signup-form`;
    const { url } = (await service.call("PUT", path, { is_active: true }, { key })).body.data;
    await use("signupMailsOfWorkspace", workspaceId, 999, "day");
    expect((await ask(url, { email: `first${email}` })).status).toBe(200);
    const full = await ask(url, { email: `second${email}` });
    expect([full.status, await full.text()]).toEqual([
      429,
      expect.stringContaining("takes no more sign-ups today"),
    ]);
    expect(await mailsTo(`first${email}`)).toHaveLength(1);
    expect(await mailsTo(`second${email}`)).toEqual([]);
    const { abuse } = (await service.call("GET", path, undefined, { key })).body.data;
    expect(abuse).toMatchObject({ reason: "workspace", refused_last_hour: 1 });
  });

  test("several lists do not raise the limit of one network", async () => {
    nextHour();
    const domain = `strangers${count}.test`;
    for (let number = 0; number < 4; number++) {
      list = (await service.call("POST", "/mailing-lists", { name: `List ${number}` })).body.data.id;
      const url = await openForm();
      const page = tokenIn(await (await fetch(url)).text());
      clock.advance(2_000);
      const strangers = Array.from({ length: 60 }, (_, stranger) => `s${number}-${stranger}@${domain}`);
      // Half of them from pages of their own, half from one.
      await Promise.all(
        strangers.map((stranger, place) =>
          place % 2 === 0 ? ask(url, { email: stranger }) : post(url, { email: stranger, page }),
        ),
      );
    }
    const sent = await db.rows(sql`select from messages where domain = ${domain}`);
    expect(sent).toHaveLength(60);
  });
});

describe("junk from one network", () => {
  test("ends at 20 an hour, and a person elsewhere still gets the mail", async () => {
    nextHour();
    const url = await openForm();
    const junk = Array.from({ length: 80 }, (_, at) => ask(url, { email: `j${at}@junk${count}.test` }));
    const answers = (await Promise.all(junk)).map(({ status }) => status);
    expect(answers.filter((status) => status === 200)).toHaveLength(20);
    const refused = await ask(url);
    expect([refused.status, refused.headers.get("content-type"), await refused.text()]).toEqual([
      429,
      expect.stringContaining("text/html"),
      expect.stringMatching(/Too many sign-ups came from your network.*try again in \d+ minutes/s),
    ]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await mailsTo(email)).toEqual([]);
    expect((await ask(url, {}, "198.51.100.7")).status).toBe(200);
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test("is counted by the IPv6 /64", async () => {
    nextHour();
    const url = await openForm();
    for (let host = 1; host <= 20; host++) {
      await ask(url, { email: `h${host}@six${count}.test` }, `2001:db8:${count}::${host}`);
    }
    expect((await ask(url, {}, `2001:db8:${count}::ffff`)).status).toBe(429);
    expect((await ask(url, {}, `2001:db8:${count}:1::1`)).status).toBe(200);
  });

  test("at all forms of the installation together ends at 60 an hour and 200 a day", async () => {
    nextHour();
    const url = await openForm();
    await use("signupsOfNetwork", network, 60, "hour");
    expect((await ask(url)).status).toBe(429);
    await use("signupsOfNetwork", network, 0, "hour");
    await use("signupsOfNetworkInDay", network, 200, "day");
    expect((await ask(url)).status).toBe(429);
    expect(await mailsTo(email)).toEqual([]);
  });
});

describe("a post without the page it was served in", () => {
  test("opens the page filled in, and mails once its button was pressed", async () => {
    const url = await openForm();
    const answer = await post(url, { email, first_name: "Ada <3" });
    const shown = await answer.text();
    expect([answer.status, shown]).toEqual([200, expect.stringContaining("One more step")]);
    expect(shown).toContain(`value="${email}"`);
    expect(shown).toContain('value="Ada &lt;3"');
    expect(await mailsTo(email)).toEqual([]);
    clock.advance(2_000);
    await post(url, { email, page: tokenIn(shown) });
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test.each([
    ["altered", (page: string) => (page.startsWith("A") ? "B" : "A") + page.slice(1)],
    ["cut off", (page: string) => page.slice(1)],
    ["of many characters", (page: string) => page.repeat(50)],
    ["empty", () => ""],
  ])("is what it is with a token that is %s", async (_what, change) => {
    const url = await openForm();
    const page = tokenIn(await (await fetch(url)).text());
    clock.advance(2_000);
    const answer = await post(url, { email, page: change(page) });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("One more step")]);
    expect(await mailsTo(email)).toEqual([]);
  });

  test("with the token of another form, or an expired one, is treated the same", async () => {
    const url = await openForm();
    const page = tokenIn(await (await fetch(url)).text());
    clock.advance(2_000);
    const other = (await service.call("POST", "/mailing-lists", { name: "Other" })).body.data.id;
    const otherUrl = (await form("PUT", { is_active: true }, other)).body.data.url;
    await post(otherUrl, { email, page });
    clock.advance(12 * HOUR_MS);
    await post(url, { email, page });
    expect(await mailsTo(email)).toEqual([]);
  });

  test("within two seconds is shown again, and the same page is valid then", async () => {
    const url = await openForm();
    const page = tokenIn(await (await fetch(url)).text());
    clock.advance(1_999);
    const early = await (await post(url, { email, page })).text();
    expect([early, tokenIn(early)]).toEqual([expect.stringContaining("That was quick"), page]);
    expect(await mailsTo(email)).toEqual([]);
    clock.advance(1);
    await post(url, { email, page });
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test("and a page is valid for three addresses", async () => {
    const url = await openForm();
    const page = tokenIn(await (await fetch(url)).text());
    clock.advance(2_000);
    const typed = [1, 2, 3, 4].map((number) => `p${number}@page${count}.test`);
    for (const address of typed) await post(url, { email: address, page });
    const mailed = await Promise.all(typed.map(mailsTo));
    expect(mailed.map((mails) => mails.length)).toEqual([1, 1, 1, 0]);
  });
});

describe("the owner of an abused form", () => {
  const abuseOf = async () => (await form("GET")).body.data.abuse;
  const beyond = async (url: string, from: string) => {
    await use("signupsOfNetworkAtForm", `${from} ${list}`, 20, "hour");
    expect((await ask(url, {}, from)).status).toBe(429);
  };
  const events = () =>
    db.rows<{ body: { data: object } }>(sql`
      select body from webhook_deliveries where type = 'form.abused' and body->'data'->>'mailing_list_id' = ${list} order by id`);

  test("gets a flag and an event once an hour while the list's limit is reached", async () => {
    nextHour();
    const made = await service.call("POST", "/webhooks", {
      url: "https://hooks.example.com/x",
      events: ["form.abused"],
    });
    expect(made.status).toBe(201);
    const url = await openForm();
    await use("signupsOfList", `${service.workspaceId} ${list}`, 200, "hour");
    const since = new Date(clock.now().getTime() + 2_000).toISOString();
    for (let number = 1; number <= 3; number++) await ask(url, {}, networkNumber(20_000 + number));
    expect(await abuseOf()).toEqual({ since, reason: "list", refused_last_hour: 3 });
    expect((await events()).map(({ body }) => body.data)).toEqual([
      { mailing_list_id: list, since, reason: "list", refused_last_hour: 1 },
    ]);
    nextHour();
    await use("signupsOfList", `${service.workspaceId} ${list}`, 200, "hour");
    await ask(url, {}, networkNumber(20_009));
    expect(await events()).toHaveLength(2);
    expect((await abuseOf()).since).toBe(since);
    clock.advance(24 * HOUR_MS);
    expect(await abuseOf()).toBeNull();
  });

  test("is told when three networks reach their limit within an hour, not when one does", async () => {
    nextHour();
    const url = await openForm();
    await beyond(url, networkNumber(30_001));
    await beyond(url, networkNumber(30_001));
    await beyond(url, networkNumber(30_002));
    expect(await abuseOf()).toBeNull();
    await beyond(url, networkNumber(30_003));
    expect(await abuseOf()).toMatchObject({ reason: "network", refused_last_hour: 4 });
    const { key } = await service.newWorkspace();
    const path = `/mailing-lists/${list}/signup-form`;
    expect((await service.call("GET", path, undefined, { key })).status).toBe(404);
  });
});

describe("a list whose name reads like an advertisement", () => {
  test("is not named in the mail", async () => {
    const name = "You have won 1,000 USD: claim at http://evil.example/x";
    await service.call("PUT", `/mailing-lists/${list}`, { name });
    await ask(await openForm());
    const [mail] = await mailsTo(email);
    expect(`${mail?.subject} ${mail?.html} ${mail?.text}`).not.toMatch(/won|USD|evil/);
    expect(mail?.subject).toBe("Please confirm: a mailing list");
  });

  test("is named by the domain of its own sender, whose name is checked, too", async () => {
    const settings = {
      name: "Win at evil.example",
      from_email: "news@shop.test",
      from_name: "Claim 1000 USD",
    };
    await service.call("PUT", `/mailing-lists/${list}`, settings);
    await ask(await openForm());
    const [mail] = await mailsTo(email);
    expect(mail?.subject).toBe("Please confirm: a mailing list at shop.test");
    const content = await db.row(sql`
      select c.from_name from message_contents c join messages m on m.id = c.message_id
      where m.localpart || '@' || m.domain = ${email}`);
    expect(content).toEqual({ from_name: null });
  });

  test("may be named as its own domain", async () => {
    await service.call("PUT", `/mailing-lists/${list}`, { name: "Shop.test News" });
    await ask(await openForm());
    expect((await mailsTo(email))[0]?.subject).toBe("Please confirm: Shop.test News");
  });

  test("and a tag of the address, which may say anything, is not repeated in the mail", async () => {
    const tagged = email.replace("@", "+won.at.evil.com@");
    await ask(await openForm(), { email: tagged });
    const [mail] = await mailsTo(tagged);
    expect(`${mail?.subject} ${mail?.html} ${mail?.text}`).not.toMatch(/won|evil/);
  });
});

test("a form that is too large is answered with a page", async () => {
  const url = await openForm();
  const answer = await post(url, { email: "x".repeat(300_000) });
  expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
    413,
    expect.stringContaining("text/html"),
    expect.stringContaining("Too large"),
  ]);
});

describe("a link", () => {
  test("resubscribes a person who had left", async () => {
    await setStatus(await add(), "unsubscribed");
    await ask(await openForm());
    expect((await member()).status).toBe("unsubscribed");
    await post(await linkTo());
    expect((await member()).status).toBe("active");
  });

  test("works once: a person who leaves afterwards stays unsubscribed", async () => {
    await ask(await openForm());
    const link = await linkTo();
    await Promise.all([post(link), post(link), post(link)]);
    expect((await member()).status).toBe("active");
    await setStatus((await member()).subscriber_id, "unsubscribed");
    for (const answer of [await post(link), await fetch(link)]) {
      expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining("does not work")]);
    }
    expect((await member()).status).toBe("unsubscribed");
    await ask(await openForm());
    expect(await linkTo()).not.toBe(link);
  });

  test("that was used shows a member that they are subscribed", async () => {
    await ask(await openForm());
    const link = await linkTo();
    await post(link);
    expect(await (await fetch(link)).text()).toContain("You are subscribed");
  });

  test("does not resubscribe a person who has bounced or complained since", async () => {
    await ask(await openForm());
    const link = await linkTo();
    await setStatus(await add(), "complained");
    expect((await post(link)).status).toBe(409);
    expect((await member()).status).toBe("complained");
  });

  test.each(["bounced", "complained"])(
    "does not add a person who has %s on another list since",
    async (status) => {
      await ask(await openForm());
      const other = (await service.call("POST", "/mailing-lists", { name: "Other" })).body.data.id;
      await service.call("POST", `/mailing-lists/${other}/subscribers`, { email, status });
      await db.run(sql`delete from suppression_entries where normalized_value = ${email}`);
      expect((await post(await linkTo())).status).toBe(409);
      expect(await member()).toBeUndefined();
      await ask(await openForm());
      expect(await mailsTo(email)).toHaveLength(1);
    },
  );

  test("does not add a person who has been suppressed since", async () => {
    await ask(await openForm());
    const body = { name: "Stop", suppression_scope: "global" };
    const { id } = (await service.call("POST", "/suppression-lists", body)).body.data;
    await service.call("POST", `/suppression-lists/${id}/entries`, { entries: email });
    expect((await post(await linkTo())).status).toBe(409);
    expect(await member()).toBeUndefined();
  });

  test("expires after 48 hours", async () => {
    const url = await openForm();
    await ask(url);
    const link = await linkTo();
    clock.advance(48 * HOUR_MS);
    expect((await fetch(link)).status).toBe(404);
    expect((await post(link)).status).toBe(404);
    expect(await member()).toBeUndefined();
  });
});
