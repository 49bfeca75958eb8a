import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { systemClock } from "#platform/clock.ts";
import { createLog } from "#platform/log/log.ts";
import { testDatabase } from "#test/support/database.ts";
import { nobodyElse } from "#test/support/drafts.ts";
import { DeliveryReceipts } from "./delivery-receipts.ts";

const db = await testDatabase();

test("a receipt that cannot be stored does not block the others of its batch", async () => {
  const desk = new DeliveryReceipts({
    db,
    clock: systemClock,
    log: createLog("silent"),
    onMoved: nobodyElse,
  });
  const take = (gatewayId: string) =>
    desk.take({ gateway: "smsc.test", gatewayId, message: null, status: "delivered", detail: "DELIVRD" });
  // The first is stored alone; those that arrive meanwhile are stored together.
  const taken = await Promise.allSettled(["first", "a", "b\0", "c"].map(take));
  expect(taken.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  await desk.stop();
  const kept = await db.rows(sql`select gateway_id from sms_receipts order by gateway_id`);
  expect(kept).toEqual(["a", "c", "first"].map((id) => ({ gateway_id: id })));
});
