import sql from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import { newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { CampaignSummary, NewCampaign } from "./campaign.ts";
import { type CampaignFieldName, campaignFieldNames, campaignFields } from "./campaign-fields.ts";

const service = await startService();
const { call, database, workspaceId } = service;

/** Two values of every field: a new field does not compile before it has them. */
type Values = Record<CampaignFieldName, unknown>;
let first: Values;
let second: Values;

const made = async (path: string, body: object) => {
  const answer = await call("POST", path, body);
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data.id as string;
};
const file = (name: string) => ({
  filename: name,
  content: "aGk=",
  content_type: "text/plain",
  disposition: "attachment",
  content_id: null,
  size: 2,
});
const rules = (value: string) => ({
  logic: "and",
  rules: [{ field: "email", operator: "contains", value }],
});

beforeAll(async () => {
  await verifyShop(database, workspaceId);
  await database.run(sql`update sending_domains set custom_return_path = true, return_path_verified = true`);
  const relay = { action: { relay_url: "smtp://relay.example.com:587" } };
  const list = await newList(database, workspaceId, "One");
  const other = await newList(database, workspaceId, "Two");
  const segmentOf = (id: string) =>
    made(`/mailing-lists/${id}/segments`, { name: "Some", conditions: rules("a") });
  await made("/sending-ips", { ip: "192.0.2.1" });
  await made("/sending-ips", { ip: "192.0.2.2" });
  first = {
    name: "June",
    subject: "Hello",
    from_email: "news@shop.test",
    from_name: "Shop",
    reply_to: "reply@shop.test",
    message_type: "email",
    phone_field_name: "phone",
    recipient_type: "segment",
    mailing_list_id: list,
    segment_id: await segmentOf(list),
    segment_conditions: rules("a"),
    html_content: "<p>Hello</p>",
    text_content: "Hello",
    template_id: await made("/templates", { name: "T", subject: "Hi", html_content: "<p>x</p>" }),
    template_version: 1,
    mjml: "<mjml></mjml>",
    design: { version: 1, blocks: [{ z: 1, a: "Hello" }] },
    enable_open_tracking: true,
    enable_click_tracking: false,
    url_domain_id: await made("/tracking-domains", { domain: "links.shop.test" }),
    use_custom_headers: true,
    custom_headers: "X-Shop: June",
    virtual_mta_ip: "192.0.2.1",
    routing_rule_id: await made("/routing-rules", { name: "One", ...relay }),
    bounce_email: "bounces@shop.test",
    sender_email: "return@shop.test",
    scheduled_at: "2040-01-01T00:00:00.000Z",
    attachments: [file("one.txt")],
  };
  second = {
    name: "July",
    subject: "Goodbye",
    from_email: "other@shop.test",
    from_name: "Store",
    reply_to: "other-reply@shop.test",
    message_type: "sms",
    phone_field_name: "mobile",
    recipient_type: "custom",
    mailing_list_id: other,
    segment_id: await segmentOf(other),
    segment_conditions: rules("b"),
    html_content: "<p>Goodbye</p>",
    text_content: "Goodbye",
    template_id: null,
    template_version: null,
    mjml: null,
    design: { blocks: [] },
    enable_open_tracking: false,
    enable_click_tracking: true,
    url_domain_id: await made("/tracking-domains", { domain: "links2.shop.test" }),
    use_custom_headers: false,
    custom_headers: "X-Shop: July",
    virtual_mta_ip: "192.0.2.2",
    routing_rule_id: await made("/routing-rules", { name: "Two", ...relay }),
    bounce_email: "other-bounces@shop.test",
    sender_email: "other-return@shop.test",
    scheduled_at: "2041-01-01T00:00:00.000Z",
    attachments: [file("two.txt")],
  };
});

const fieldsOf = (campaign: Values) =>
  Object.fromEntries(campaignFieldNames.map((name) => [name, campaign[name]]));
const read = async (id: string) => fieldsOf((await call("GET", `/campaigns/${id}`)).body.data);

test("a request may hold exactly the fields of the table", () => {
  expect(Object.keys(NewCampaign.properties)).toEqual(campaignFieldNames);
});

test("a list of campaigns shows the fields that the table says", () => {
  const shown = campaignFieldNames.filter((name) => name in CampaignSummary.properties);
  expect(shown).toEqual(campaignFieldNames.filter((name) => campaignFields[name].shownIn === "summary"));
});

test("every field is stored by POST, replaced by PUT, and copied or reset in a duplicate", async () => {
  const id = await made("/campaigns", first);
  expect(await read(id)).toEqual(first);
  const replaced = await call("PUT", `/campaigns/${id}`, second);
  expect(replaced.status, replaced.body.error).toBe(200);
  expect(await read(id)).toEqual(second);
  const copy = await made(`/campaigns/${id}/duplicate`, {});
  const reset = campaignFieldNames.filter((name) => campaignFields[name].isResetInDuplicate);
  const expected = { ...second, ...Object.fromEntries(reset.map((name) => [name, null])) };
  expect(await read(copy)).toEqual({ ...expected, name: "July (copy)" });
});
