/** Reads all pages of every list with a cursor over HTTP while rows are added and removed. */
import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { addPeople, newList } from "./support/audience.ts";
import { startService } from "./support/service.ts";
import { sentCampaign } from "./support/tracked-campaign.ts";

const service = await startService();
const { call, database, workspaceId } = service;
const ROWS = 30;

interface Walked {
  readonly path: string;
  /** The name of the array in `data`. Default: `data` is the array. */
  readonly rows?: string;
  readonly idOf: (row: Record<string, string>) => string | undefined;
  /** Removes one row, from a page that was read or from a later one. */
  readonly remove: (id: string) => Promise<unknown>;
  readonly add: () => Promise<unknown>;
}

const list = await newList(database, workspaceId);
let number = 0;
const newcomers = (count: number) =>
  addPeople(
    database,
    workspaceId,
    list,
    Array.from({ length: count }, () => ({ email: `p${++number}@walk.example`, first_name: "Ann" })),
  );
await newcomers(ROWS);
const conditions = { logic: "and", rules: [{ field: "first_name", operator: "equals", value: "Ann" }] };
const segment = (await call("POST", `/mailing-lists/${list}/segments`, { name: "Anns", conditions })).body
  .data.id;
const entries = (await call("POST", "/suppression-lists", { name: "Kept away" })).body.data.id;
const addEntries = (count: number) => {
  const values = Array.from({ length: count }, () => `e${++number}@walk.example`);
  return call("POST", `/suppression-lists/${entries}/entries`, { entries: values.join("\n") });
};
const url = "https://hook.example/in";
const webhook = (await call("POST", "/webhooks", { url, events: ["message.delivered"] })).body.data.id;
const addDeliveries = async (count: number) => {
  const ids = Array.from({ length: count }, newId);
  await database.run(sql`
    insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, status, created_at)
    select ${workspaceId}, ${webhook}, id, 'message.delivered', '{}', 'failed', now() from unnest(${ids}::uuid[]) id`);
};
await addDeliveries(ROWS);
const addMessages = async (count: number) => {
  for (let at = 0; at < count; at += 1) {
    const email = {
      to: `m${++number}@walk.example`,
      subject: "Hi",
      body: "Hi",
      from_email: "shop@walk.example",
    };
    expect((await call("POST", "/emails/send", email)).status).toBe(201);
  }
};
await database.run(sql`
  insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, is_verified, verified_at)
  values (${workspaceId}, gen_random_uuid(), 'walk.example', 'v', 'd', true, now())`);
await addMessages(ROWS);

const removeMember = (id: string) => call("DELETE", `/mailing-lists/${list}/subscribers/${id}`);
const walks: Record<string, Walked> = {
  "subscribers of a list": {
    path: `/mailing-lists/${list}/subscribers?status=active`,
    rows: "subscribers",
    idOf: (row) => row.subscriber_id,
    remove: removeMember,
    add: () => newcomers(1),
  },
  subscribers: {
    path: "/subscribers",
    rows: "subscribers",
    idOf: (row) => row.id,
    remove: removeMember,
    add: () => newcomers(1),
  },
  "subscribers found": {
    path: "/subscribers?search=walk.example",
    rows: "subscribers",
    idOf: (row) => row.id,
    remove: removeMember,
    add: () => newcomers(1),
  },
  "members of a segment": {
    path: `/mailing-lists/${list}/segments/${segment}/subscribers`,
    rows: "subscribers",
    idOf: (row) => row.subscriber_id,
    remove: removeMember,
    add: () => newcomers(1),
  },
  messages: {
    path: "/messages?source=api",
    rows: "messages",
    idOf: (row) => row.id,
    remove: (id) => database.run(sql`delete from messages where id = ${id}`),
    add: () => addMessages(1),
  },
  "messages found": {
    path: "/messages?email=walk.example",
    rows: "messages",
    idOf: (row) => row.id,
    remove: (id) => database.run(sql`delete from messages where id = ${id}`),
    add: () => addMessages(1),
  },
  "webhook deliveries": {
    path: `/webhooks/${webhook}/deliveries?status=failed`,
    rows: "deliveries",
    idOf: (row) => row.id,
    remove: (id) => database.run(sql`delete from webhook_deliveries where id = ${id}`),
    add: () => addDeliveries(1),
  },
};

/** After each page, one of its rows is removed, one later row is removed, and one row is added. */
async function walk({ path, rows = "", idOf, remove, add }: Walked, limit: number) {
  const pageAt = async (after: string | null) => {
    const query = `limit=${limit}${after === null ? "" : `&after=${after}`}`;
    const { status, body } = await call("GET", `${path}${path.includes("?") ? "&" : "?"}${query}`);
    expect(status, body.error).toBe(200);
    const ids: string[] = body.data[rows].map(idOf);
    return { ids, next: body.data.pagination.next_cursor as string | null };
  };
  const all = (await call("GET", `${path}${path.includes("?") ? "&" : "?"}limit=200`)).body.data[rows].map(
    idOf,
  );
  const found: string[] = [];
  const gone: string[] = [];
  for (let cursor: string | null = null, turn = 0; turn === 0 || cursor !== null; turn += 1) {
    const { ids, next } = await pageAt(cursor);
    found.push(...ids);
    for (const id of [ids.at(-1), all[all.length - 1 - turn]]) {
      if (id === undefined || gone.includes(id)) continue;
      await remove(id);
      if (!found.includes(id)) gone.push(id);
    }
    await add();
    cursor = next;
  }
  return { found, wanted: all.filter((id: string) => !gone.includes(id)) };
}

describe("pages by cursor have every permanent row exactly once", () => {
  test.each(Object.entries(walks))("%s", async (_name, walked) => {
    const { found, wanted } = await walk(walked, 7);
    expect(wanted.length).toBeGreaterThan(15);
    expect(found).toEqual(wanted);
  });

  test("suppression entries, whose cursor is beside data", async () => {
    await addEntries(1_500);
    const path = `/suppression-lists/${entries}/entries`;
    const first = (await call("GET", path)).body;
    const last = first.data.at(-1);
    await call("DELETE", `${path}/${last.id}`);
    await addEntries(3);
    const second = (await call("GET", `${path}?after=${first.next_cursor}`)).body;
    const values = [...first.data, ...second.data].map(
      ({ entry_value }: { entry_value: string }) => entry_value,
    );
    expect([new Set(values).size, second.next_cursor]).toEqual([1_500, null]);
    const found = (await call("GET", `${path}?search=e&after=${first.next_cursor}`)).body;
    expect([found.code, found.details[0].field]).toEqual(["VALIDATION_ERROR", "after"]);
  });

  test("recipients of a campaign", async () => {
    const { campaignId, mails } = await sentCampaign(database, workspaceId, {
      base: "https://x.test",
      deliveredAt: new Date(),
    });
    const path = `/campaigns/${campaignId}/messages`;
    for (const filter of ["", "status=delivered&", "email=a&"]) {
      const all = (await call("GET", `${path}?${filter}limit=200`)).body.data.messages;
      const found: string[] = [];
      for (let cursor = ""; ; ) {
        const { data } = (await call("GET", `${path}?${filter}limit=1${cursor}`)).body;
        found.push(...data.messages.map(({ id }: { id: string }) => id));
        if (data.pagination.next_cursor === null) break;
        cursor = `&after=${data.pagination.next_cursor}`;
      }
      expect(found).toEqual(all.map(({ id }: { id: string }) => id));
      expect(found.length).toBeLessThanOrEqual(mails.length);
    }
  });
});

test("a cursor is valid only for its list and filter, with any limit", async () => {
  const cursorOf = async (path: string) => (await call("GET", path)).body.data.pagination.next_cursor;
  const people = await cursorOf("/subscribers?limit=2");
  const messages = await cursorOf("/messages?limit=2");
  expect((await call("GET", `/subscribers?limit=5&after=${people}`)).status).toBe(200);
  for (const path of [
    `/subscribers?search=ann&after=${people}`,
    `/subscribers?status=active&after=${people}`,
    `/subscribers?list_id=${list}&after=${people}`,
    `/mailing-lists/${list}/subscribers?after=${people}`,
    `/mailing-lists/${list}/segments/${segment}/subscribers?after=${people}`,
    `/messages?after=${people}`,
    `/messages?status=queued&after=${messages}`,
    `/webhooks/${webhook}/deliveries?after=${messages}`,
    `/suppression-lists/${entries}/entries?after=${messages}`,
    "/subscribers?after=x",
  ]) {
    const { status, body } = await call("GET", path);
    expect([path, status, body.details?.[0].field]).toEqual([path, 400, "after"]);
  }
});
