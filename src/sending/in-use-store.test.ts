import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database, workspaceId } = service;
await verifyShop(database, workspaceId);
let list: string;
let other: string;
beforeEach(async () => {
  list = await newList(database, workspaceId);
  other = await newList(database, workspaceId);
});

const GLOBAL = "/custom-fields/global";
const fieldsOf = (id: string) => `/mailing-lists/${id}/custom-fields`;

/** Answers its path. */
async function define(field_name: string, field_type: string, fields = fieldsOf(list)): Promise<string> {
  const body = { field_name, field_label: field_name, field_type };
  const answer = await service.call("POST", fields, body);
  expect(answer.status, answer.body.error).toBe(201);
  return `${fields}/${answer.body.data.id}`;
}

const outcome = async (method: "PUT" | "DELETE", path: string, body?: object) => {
  const answer = await service.call(method, path, body);
  return answer.status === 200 ? 200 : [answer.status, answer.body.code, answer.body.error];
};
const remove = (path: string) => outcome("DELETE", path);
const retype = (path: string, field_type: string) => outcome("PUT", path, { field_type });

/** A campaign to those of whom the field says something, in this state. */
async function campaignWith(field: string, status: string, mailingListId: string | null = list) {
  const segment_conditions = {
    logic: "or",
    rules: [{ logic: "and", rules: [{ field, operator: "greater_than", value: 1 }] }],
  };
  const id = await newCampaign(database, workspaceId, mailingListId, {
    name: "June",
    recipient_type: "custom",
    segment_conditions,
  });
  await database.run(sql`update campaigns set status = ${status} where id = ${id}`);
}

async function autoresponderOn(field: string): Promise<string> {
  const { body, status } = await service.call("POST", "/autoresponders", {
    name: "Birthday",
    mailing_list_id: list,
    from_email: "news@shop.test",
    trigger: { type: "date", field },
    steps: [{ subject: "Hi", html_content: "<p>Hi</p>" }],
  });
  expect(status, body.error).toBe(201);
  await service.call("POST", `/autoresponders/${body.data.id}/activate`);
  return body.data.id;
}

describe("a field in the conditions of a campaign", () => {
  const refusal = [409, "CONFLICT", 'Campaigns use this field: "June"; change or cancel them first'];

  test.each(["draft", "scheduled", "sending", "paused"])("that is %s cannot be deleted", async (status) => {
    const field = await define("size", "number");
    await campaignWith("size", status);
    expect(await remove(field)).toEqual(refusal);
  });

  test.each(["sent", "cancelled"])("that is %s can be", async (status) => {
    const field = await define("size", "number");
    await campaignWith("custom_fields.size", status);
    expect(await remove(field)).toBe(200);
  });

  test("is the list's own before the global one of the same name; its type may change", async () => {
    const global = await define("height", "number", GLOBAL);
    const own = await define("height", "number");
    const another = await define("height", "number", fieldsOf(other));
    await campaignWith("custom_fields.height", "scheduled");
    expect(await remove(another)).toBe(200);
    expect(await retype(own, "text")).toBe(200);
    expect(await remove(own)).toEqual(refusal);
    expect(await remove(global)).toBe(200);
  });

  test("is the global one for a campaign without a list", async () => {
    const global = await define("depth", "number", GLOBAL);
    await campaignWith("depth", "draft", null);
    expect(await remove(global)).toEqual(refusal);
  });
});

describe("the field with the day of an active autoresponder", () => {
  const refusal = [
    409,
    "CONFLICT",
    'Active autoresponders use this field: "Birthday"; deactivate them first',
  ];

  test.each([
    ["of the list", () => fieldsOf(list)],
    ["of every list", () => GLOBAL],
  ])("%s can neither be deleted nor become of another type, until it is inactive", async (_of, fields) => {
    const field = await define("born", "date", fields());
    const id = await autoresponderOn("born");
    expect(await remove(field)).toEqual(refusal);
    expect(await retype(field, "text")).toEqual(refusal);
    expect(await outcome("PUT", field, { field_label: "Day of birth" })).toBe(200);
    await service.call("POST", `/autoresponders/${id}/deactivate`);
    expect(await retype(field, "text")).toBe(200);
    expect(await remove(field)).toBe(200);
  });

  test("is of that list, and of that name", async () => {
    const [name, theirs] = [await define("named", "date"), await define("born", "date", fieldsOf(other))];
    await define("born", "date");
    await autoresponderOn("born");
    expect([await remove(name), await remove(theirs)]).toEqual([200, 200]);
  });
});

test("a list is not deleted while an active autoresponder writes to it, which is named", async () => {
  await define("born", "date");
  const id = await autoresponderOn("born");
  const error = 'The autoresponder "Birthday" writes to this list: deactivate it first';
  expect(await remove(`/mailing-lists/${list}`)).toEqual([409, "CONFLICT", error]);
  await service.call("POST", `/autoresponders/${id}/deactivate`);
  expect(await remove(`/mailing-lists/${list}`)).toBe(200);
});
