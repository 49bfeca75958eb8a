import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { deliveryReport, startReturns } from "../../../test/support/returns.ts";

const returns = await startReturns();
const { service, deliver, returnPath, receive, settle } = returns;
const { database, workspaceId, call, clock } = service;
const DAY_MS = 86_400_000;

async function send(to: string): Promise<string> {
  const email = { to, from_email: "orders@shop.test", subject: "Your order", body: "<p>Thanks</p>" };
  const { body } = await call("POST", "/emails/send", email);
  return body.data.id;
}

async function bounceSoftly(to: string): Promise<void> {
  await settle(await send(to), "bounced", "soft");
}

async function isSuppressed(address: string): Promise<boolean> {
  const row = await database.row(sql`
    select from suppression_entries where workspace_id = ${workspaceId} and normalized_value = ${address}`);
  return row !== undefined;
}

test("five soft bounces in a row over three days suppress an address", async () => {
  for (let day = 0; day < 4; day++) {
    await bounceSoftly("Full@example.test");
    clock.advance(DAY_MS);
  }
  expect(await isSuppressed("full@example.test")).toBe(false);
  await bounceSoftly("full@example.test");
  expect(await isSuppressed("full@example.test")).toBe(true);
});

test("many soft bounces within a day do not", async () => {
  for (let count = 0; count < 8; count++) await bounceSoftly("busy@example.test");
  expect(await isSuppressed("busy@example.test")).toBe(false);
});

test("deliveries end the row", async () => {
  for (let day = 0; day < 4; day++) {
    await bounceSoftly("back@example.test");
    clock.advance(DAY_MS);
  }
  await deliver("back@example.test");
  await bounceSoftly("back@example.test");
  expect(await isSuppressed("back@example.test")).toBe(false);
});

test("a delivery that bounces later ends no row", async () => {
  const full = deliveryReport("later@example.test", {
    status: "5.2.2",
    diagnostic: "552 5.2.2 Mailbox full",
  });
  for (let day = 0; day < 5; day++) {
    expect(await isSuppressed("later@example.test")).toBe(false);
    const id = await deliver("later@example.test");
    expect(await receive(returnPath(id), full)).toMatchObject({ result: "bounced" });
    clock.advance(DAY_MS);
  }
  expect(await isSuppressed("later@example.test")).toBe(true);
});
