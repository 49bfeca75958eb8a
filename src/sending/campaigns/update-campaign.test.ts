import sql from "sql-template-tag";
import { beforeAll, describe, expect, test } from "vitest";
import { statusesOf } from "#test/support/api-caller.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, workspaceId } = service;
let list: string;

beforeAll(async () => {
  await verifyShop(database, workspaceId);
  list = await newList(database, workspaceId);
  await addPeople(database, workspaceId, list, [{ email: "ada@example.test" }]);
});

const create = async (body: object = {}) => {
  const answer = await call("POST", "/campaigns", {
    name: "June",
    subject: "Hello",
    from_email: "news@shop.test",
    mailing_list_id: list,
    html_content: "<p>Hello</p>",
    ...body,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.data;
};
const patch = (id: string, body: object, ifMatch?: string, query = "") =>
  call(
    "PATCH",
    `/campaigns/${id}${query}`,
    body,
    ifMatch === undefined ? {} : { headers: { "If-Match": ifMatch } },
  );
const read = async (id: string, query = "") => (await call("GET", `/campaigns/${id}${query}`)).body.data;
const file = { filename: "a.txt", content: "aGVsbG8=", content_type: "text/plain" };

describe("PATCH of a campaign", () => {
  test("changes the given fields, keeps all others, and null returns one to its default", async () => {
    const before = await create({
      from_name: "Shop",
      reply_to: "a@shop.test",
      attachments: [file],
      design: { a: 1 },
    });
    const changed = await patch(before.id, { subject: "New", reply_to: null });
    expect(changed.status, changed.body.error).toBe(200);
    const { updated_at: _before, ...kept } = before;
    const { updated_at: _after, ...now } = changed.body.data;
    expect(now).toEqual({ ...kept, subject: "New", reply_to: null, revision: before.revision + 1 });
  });

  test("without fields changes nothing, not even the revision", async () => {
    const before = await create();
    expect((await patch(before.id, {})).body.data).toEqual(before);
  });

  test("with the values that the draft has changes nothing, not even the revision", async () => {
    const before = await create({
      from_name: "Shop",
      design: { a: 1 },
      scheduled_at: "2999-01-01T00:00:00Z",
    });
    const { name, subject, html_content, design, scheduled_at, mailing_list_id } = before;
    const same = { name, subject, html_content, design, scheduled_at, mailing_list_id };
    const answer = await patch(before.id, same);
    expect([answer.status, answer.body.data]).toEqual([200, before]);
    expect((await call("PUT", `/campaigns/${before.id}`, before)).body.data).toEqual(before);
    expect((await patch(before.id, { ...same, design: { a: 2 } })).body.data.revision).toBe(
      before.revision + 1,
    );
  });

  test("without fields changes nothing, and ignores unknown ones with a warning", async () => {
    const before = await create();
    const warnings = [{ field: "colour", message: "colour is not a known field and was ignored" }];
    expect(await patch(before.id, {})).toMatchObject({ status: 200, body: { data: before } });
    expect(await patch(before.id, { colour: "red" })).toMatchObject({
      status: 200,
      body: { data: before, warnings },
    });
    expect(await read(before.id)).toEqual(before);
    expect((await patch(before.id, { colour: "red", subject: "New" })).body.data.subject).toBe("New");
  });

  test("of one field works while the sender is not verified any more", async () => {
    const { id } = await create();
    await database.run(sql`update campaigns set from_email = 'news@lost.test' where id = ${id}`);
    expect((await patch(id, { subject: "Still written" })).status).toBe(200);
    const refused = await patch(id, { from_email: "news@lost.test" });
    expect([refused.status, refused.body.details[0].field]).toEqual([400, "from_email"]);
  });

  test("refuses an invalid value, names it and changes nothing", async () => {
    const before = await create();
    for (const [body, field] of [
      [{ name: null }, "name"],
      [{ subject: "" }, "subject"],
      [{ subject: "New", segment_id: before.id }, "segment_id"],
      [{ subject: "New", url_domain_id: before.id }, "url_domain_id"],
      [{ subject: "New", scheduled_at: "soon" }, "scheduled_at"],
      [{ subject: "New", design: "a text" }, "design"],
      [{ subject: "New", design: { text: "x".repeat(2_000_000) } }, "design"],
      [{ subject: "New", message_type: "sms" }, "phone_field_name"],
    ] as const) {
      const answer = await patch(before.id, body);
      expect([answer.status, answer.body.details?.[0].field]).toEqual([400, field]);
    }
    expect(await read(before.id)).toEqual(before);
  });

  test("of a campaign that is no draft is refused", async () => {
    const { id } = await create();
    await database.run(sql`update campaigns set status = 'sent' where id = ${id}`);
    const { status, body } = await patch(id, { subject: "Too late" });
    expect([status, body.code]).toEqual([409, "CONFLICT"]);
  });

  test("recomputes the warnings when the text or the list's fields change, and the estimate with the audience", async () => {
    const { id } = await create();
    const warned = await patch(id, { html_content: "<p>{{ colour }}</p>" });
    expect(warned.body.data.warnings).toHaveLength(1);
    expect(warned.body.data.total_recipients).toBe(1);
    const other = await newList(database, workspaceId);
    const moved = await patch(id, { mailing_list_id: other });
    expect(moved.body.data).toMatchObject({ mailing_list_id: other, total_recipients: 0 });
    expect(moved.body.data.warnings).toHaveLength(1);
  });

  test("with a segment or conditions makes them the audience", async () => {
    const conditions = { logic: "and", rules: [{ field: "email", operator: "contains", value: "ada" }] };
    const made = await call("POST", `/mailing-lists/${list}/segments`, { name: "Some", conditions });
    const { id } = await create();
    const segment = await patch(id, { segment_id: made.body.data.id });
    expect(segment.body.data).toMatchObject({ recipient_type: "segment", total_recipients: 1 });
    const custom = await patch(id, { segment_conditions: conditions });
    expect(custom.body.data.recipient_type).toBe("custom");
    const back = await patch(id, { segment_id: null, segment_conditions: null });
    expect(back.body.data).toMatchObject({ recipient_type: "mailing_list", segment_id: null });
  });

  test("of different fields at the same time keeps all of them", async () => {
    const { id } = await create();
    const answers = await Promise.all([
      patch(id, { subject: "Mine" }),
      patch(id, { name: "Yours" }),
      patch(id, { html_content: "<p>Theirs</p>" }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await read(id)).toMatchObject({
      subject: "Mine",
      name: "Yours",
      html_content: "<p>Theirs</p>",
      revision: 4,
    });
  });
});

describe("the version of a campaign", () => {
  test("is the ETag of its answers, and PATCH with it in If-Match succeeds once", async () => {
    const { id, revision } = await create();
    const { headers } = await call("GET", `/campaigns/${id}`);
    const etag = headers.get("etag") ?? "";
    expect(etag).toBe(`"${revision}"`);
    const first = await patch(id, { subject: "First" }, etag);
    expect([first.status, first.headers.get("etag")]).toEqual([200, `"${revision + 1}"`]);
    const second = await patch(id, { subject: "Second" }, etag);
    expect([second.status, second.body.code, second.headers.get("etag")]).toEqual([
      412,
      "PRECONDITION_FAILED",
      `"${revision + 1}"`,
    ]);
    expect(second.body.current).toMatchObject({ id, subject: "First", html_content: "<p>Hello</p>" });
    expect((await read(id)).subject).toBe("First");
  });

  test("older in If-Match lets PUT and DELETE change nothing", async () => {
    const { id, revision } = await create();
    await patch(id, { subject: "Theirs" });
    const body = { name: "Mine", subject: "Mine", from_email: "news@shop.test", html_content: "<p>x</p>" };
    const whole = { ...body, mailing_list_id: list };
    const headersOf = (version: number) => ({ headers: { "If-Match": `"${version}"` } });
    for (const answer of [
      await call("PUT", `/campaigns/${id}`, whole, headersOf(revision)),
      await call("DELETE", `/campaigns/${id}`, undefined, headersOf(revision)),
    ]) {
      expect([answer.status, answer.body.current?.subject]).toEqual([412, "Theirs"]);
    }
    expect((await read(id)).subject).toBe("Theirs");
    const replaced = await call("PUT", `/campaigns/${id}`, whole, headersOf(revision + 1));
    expect([replaced.status, replaced.body.data.subject]).toEqual([200, "Mine"]);
    const { status } = await call("DELETE", `/campaigns/${id}`, undefined, headersOf(revision + 2));
    expect(status).toBe(200);
  });

  test("lets one of many simultaneous changes with the same If-Match through", async () => {
    const { id } = await create();
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => patch(id, { subject: `S${n}` }, '"1"')));
    expect(statusesOf(answers)).toEqual([200, 412, 412, 412, 412]);
  });

  test("may be one of several, weak or any; an invalid header is refused", async () => {
    const { id } = await create();
    for (const [at, ifMatch] of ['"7", "1"', 'W/"2"', "*"].entries()) {
      expect((await patch(id, { subject: `At ${at}` }, ifMatch)).status).toBe(200);
    }
    for (const ifMatch of ["4", "latest", '"4" "5"']) {
      const { status, body } = await patch(id, { subject: "No" }, ifMatch);
      expect([status, body.details[0].field]).toEqual([400, "If-Match"]);
    }
  });

  test("rises with PUT, too", async () => {
    const made = await create();
    const { body, headers } = await call("PUT", `/campaigns/${made.id}`, { ...made, name: "July" });
    expect([body.data.revision, headers.get("etag")]).toEqual([made.revision + 1, `"${made.revision + 1}"`]);
  });
});

describe("?without", () => {
  test("content leaves out texts, design and files; attachments only the content of files", async () => {
    const made = await create({
      text_content: "Hi",
      design: { a: 1 },
      attachments: [file, { ...file, content: "aA==" }],
    });
    const sizes = made.attachments.map(({ size }: { size: number }) => size);
    expect(sizes).toEqual([5, 1]);
    const light = made.attachments.map((each: object) => ({ ...each, content: "" }));
    const none = { html_content: null, text_content: null, design: null, attachments: light };
    expect(await read(made.id, "?without=content")).toEqual({ ...made, ...none });
    expect(await read(made.id, "?without=attachments")).toEqual({ ...made, attachments: light });
    // As campaigns are that were stored before the list of files was.
    await database.run(sql`update campaigns set attachment_files = null where id = ${made.id}`);
    expect(await read(made.id, "?without=attachments")).toEqual({ ...made, attachments: light });
    const changed = await patch(made.id, { name: "July" }, undefined, "?without=content");
    expect(changed.body.data).toMatchObject({ name: "July", ...none });
    expect((await call("GET", `/campaigns/${made.id}?without=all`)).status).toBe(400);
  });
});

test("the document of an editor is stored as it is: order of keys, numbers, escapes", async () => {
  const text = String.raw`{"z":1,"a":{"é":"\u2028 <\/p>"},"n":[0.1,-1,null,true,[]]}`;
  const { id } = await create();
  await patch(id, `{"design":${text}}` as never);
  expect(JSON.stringify((await read(id)).design)).toBe(JSON.stringify(JSON.parse(text)));
});

describe("the list of campaigns", () => {
  test("is sorted by the given time or name, in both directions, campaigns without the time last", async () => {
    const { workspaceId: other, key } = await service.newWorkspace();
    const rows = [
      ["b", "2026-01-03", null, "2026-02-01"],
      ["A", "2026-01-01", "2026-03-01", null],
      ["c", "2026-01-02", "2026-02-01", "2026-02-02"],
    ] as const;
    for (const [name, created, scheduled, sent] of rows) {
      await database.run(sql`
        insert into campaigns (workspace_id, id, name, subject, from_email, message_type, recipient_type,
          use_custom_headers, created_at, updated_at, scheduled_at, sent_at)
        values (${other}, gen_random_uuid(), ${name}, 's', 'a@b.c', 'email', 'mailing_list', false,
          ${created}::timestamptz, now(), ${scheduled}::timestamptz, ${sent}::timestamptz)`);
    }
    const names = async (query: string) =>
      (await call("GET", `/campaigns?${query}`, undefined, { key })).body.data.campaigns
        .map(({ name }: { name: string }) => name)
        .join("");
    expect(await names("")).toBe("bcA");
    expect(await names("sort=created&order=asc")).toBe("Acb");
    expect(await names("sort=name")).toBe("Abc");
    expect(await names("sort=name&order=desc")).toBe("cbA");
    expect(await names("sort=scheduled")).toBe("Acb");
    expect(await names("sort=scheduled&order=asc")).toBe("cAb");
    expect(await names("sort=sent")).toBe("cbA");
    expect(await names("from=2026-01-02&to=2026-01-02")).toBe("c");
    expect(await names("date=sent&from=2026-02-01&to=2026-02-01")).toBe("b");
    for (const wrong of ["sort=size", "order=up", "date=opened", "from=yesterday"]) {
      expect((await call("GET", `/campaigns?${wrong}`)).status).toBe(400);
    }
  });
});
