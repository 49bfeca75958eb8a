import { expect, test } from "vitest";
import { recordEngagements } from "#messages/record-engagement.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { nobodyElse } from "#test/support/drafts.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { startService } from "#test/support/service.ts";

const service = await startService({ env: { PLATFORM_FROM: "hello@posthaste.test" } });
const { call, database, workspaceId } = service;

const send = async (tag: string, order: string): Promise<string> => {
  const email = {
    to: ["ada@example.com"],
    subject: "Hello",
    text: "Hello",
    tags: [tag],
    metadata: { order },
  };
  return (await call("POST", "/emails", email)).body.data.id;
};
const stats = async (query: string) => (await call("GET", `/stats/labels?${query}`)).body.data;

test("messages are counted by tag, by metadata and by both", async () => {
  const first = await send("order", "1");
  const second = await send("order", "2");
  await send("other", "1");
  await database.transaction(async (tx) => {
    const move = (messageId: string, status: "delivered" | "bounced") =>
      recordOutcomes(tx, [outcomeOf({ workspaceId, messageId }, status)], nobodyElse);
    await move(first, "delivered");
    await move(second, "bounced");
    const opened = { kind: "opened", time: new Date(), times: 1, linkIndex: null, target: null } as const;
    const engagement = { ...opened, workspaceId, messageId: first, userAgent: "Mozilla", machineSign: null };
    await recordEngagements(tx, [engagement], async () => {});
  });
  const none = { queued: 0, deferred: 0, failed: 0, suppressed: 0, cancelled: 0, complained: 0 };
  expect(await stats("tag=order")).toEqual({
    window_days: 30,
    messages: 2,
    by_status: { ...none, delivered: 1, bounced: 1 },
    opened: 1,
    clicked: 0,
    counted_since: null,
  });
  expect(await stats("metadata=order%3D1")).toMatchObject({
    messages: 2,
    by_status: { delivered: 1, queued: 1 },
  });
  expect(await stats("tag=order&metadata=order%3D2")).toMatchObject({
    messages: 1,
    by_status: { bounced: 1 },
  });
  expect(await stats("tag=nothing")).toMatchObject({ messages: 0, opened: 0 });
});

test("messages of other workspaces are not counted", async () => {
  await send("mine", "1");
  const { key } = await service.newWorkspace();
  const { body } = await call("GET", "/stats/labels?tag=mine", undefined, { key });
  expect(body.data.messages).toBe(0);
});

test.each([
  ["", "tag"],
  ["metadata=order", "metadata"],
  ["metadata=%3D1", "metadata"],
])("without a tag or a pair it is refused: %j", async (query, field) => {
  const { status, body } = await call("GET", `/stats/labels?${query}`);
  expect([status, body.details[0].field]).toEqual([400, field]);
});
