import { describe, expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database } = service;

interface Row {
  readonly email: string;
  readonly status: string;
}

/** All pages of a list, one after the other. */
async function walk(path: string, key: string, limit = 200): Promise<Row[]> {
  const rows: Row[] = [];
  for (let page = 1; ; page++) {
    const { body } = await service.call(
      "GET",
      `${path}${path.includes("?") ? "&" : "?"}page=${page}&limit=${limit}`,
      undefined,
      { key },
    );
    if (body.data.subscribers.length === 0) return rows;
    rows.push(...body.data.subscribers);
    expect(body.data.pagination).toMatchObject({ page, limit });
  }
}

describe("paging", async () => {
  const { workspaceId, key } = await service.newWorkspace();
  const [big, small] = [await newList(database, workspaceId), await newList(database, workspaceId)];
  const people = Array.from({ length: 7_500 }, (_, at) => ({
    email: `p${at}@example.com`,
    status: at % 5 === 0 ? ("unsubscribed" as const) : null,
  }));
  await addPeople(database, workspaceId, big, people);
  await addPeople(database, workspaceId, small, people.slice(100, 350));
  const newestFirst = people.map(({ email }) => email).toReversed();

  test.each([
    [`/mailing-lists/${big}/subscribers`, () => newestFirst],
    ["/subscribers", () => newestFirst],
    [`/subscribers?list_id=${small}`, () => newestFirst.slice(-350, -100)],
    [
      `/mailing-lists/${big}/subscribers?status=active`,
      () => newestFirst.filter((email) => Number.parseInt(email.slice(1), 10) % 5 > 0),
    ],
    [
      "/subscribers?status=unsubscribed",
      () => newestFirst.filter((email) => Number.parseInt(email.slice(1), 10) % 5 === 0),
    ],
    ["/subscribers?status=complained", () => []],
  ])("%s shows everybody once, newest first, and counts them", async (path, wanted) => {
    const rows = await walk(path, key);
    const expected = wanted();
    // People of one import share their moment: within it the order is that of their ids, not of the file.
    expect(rows.map(({ email }) => email).toSorted()).toEqual(expected.toSorted());
    const { body } = await service.call("GET", path, undefined, { key });
    expect(body.data.pagination.total).toBe(expected.length);
  });

  test("a deep page is correct at once after a person left", async () => {
    const path = `/mailing-lists/${big}/subscribers`;
    const page = async () => {
      const { body } = await service.call("GET", `${path}?page=30&limit=200`, undefined, { key });
      return body.data.subscribers.map(({ subscriber_id }: { subscriber_id: string }) => subscriber_id);
    };
    const before = await page();
    const { body } = await service.call("GET", `${path}?page=1&limit=1`, undefined, { key });
    await service.call("DELETE", `${path}/${body.data.subscribers[0].subscriber_id}`, undefined, { key });
    const after = await page();
    expect(after.slice(0, -1)).toEqual(before.slice(1));
  });

  test("a page past the end is empty", async () => {
    const { body } = await service.call("GET", "/subscribers?page=1000000000&limit=200", undefined, { key });
    expect(body.data).toMatchObject({ subscribers: [], pagination: { page: 1_000_000_000 } });
  });
});

describe("search", async () => {
  const { workspaceId, key } = await service.newWorkspace();
  const [list, other] = [await newList(database, workspaceId), await newList(database, workspaceId)];
  await addPeople(database, workspaceId, list, [
    { email: "john.smith+news@example.com", first_name: "John", last_name: "Smith" },
    { email: "j.o'brien@mail.example.org", first_name: "Jean-Luc", last_name: "O’Brien" },
    { email: "li@quux.test", first_name: "Li", last_name: "Wu", status: "unsubscribed" },
    { email: "müller@xn--bcher-kva.example", first_name: "ÄNNE", last_name: null },
    { email: "100%_sure\\@odd.example" },
    { email: "yu@xn--fsqu00a.example", first_name: "Rene\u0301" },
  ]);
  await addPeople(database, workspaceId, other, [{ email: "smithers@elsewhere.test", first_name: "Waylon" }]);
  const find = async (path: string, text: string) => {
    const url = `${path}${path.includes("?") ? "&" : "?"}search=${encodeURIComponent(text)}`;
    const { status, body } = await service.call("GET", url, undefined, { key });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.data.pagination.total).toBe(body.data.subscribers.length);
    return body.data.subscribers.map(({ email }: Row) => email.split(/[.@]/)[0]).toSorted();
  };

  test.each([
    ["smith", ["john", "smithers"]],
    ["John SMIT", ["john"]],
    ["smit john", []],
    ["john.smith", ["john"]],
    ["john.smith+news@exam", ["john"]],
    ["news", ["john"]],
    ["brien", ["j"]],
    ["luc o'bri", ["j"]],
    ["example.com", ["john"]],
    ["@mail.exa", ["j"]],
    ["example", ["john"]],
    ["xn--bcher", ["müller"]],
    ["bücher", ["müller"]],
    ["BÜCHER.exa", ["müller"]],
    ["@bücher.example", ["müller"]],
    ["müller@bücher.example", ["müller"]],
    ["mu\u0308ller@bu\u0308cher", ["müller"]],
    ["müller@büch", []],
    ["例子", ["yu"]],
    ["mu\u0308l", ["müller"]],
    ["a\u0308nne", ["müller"]],
    ["Rene\u0301", ["yu"]],
    ["li", ["li"]],
    ["wu", ["li"]],
    ["änne", ["müller"]],
    ["MÜL", ["müller"]],
    ["mit", []],
    ["%", []],
    ["_", []],
    ["100%_su", ["100%_sure\\"]],
    ["100%.sure", ["100%_sure\\"]],
    ["sure_100%", []],
    ["john_smith", []],
    ["sure\\", ["100%_sure\\"]],
    ["su\\re", []],
    ["jo", ["john"]],
    ["j.o", ["j"]],
    ["'; drop table subscribers --", []],
    ["':* | 'smith", []],
    ["a & b ! (", []],
    ["\\", []],
    ["@", []],
    ["🦊🦊🦊", []],
  ])("%j finds %j", async (text, found) => {
    expect(await find("/subscribers", text)).toEqual(found);
  });

  test("within a list and a status", async () => {
    expect(await find(`/mailing-lists/${list}/subscribers`, "smith")).toEqual(["john"]);
    expect(await find(`/subscribers?list_id=${other}`, "smith")).toEqual(["smithers"]);
    expect(await find(`/mailing-lists/${list}/subscribers?status=active`, "li")).toEqual([]);
    expect(await find("/subscribers?status=unsubscribed", "li")).toEqual(["li"]);
  });

  test("another workspace's people are not found", async () => {
    const stranger = await service.newWorkspace();
    const { body } = await service.call("GET", "/subscribers?search=smith", undefined, { key: stranger.key });
    expect(body.data.pagination.total).toBe(0);
  });
});

test("list_id must be a list of the workspace", async () => {
  const stranger = await service.newWorkspace();
  const theirs = await newList(database, stranger.workspaceId as WorkspaceId);
  for (const id of [theirs, "x", "9".repeat(36)]) {
    const answer = await service.call("GET", `/subscribers?list_id=${id}`);
    expect(answer.body).toMatchObject({ code: "VALIDATION_ERROR", details: [{ field: "list_id" }] });
  }
  for (const bad of ["status=gone", `search=${"x".repeat(201)}`, "search=%00"]) {
    expect((await service.call("GET", `/subscribers?${bad}`)).status, bad).toBe(400);
  }
});
