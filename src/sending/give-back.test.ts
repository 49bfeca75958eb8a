import { expect, test } from "vitest";
import { insertBareWorkspace } from "../../test/support/bare-server.ts";
import { testDatabase } from "../../test/support/database.ts";
import { draft } from "../../test/support/drafts.ts";
import { recordOutcomes } from "../messages/door.ts";
import { type Outcome, unclassified } from "../messages/outcome.ts";
import { getReading } from "../workspace/billing/meter.ts";
import { plans } from "../workspace/billing/plans.ts";
import { giveBack } from "./give-back.ts";
import { insertDrafts } from "./insert-drafts.ts";

const db = await testDatabase();
const now = new Date();

/** Accepts a message, lets it end so, as often as is said, and says what the meter shows then. */
async function usedAfter(
  end: Pick<Outcome, "status"> & Partial<Outcome>,
  { source = "api" as const, times = 1 }: { source?: "api" | "platform"; times?: number } = {},
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
  const outcome = { ...unclassified, ...nothing, ...about, ...end };
  for (let time = 0; time < times; time++) {
    await db.transaction((tx) =>
      recordOutcomes(tx, [outcome], (within, moved) => giveBack(within, moved, now)),
    );
  }
  return (await getReading(db, plans, workspaceId, now)).used.email;
}

test.each([
  ["an internal fault, content that cannot be composed among them", { enhancedCode: "5.3.0" }],
  ["a DNS that never answered", { enhancedCode: "4.4.3" }],
  ["a reply that we spoke wrongly", { code: 503, enhancedCode: "5.5.1" }],
])("what failed for %s is given back, once", async (_, fault) => {
  expect(await usedAfter({ status: "failed", ...fault })).toBe(0);
  expect(await usedAfter({ status: "failed", ...fault }, { times: 2 })).toBe(0);
});

test.each([
  ["delivered", { status: "delivered", code: 250 }],
  ["refused by the receiver", { status: "bounced", code: 550, enhancedCode: "5.1.1" }],
  ["put off until it expired", { status: "failed", code: 451, enhancedCode: "4.7.1" }],
  ["without an answer until it expired", { status: "failed" }],
  ["behind a lane that stayed closed", { status: "failed", enhancedCode: "4.4.7" }],
  ["for a domain whose hosts are not public", { status: "failed", enhancedCode: "5.4.4" }],
  ["refused by a relay of the workspace's own", { status: "failed", code: 503, isOwnRelay: true }],
  ["for such a relay that is not there", { status: "failed", enhancedCode: "4.4.3", isOwnRelay: true }],
  ["deferred by a fault of ours, and still under way", { status: "deferred", enhancedCode: "4.4.3" }],
] as const)("what was %s has been paid for", async (_, end) => {
  expect(await usedAfter(end)).toBe(1);
});

test("the service's own mail cost nothing, and brings nothing back", async () => {
  expect(await usedAfter({ status: "failed", enhancedCode: "5.3.0" }, { source: "platform" })).toBe(0);
});

test("what comes back does not come twice to one who used nothing else", async () => {
  expect(await usedAfter({ status: "suppressed" }, { times: 3 })).toBe(0);
});
