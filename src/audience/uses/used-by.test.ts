/** `used_by` of segments and custom fields: what is listed, what prevents a deletion, and to whom it is shown. */
import { expect, test } from "vitest";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { all, segmentService } from "#test/support/segments.ts";
import { MOST_USERS } from "./used-by.ts";

const { service, database, workspaceId, lists, segmentsOf, saved, get } = await segmentService();
const { call } = service;
await verifyShop(database, workspaceId);
const anyone = all(["email", "contains", "a"]);
const nothing = { total: 0, prevents_deletion: false, users: [] };

/** A draft to the list. */
const draft = (change: object) =>
  call("POST", "/campaigns", {
    name: "June",
    subject: "News",
    from_email: "news@shop.test",
    mailing_list_id: lists.news,
    ...change,
  });
const field = async (path: string, field_name: string, field_type = "number") =>
  (await call("POST", path, { field_name, field_label: field_name, field_type })).body.data;

test("a segment names the campaigns, segments and suppression lists that use it, wherever it is shown", async () => {
  const segment = await saved({ name: "Readers", conditions: anyone });
  const path = `${segmentsOf()}/${segment.id}`;
  expect((await get(path)).used_by).toEqual(nothing);
  const { body: campaign } = await draft({ recipient_type: "segment", segment_id: segment.id });
  const other = await saved(
    { name: "Others", conditions: all(["segment", "is_not_in", segment.id]) },
    lists.offers,
  );
  const { body: list } = await call("POST", "/suppression-lists", {
    name: "Not these",
    suppression_scope: "segment",
    segment_id: segment.id,
  });
  const user = (
    kind: string,
    { id, name }: { id: string; name: string },
    mailing_list_id: string | null,
  ) => ({
    kind,
    id,
    name,
    mailing_list_id,
    prevents_deletion: true,
  });
  const users = [
    user("segment", other, lists.offers),
    user("suppression_list", list.data, null),
    user("campaign", campaign.data, null),
  ];
  const used_by = { total: 3, prevents_deletion: true, users };
  expect((await get(path)).used_by).toEqual(used_by);
  for (const place of ["/segments?limit=200", segmentsOf()]) {
    const { segments } = await get(place);
    const shown = segments.find(({ id }: { id: string }) => id === segment.id);
    expect(shown.used_by).toEqual(used_by);
  }
  expect((await call("DELETE", path)).body.error).toBe("Another segment uses this segment");

  const key = await service.newKey(["segments:read"]);
  const { body: part } = await call("GET", path, undefined, { key });
  expect(part.data.used_by).toEqual({ ...used_by, users: users.slice(0, 1) });

  await call("DELETE", `/campaigns/${campaign.data.id}`);
  await call("DELETE", `${segmentsOf(lists.offers)}/${other.id}`);
  await call("DELETE", `/suppression-lists/${list.data.id}`);
  expect((await get(path)).used_by).toEqual(nothing);
});

test("a field tells what prevents its deletion from what does not, its own list's from others'", async () => {
  const own = `/mailing-lists/${lists.news}/custom-fields`;
  const size = await field(own, "size");
  const born = await field(own, "born", "date");
  const tel = await field("/custom-fields/global", "tel", "text");
  const free = await field(own, "free");
  await field(`/mailing-lists/${lists.offers}/custom-fields`, "size");
  const segment = await saved({ name: "Large", conditions: all(["custom_fields.size", "greater_than", 9]) });
  await saved({ name: "Elsewhere", conditions: all(["size", "equals", 9]) }, lists.offers);
  const { body: custom } = await draft({
    name: "To the large",
    recipient_type: "custom",
    segment_conditions: all(["size", "greater_than", 5]),
  });
  const { body: birthday } = await call("POST", "/autoresponders", {
    name: "Birthday",
    mailing_list_id: lists.news,
    from_email: "news@shop.test",
    trigger: { type: "date", field: "born", yearly: true, at: "09:00" },
    steps: [{ subject: "Hi", html_content: "<p>Hi</p>" }],
  });
  const smsId = await newCampaign(database, workspaceId, lists.offers, {
    message_type: "sms",
    phone_field_name: "tel",
  });
  const uses = async (path: string): Promise<Record<string, unknown>> =>
    Object.fromEntries(
      (await get(path)).map(({ id, used_by }: { id: string; used_by: unknown }) => [id, used_by]),
    );
  const shown = await uses(own);
  const brief = (id: string, from = shown) => {
    const { total, prevents_deletion, users } = from[id] as {
      total: number;
      prevents_deletion: boolean;
      users: { kind: string; id: string; prevents_deletion: boolean }[];
    };
    return [total, prevents_deletion, users.map((one) => [one.kind, one.id, one.prevents_deletion])];
  };
  expect(brief(size.id)).toEqual([
    2,
    true,
    [
      ["segment", segment.id, true],
      ["campaign", custom.data.id, true],
    ],
  ]);
  expect(brief(born.id)).toEqual([1, false, [["autoresponder", birthday.data.id, false]]]);
  expect(shown[free.id]).toEqual(nothing);
  expect(brief(tel.id, await uses("/custom-fields/global"))).toEqual([
    1,
    false,
    [["campaign", smsId, false]],
  ]);
  expect((await call("DELETE", `${own}/${size.id}`)).status).toBe(409);
  expect((await call("DELETE", `${own}/${born.id}`)).status).toBe(200);
});

test("the users of a much used field are bounded, and all are counted", async () => {
  const weight = await field(`/mailing-lists/${lists.news}/custom-fields`, "weight");
  for (let at = 0; at < MOST_USERS + 2; at++) {
    await saved({
      name: `Heavy ${String(at).padStart(2, "0")}`,
      conditions: all(["weight", "greater_than", at]),
    });
  }
  const [{ used_by }] = await get(`/mailing-lists/${lists.news}/custom-fields`);
  expect([used_by.total, used_by.users.length]).toEqual([MOST_USERS + 2, MOST_USERS]);
  const { body } = await call("DELETE", `/mailing-lists/${lists.news}/custom-fields/${weight.id}`);
  expect(body.error).toBe(
    `Segments use this field: "Heavy 00", "Heavy 01", "Heavy 02" and ${MOST_USERS - 1} more; change them first`,
  );
});
