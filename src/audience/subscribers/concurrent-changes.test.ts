/** Changes of people and fields that come in the same moment. */
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { lockFieldTypes, shareLockFieldTypes } from "#audience/custom-fields/store.ts";
import { newId } from "#platform/ids.ts";
import { newList } from "#test/support/audience.ts";
import { startService } from "#test/support/service.ts";
import { untilWaiting } from "#test/support/waiting.ts";
import { insertMembers } from "./memberships/add-members.ts";

const service = await startService();
const { database, workspaceId, clock } = service;

/** One person with these custom fields, as add-members.ts takes them. */
const arrival = (email: string, fields: object) => ({
  people: sql`(
    select ${newId()}::uuid as id, ${email}::text as email, null::text as first_name, null::text as last_name,
      'api' as source, null::text as status, ${JSON.stringify(fields)}::jsonb as custom_fields)`,
  now: clock.now(),
  updateExisting: true,
  resubscribe: false,
});
const newField = async (listId: string, field: object) => {
  const answer = await service.call("POST", `/mailing-lists/${listId}/custom-fields`, field);
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data.id;
};

test("a person who joins two lists at once keeps the value given for one, whatever the other's default is", async () => {
  const [first, second] = [await newList(database, workspaceId), await newList(database, workspaceId)];
  await newField(second, {
    field_name: "plan",
    field_label: "Plan",
    field_type: "text",
    default_value: "free",
  });
  const email = "both@example.com";
  const joining = await database.transaction(async (tx) => {
    await insertMembers(tx, workspaceId, { ...arrival(email, { plan: "gold" }), mailingListId: first });
    const joining = service.call("POST", `/mailing-lists/${second}/subscribers`, { email });
    await untilWaiting(database, 1);
    return { joining };
  });
  const { status, body } = await joining.joining;
  expect([status, JSON.parse(body.data.custom_fields)]).toEqual([201, { plan: "gold" }]);
});

test("a field does not change its type while a person gets a value of the old one", async () => {
  const list = await newList(database, workspaceId);
  const field = await newField(list, { field_name: "size", field_label: "Size", field_type: "text" });
  const { changing } = await database.transaction(async (tx) => {
    await shareLockFieldTypes(tx, workspaceId);
    const changing = service.call("PUT", `/mailing-lists/${list}/custom-fields/${field}`, {
      field_type: "number",
    });
    await untilWaiting(database, 1);
    await insertMembers(tx, workspaceId, {
      ...arrival("a@example.com", { size: "large" }),
      mailingListId: list,
    });
    return { changing };
  });
  expect((await changing).status).toBe(409);
});

test("a value is stored after a concurrent change of the field's type, and has the new type", async () => {
  const list = await newList(database, workspaceId);
  await newField(list, { field_name: "age", field_label: "Age", field_type: "text" });
  const { adding } = await database.transaction(async (tx) => {
    await tx.run(sql`
      update custom_fields set field_type = 'number' where mailing_list_id = ${list} and field_name = 'age'`);
    await lockFieldTypes(tx, workspaceId);
    const body = { email: "b@example.com", custom_fields: { age: "young" } };
    const adding = service.call("POST", `/mailing-lists/${list}/subscribers`, body);
    await untilWaiting(database, 1);
    return { adding };
  });
  expect((await adding).status).toBe(400);
});

test("two concurrent unsubscriptions of a person cause one event", async () => {
  const list = await newList(database, workspaceId);
  await service.call("POST", "/webhooks", {
    url: "https://hooks.example.com/x",
    events: ["subscriber.unsubscribed"],
  });
  const { body } = await service.call("POST", `/mailing-lists/${list}/subscribers`, {
    email: "c@example.com",
  });
  const id = body.data.subscriber_id;
  const leave = () =>
    service.call("PUT", `/mailing-lists/${list}/subscribers/${id}/status`, { status: "unsubscribed" });
  const { leaving } = await database.transaction(async (tx) => {
    await tx.run(sql`select from subscribers where id = ${id} for update`);
    const leaving = [leave(), leave()];
    await untilWaiting(database, 2);
    return { leaving };
  });
  expect((await Promise.all(leaving)).map(({ status }) => status)).toEqual([200, 200]);
  const told = await database.rows(sql`select from webhook_deliveries where workspace_id = ${workspaceId}`);
  expect(told).toHaveLength(1);
});
