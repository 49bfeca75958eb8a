import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import sql from "sql-template-tag";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { shareOfThisThread } from "#test/support/cost.ts";
import { png } from "#test/support/pictures.ts";
import { startService } from "#test/support/service.ts";
import type { CampaignCheck, CheckFinding } from "./campaign-check.ts";

const web = createServer((_request, response) =>
  response.writeHead(200, { "content-type": "image/png" }).end("x"),
);
await once(web.listen(0, "127.0.0.1"), "listening");
afterAll(() => web.close());
const site = `http://shop.test.co:${(web.address() as AddressInfo).port}`;
const service = await startService({
  env: { ALLOW_PRIVATE_LINKS: "true" },
  zone: { "shop.test.co": { A: ["127.0.0.1"] } },
});
const { call, database, workspaceId } = service;
let list: string;

beforeAll(async () => {
  await verifyShop(database, workspaceId);
  list = await newList(database, workspaceId);
  await addPeople(database, workspaceId, list, [{ email: "ada@shop.test", first_name: "Ada" }]);
});

const sound =
  "<!doctype html><html><body><p>Our summer sale begins on Monday with new bicycles.</p>\n" +
  `<p><a href="${site}/sale">To the sale</a> <img src="${site}/a.png" alt="A bicycle" width="90"></p>` +
  '<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p></body></html>';

async function draft(change: object = {}) {
  const body = {
    name: "June",
    subject: "Hi {{ first_name }}",
    from_email: "news@shop.test",
    mailing_list_id: list,
    html_content: sound,
    ...change,
  };
  const answer = await call("POST", "/campaigns", body);
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data.id as string;
}

async function check(id: string): Promise<CampaignCheck> {
  const { status, body } = await call("POST", `/campaigns/${id}/check`);
  expect(status, body.error).toBe(200);
  return body.data;
}

const checkHtml = async (html_content: string, change: object = {}) =>
  (await check(await draft({ html_content, ...change }))).findings;
const codes = (findings: readonly CheckFinding[]) => findings.map(({ code }) => code);
const found = (findings: readonly CheckFinding[], code: string) =>
  findings.find((finding) => finding.code === code) ??
  expect.fail(`no ${code} in ${codes(findings).join(", ")}`);

describe("the content", () => {
  test("of a sound mail has no error, and shows subject, preview text and sizes", async () => {
    const answer = await check(await draft());
    expect(answer.counts.error, JSON.stringify(answer.findings)).toBe(0);
    expect(codes(answer.findings).toSorted()).not.toContain("unsubscribe_added");
    expect(answer.subject).toBe("Hi Ada");
    expect(answer.preview_text).toMatch(/^Our summer sale begins on Monday/);
    expect(answer.size).toBeGreaterThan(answer.html_size ?? 0);
    expect(answer.html_size).toBeGreaterThan(sound.length);
    expect(answer.unchecked).toEqual([]);
  });

  test("of a mail with a deleted picture of the workspace names it where it stands, and not those that exist", async () => {
    const upload = async (name: string): Promise<{ readonly id: string; readonly url: string }> => {
      const form = new FormData();
      form.append("file", new Blob([new Uint8Array(png(20, name.length))]), name);
      return (await call("POST", "/media", form)).body.data;
    };
    const [kept, lost] = [await upload("kept.png"), await upload("lost-one.png")];
    await call("DELETE", `/media/${lost.id}`);
    const image = (url: string) => `<img src="${url}" alt="" width="9">`;
    const html_content = `${sound}\n${image(kept.url)}\n${image(lost.url)}${image(lost.url)}`;
    const findings = await checkHtml(html_content);
    expect(findings.filter(({ code }) => code === "image_missing")).toMatchObject([
      { severity: "error", url: new URL(lost.url).pathname, line: 4, occurrences: 2 },
    ]);
  });

  test.each([
    ["double quotes", '<a href="https://shop.co/sale?a=1&amp;b=2">The sale</a>'],
    ["single quotes", "<a href='https://shop.co/sale'>The sale</a>"],
    ["no quotes", "<a class=x href=https://shop.co/sale>The sale</a>"],
    ["a merge tag", '<a href="{{ unsubscribe_url }}">The sale</a>'],
  ])("of a link with its address in %s has only its words in the preview text", async (_, link) => {
    const { preview_text } = await check(
      await draft({ html_content: `<p>What is new &lt; old</p>${link} now` }),
    );
    expect(preview_text).toMatch(/^What is new < old The sale now(?: Unsubscribe)?/);
    expect(preview_text).not.toContain("http");
  });

  test("with the address of a site in its words has it in the preview text", async () => {
    const html_content = '<p>Read <a href="https://shop.co/x">https://shop.co/x</a> today</p>';
    expect((await check(await draft({ html_content }))).preview_text).toMatch(
      /^Read https:\/\/shop\.co\/x today/,
    );
  });

  test.each([
    ['<a href="">x</a>', "link_empty", "error"],
    ['<a href="#">x</a>', "link_empty", "error"],
    ['<a href="javascript:alert(1)">x</a>', "link_scheme", "error"],
    ['<a href="/sale">x</a>', "link_incomplete", "error"],
    ['<a href="https://yourdomain.com/x">x</a>', "link_placeholder", "warning"],
    ['<a href="https://www.example.com/x">x</a>', "link_placeholder", "warning"],
    ['<a href="http://shop.co/x">x</a>', "link_http", "info"],
    ['<a href="https://192.0.2.1/x">x</a>', "link_to_ip_address", "warning"],
    ['<a href="https://bit.ly/x">x</a>', "link_shortened", "warning"],
    ['<a href="https://shop.co/x"> </a>', "link_without_text", "warning"],
    ['<a href="https://evil.co/x">www.mybank.com</a>', "link_misleading", "warning"],
    ['<a href="http://evil.co/x">www.mybank.com</a>', "link_misleading", "warning"],
    ['<a href="https://192.0.2.1/x">www.mybank.com</a>', "link_misleading", "warning"],
    ['<a href="https://evil.example/x">www.mybank.com</a>', "link_misleading", "warning"],
    ['<a href="http://192.0.2.1/x">x</a>', "link_http", "info"],
    ["<img alt=x>", "image_without_source", "error"],
    ['<img src="cid:logo" alt=x>', "image_missing", "error"],
    ['<img src="a.png" alt=x>', "image_incomplete", "error"],
    ['<img src="http://shop.co/a.png" alt=x>', "image_http", "warning"],
    ['<img src="data:image/png;base64,AAAA" alt=x>', "image_embedded", "warning"],
    ['<img src="https://shop.co/a.png">', "image_without_alt", "warning"],
    ["<script>alert(1)</script>", "script_removed", "warning"],
    ["{{ first_nmae }}", "merge_tag_unknown", "warning"],
    ["{{ first_name", "content_invalid", "error"],
  ])("with %s has the finding %s at its line and column", async (part, code, severity) => {
    const finding = found(await checkHtml(`<p>Hello</p>\n  ${part}`), code);
    const column = part.startsWith("{{ first_nmae") ? 6 : 3;
    expect(finding).toMatchObject({ severity, field: "html_content", line: 2 });
    if (!code.startsWith("content_")) expect(finding.column).toBe(column);
  });

  test("with CSS that mail programs ignore names them, at line and column", async () => {
    const finding = found(
      await checkHtml('<p>Hello</p>\n<p style="color:red;border-radius:4px">x</p>'),
      "client_support",
    );
    expect(finding).toMatchObject({
      line: 2,
      column: 21,
      url: "https://www.caniemail.com/features/css-border-radius/",
    });
    expect(finding.mail_programs).toContain("Outlook (Windows)");
  });

  test("joins equal findings, and counts them", async () => {
    const finding = found(
      await checkHtml('<img src="https://a.co/1.png">\n<img src="https://a.co/2.png">'),
      "image_without_alt",
    );
    expect(finding).toMatchObject({ line: 1, column: 1, occurrences: 2, url: "https://a.co/1.png" });
  });

  test("with merge tags in addresses, local links and mail addresses has no finding about links", async () => {
    const html =
      '<a href="{{ unsubscribe_url }}">Leave</a> <a href="#top">Top</a> <a href="mailto:a@shop.co">Mail</a>' +
      '<a href="https://shop.co/?q={{ first_name }}">shop.co</a> <a href="https://www.shop.co/a">shop.co/a</a>';
    const { body } = await call("POST", "/check", { html_content: html, without: ["links"] });
    expect(codes(body.data.findings).filter((code) => code.startsWith("link_"))).toEqual([]);
  });

  test("names a missing text part, the footer that is added, a long subject and a mail that Gmail clips", async () => {
    const findings = await checkHtml(`<p>Hello</p>${"<p>A line of news for you</p>".repeat(4_000)}`, {
      subject: `SALE ${"AGAIN ".repeat(20)}`,
    });
    expect(codes(findings)).toEqual(
      expect.arrayContaining(["text_derived", "unsubscribe_added", "subject_long", "subject_in_capitals"]),
    );
    expect(found(findings, "html_clipped").severity).toBe("warning");
  });

  test("of images alone is named", async () => {
    expect(
      codes(await checkHtml('<img src="https://shop.co/a.png" alt="Sale">{{ unsubscribe_url }}')),
    ).toContain("images_only");
  });

  test("of a megabyte of links is answered in time, and leaves other requests their answers", async () => {
    const html = `${'<a href="https://shop.co/">shop.co</a><img src="x">'.repeat(8_000)}${"x ".repeat(300_000)}`;
    const id = await draft({ html_content: html });
    const share = await shareOfThisThread(async () => {
      const { findings } = await check(id);
      expect(found(findings, "image_incomplete").occurrences).toBe(8_000);
    });
    expect(share).toBeLessThan(0.5);
  });
});

describe("the settings", () => {
  test("name a sender that is not verified any more, and what its domain lacks", async () => {
    const id = await draft();
    await database.run(sql`update campaigns set from_email = 'a@other.test' where id = ${id}`);
    const { findings } = await check(id);
    expect(found(findings, "sender_not_verified")).toMatchObject({ severity: "error", field: "from_email" });
    expect(codes(findings)).toContain("domain_missing");
    expect((await call("POST", `/campaigns/${id}/send`)).status).toBe(403);
  });

  test("name a tracking domain that was deleted", async () => {
    const id = await draft();
    await database.run(sql`
      update campaigns set url_domain_id = '018f0000-0000-7000-8000-000000000000' where id = ${id}`);
    expect(found((await check(id)).findings, "setting_invalid").field).toBe("url_domain_id");
  });
});

describe("the audience", () => {
  test("is counted by the rules of sending: those who are left out by reason", async () => {
    const many = await newList(database, workspaceId);
    await addPeople(
      database,
      workspaceId,
      many,
      ["a", "b", "c", "d", "e"].map((name) => ({ email: `${name}@many.test` })),
    );
    const suppressions = await call("POST", "/suppression-lists", { name: "Never" });
    await call("POST", `/suppression-lists/${suppressions.body.data.id}/entries`, { entries: "a@many.test" });
    await call("POST", `/mailing-lists/${many}/subscribers`, {
      email: "f@many.test",
      status: "unsubscribed",
    });
    const id = await draft({ mailing_list_id: many });
    const { audience, cost } = await check(id);
    expect(audience).toEqual({
      total: 6,
      will_send: 4,
      excluded: { total: 2, suppressed: 1, unsubscribed: 1, invalid: 0 },
      is_estimate: false,
    });
    expect(cost).toMatchObject({ included: 4, charged: 0, uncovered: 0, currency: "USD" });
    expect(Number(cost?.amount)).toBe(0);
  });

  test("without anyone who can get the mail is an error, as for send", async () => {
    const id = await draft({ mailing_list_id: await newList(database, workspaceId) });
    const answer = await check(id);
    expect(found(answer.findings, "audience_empty").severity).toBe("error");
    expect(answer.audience?.will_send).toBe(0);
    expect((await call("POST", `/campaigns/${id}/send`)).status).toBe(400);
  });

  test("takes as long as the last campaigns, or as the hourly cap needs", async () => {
    const id = await draft();
    expect((await check(id)).duration).toBeNull();
    const sent = await draft();
    await database.run(sql`
      update campaigns set status = 'sent', total_recipients = 1000, sent_at = now() - interval '2000 seconds',
        completed_at = now() where id = ${sent}`);
    // 1000 messages in 2000 seconds, and one to send.
    expect((await check(id)).duration).toEqual({ seconds: 2, limited_by: "speed" });
    const many = await newList(database, workspaceId);
    await addPeople(
      database,
      workspaceId,
      many,
      Array.from({ length: 7 }, (_, at) => ({ email: `${at}@capped.test` })),
    );
    await database.run(sql`update workspaces set hourly_cap = 3 where id = ${workspaceId}`);
    const capped = (await check(await draft({ mailing_list_id: many }))).duration;
    await database.run(sql`update workspaces set hourly_cap = null where id = ${workspaceId}`);
    // Three now, three in the next hour, the last one an hour later.
    const untilNextHour = 3_600 - ((service.clock.now().getTime() / 1_000) % 3_600);
    expect(capped?.limited_by).toBe("hourly_cap");
    expect(Math.abs((capped?.seconds ?? 0) - untilNextHour - 3_600)).toBeLessThan(2);
  });
});

describe("content that is not stored", () => {
  const checkContent = async (body: object, options = {}) => {
    const answer = await call("POST", "/check", body, options);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.data as CampaignCheck;
  };

  test("is checked alone, without audience and cost, and nothing is stored", async () => {
    const before = (await call("GET", "/campaigns")).body.total;
    const answer = await checkContent({ subject: "HELLO EVERYBODY", html_content: '<a href="">x</a>' });
    expect(codes(answer.findings)).toEqual(expect.arrayContaining(["link_empty", "subject_in_capitals"]));
    expect(codes(answer.findings)).not.toContain("sender_not_verified");
    expect(answer).toMatchObject({ audience: null, cost: null, duration: null, unchecked: [] });
    expect((await call("GET", "/campaigns")).body.total).toBe(before);
  });

  test("stands in place of the campaign's own, with its audience and sender", async () => {
    const campaign_id = await draft();
    const before = (await call("GET", `/campaigns/${campaign_id}`)).body.data;
    const order = { campaign_id, subject: "Edited", html_content: "<img alt=x>", from_email: "a@other.test" };
    const answer = await checkContent(order);
    expect(answer).toMatchObject({ subject: "Edited", audience: { will_send: 1 } });
    expect(codes(answer.findings)).toEqual(
      expect.arrayContaining(["image_without_source", "sender_not_verified"]),
    );
    expect((await call("GET", `/campaigns/${campaign_id}`)).body.data).toEqual(before);
    expect((await checkContent({ ...order, without: ["audience"] })).audience).toBeNull();
  });

  test("of an autoresponder needs the permission to read it, here and to render", async () => {
    const created = await call("POST", "/autoresponders", {
      name: "Welcome",
      mailing_list_id: list,
      from_email: "news@shop.test",
      trigger: { type: "subscribed" },
      steps: [{ delay: { days: 1 }, subject: "Welcome", html_content: '<a href="">x</a>' }],
    });
    const order = { autoresponder_id: created.body.data.id };
    expect(codes((await checkContent(order)).findings)).toContain("link_empty");
    const key = await service.newKey(["campaigns:read"]);
    for (const path of ["/check", "/render"]) {
      const { status, body } = await call("POST", path, order, { key });
      expect([status, body.required_scopes]).toEqual([403, ["autoresponders:read"]]);
    }
  });

  test.each([
    [{ campaign_id: "018f0000-0000-7000-8000-000000000000" }, "campaign_id"],
    [{ step_id: "018f0000-0000-7000-8000-000000000000" }, "autoresponder_id"],
    [{ subject: "Hi", without: ["everything"] }, "without[0]"],
    [{ subject: "Hi", from_email: "nobody" }, "from_email"],
  ])("with %j is refused, and %s is named", async (body, field) => {
    const answer = await call("POST", "/check", body);
    expect([answer.status, answer.body.details?.[0]?.field]).toEqual([400, field]);
  });
});

test("what a campaign costs is shown only to those who may see the balance", async () => {
  const id = await draft();
  const key = await service.newKey(["campaigns:read"]);
  const { body } = await call("POST", `/campaigns/${id}/check`, undefined, { key });
  expect([body.data.cost, body.data.audience.will_send]).toEqual([null, 1]);
  expect(codes(body.data.findings)).not.toContain("messages_not_covered");
  expect((await check(id)).cost).not.toBeNull();
});

test("a campaign of another workspace is not found, and nothing is changed", async () => {
  const id = await draft();
  const { key } = await service.newWorkspace();
  expect((await call("POST", `/campaigns/${id}/check`, undefined, { key })).status).toBe(404);
  const before = (await call("GET", `/campaigns/${id}`)).body.data;
  await check(id);
  expect((await call("GET", `/campaigns/${id}`)).body.data).toEqual(before);
});

test("an SMS without a gateway has an error, as sending it has", async () => {
  const sms = { message_type: "sms", phone_field_name: "phone", text_content: "Hi", html_content: null };
  const id = await draft(sms);
  expect(found((await check(id)).findings, "sms_gateway_missing").severity).toBe("error");
  expect((await call("POST", `/campaigns/${id}/send`)).status).toBe(400);
});
