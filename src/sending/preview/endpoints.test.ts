import { randomBytes } from "node:crypto";
import sql from "sql-template-tag";
import { beforeAll, describe, expect, test } from "vitest";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { shareOfThisThread } from "#test/support/cost.ts";
import { png } from "#test/support/pictures.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, clock, workspaceId } = service;
let list: string;
let ada: string;

beforeAll(async () => {
  await verifyShop(database, workspaceId);
  list = await newList(database, workspaceId);
  await addPeople(database, workspaceId, list, [
    { email: "ada@example.test", first_name: "Ada", custom_fields: { city: "Rome" } },
  ]);
  await call("POST", `/mailing-lists/${list}/custom-fields`, {
    field_name: "city",
    field_label: "City",
    field_type: "text",
  });
  const row = await database.row<{ id: string }>(
    sql`select id from subscribers where email = 'ada@example.test'`,
  );
  ada = row?.id ?? expect.fail("no subscriber");
});

const render = async (body: object, options = {}) => {
  const answer = await call("POST", "/render", body, options);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data;
};
const draft = async (change: object = {}) => {
  const body = {
    name: "June",
    subject: "Hi {{ first_name }}",
    from_email: "news@shop.test",
    mailing_list_id: list,
    html_content: '<p>Hello {{ first_name }} from {{ city }}, <a href="https://shop.test/sale">sale</a></p>',
    ...change,
  };
  const answer = await call("POST", "/campaigns", body);
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data.id as string;
};

describe("the person", () => {
  test("is the first of the audience, the given subscriber, or a made-up one with a value in every field", async () => {
    const campaign_id = await draft();
    for (const body of [{ campaign_id }, { campaign_id, subscriber_id: ada }]) {
      const mail = await render(body);
      expect([mail.subject, mail.person.subscriber_id]).toEqual(["Hi Ada", ada]);
      expect(mail.html).toContain('Hello Ada from Rome, <a href="https://shop.test/sale">sale</a>');
      expect(mail.text).toContain("Hello Ada from Rome");
      expect(mail.preview_text).toMatch(/^Hello Ada from Rome, sale/);
    }
    const sample = await render({ campaign_id, sample: true });
    expect(sample.person).toMatchObject({ subscriber_id: null, email: "ada@example.com" });
    expect(sample.html).toContain("Hello Ada from City");
  });

  test("is no real one for a key that may not read subscribers", async () => {
    const campaign_id = await draft();
    const key = await service.newKey(["campaigns:read"]);
    expect((await render({ campaign_id }, { key })).person.subscriber_id).toBeNull();
    const refused = await call("POST", "/render", { campaign_id, subscriber_id: ada }, { key });
    expect([refused.status, refused.body.required_scopes]).toEqual([403, ["subscribers:read"]]);
  });
});

describe("what is rendered", () => {
  test("is the campaign with the given fields in place of its own, and nothing is stored", async () => {
    const campaign_id = await draft();
    const before = (await call("GET", `/campaigns/${campaign_id}`)).body.data;
    const mail = await render({
      campaign_id,
      subject: "Edited",
      html_content: null,
      text_content: "Only a text",
    });
    expect(mail).toMatchObject({
      subject: "Edited",
      preview_text: expect.stringMatching(/^Only a text(?: |$)/),
      derived: { html: true, text: false, unsubscribe_footer: true },
    });
    expect(mail.html).toContain("Only a text");
    expect((await call("GET", `/campaigns/${campaign_id}`)).body.data).toEqual(before);
  });

  test("may be content alone, of a sender that is not verified yet", async () => {
    const mail = await render({
      subject: "Grüße",
      html_content: "<p>Hi {{ first_name }}</p>",
      from_email: "me@new.test",
    });
    expect([mail.subject, mail.from]).toEqual(["Grüße", { email: "me@new.test", name: null }]);
    const fields = Object.fromEntries(
      mail.headers.map(({ name, value }: Record<string, string>) => [name, value]),
    );
    expect(fields).toMatchObject({
      From: "me@new.test",
      Subject: "=?UTF-8?B?R3LDvMOfZQ==?=",
      Precedence: "bulk",
    });
    expect(Object.keys(fields)).toContain("List-Unsubscribe");
    expect(Object.keys(fields)).not.toContain("DKIM-Signature");
  });

  test("may be a step of an autoresponder", async () => {
    const made = await call("POST", "/autoresponders", {
      name: "Welcome",
      mailing_list_id: list,
      from_email: "news@shop.test",
      trigger: { type: "subscribed" },
      steps: [1, 2].map((n) => ({
        delay: { days: n },
        subject: `Day ${n}`,
        html_content: "<p>Hi {{ first_name }}</p>",
      })),
    });
    const { id: autoresponder_id, steps } = made.body.data;
    expect((await render({ autoresponder_id })).subject).toBe("Day 1");
    const second = await render({ autoresponder_id, step_id: steps[1].id });
    expect([second.subject, second.person.subscriber_id]).toEqual(["Day 2", ada]);
  });

  test("counts attachments in its size without reading them", async () => {
    const file = {
      filename: "a.pdf",
      content_type: "application/pdf",
      content: randomBytes(300_000).toString("base64"),
    };
    const [plain, heavy] = [await draft(), await draft({ attachments: [file] })];
    const sizes = [await render({ campaign_id: plain }), await render({ campaign_id: heavy })].map(
      ({ size }) => size,
    );
    // Base64 in lines of 76 characters.
    expect((sizes[1] ?? 0) - (sizes[0] ?? 0)).toBeGreaterThan(300_000 * 1.35);
    expect((sizes[1] ?? 0) - (sizes[0] ?? 0)).toBeLessThan(300_000 * 1.4);
  });

  test.each([
    [{ html_content: "<p>{{ first_name </p>" }, "html_content"],
    [{}, "html_content"],
    [{ html_content: "<p>Hi</p>", from_email: "nobody" }, "from_email"],
    [{ html_content: "<p>Hi</p>", custom_headers: "To: x" }, "custom_headers"],
    [{ html_content: "<p>Hi</p>", step_id: "018f0000-0000-7000-8000-000000000000" }, "autoresponder_id"],
    [{ campaign_id: "018f0000-0000-7000-8000-000000000000" }, "campaign_id"],
    [
      { html_content: "<p>Hi</p>", mailing_list_id: "018f0000-0000-7000-8000-000000000000" },
      "mailing_list_id",
    ],
    [{ html_content: "<p>Hi</p>", subscriber_id: "018f0000-0000-7000-8000-000000000000" }, "subscriber_id"],
  ])("is refused with the field at fault: %j", async (body, field) => {
    const { status, body: refusal } = await call("POST", "/render", { subject: "Hi", ...body });
    expect([status, refusal.details?.[0].field], refusal.error).toEqual([400, field]);
  });

  test("of another workspace is unknown", async () => {
    const { key } = await service.newWorkspace();
    const campaign_id = await draft();
    for (const body of [{ campaign_id }, { html_content: "<p>Hi</p>", subscriber_id: ada }]) {
      expect((await call("POST", "/render", body, { key })).status).toBe(400);
    }
  });

  test("of a megabyte leaves other requests their answers", async () => {
    const html_content = `<div>${"<p>Hello {{ first_name }}</p>".repeat(500)}${"<p>A line of <b>news</b></p>".repeat(12_000)}${"x ".repeat(300_000)}</div>`;
    // Reading the request and the response takes some tens of milliseconds; rendering takes a second.
    expect(await shareOfThisThread(() => render({ subject: "Large", html_content }))).toBeLessThan(0.5);
  });
});

describe("the page of a preview", () => {
  const page = (url: string) => fetch(url);

  test("shows the mail with its own images to anyone with the address, runs no script, and ends after five minutes", async () => {
    const image = {
      filename: "logo.png",
      content_type: "image/png",
      content: "iVBORw0KGgo=",
      disposition: "inline",
      content_id: "logo",
    };
    const campaign_id = await draft({
      html_content: '<p>Hello {{ first_name }} <img src="cid:logo" alt="Logo"></p><script>alert(1)</script>',
      attachments: [image],
    });
    const { preview } = await render({ campaign_id });
    const shown = await page(preview.url);
    const text = await shown.text();
    expect([shown.status, shown.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(text).toContain('Hello Ada <img src="data:image/png;base64,iVBORw0KGgo="');
    const policy = shown.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'/);
    expect(policy).not.toMatch(/script/);
    expect(shown.headers.get("cache-control")).toBe("private, no-store");
    clock.advance(5 * 60_000 + 1);
    expect((await page(preview.url)).status).toBe(404);
  });

  test("loads nothing of other hosts when its address says so, and shows embedded pictures", async () => {
    const { preview } = await render({ html_content: '<img src="https://pictures.example/a.png" alt="A">' });
    const policyOf = async (url: string) => (await page(url)).headers.get("content-security-policy") ?? "";
    expect(await policyOf(preview.url)).toContain("img-src https:");
    const blocked = await policyOf(`${preview.url}?remote=blocked`);
    expect(blocked).not.toMatch(/https?:/);
    expect(blocked).toContain("img-src data:");
    expect(await policyOf(`${preview.dark_url}&remote=blocked`)).toBe(blocked);
  });

  test("shows pictures of the workspace and of no one else without loading anything of other hosts", async () => {
    const form = new FormData();
    form.append("file", new Blob([new Uint8Array(png(20, 10))]), "logo.png");
    const { url } = (await call("POST", "/media", form)).body.data;
    await database.run(sql`
      insert into tracking_domains (workspace_id, id, domain, is_verified, created_at)
      values (${workspaceId}, gen_random_uuid(), 'links.shop.test', true, now()),
        (${workspaceId}, gen_random_uuid(), 'unused.shop.test', true, now())`);
    const later = url.replace(service.url, "https://links.shop.test");
    const foreign = url.replace(service.url, "https://foreign.example");
    const html_content = [url, later, foreign].map((src) => `<img src="${src}" alt="">`).join("");
    const { preview } = await render({ html_content });
    const shown = await page(`${preview.url}?remote=blocked`);
    const policy = shown.headers.get("content-security-policy") ?? "";
    expect(policy).toContain(`; img-src data: ${service.url}/media/ https://links.shop.test/media/; `);
    expect(await shown.text()).toContain(html_content);
  });

  test("in the dark theme applies the mail's own dark rules, and recolours a mail that has none", async () => {
    const own =
      "<style>@media (prefers-color-scheme: dark){p{color:#fff}} @media (prefers-color-scheme:light){p{color:#000}}</style>" +
      "<p>About prefers-color-scheme: dark</p>";
    const themed = await (await page((await render({ html_content: own })).preview.dark_url)).text();
    expect(themed).toContain("@media (min-width:0){p{color:#fff}} @media (max-width:0){p{color:#000}}");
    expect(themed).toContain("About prefers-color-scheme: dark");
    expect(themed).not.toContain("invert(1)");
    const plain = await (await page((await render({ html_content: "<p>Hi</p>" })).preview.dark_url)).text();
    expect(plain).toContain("invert(1)");
  });

  test("has an address that cannot be guessed or altered", async () => {
    const { preview } = await render({ html_content: "<p>Hi</p>" });
    const token = preview.url.split("/").at(-1);
    for (const wrong of [`${token}A`, token.replace(/.$/, token.endsWith("A") ? "B" : "A"), "x", "%00"]) {
      expect((await page(preview.url.replace(token, wrong))).status).toBe(404);
    }
  });

  test("is kept for the last twenty mails of a workspace", async () => {
    const urls: string[] = [];
    for (let at = 0; at < 21; at += 1)
      urls.push((await render({ html_content: `<p>${at}</p>` })).preview.url);
    expect([(await page(urls[0] ?? "")).status, (await page(urls[1] ?? "")).status]).toEqual([404, 200]);
  });
});
