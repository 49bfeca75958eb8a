import { beforeAll, describe, expect, test } from "vitest";
import type { CheckFinding } from "#sending/check/campaign-check.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService({
  env: { SMS_GATEWAY_URL: "https://:key@sms.test/send#source=Shop", SMS_DEFAULT_COUNTRY: "DE" },
});
const { call, database, workspaceId } = service;
let list: string;

beforeAll(async () => {
  await verifyShop(database, workspaceId);
  list = await newList(database, workspaceId);
  await addPeople(database, workspaceId, list, [
    { email: "ada@example.test", first_name: "Ada", custom_fields: { phone: "0170 1234560" } },
    { email: "bob@example.test", first_name: "Bob", custom_fields: { phone: "+491701234561" } },
    { email: "cleo@example.test", custom_fields: { phone: "soon" } },
    { email: "dan@example.test" },
    { email: "eve@example.test", custom_fields: { phone: "+491701234562" } },
  ]);
  for (const [field_name, field_label] of [
    ["phone", "Telephone"],
    ["work", "At work"],
  ]) {
    const field = { field_name, field_label, field_type: "text" };
    expect((await call("POST", `/mailing-lists/${list}/custom-fields`, field)).status).toBe(201);
  }
  const suppressions = await call("POST", "/suppression-lists", { name: "Never" });
  await call("POST", `/suppression-lists/${suppressions.body.data.id}/entries`, {
    entries: "eve@example.test",
  });
});

async function draft(change: object = {}): Promise<string> {
  const { status, body } = await call("POST", "/campaigns", {
    name: "June",
    subject: "June",
    from_email: "news@shop.test",
    mailing_list_id: list,
    message_type: "sms",
    phone_field_name: "phone",
    text_content: "Hello {{ first_name }}. Stop: {{ unsubscribe_url }}",
    ...change,
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.data.id;
}

describe("the preview of an SMS", () => {
  const render = async (order: object) => {
    const { status, body } = await call("POST", "/render", order);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  };

  test("is its text for one person, with the number and the length of what is sent", async () => {
    const sms = await render({ campaign_id: await draft() });
    expect(sms).toMatchObject({
      html: "",
      preview_text: expect.stringMatching(/^Hello /),
      headers: [],
      html_size: 0,
      derived: { html: false, text: false, unsubscribe_footer: false },
      person: { email: "ada@example.test" },
      sms: { to: "+491701234560", alphabet: "GSM-7", parts: 1 },
    });
    expect(sms.text).toMatch(/^Hello Ada\. Stop: http.*\/u\/test$/);
    // The link that is sent has a token in place of the word "test".
    expect(sms.sms.characters).toBeGreaterThan(sms.text.length + 30);
    const page = await fetch(sms.preview.url);
    expect(await page.text()).toContain("Hello Ada. Stop: ");
  });

  test("shows edits that are not stored, and the number of another field", async () => {
    const campaign_id = await draft();
    const edited = { campaign_id, text_content: "Grüße, Łukasz", phone_field_name: "work" };
    const sms = await render(edited);
    expect(sms).toMatchObject({ text: "Grüße, Łukasz", sms: { to: null, alphabet: "UCS-2", parts: 1 } });
    expect(sms.sms.characters).toBe(13);
    expect((await render({ ...edited, text_content: "Ł".repeat(71) })).sms.parts).toBe(2);
  });

  test("shows markup in it as text", async () => {
    const sms = await render({ campaign_id: await draft({ text_content: "<b onclick=x>1 < 2</b>" }) });
    expect(sms.text).toBe("<b onclick=x>1 < 2</b>");
    expect(await (await fetch(sms.preview.url)).text()).toContain("&lt;b onclick=x&gt;1 &lt; 2&lt;/b&gt;");
  });

  test("of a broken merge tag is refused with its place", async () => {
    const order = { campaign_id: await draft(), text_content: "Hello {{ first_name" };
    const { status, body } = await call("POST", "/render", order);
    expect([status, body.details[0].field]).toEqual([400, "text_content"]);
  });
});

describe("the check of an SMS", () => {
  const check = async (id: string) => {
    const { status, body } = await call("POST", `/campaigns/${id}/check`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data;
  };
  const codes = (findings: readonly CheckFinding[]) => findings.map(({ code }) => code);

  test("counts who gets it: people without a number and those who are suppressed do not", async () => {
    const answer = await check(await draft());
    expect(answer.audience).toEqual({
      total: 5,
      will_send: 2,
      excluded: { total: 3, suppressed: 1, unsubscribed: 0, invalid: 2 },
      is_estimate: false,
    });
    expect(answer).toMatchObject({
      counts: { error: 0, warning: 0 },
      cost: null,
      duration: null,
      links: null,
      images: null,
      spam: null,
      html_size: null,
      sms: { alphabet: "GSM-7", parts: 1 },
      preview_text: expect.stringMatching(/^Hello /),
    });
  });

  test("is what sending counts", async () => {
    const id = await draft();
    const scheduled_at = new Date(service.clock.now().getTime() + 3_600_000).toISOString();
    const { body } = await call("POST", `/campaigns/${id}/send`, { scheduled_at });
    expect(body.data.total_recipients).toBe(2);
  });

  test("finds an alphabet that makes it longer, several parts, and a missing unsubscribe link", async () => {
    const { findings } = await check(await draft({ text_content: `Hi\n${"Ł".repeat(80)}` }));
    expect(codes(findings)).toEqual(
      expect.arrayContaining(["sms_alphabet", "sms_parts", "unsubscribe_missing"]),
    );
    expect(findings.find(({ code }: CheckFinding) => code === "sms_alphabet")).toMatchObject({
      field: "text_content",
      line: 2,
      column: 1,
    });
  });

  test("has an error for a text that is too long, for none, and for numbers that are not there", async () => {
    expect(codes((await check(await draft({ text_content: "x".repeat(1_600) }))).findings)).toContain(
      "sms_too_long",
    );
    expect(codes((await check(await draft({ text_content: null }))).findings)).toContain("content_empty");
    const nowhere = await check(await draft({ phone_field_name: "work" }));
    expect(nowhere.audience).toMatchObject({ will_send: 0, excluded: { suppressed: 1, invalid: 4 } });
    expect(nowhere.findings[0]).toMatchObject({
      severity: "error",
      code: "audience_empty",
      message: expect.stringContaining("no valid telephone number in work"),
    });
  });
});
