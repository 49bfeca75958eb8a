/** The deletion of a list against what begins to use it: one of them wins, and a refused deletion has changed nothing. */
import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import type { Queryable } from "#platform/database/pool.ts";
import { advanceAutorespondersNow } from "#sending/autoresponders/advance.ts";
import { advanceCampaignsNow } from "#sending/campaigns/lifecycle/advance.ts";
import { addPeople, findMiscounts, newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { untilWaiting } from "#test/support/waiting.ts";
import { markBeingDeleted } from "./store.ts";

const service = await startService();
const { call, database: db, workspaceId } = service;
await verifyShop(db, workspaceId);
const later = { scheduled_at: "2040-01-01T00:00:00Z" };
let list: string;

beforeEach(async () => {
  list = await newList(db, workspaceId);
  await addPeople(db, workspaceId, list, [{ email: "ada@example.com" }, { email: "bob@example.com" }]);
});

const remove = () => call("DELETE", `/mailing-lists/${list}`);
const conditions = { logic: "and", rules: [{ field: "email", operator: "contains", value: "a" }] };
const newSegment = async () =>
  (await call("POST", `/mailing-lists/${list}/segments`, { name: "S", conditions })).body.data.id as string;
const toList = () => newCampaign(db, workspaceId, list);
/** Once the deletion cannot be refused any more, and before its first members have left. */
const whileBeingDeleted = async <Answer>(work: () => Promise<Answer>) => {
  const { deletion, refused } = await db.transaction(async (tx) => {
    await tx.run(sql`select from subscribers where workspace_id = ${workspaceId} for update`);
    const deletion = remove();
    await untilWaiting(db, 1);
    return { deletion, refused: await work() };
  });
  return { deletion: await deletion, refused };
};
const newAutoresponder = async (mailing_list_id = list) => {
  const step = { subject: "Hi", html_content: "<p>Hi</p>" };
  const body = { name: "Welcome", mailing_list_id, from_email: "news@shop.test" };
  const given = { ...body, trigger: { type: "subscribed" }, steps: [step] };
  const { id } = (await call("POST", "/autoresponders", given)).body.data;
  return { id: id as string, given };
};

/** What begins to write to the list, and what keeps its transaction from ending once it has changed its state. */
const uses = {
  "a campaign that is scheduled": async () => {
    const id = await toList();
    return { hold: advanceCampaignsNow, begin: () => call("POST", `/campaigns/${id}/send`, later) };
  },
  "a campaign that is sent": async () => {
    const id = await toList();
    return { hold: advanceCampaignsNow, begin: () => call("POST", `/campaigns/${id}/send`) };
  },
  "a campaign to a segment of it": async () => {
    const change = { recipient_type: "segment", segment_id: await newSegment() } as const;
    const id = await newCampaign(db, workspaceId, null, change);
    return { hold: advanceCampaignsNow, begin: () => call("POST", `/campaigns/${id}/send`, later) };
  },
  "a campaign whose conditions name it": async () => {
    const rules = [{ field: "mailing_list", operator: "is_active_in", value: list.toUpperCase() }];
    const change = { recipient_type: "custom", segment_conditions: { logic: "and", rules } } as const;
    const id = await newCampaign(db, workspaceId, null, change);
    return { hold: advanceCampaignsNow, begin: () => call("POST", `/campaigns/${id}/send`, later) };
  },
  "an autoresponder that is activated": async () => {
    const { id } = await newAutoresponder();
    return { hold: advanceAutorespondersNow, begin: () => call("POST", `/autoresponders/${id}/activate`) };
  },
  "an active autoresponder that is given the list": async () => {
    const { id, given } = await newAutoresponder(await newList(db, workspaceId));
    await call("POST", `/autoresponders/${id}/activate`);
    const steps = sql`select from autoresponder_steps where autoresponder_id = ${id} for update`;
    return {
      hold: (tx: Queryable) => tx.run(steps),
      begin: () => call("PUT", `/autoresponders/${id}`, { ...given, mailing_list_id: list }),
    };
  },
};

describe.each(Object.entries(uses))("%s", (_, prepare) => {
  test("keeps the list and its members from a later deletion", async () => {
    const { begin, hold } = await prepare();
    const { using, deletion } = await db.transaction(async (tx) => {
      await hold(tx);
      const using = begin();
      await untilWaiting(db, 1);
      const deletion = remove();
      await untilWaiting(db, 2);
      return { using, deletion };
    });
    expect((await using).status).toBe(200);
    expect((await deletion).body.code).toBe("CONFLICT");
    const { data } = (await call("GET", `/mailing-lists/${list}`)).body;
    expect(data).toMatchObject({ subscriber_count: 2, total_subscribers: 2 });
    expect(await findMiscounts(db)).toEqual([]);
  });

  test("is refused while the list is being deleted", async () => {
    const { begin } = await prepare();
    const { deletion, refused } = await whileBeingDeleted(begin);
    expect(refused.body).toMatchObject({ code: "CONFLICT", error: expect.stringContaining("being deleted") });
    expect(deletion.status).toBe(200);
    expect(await findMiscounts(db)).toEqual([]);
  });
});

test("no conditions of other lists name a list that is being deleted, or a segment of it", async () => {
  const [other, segment] = [await newList(db, workspaceId), await newSegment()];
  const name = (field: string, operator: string, value: string) =>
    call("POST", `/mailing-lists/${other}/segments`, {
      name: "S",
      conditions: { logic: "and", rules: [{ field, operator, value }] },
    });
  const { deletion, refused } = await whileBeingDeleted(() =>
    Promise.all([name("segment", "is_in", segment), name("mailing_list", "is_not_active_in", list)]),
  );
  expect(refused.map(({ body }) => body.code)).toEqual(["VALIDATION_ERROR", "VALIDATION_ERROR"]);
  expect(deletion.status).toBe(200);
});

test("a paused campaign keeps its list; one whose list is being deleted is not resumed", async () => {
  const id = await toList();
  await db.run(sql`update campaigns set status = 'paused', paused_at = now() where id = ${id}`);
  const error = 'The campaign "June" uses this list: cancel it first';
  expect((await remove()).body).toMatchObject({ code: "CONFLICT", error });
  await markBeingDeleted(db, workspaceId, list);
  const { body } = await call("POST", `/campaigns/${id}/resume`);
  expect(body).toMatchObject({ code: "CONFLICT", error: expect.stringContaining("being deleted") });
});

test("an interrupted deletion can be repeated", async () => {
  await markBeingDeleted(db, workspaceId, list);
  const id = await toList();
  expect((await call("POST", `/campaigns/${id}/send`)).body.code).toBe("CONFLICT");
  expect((await remove()).status).toBe(200);
  expect((await call("GET", `/mailing-lists/${list}`)).status).toBe(404);
});
