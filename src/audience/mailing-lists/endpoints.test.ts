import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { addPeople, findMiscounts, newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database, workspaceId, clock } = service;

const create = async (body: object) => {
  const answer = await service.call("POST", "/mailing-lists", body);
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data;
};

test("a list has the documented defaults and is read as it was created", async () => {
  const made = await create({ name: "  News  " });
  const now = clock.now().toISOString();
  expect(made).toEqual({
    id: expect.any(String),
    name: "News",
    description: "",
    from_name: null,
    from_email: null,
    reply_to_email: null,
    opt_in_type: "single",
    enable_open_tracking: true,
    enable_click_tracking: true,
    language: null,
    subscriber_count: 0,
    total_subscribers: 0,
    created_at: now,
    updated_at: now,
  });
  expect((await service.call("GET", `/mailing-lists/${made.id}`)).body.data).toEqual(made);
  clock.advance(1);
  const newer = await create({ name: "News", from_email: "Shop@EXAMPLE.com", opt_in_type: "double" });
  const { data } = (await service.call("GET", "/mailing-lists")).body;
  expect(data.slice(0, 2)).toEqual([newer, made]);
  expect(newer.from_email).toBe("shop@example.com");
});

test("a workspace has at most a thousand lists, because they are listed all at once", async () => {
  const { workspaceId: theirs, key } = await service.newWorkspace();
  await database.run(sql`
    insert into mailing_lists (workspace_id, id, name, created_at, updated_at)
    select ${theirs}, gen_random_uuid(), 'x', now(), now() from generate_series(1, 999)`);
  const answers = await Promise.all(
    [1, 2, 3].map(() => service.call("POST", "/mailing-lists", { name: "One more" }, { key })),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400]);
  const refused = answers.find(({ status }) => status === 400);
  expect(refused?.body).toMatchObject({ code: "BAD_REQUEST", error: expect.stringContaining("1000") });
});

test("an update changes the fields given and keeps the rest; null clears", async () => {
  const made = await create({ name: "News", from_name: "Shop", reply_to_email: "a@example.com" });
  clock.advance(1_000);
  const put = (body: object) => service.call("PUT", `/mailing-lists/${made.id}`, body);
  const tagged = await put({ from_name: "Shop of {{ city }}" });
  expect([tagged.status, tagged.body.error]).toEqual([
    400,
    "from_name: merge tags are not replaced here; write the name as recipients should see it",
  ]);
  const changed = await put({ from_name: null, enable_open_tracking: false, subscriber_count: 7 });
  expect(changed.body.data).toEqual({
    ...made,
    from_name: null,
    enable_open_tracking: false,
    updated_at: clock.now().toISOString(),
  });
  await Promise.all([put({ name: "Renamed" }), put({ description: "About" }), put({ opt_in_type: "api" })]);
  const { data } = (await service.call("GET", `/mailing-lists/${made.id}`)).body;
  expect(data).toMatchObject({ name: "Renamed", description: "About", opt_in_type: "api", from_name: null });
});

test.each([
  [{}, "name"],
  [{ name: " " }, "name"],
  [{ name: "x".repeat(201) }, "name"],
  [{ name: "News", from_email: "nobody" }, "from_email"],
  [{ name: "News", reply_to_email: "a@b.example, c@d.example" }, "reply_to_email"],
  [{ name: "News", from_name: "a\r\nBcc: b" }, "from_name"],
  [{ name: "News", from_name: "{{ first_name }} at Shop" }, "from_name"],
  [{ name: "News", opt_in_type: "triple" }, "opt_in_type"],
  [{ name: "News", enable_click_tracking: "yes" }, "enable_click_tracking"],
])("%j is refused, naming %s", async (body, field) => {
  const answer = await service.call("POST", "/mailing-lists", body);
  expect(answer.status).toBe(400);
  expect(answer.body.details[0].field).toBe(field);
});

test("a list is deleted with its members, fields and counters; people of other lists stay", async () => {
  const [list, other] = [await newList(database, workspaceId), await newList(database, workspaceId)];
  await addPeople(database, workspaceId, list, [{ email: "both@example.com" }, { email: "one@example.com" }]);
  await addPeople(database, workspaceId, other, [{ email: "both@example.com" }]);
  await service.call("POST", `/mailing-lists/${list}/custom-fields`, {
    field_name: "a",
    field_label: "A",
    field_type: "text",
  });
  const gone = await service.call("DELETE", `/mailing-lists/${list}`);
  expect(gone.body.data).toEqual({ id: list, deleted: true });
  expect((await service.call("DELETE", `/mailing-lists/${list}`)).status).toBe(404);
  const left = await service.call("GET", "/subscribers");
  expect(left.body.data.subscribers.map(({ email }: { email: string }) => email)).toEqual([
    "both@example.com",
  ]);
  for (const table of ["list_counters", "list_days", "custom_fields", "memberships"]) {
    const { rowCount } = await database.pool.query(`select from ${table} where mailing_list_id = $1`, [list]);
    expect(rowCount, table).toBe(0);
  }
  expect(await findMiscounts(database)).toEqual([]);
});

test("campaigns keep the name of a deleted list, also those that were never started", async () => {
  const [list, other] = await Promise.all([create({ name: "Club" }), create({ name: "Shop" })]);
  const [draft, rewritten] = [
    await newCampaign(database, workspaceId, list.id),
    await newCampaign(database, workspaceId, list.id),
  ];
  expect((await service.call("DELETE", `/mailing-lists/${list.id}`)).status).toBe(200);
  const named = async (id: string) =>
    (await service.call("GET", `/campaigns/${id}`)).body.data.mailing_list_name;
  expect(await named(draft)).toBe("Club");
  await verifyShop(database, workspaceId);
  const put = await service.call("PUT", `/campaigns/${rewritten}`, {
    name: "June",
    subject: "News",
    from_email: "news@shop.test",
    mailing_list_id: other.id,
    html_content: "<p>Hello</p>",
  });
  expect(put.status, put.body.error).toBe(200);
  expect(await named(rewritten)).toBe("Shop");
});

test("a person added while a list is deleted is removed, or the call gets 404", async () => {
  const list = await newList(database, workspaceId);
  const joining = Array.from({ length: 40 }, (_, at) =>
    service.call("POST", `/mailing-lists/${list}/subscribers`, { email: `late${at}@example.com` }),
  );
  const [gone, ...joined] = await Promise.all([service.call("DELETE", `/mailing-lists/${list}`), ...joining]);
  expect(gone?.status).toBe(200);
  for (const { status } of joined) expect([201, 404]).toContain(status);
  const { rowCount } = await database.pool.query("select from memberships where mailing_list_id = $1", [
    list,
  ]);
  expect(rowCount).toBe(0);
  expect(await findMiscounts(database)).toEqual([]);
});

test("bounces for members of a list that is being deleted do not fail, nor does the deletion", async () => {
  for (let round = 0; round < 15; round++) {
    const [list, other] = [await newList(database, workspaceId), await newList(database, workspaceId)];
    const people = Array.from({ length: 4 }, (_, at) => ({ email: `r${round}p${at}@example.com` }));
    await addPeople(database, workspaceId, list, people, { now: new Date("2026-01-01") });
    await addPeople(database, workspaceId, other, people, { now: new Date("2026-01-01") });
    const { body } = await service.call("GET", `/mailing-lists/${other}/subscribers`);
    const answers = await Promise.all([
      service.call("DELETE", `/mailing-lists/${list}`),
      ...body.data.subscribers.map(({ subscriber_id }: { subscriber_id: string }) =>
        service.call("PUT", `/mailing-lists/${other}/subscribers/${subscriber_id}/status`, {
          status: "bounced",
        }),
      ),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  }
  expect(await findMiscounts(database)).toEqual([]);
});

test("stats sum the days of the window, list by list", async () => {
  const [list, empty] = [await newList(database, workspaceId), await newList(database, workspaceId)];
  const now = clock.now();
  const day = (ago: number) => new Date(now.getTime() - ago * 86_400_000);
  const people = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({ email: `s${from + at}@example.com` }));
  await addPeople(database, workspaceId, list, people(0, 5), { now: day(40) });
  await addPeople(database, workspaceId, list, people(5, 8), { now: day(2) });
  await database.run(sql`
    update list_days set sent_count = 100, delivered_count = 80, engaged_count = 8 where mailing_list_id = ${list}
      and day = ${day(2)}::timestamptz::date`);
  const stats = async (query = "") => {
    const { body } = await service.call("GET", `/mailing-lists/stats${query}`);
    return new Map<string, { sparkline: unknown[] }>(body.data.map((row: { id: string }) => [row.id, row]));
  };
  const month = await stats();
  expect(month.get(list)).toMatchObject({
    new_subscribers: 3,
    net_growth: 3,
    engagement_rate: 0.1,
    health_score: 90,
  });
  expect(month.get(list)?.sparkline).toHaveLength(30);
  expect(month.get(list)?.sparkline.at(-3)).toEqual({ date: day(2).toISOString().slice(0, 10), value: 3 });
  expect(month.get(empty)).toMatchObject({ new_subscribers: 0, health_score: 100, last_campaign: null });
  expect((await stats("?window=60")).get(list)).toMatchObject({ new_subscribers: 8 });
  for (const bad of ["0", "366", "-1", "x", "1.5", ""]) {
    expect((await stats(`?window=${bad}`)).get(list)?.sparkline, bad).toHaveLength(30);
  }
});
