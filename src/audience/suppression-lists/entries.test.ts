import { beforeEach, describe, expect, it } from "vitest";
import { suppressionService } from "#test/support/suppression.ts";

const { service, clock, call, create, add, entriesOf, valuesOf, countOf } = await suppressionService();

describe("entries", () => {
  let id: string;
  beforeEach(async () => {
    ({ id } = await create());
  });

  it("of an empty list are null", async () => {
    const { status, body } = await call("GET", `/suppression-lists/${id}/entries`);
    expect([status, body.data]).toEqual([200, null]);
  });

  it("are counted: added, duplicates and invalid are all items that are not blank", async () => {
    await add(id, "known@example.com");
    const { status, body } = await add(
      id,
      'User@EXAMPLE.com\r\n\r\nuser@example.com;  ,known@example.com\n"@Example.com"\nnobody\nexample.com.,ada@',
    );
    expect(status).toBe(201);
    const message = "2 added, 3 duplicates, 2 invalid: nobody, ada@";
    expect(body.data).toEqual({ added: 2, duplicates: 3, invalid: 2, message });
    expect(body.message).toBe(message);
    expect((await entriesOf(id)).at(1).entry_value).toBe("User@EXAMPLE.com");
    expect(await countOf(id)).toBe(3);
    expect((await add(id, "known@example.com")).body.data).toMatchObject({
      added: 0,
      duplicates: 1,
      invalid: 0,
    });
  });

  it("are no patterns: a pattern for a domain is refused with a hint", async () => {
    const refused = await add(id, "*@wild.example");
    expect([refused.status, refused.body.error]).toEqual([
      400,
      "entries holds no address and no domain: *@wild.example (for the whole domain write @wild.example)",
    ]);
    const { body } = await add(id, "ada@wild.example, *@wild.example");
    expect(body.message).toBe(
      "1 added, 1 invalid: *@wild.example (for the whole domain write @wild.example)",
    );
    expect(await valuesOf(id)).toEqual(["ada@wild.example"]);
  });

  it("show who added them and how they were written, newest first", async () => {
    await add(id, "first@example.com");
    clock.advance(1_000);
    const key = await service.newKey(["suppression_lists:write"], "The shop");
    await call("POST", `/suppression-lists/${id}/entries`, { entries: "@Example.COM" }, { key });
    const common = { id: expect.any(String), source_message_id: null };
    expect(await entriesOf(id)).toEqual([
      {
        ...common,
        entry_value: "@Example.COM",
        entry_type: "domain",
        normalized_value: "example.com",
        reason: "domain",
        created_at: clock.now().toISOString(),
        created_by: "The shop",
      },
      expect.objectContaining({ entry_value: "first@example.com", entry_type: "email", reason: "manual" }),
    ]);
  });

  it.each([
    ["nothing valid", "nobody, ada@\n\n", /no address/],
    ["blanks", " \r\n;,", /no address/],
    ["too many", Array.from({ length: 10_001 }, (_, at) => `a${at}@example.com`).join("\n"), /import a file/],
    ["a NUL", "ada@example.com\0", /./],
  ])("%s is refused, and nothing is added", async (_name, entries, error) => {
    const { status, body } = await add(id, entries);
    expect([status, body.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(body.error).toMatch(error);
    expect(await countOf(id)).toBe(0);
  });

  it("come ten thousand at a time, and are read a thousand at a time", async () => {
    const { body } = await add(
      id,
      Array.from({ length: 10_000 }, (_, at) => `a${at}@example.com`).join("\n"),
    );
    expect(body.data).toMatchObject({ added: 10_000, duplicates: 0, invalid: 0 });
    const read = [];
    for (const page of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
      const values = await valuesOf(id, `?page=${page}`);
      expect(values).toHaveLength(1_000);
      read.push(...values);
    }
    expect(read).toEqual(Array.from({ length: 10_000 }, (_, at) => `a${9_999 - at}@example.com`));
    expect(await entriesOf(id, "?page=11")).toBeNull();
    // A change moves what was remembered of the pages.
    await add(id, "newest@example.com");
    expect((await valuesOf(id, "?page=10")).at(-1)).toBe("a1@example.com");
    expect(await valuesOf(id, "?page=11")).toEqual(["a0@example.com"]);
  });

  it("are searched by prefix", async () => {
    await add(
      id,
      "ada@example.com\nAdam@example.com\nbob@example.com\nexample.com\na%b@example.org\na_b@example.org",
    );
    expect(await valuesOf(id, "?search=ADA")).toEqual(["adam@example.com", "ada@example.com"]);
    expect(await valuesOf(id, "?search=@example")).toEqual(["example.com"]);
    expect(await valuesOf(id, "?search=a_")).toEqual(["a_b@example.org"]);
    expect(await entriesOf(id, "?search=nobody")).toBeNull();
    expect(await entriesOf(id, "?search=ada&page=2")).toBeNull();
  });

  it("are searched in the given script and in the stored one", async () => {
    await add(id, "v@bücher.example\nbücher.example\nbücher@example.com");
    const person = "v@xn--bcher-kva.example";
    expect(await valuesOf(id, "?search=v@bücher")).toEqual([person]);
    expect(await valuesOf(id, "?search=v@xn--bcher")).toEqual([person]);
    const domain = "xn--bcher-kva.example";
    expect(await valuesOf(id, "?search=@bücher.example")).toEqual([domain]);
    expect(await valuesOf(id, "?search=bu\u0308cher")).toEqual(["bücher@example.com", domain]);
  });

  it("are deleted one by one, only from their own list", async () => {
    await add(id, "ada@example.com");
    const [entry] = await entriesOf(id);
    const other = await create();
    const remove = (list: string) => call("DELETE", `/suppression-lists/${list}/entries/${entry.id}`);
    expect((await remove(other.id)).status).toBe(404);
    expect((await remove(id)).body.data).toEqual({ id: entry.id, deleted: true });
    expect((await remove(id)).status).toBe(404);
    expect(await countOf(id)).toBe(0);
  });

  it("are deleted with a reason, which the audit log shows", async () => {
    await add(id, "ada@example.com\neve@example.com");
    const reason = 'Asked by phone: "mail again, please"';
    for (const [entry, query] of [
      [(await entriesOf(id, "?search=ada"))[0], `?reason=${encodeURIComponent(` ${reason} `)}`],
      [(await entriesOf(id, "?search=eve"))[0], "?reason="],
    ]) {
      const path = `/suppression-lists/${id}/entries/${entry.id}`;
      expect((await call("DELETE", `${path}?reason=${"x".repeat(501)}`)).body.details[0].field).toBe(
        "reason",
      );
      expect((await call("DELETE", path + query)).status).toBe(200);
      const { body } = await call("GET", `/audit-events?resource_id=${entry.id}`);
      const kept = query === "?reason=" ? null : reason;
      expect(body.data).toMatchObject([{ operation: "deleteSuppressionEntry", reason: kept }]);
      const { body: csv } = await call("GET", `/audit-events/export?resource_id=${entry.id}`);
      expect(csv.includes('Asked by phone: ""mail again, please""')).toBe(kept !== null);
    }
  });

  it("of many callers at once are counted exactly", async () => {
    const texts = Array.from({ length: 16 }, (_, at) =>
      Array.from({ length: 200 }, (_, number) => `a${(number * 7 + at * 50) % 500}@example.com`).join("\n"),
    );
    const answers = await Promise.all(texts.map((text) => add(id, text)));
    const total = answers.reduce((sum, { body }) => sum + body.data.added, 0);
    expect(total).toBe(await countOf(id));
    expect(answers.every(({ body }) => body.data.added + body.data.duplicates === 200)).toBe(true);
  });
});
