import { expect, test } from "vitest";
import { type Outcome, unclassified } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";
import { insertDrafts } from "./accept-messages-statement.ts";
import { refundUnsent } from "./refund-store.ts";

const db = await testDatabase();
const now = new Date();

type End = Pick<Outcome, "status"> & Partial<Outcome>;

/** Accepts a message, lets it end so, one outcome after the other, and says what the meter shows then. */
async function usedAfter(
  ends: readonly End[],
  { source = "api" }: { source?: "api" | "platform" } = {},
): Promise<number> {
  const workspaceId = await insertBareWorkspace(db);
  const accepted = draft(workspaceId, "ada@example.test", { source });
  await insertDrafts(db, [accepted]);
  const nothing = {
    code: null,
    enhancedCode: null,
    mxHost: null,
    isAddressFault: false,
    nextAttemptAt: null,
  };
  const about = { workspaceId, messageId: accepted.message.id, time: now, attempts: 1, detail: "It ended" };
  for (const end of ends) {
    const outcome = { ...unclassified, ...nothing, ...about, ...end };
    await db.transaction((tx) =>
      recordOutcomes(tx, [outcome], (within, moved) => refundUnsent(within, moved, now)),
    );
  }
  return (await getMeterReading(db, plans, workspaceId, now)).used.email;
}

/** No server was asked. */
const noWayOut = { status: "deferred", enhancedCode: "4.3.5" } as const;
const noAnswer = { status: "deferred", enhancedCode: "4.4.3" } as const;
const ours = { status: "failed", enhancedCode: "5.3.0" } as const;

test.each([
  ["failed for an internal fault, content that cannot be composed among them", ours],
  ["was suppressed before it left", { status: "suppressed" }],
  ["was cancelled before it left", { status: "cancelled" }],
] as const)("what %s is given back, once", async (_, end) => {
  expect(await usedAfter([end])).toBe(0);
  expect(await usedAfter([end, end, end])).toBe(0);
});

test.each([
  ["delivered", { status: "delivered", code: 250 }],
  ["refused by the receiver", { status: "bounced", code: 550, enhancedCode: "5.1.1" }],
  [
    "answered with a fault of ours that the receiver made up",
    { status: "failed", code: 503, enhancedCode: "5.5.1" },
  ],
  ["answered with our own word for such a fault", { status: "failed", code: 503, enhancedCode: "5.3.0" }],
  ["deferred until it expired", { status: "failed", code: 451, enhancedCode: "4.7.1" }],
  ["without an answer until it expired", { status: "failed" }],
  ["behind a lane that stayed closed", { status: "failed", enhancedCode: "4.4.7" }],
  ["for a domain whose DNS never answered", { status: "failed", enhancedCode: "4.4.3" }],
  ["for a domain whose hosts are not public", { status: "failed", enhancedCode: "5.4.4" }],
  ["deferred by a fault of ours, and still under way", { status: "deferred", enhancedCode: "5.3.0" }],
] as const)("what was %s has been paid for", async (_, end) => {
  expect(await usedAfter([end])).toBe(1);
});

test.each([
  ["cancelled", { status: "cancelled" }],
  ["suppressed", { status: "suppressed" }],
  ["failed for a fault of ours", ours],
] as const)("a message that a server deferred is not refunded, also when it is %s later", async (_, end) => {
  const putOff = { status: "deferred", mxHost: "mx.example.test" } as const;
  expect(await usedAfter([{ ...putOff, code: 451, enhancedCode: "4.7.1" }, end])).toBe(1);
  expect(await usedAfter([{ ...putOff, detail: "the connection ended (at dot)" }, end])).toBe(1);
  expect(await usedAfter([{ ...putOff, mxHost: null, detail: "" }, end])).toBe(1);
  expect(await usedAfter([{ ...putOff, code: 451 }, noWayOut, end])).toBe(1);
});

test.each([
  ["cancelled", { status: "cancelled" }],
  ["suppressed", { status: "suppressed" }],
  ["failed for a fault of ours", ours],
] as const)(
  "a message that only waited for a source address or DNS is refunded once when it is %s",
  async (_, end) => {
    expect(await usedAfter([noWayOut, end, end])).toBe(0);
    expect(await usedAfter([noAnswer, noWayOut, end])).toBe(0);
  },
);

test("the service's own mail cost nothing, and brings nothing back", async () => {
  expect(await usedAfter([ours], { source: "platform" })).toBe(0);
});
