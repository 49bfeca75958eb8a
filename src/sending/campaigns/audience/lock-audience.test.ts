/** Writing a campaign against the deletion of what says who gets it: one of them wins, never both. */
import sql, { type Sql } from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import type { Queryable } from "#platform/database/pool.ts";
import { newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { callsBehind } from "#test/support/waiting.ts";

const service = await startService();
const { call, database: db, workspaceId } = service;
await verifyShop(db, workspaceId);
let list: string;

beforeEach(async () => {
  list = await newList(db, workspaceId);
});

interface Used {
  readonly path: string;
  readonly remove: (tx: Queryable) => Promise<unknown>;
  /** The campaign uses it by these. */
  readonly settings: object;
}

const post = async (path: string, body: object) => {
  const answer = await call("POST", path, body);
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data.id as string;
};
const removal = (table: Sql, id: string) => (tx: Queryable) =>
  tx.run(sql`delete from ${table} where workspace_id = ${workspaceId} and id = ${id}`);
const all = (field: string, operator: string, value: unknown) => ({
  logic: "and",
  rules: [{ field, operator, value }],
});
const newSegment = async () => {
  const path = `/mailing-lists/${list}/segments`;
  const id = await post(path, { name: "Some", conditions: all("email", "contains", "a") });
  return { id, path: `${path}/${id}`, remove: removal(sql`segments`, id) };
};
const newField = async (path: string, field_name: string) => {
  const id = await post(path, { field_name, field_label: field_name, field_type: "number" });
  return { path: `${path}/${id}`, remove: removal(sql`custom_fields`, id) };
};

const kinds: Record<string, () => Promise<Used>> = {
  "a segment it goes to": async () => {
    const { id, ...segment } = await newSegment();
    return { ...segment, settings: { segment_id: id } };
  },
  "a segment that its conditions name": async () => {
    const { id, ...segment } = await newSegment();
    return { ...segment, settings: { segment_conditions: all("segment", "is_in", id) } };
  },
  "a field of its list": async () => {
    const segment_conditions = all("visits", "greater_than", 3);
    const field = await newField(`/mailing-lists/${list}/custom-fields`, "visits");
    return { ...field, settings: { mailing_list_id: list, segment_conditions } };
  },
  "a field of every list": async () => {
    // One that other campaigns do not name already.
    const name = `orders_${list.replaceAll("-", "")}`;
    const segment_conditions = all(`custom_fields.${name}`, "greater_than", 3);
    return { ...(await newField("/custom-fields/global", name)), settings: { segment_conditions } };
  },
};

const campaign = { name: "June", subject: "News", from_email: "news@shop.test", html_content: "<p>Hi</p>" };
const copy = (id: string) => call("POST", `/campaigns/${id}/duplicate`);
const write = {
  "is made": async () => (settings: object) => call("POST", "/campaigns", { ...campaign, ...settings }),
  "is changed": async () => {
    const id = await newCampaign(db, workspaceId, list);
    return (settings: object) => call("PUT", `/campaigns/${id}`, { ...campaign, ...settings });
  },
};
const ways = Object.entries(kinds).flatMap(([kind, make]) =>
  Object.entries(write).map(([way, prepare]) => [kind, way, make, prepare] as const),
);

const behind = (work: (tx: Queryable) => Promise<unknown>, ...calls: (() => ReturnType<typeof call>)[]) =>
  callsBehind(db, work, ...calls);
/** Campaigns are read, and not written. */
const holdCampaigns = (tx: Queryable) => tx.run(sql`lock table campaigns in share mode`);

describe.each(ways)("%s, of a campaign that %s,", (_kind, _way, make, prepare) => {
  test("is not deleted any more", async () => {
    const { path, settings } = await make();
    const save = await prepare();
    const [saved, deleted] = await behind(
      holdCampaigns,
      () => save(settings),
      () => call("DELETE", path),
    );
    expect([saved?.body.success, deleted?.status]).toEqual([true, 409]);
    expect((await call("GET", `/campaigns/${saved?.body.data.id}`)).body.data).toMatchObject(settings);
  });

  test("is refused while it is being deleted", async () => {
    const { remove, settings } = await make();
    const save = await prepare();
    const [saved] = await behind(remove, () => save(settings));
    expect(saved?.body.code).toBe("VALIDATION_ERROR");
  });
});

describe("a segment of a completed campaign", () => {
  const sent = async (segment_id: string) => {
    const id = await newCampaign(db, workspaceId, null, { recipient_type: "segment", segment_id });
    await db.run(sql`update campaigns set status = 'sent' where id = ${id}`);
    return id;
  };

  test("is not deleted once the campaign is duplicated", async () => {
    const { id, path } = await newSegment();
    const over = await sent(id);
    const [copied, deleted] = await behind(
      holdCampaigns,
      () => copy(over),
      () => call("DELETE", path),
    );
    expect([copied?.body.data.segment_name, deleted?.status]).toEqual(["Some", 409]);
  });

  test("may be gone from its duplicate", async () => {
    const { id, remove } = await newSegment();
    const over = await sent(id);
    const [copied] = await behind(remove, () => copy(over));
    expect(copied?.body.data).toMatchObject({ segment_id: id, segment_name: null });
    expect((await call("POST", `/campaigns/${copied?.body.data.id}/send`)).body.code).toBe(
      "VALIDATION_ERROR",
    );
  });
});

test("a draft to a segment of a list that is deleted a moment later keeps the segment's name", async () => {
  const { id } = await newSegment();
  // Keeps new campaigns from being stored, and old ones from nothing.
  const holdNew = (tx: Queryable) => tx.run(sql`select from workspaces where id = ${workspaceId} for update`);
  const [saved, deleted] = await behind(
    holdNew,
    () => call("POST", "/campaigns", { ...campaign, segment_id: id }),
    () => call("DELETE", `/mailing-lists/${list}`),
  );
  expect([saved?.status, deleted?.status]).toEqual([201, 200]);
  const draft = (await call("GET", `/campaigns/${saved?.body.data.id}`)).body.data;
  expect(draft).toMatchObject({ segment_id: id, segment_name: "Some" });
});

test("a draft to a segment of a list that is being deleted is refused", async () => {
  const { id } = await newSegment();
  const [saved] = await behind(removal(sql`mailing_lists`, list), () =>
    call("POST", "/campaigns", { ...campaign, segment_id: id }),
  );
  expect(saved?.body.code).toBe("VALIDATION_ERROR");
});
