import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { newList } from "#test/support/audience.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { eventually } from "#test/support/eventually.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, workspaceId } = service;

interface Result {
  kind: string;
  id: string;
  title: string;
  subtitle: string | null;
  status: string | null;
  path: string;
  is_exact: boolean;
}

async function search(
  q: string,
  options: { key?: string } = {},
): Promise<{ results: Result[]; kinds: string[]; incomplete: string[] }> {
  const { status, body } = await call("GET", `/search?q=${encodeURIComponent(q)}`, undefined, options);
  expect(status).toBe(200);
  return body.data;
}
const kindsOf = (results: readonly Result[]) => results.map(({ kind }) => kind);
const create = async (path: string, body: object): Promise<string> => {
  const { status, body: answer } = await call("POST", path, body);
  expect(answer).toMatchObject({ success: true });
  expect(status).toBe(201);
  return answer.data.id;
};

const list = await newList(database, workspaceId, "Quokka readers");
const campaign = await newCampaign(database, workspaceId, list);
await database.run(sql`
  update campaigns set name = 'The quokka letter', subject = 'News of March' where id = ${campaign}`);
const segment = await create(`/mailing-lists/${list}/segments`, {
  name: "Active QUOKKA friends",
  is_active: true,
  conditions: { logic: "and", rules: [{ field: "email", operator: "contains", value: "a" }] },
});
const domain = await create("/sending-domains", { domain: "quokka.example" });
const webhook = await create("/webhooks", { url: "https://hooks.example.com/quokka", events: ["*"] });
const joined = await call("POST", `/mailing-lists/${list}/subscribers`, {
  email: "anna@quokka.example.com",
  first_name: "Anna",
  last_name: "Quokka",
});
const person: string = joined.body.data.subscriber_id;
const suppressions = await create("/suppression-lists", { name: "Never again", suppression_scope: "global" });
await call("POST", `/suppression-lists/${suppressions}/entries`, { entries: "quokka-shop.example" });

test("a part of a name finds resources of every kind, with the path that answers each", async () => {
  const { results, incomplete } = await search("quokka");
  expect(incomplete).toEqual([]);
  expect(results).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        kind: "subscriber",
        id: person,
        title: "anna@quokka.example.com",
        subtitle: "Anna Quokka",
        status: "active",
      }),
      expect.objectContaining({
        kind: "campaign",
        id: campaign,
        title: "The quokka letter",
        subtitle: "News of March",
        status: "draft",
      }),
      expect.objectContaining({ kind: "mailing_list", id: list, title: "Quokka readers", status: null }),
      expect.objectContaining({ kind: "segment", id: segment, subtitle: "Quokka readers", status: "active" }),
      expect.objectContaining({
        kind: "sending_domain",
        id: domain,
        title: "quokka.example",
        status: "unverified",
      }),
      expect.objectContaining({ kind: "webhook", id: webhook, status: "active" }),
      expect.objectContaining({
        kind: "suppression_entry",
        title: "quokka-shop.example",
        subtitle: "Never again",
        status: "manual",
      }),
    ]),
  );
  for (const { path, kind } of results) {
    const answer = await call("GET", path.replace("/api/v1", ""));
    expect([kind, answer.status]).toEqual([kind, 200]);
  }
});

test("the id of a resource finds this resource alone, in any case", async () => {
  for (const [kind, id] of Object.entries({
    campaign,
    segment,
    webhook,
    mailing_list: list,
    subscriber: person,
    sending_domain: domain,
  })) {
    expect((await search(id.toUpperCase())).results).toMatchObject([{ kind, id, is_exact: true }]);
  }
});

test("a message is found by its id, its Message-ID and the whole address of its recipient, sent or not", async () => {
  const id = newId();
  const at = new Date();
  await database.run(sql`
    insert into messages (workspace_id, id, source, origin_name, from_email, localpart, domain, subject, created_at, updated_at)
    values (${workspaceId}, ${id}, 'api', 'Key', 'shop@example.com', 'Kim.Lee', 'example.com', 'Your order', ${at}, ${at})`);
  const found = [
    {
      kind: "message",
      id,
      title: "Your order",
      subtitle: "Kim.Lee@example.com",
      path: `/api/v1/messages/${id}`,
    },
  ];
  expect((await search("kim.lee@example.com")).results).toMatchObject([{ ...found[0], status: "queued" }]);
  await database.run(sql`update messages set status = 'delivered' where id = ${id}`);
  for (const q of [
    id,
    `<${id}@example.com>`,
    `${id}@example.com`,
    "kim.lee@example.com",
    "<kim.lee@EXAMPLE.com>",
  ]) {
    expect((await search(q)).results).toMatchObject([{ ...found[0], status: "delivered", is_exact: true }]);
  }
  expect((await search("kim.lee@example.co")).results).toEqual([]);
});

test("a whole name or address comes before those that only contain it", async () => {
  const names = ["My Dingo notes", "Dingo", "Dingo two"];
  for (const name of names) await newList(database, workspaceId, name);
  const { results } = await search("dingo");
  expect(results.map(({ title, is_exact }) => [title, is_exact])).toEqual([
    ["Dingo", true],
    ["Dingo two", false],
    ["My Dingo notes", false],
  ]);
});

test("a kind has at most five results", async () => {
  for (let number = 0; number < 7; number++) await newList(database, workspaceId, `Wombat ${number}`);
  expect((await search("wombat")).results).toHaveLength(5);
});

test("one letter finds the beginnings of addresses", async () => {
  const { results, incomplete } = await search("a");
  expect(incomplete).toEqual([]);
  expect(results).toEqual(expect.arrayContaining([expect.objectContaining({ id: person })]));
});

test("a caller finds only kinds that it may read", async () => {
  const key = await service.newKey(["campaigns:read", "mailing_lists:*"]);
  const { results, kinds } = await search("quokka", { key });
  expect(kinds).toEqual(["campaign", "mailing_list"]);
  expect(kindsOf(results)).toEqual(["campaign", "mailing_list"]);
  expect((await search(person, { key })).results).toEqual([]);
  const without = await service.newKey(["emails:send"]);
  expect(await search("quokka", { key: without })).toEqual({ results: [], kinds: [], incomplete: [] });
});

test("a workspace finds nothing of another one", async () => {
  const { key } = await service.newWorkspace();
  for (const q of ["quokka", person, campaign, segment, domain, "anna@quokka.example.com"]) {
    expect((await search(q, { key })).results).toEqual([]);
  }
});

test("deleted campaigns and webhooks are not found", async () => {
  const gone = await create("/webhooks", { url: "https://hooks.example.com/numbat", events: ["*"] });
  expect(kindsOf((await search("numbat")).results)).toEqual(["webhook"]);
  await call("DELETE", `/webhooks/${gone}`);
  expect((await search("numbat")).results).toEqual([]);
  expect((await search(gone)).results).toEqual([]);
});

test("signs of patterns and quotation marks are plain characters", async () => {
  for (const q of ["%", "_", "'", "\\", "a' & b:*", "<>", "@", "!!"])
    expect(await search(q)).toMatchObject({ incomplete: [] });
  expect((await search("q_okka")).results).toEqual([]);
  expect((await search("quo%")).results).toEqual([]);
});

test("a kind that takes too long is named, and the others are answered in time", async () => {
  const client = await database.connect();
  try {
    await client.query("begin; lock table campaigns in access exclusive mode");
    // The lock is held until there is an answer.
    const { results, incomplete } = await search("quokka");
    expect(incomplete).toEqual(["campaign"]);
    expect(kindsOf(results)).toEqual(expect.arrayContaining(["subscriber", "mailing_list", "webhook"]));
  } finally {
    await client.query("rollback");
    client.release();
  }
  await eventually("the whole answer", async () => (await search("quokka")).incomplete.length === 0);
});

test.each([
  ["nothing", ""],
  ["an empty text", "?q=%20"],
  ["a text that is too long", `?q=${"a".repeat(321)}`],
  ["a NUL character", "?q=a%00"],
])("%s is refused", async (_, query) => {
  const { status, body } = await call("GET", `/search${query}`);
  expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
  expect(body.error).toMatch(/^q /);
});
