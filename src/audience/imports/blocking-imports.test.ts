import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { lockMailingList, markBeingDeleted, removeMailingList } from "#audience/mailing-lists/store.ts";
import { subscribers } from "#audience/subscribers/permission.ts";
import { need } from "#platform/http/endpoint.ts";
import { startJob } from "#platform/jobs/start-or-cancel-job.ts";
import { newList } from "#test/support/audience.ts";
import { startService } from "#test/support/service.ts";
import { untilWaiting } from "#test/support/waiting.ts";
import { IMPORT_JOB } from "./import-job.ts";

// No runner is started here: jobs stay as they are.
const { database, workspaceId, call } = await startService();

async function define(path: string, field_name: string): Promise<string> {
  const body = { field_name, field_label: field_name, field_type: "number" };
  const answer = await call("POST", path, body);
  expect(answer.status, answer.body.error).toBe(201);
  return `${path}/${answer.body.data.id}`;
}
const ofList = (list: string) => `/mailing-lists/${list}/custom-fields`;

async function importInto(list: string): Promise<string> {
  const input = { mailing_list_id: list, file_name: "people.csv" };
  const job = { type: IMPORT_JOB, needs: need(subscribers, "write"), input };
  return (await startJob(database, workspaceId, job)).job_id;
}

async function changed(field: string, body: object = { field_type: "text" }) {
  const answer = await call("PUT", field, body);
  return [answer.status, answer.body.error ?? null];
}
const done = [200, null];
const refused = [409, 'Imports under way use this field: "people.csv"; wait for them or cancel them first'];

test("a field keeps its type and is not deleted while an import into its list waits or runs", async () => {
  const list = await newList(database, workspaceId);
  const [age, size] = [await define(ofList(list), "age"), await define(ofList(list), "size")];
  const job = await importInto(list);
  expect(await changed(age)).toEqual(refused);
  await database.run(sql`update jobs set status = 'processing' where id = ${job}`);
  expect(await changed(age)).toEqual(refused);
  expect((await call("DELETE", size)).body.error).toBe(refused[1]);
  expect(await changed(age, { field_label: "Years", field_type: "number" })).toEqual(done);
  await database.run(sql`update jobs set status = 'pending' where id = ${job}`);
  await call("POST", `/jobs/${job}/cancel`);
  expect(await changed(age)).toEqual(done);
  expect((await call("DELETE", size)).status).toBe(200);
});

test("a global field is kept for imports into lists without a field of its name, a list's own for those into that list", async () => {
  const [own, plain] = [await newList(database, workspaceId), await newList(database, workspaceId)];
  const everywhere = await define("/custom-fields/global", "level");
  const here = await define(ofList(own), "level");
  const other = await define(ofList(plain), "other");
  await importInto(own);
  expect(await changed(here)).toEqual(refused);
  expect(await changed(other)).toEqual(done);
  expect(await changed(everywhere)).toEqual(done);
  await importInto(plain);
  expect(await changed(everywhere, { field_type: "number" })).toEqual(refused);
});

test("a mailing list is not deleted while an import into it waits or runs; the refusal is immediate", async () => {
  const [list, other] = [await newList(database, workspaceId), await newList(database, workspaceId)];
  const job = await importInto(list);
  const remove = (id: string) => call("DELETE", `/mailing-lists/${id}`);
  const sentence =
    'Imports under way use this mailing list: "people.csv"; wait for them or cancel them first';
  expect((await remove(list)).body).toMatchObject({ code: "CONFLICT", error: sentence });
  await database.run(sql`update jobs set status = 'processing' where id = ${job}`);
  await database.transaction(async (tx) => {
    // As a batch that is being written does.
    await lockMailingList(tx, workspaceId, list);
    expect((await remove(list)).status).toBe(409);
  });
  expect((await remove(other)).status).toBe(200);
  await database.run(sql`update jobs set status = 'pending' where id = ${job}`);
  await call("POST", `/jobs/${job}/cancel`);
  expect((await remove(list)).status).toBe(200);
});

test("an import that starts while the deletion waits for the list makes it fail", async () => {
  const list = await newList(database, workspaceId);
  const deletion = await database.transaction(async (tx) => {
    await lockMailingList(tx, workspaceId, list);
    const deletion = call("DELETE", `/mailing-lists/${list}`);
    await untilWaiting(database, 1);
    await importInto(list);
    return { answer: deletion };
  });
  expect((await deletion.answer).status).toBe(409);
  expect((await call("GET", `/mailing-lists/${list}`)).status).toBe(200);
});

function upload(list: string) {
  const form = new FormData();
  form.append("csvFile", new Blob(["email\nada@example.com\n"]), "people.csv");
  return call("POST", `/mailing-lists/${list}/subscribers/import-async`, form);
}

test("nothing is imported into a list that is being deleted", async () => {
  const list = await newList(database, workspaceId);
  await markBeingDeleted(database, workspaceId, list);
  const { body } = await upload(list);
  expect(body).toMatchObject({ code: "CONFLICT", error: expect.stringContaining("is being deleted") });
});

test("an import that waits while its list is deleted gets 404", async () => {
  const list = await newList(database, workspaceId);
  const begun = await database.transaction(async (tx) => {
    await removeMailingList(tx, workspaceId, list);
    const answer = upload(list);
    await untilWaiting(database, 1);
    return { answer };
  });
  expect((await begun.answer).status).toBe(404);
  expect(await database.rows(sql`select from jobs where input->>'mailing_list_id' = ${list}`)).toEqual([]);
});
