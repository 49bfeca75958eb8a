import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { verifyShop } from "../../../test/support/campaigns.ts";
import { startService } from "../../../test/support/service.ts";

const service = await startService({ env: { PLATFORM_FROM: "hello@posthaste.test" } });
const { database: db, clock } = service;
const HOUR = 3_600_000;

let list: string;
let email: string;
let count = 0;
beforeEach(async () => {
  count += 1;
  email = `ada${count}@example.test`;
  list = (await service.call("POST", "/mailing-lists", { name: `Weekly <${count}>` })).body.data.id;
});

const form = (method: "GET" | "PUT", body?: unknown, id = list) =>
  service.call(method, `/mailing-lists/${id}/signup-form`, body);
const openForm = async (): Promise<string> => (await form("PUT", { is_active: true })).body.data.url;

const post = (url: string, fields: Readonly<Record<string, string>> = {}) =>
  fetch(url, { method: "POST", body: new URLSearchParams(fields) });
const ask = (url: string, fields: Readonly<Record<string, string>> = {}) => post(url, { email, ...fields });

interface Mail {
  readonly from_email: string;
  readonly source: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** Oldest first. */
const mailsTo = (address: string): Promise<Mail[]> =>
  db.rows(sql`
    select m.from_email, m.source, m.subject, c.html, c.text
    from messages m join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
    where m.localpart || '@' || m.domain = ${address} order by m.id`);

async function linkTo(address = email): Promise<string> {
  const mail = (await mailsTo(address)).at(-1);
  return /http\S+\/s\/confirm\/[\w-]{64}/.exec(mail?.text ?? "")?.[0] ?? "no link";
}

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
  test("is closed until it is opened, and closed again its page and its links are gone", async () => {
    expect((await form("GET")).body.data).toEqual({ mailing_list_id: list, is_active: false, url: null });
    const url = await openForm();
    expect((await form("GET")).body.data).toEqual({ mailing_list_id: list, is_active: true, url });
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

  test("goes with its list, and is nobody else's", async () => {
    const url = await openForm();
    const { key } = await service.newWorkspace();
    const path = `/mailing-lists/${list}/signup-form`;
    expect((await service.call("GET", path, undefined, { key })).status).toBe(404);
    expect((await service.call("PUT", path, { is_active: true }, { key })).status).toBe(404);
    await service.call("DELETE", `/mailing-lists/${list}`);
    expect((await fetch(url)).status).toBe(404);
  });

  test("is not opened while the list requires what it does not ask for", async () => {
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

  test("is closed while the list requires more than it asks for, and nobody is mailed", async () => {
    const url = await openForm();
    const field = { field_name: "city", field_label: "City", field_type: "text", is_required: true };
    const path = `/mailing-lists/${list}/custom-fields`;
    const { id } = (await service.call("POST", path, field)).body.data;
    expect([(await fetch(url)).status, (await ask(url)).status]).toEqual([404, 404]);
    expect(await mailsTo(email)).toEqual([]);
    await service.call("PUT", `${path}/${id}`, { is_required: false });
    expect((await fetch(url)).status).toBe(200);
  });

  test("opens by nothing but its own address", async () => {
    const url = await openForm();
    const token = url.slice(url.lastIndexOf("/") + 1);
    const changed = (token.startsWith("A") ? "B" : "A") + token.slice(1);
    for (const other of [changed, token.slice(1), `${token}A`, "", `confirm/${token}`]) {
      expect((await fetch(url.replace(token, other))).status).toBe(404);
    }
  });
});

describe("who fills it in", () => {
  test("gets one mail with nothing in it that they typed, and is on the list when they pressed its button", async () => {
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
    expect((await post(await linkTo(), { first_name: "Evil", last_name: "two\nlines" })).status).toBe(200);
    expect(await member()).toBeUndefined();
    await post(await linkTo(), { first_name: "Evil", last_name: "Hopper" });
    expect(await member()).toMatchObject({ first_name: "Grace", last_name: "Hopper" });
  });

  test("from a list with a sender of its own gets it from there", async () => {
    await verifyShop(db, service.workspaceId);
    await service.call("PUT", `/mailing-lists/${list}`, {
      from_email: "news@shop.test",
      from_name: "The Shop",
    });
    await ask(await openForm());
    expect(await mailsTo(email)).toMatchObject([{ from_email: "news@shop.test" }]);
  });

  test("with no address, or one that is none, is told so and gets no mail", async () => {
    const url = await openForm();
    for (const typed of ["", "ada", "ada@", "a@b.test\r\nBcc: c@d.test", `${"a".repeat(300)}@example.test`]) {
      const answer = await post(url, { email: typed });
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('role="alert"')]);
    }
    expect((await fetch(url, { method: "POST", body: JSON.stringify({ email }) })).status).toBe(400);
    expect(await mailsTo(email)).toEqual([]);
  });

  test("as no form at all, is told so by the page", async () => {
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

  test("in anything but UTF-8 is told so by the page, and no address is mailed that nobody typed", async () => {
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

  test("and in the field that people do not see, was a program", async () => {
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

  test("to who is on the list", async () => {
    await add();
    await same(await openForm());
  });

  test.each(["bounced", "complained"])("to who %s", async (status) => {
    await setStatus(await add(), status);
    await same(await openForm());
  });

  test("to who is suppressed", async () => {
    const { body } = await service.call("POST", "/suppression-lists", { name: "Never" });
    await service.call("POST", `/suppression-lists/${body.data.id}/entries`, { entries: email });
    await same(await openForm());
  });

  test("while the workspace is suspended, and its links wait", async () => {
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

describe("nobody's mailbox is filled", () => {
  test("an address gets one mail an hour for a list, however it is spelled, and five a day", async () => {
    const url = await openForm();
    const [local = "", domain = ""] = email.split("@");
    const spellings = [email, email.toUpperCase(), `${local}+x@${domain}`, ` ${email} `];
    for (const spelling of spellings) await post(url, { email: spelling });
    expect(await mailsTo(email)).toHaveLength(1);
    expect(await mailsTo(`${local}+x@${domain}`)).toEqual([]);
    for (let hour = 1; hour <= 6; hour++) {
      clock.advance(HOUR + 1_000);
      await ask(url);
    }
    expect(await mailsTo(email)).toHaveLength(5);
    clock.advance(24 * HOUR);
    await ask(url);
    expect(await mailsTo(email)).toHaveLength(6);
  });

  test("of many requests at once one is mailed", async () => {
    const url = await openForm();
    await Promise.all(Array.from({ length: 20 }, () => ask(url)));
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test("a list mails 200 an hour", async () => {
    const url = await openForm();
    await db.run(sql`
      insert into signup_requests (workspace_id, id, mailing_list_id, email, requested_at)
      select ${service.workspaceId}, gen_random_uuid(), ${list}, 'p' || n || '@many.test', ${clock.now()}
      from generate_series(1, 199) n`);
    await post(url, { email: "first@many.test" });
    await post(url, { email: "second@many.test" });
    expect(await mailsTo("first@many.test")).toHaveLength(1);
    expect(await mailsTo("second@many.test")).toEqual([]);
  });
});

describe("a link", () => {
  test("brings back who had left", async () => {
    await setStatus(await add(), "unsubscribed");
    await ask(await openForm());
    expect((await member()).status).toBe("unsubscribed");
    await post(await linkTo());
    expect((await member()).status).toBe("active");
  });

  test("works once: who leaves afterwards has left", async () => {
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

  test("that was used says so to who is still on the list", async () => {
    await ask(await openForm());
    const link = await linkTo();
    await post(link);
    expect(await (await fetch(link)).text()).toContain("You are subscribed");
  });

  test("does not bring back who bounced or complained meanwhile", async () => {
    await ask(await openForm());
    const link = await linkTo();
    await setStatus(await add(), "complained");
    expect((await post(link)).status).toBe(409);
    expect((await member()).status).toBe("complained");
  });

  test.each(["bounced", "complained"])("adds nobody who %s on another list meanwhile", async (status) => {
    await ask(await openForm());
    const other = (await service.call("POST", "/mailing-lists", { name: "Other" })).body.data.id;
    await service.call("POST", `/mailing-lists/${other}/subscribers`, { email, status });
    await db.run(sql`delete from suppression_entries where normalized_value = ${email}`);
    expect((await post(await linkTo())).status).toBe(409);
    expect(await member()).toBeUndefined();
    await ask(await openForm());
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test("adds nobody who was suppressed meanwhile", async () => {
    await ask(await openForm());
    const body = { name: "Stop", suppression_scope: "global" };
    const { id } = (await service.call("POST", "/suppression-lists", body)).body.data;
    await service.call("POST", `/suppression-lists/${id}/entries`, { entries: email });
    expect((await post(await linkTo())).status).toBe(409);
    expect(await member()).toBeUndefined();
  });

  test("lapses after 48 hours", async () => {
    const url = await openForm();
    await ask(url);
    const link = await linkTo();
    clock.advance(48 * HOUR);
    expect((await fetch(link)).status).toBe(404);
    expect((await post(link)).status).toBe(404);
    expect(await member()).toBeUndefined();
  });
});
