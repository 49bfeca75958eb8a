import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { untilWaiting } from "#test/support/waiting.ts";

const service = await startService();
const { database: db, workspaceId } = service;
await verifyShop(db, workspaceId);
const list = await newList(db, workspaceId);
const step = { subject: "Hi", html_content: "<p>Hi</p>" };
const body = (change: object = {}) => ({
  name: "Welcome",
  mailing_list_id: list,
  from_email: "news@shop.test",
  trigger: { type: "subscribed" },
  steps: [step],
  ...change,
});
const create = async (change: object = {}) =>
  (await service.call("POST", "/autoresponders", body(change))).body.data;

test("what is written is read again, with delays in days, hours and minutes", async () => {
  const steps = [step, { ...step, delay: { hours: 25, minutes: 61 }, html_content: "{{ nobody }}" }];
  const made = await create({ steps, enable_open_tracking: false });
  expect(made).toMatchObject({
    status: "inactive",
    mailing_list_name: "News",
    trigger: { type: "subscribed" },
    enable_open_tracking: false,
    enable_click_tracking: null,
    step_count: 2,
    sent_count: 0,
    steps: [
      { delay: { days: 0, hours: 0, minutes: 0 }, text_content: null, warnings: [] },
      { delay: { days: 1, hours: 2, minutes: 1 }, warnings: [{ field: "html_content", line: 1 }] },
    ],
  });
  expect((await service.call("GET", `/autoresponders/${made.id}`)).body.data).toEqual(made);
  const { steps: _, ...summary } = made;
  const listed = await service.call("GET", "/autoresponders?status=inactive&limit=1");
  expect(listed.body.data).toMatchObject({ autoresponders: [summary], pagination: { limit: 1 } });
});

test.each(["html_content", "text_content"])(
  "%s of a step may have 2,000,000 characters and no more",
  async (field) => {
    const create = (length: number) =>
      service.call("POST", "/autoresponders", body({ steps: [{ ...step, [field]: "x".repeat(length) }] }));
    expect((await create(2_000_000)).status).toBe(201);
    const refused = await create(2_000_001);
    const error = `steps[0].${field} must have at most 2,000,000 characters, and has 2,000,001`;
    expect([refused.status, refused.body.error]).toEqual([400, error]);
  },
);

test("there are as many as there is room for", async () => {
  const { workspaceId: full, ...options } = await service.newWorkspace();
  await verifyShop(db, full as WorkspaceId);
  const mailing_list_id = await newList(db, full as WorkspaceId);
  const make = () => service.call("POST", "/autoresponders", body({ mailing_list_id }), options);
  const first = await make();
  await db.run(sql`
    insert into autoresponders select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid()))).*
    from autoresponders a, generate_series(1, 198) where id = ${first.body.data.id}`);
  expect((await make()).status).toBe(201);
  const refused = await make();
  expect([refused.status, refused.body.code, refused.body.error]).toEqual([
    400,
    "BAD_REQUEST",
    "There can be 200 autoresponders; delete one first",
  ]);
});

test("PUT replaces everything, and keeps whether it is active", async () => {
  const { id } = await create({ reply_to: "ask@shop.test" });
  await service.call("POST", `/autoresponders/${id}/activate`);
  const answer = await service.call("PUT", `/autoresponders/${id}`, body({ name: "Other" }));
  expect(answer.body.data).toMatchObject({ name: "Other", reply_to: null, status: "active" });
});

test("a step that is named in capital letters is that step", async () => {
  const { id, steps } = await create();
  const named = [{ ...step, id: steps[0].id.toUpperCase() }];
  const answer = await service.call("PUT", `/autoresponders/${id}`, body({ steps: named }));
  expect([answer.status, answer.body.data.steps[0].id]).toEqual([200, steps[0].id]);
  const twice = body({ steps: [{ ...step, id: steps[0].id }, ...named] });
  expect((await service.call("PUT", `/autoresponders/${id}`, twice)).body).toMatchObject({
    code: "VALIDATION_ERROR",
    details: [{ field: "steps" }],
  });
});

test("activating twice and deactivating twice is a conflict", async () => {
  const { id } = await create();
  const act = async (what: string) => (await service.call("POST", `/autoresponders/${id}/${what}`)).status;
  expect([
    await act("deactivate"),
    await act("activate"),
    await act("activate"),
    await act("deactivate"),
  ]).toEqual([409, 200, 409, 200]);
});

test("a list with an active autoresponder stays; one whose list is gone is not activated", async () => {
  const own = await newList(db, workspaceId);
  const { id } = await create({ mailing_list_id: own });
  await service.call("POST", `/autoresponders/${id}/activate`);
  expect((await service.call("DELETE", `/mailing-lists/${own}`)).status).toBe(409);
  await service.call("POST", `/autoresponders/${id}/deactivate`);
  expect((await service.call("DELETE", `/mailing-lists/${own}`)).status).toBe(200);
  const refused = await service.call("POST", `/autoresponders/${id}/activate`);
  expect([refused.status, refused.body.code]).toEqual([400, "BAD_REQUEST"]);
  expect((await service.call("GET", `/autoresponders/${id}`)).body.data.mailing_list_name).toBeNull();
});

test("one whose date field is gone, or no date any more, is not activated", async () => {
  const own = await newList(db, workspaceId);
  const field = { field_name: "born", field_label: "Born", field_type: "date" };
  await service.call("POST", `/mailing-lists/${own}/custom-fields`, field);
  const { id } = await create({ mailing_list_id: own, trigger: { type: "date", field: "born" } });
  const activate = () => service.call("POST", `/autoresponders/${id}/activate`);
  await db.run(sql`update custom_fields set field_type = 'text' where mailing_list_id = ${own}`);
  const refused = await activate();
  expect([refused.status, refused.body.code]).toEqual([409, "CONFLICT"]);
  expect(refused.body.error).toBe("The list no longer has a custom field born of the type date");
  await db.run(sql`delete from custom_fields where mailing_list_id = ${own}`);
  expect((await activate()).status).toBe(409);
  await service.call("POST", `/mailing-lists/${own}/custom-fields`, field);
  expect((await activate()).status).toBe(200);
});

test("a date field that is deleted while its autoresponder is being activated stays", async () => {
  const own = await newList(db, workspaceId);
  const field = { field_name: "born", field_label: "Born", field_type: "date" };
  const made = await service.call("POST", `/mailing-lists/${own}/custom-fields`, field);
  const { id } = await create({ mailing_list_id: own, trigger: { type: "date", field: "born" } });
  const { activated, deleted } = await db.transaction(async (tx) => {
    // The sender is looked up behind the field.
    await tx.run(sql`lock table verified_senders`);
    const activated = service.call("POST", `/autoresponders/${id}/activate`);
    await untilWaiting(db, 1);
    const deleted = service.call("DELETE", `/mailing-lists/${own}/custom-fields/${made.body.data.id}`);
    await untilWaiting(db, 2);
    return { activated, deleted };
  });
  expect([(await activated).status, (await deleted).status]).toEqual([200, 409]);
});

test("an autoresponder whose date field is being deleted is not activated, nor given it while it is active", async () => {
  const own = await newList(db, workspaceId);
  const field = { field_name: "born", field_label: "Born", field_type: "date" };
  const made = await service.call("POST", `/mailing-lists/${own}/custom-fields`, field);
  const change = { mailing_list_id: own, trigger: { type: "date", field: "born" } };
  const [idle, active] = [await create(change), await create({ mailing_list_id: own })];
  expect((await service.call("POST", `/autoresponders/${active.id}/activate`)).status).toBe(200);
  const { answers } = await db.transaction(async (tx) => {
    await tx.run(sql`delete from custom_fields where id = ${made.body.data.id}`);
    const activated = service.call("POST", `/autoresponders/${idle.id}/activate`);
    const changed = service.call("PUT", `/autoresponders/${active.id}`, body(change));
    await untilWaiting(db, 2);
    return { answers: [activated, changed] };
  });
  expect((await Promise.all(answers)).map(({ body }) => body.code)).toEqual(["CONFLICT", "CONFLICT"]);
  await service.call("POST", `/autoresponders/${active.id}/deactivate`);
});

const date = (more: object) => ({ trigger: { type: "date", ...more } });

test.each<[string, object, string]>([
  ["a list that is not there", { mailing_list_id: newId() }, "mailing_list_id"],
  ["a sender who is not verified", { from_email: "news@other.test" }, "from_email"],
  ["a merge tag in the from_name", { from_name: "{% if a %}Shop{% endif %}" }, "from_name"],
  ["no steps", { steps: [] }, "steps"],
  ["21 steps", { steps: Array.from({ length: 21 }, () => step) }, "steps"],
  ["a step without a body", { steps: [{ subject: "Hi" }] }, "steps[0].html_content"],
  ["a broken merge tag", { steps: [step, { ...step, html_content: "{{ a" }] }, "steps[1].html_content"],
  ["a blank subject", { steps: [{ ...step, subject: " " }] }, "steps[0].subject"],
  ["a subject of two lines", { steps: [{ ...step, subject: "a\nb" }] }, "steps[0].subject"],
  ["a negative delay", { steps: [{ ...step, delay: { days: -1 } }] }, "steps[0].delay.days"],
  ["a delay beyond ten years", { steps: [{ ...step, delay: { days: 3650, minutes: 1 } }] }, "steps[0].delay"],
  ["an unknown unit", { steps: [{ ...step, delay: { weeks: 1 } }] }, "steps[0].delay.weeks"],
  ["a step of another autoresponder", { steps: [{ ...step, id: newId() }] }, "steps[0].id"],
  ["an unknown trigger", { trigger: { type: "opened" } }, "trigger.type"],
  ["a field without a date trigger", { trigger: { type: "subscribed", field: "born" } }, "trigger.field"],
  ["a date without its field", date({}), "trigger.field"],
  ["a field that is not there", date({ field: "born" }), "trigger.field"],
  ["a time that does not exist", date({ field: "born", at: "24:00" }), "trigger.at"],
])("%s is refused with the field's name", async (_, change, field) => {
  const answer = await service.call("POST", "/autoresponders", body(change));
  expect([answer.status, answer.body.code, answer.body.details?.[0]?.field]).toEqual([
    400,
    "VALIDATION_ERROR",
    field,
  ]);
  expect(answer.body.details[0].message).toBeTruthy();
});

test("a time that does not exist is refused with one that does, and without a regular expression", async () => {
  const answer = await service.call("POST", "/autoresponders", body(date({ field: "born", at: "9:00" })));
  expect(answer.body.error).toBe("trigger.at must be a time such as 09:00, from 00:00 to 23:59");
});
