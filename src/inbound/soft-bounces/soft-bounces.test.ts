import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { type MovedMessage, unclassified } from "#messages/message/outcome.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { deliveryReport, startReturns } from "#test/support/returns.ts";
import { untilWaiting } from "#test/support/waiting.ts";
import { countSoftBounces } from "./store.ts";

const returns = await startReturns();
const { service, deliver, returnPath, receive, settle } = returns;
const { database, workspaceId, call, clock } = service;

async function send(to: string): Promise<string> {
  const email = { to, from_email: "orders@shop.test", subject: "Your order", body: "<p>Thanks</p>" };
  const { body } = await call("POST", "/emails/send", email);
  return body.data.id;
}

async function bounceSoftly(to: string): Promise<void> {
  await settle(await send(to), "bounced", "soft");
}

/** An outcome of a message to this person at example.test. */
function softBounce(localpart: string, change: Partial<MovedMessage> = {}): MovedMessage {
  return {
    ...unclassified,
    workspaceId,
    messageId: newId(),
    source: "api",
    originId: null,
    originName: "Test key",
    fromEmail: "orders@shop.test",
    isSms: false,
    localpart,
    domain: "example.test",
    from: "queued",
    status: "bounced",
    time: clock.now(),
    attempts: 1,
    nextAttemptAt: null,
    detail: "said",
    code: null,
    enhancedCode: null,
    isAddressFault: false,
    classification: { type: "soft", category: "MailboxFull" },
    ...change,
  };
}

const rowOf = (localpart: string) =>
  database.row<{ failures: number; first_failed_at: Date }>(sql`
    select failures, first_failed_at from soft_bounces
    where workspace_id = ${workspaceId} and address = ${`${localpart}@example.test`}`);

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

test("deliveries reset the count", async () => {
  for (let day = 0; day < 4; day++) {
    await bounceSoftly("back@example.test");
    clock.advance(DAY_MS);
  }
  await deliver("back@example.test");
  await bounceSoftly("back@example.test");
  expect(await isSuppressed("back@example.test")).toBe(false);
});

test("a delivery that bounces later does not reset the count", async () => {
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

test("a delivered SMS does not reset the count", async () => {
  for (let day = 0; day < 4; day++) {
    await bounceSoftly("phone@example.test");
    clock.advance(DAY_MS);
  }
  for (let count = 0; count < 2; count++) {
    const arrived = softBounce("phone", { status: "delivered", classification: null, isSms: true });
    await database.transaction((tx) => countSoftBounces(tx, [arrived]));
  }
  await bounceSoftly("phone@example.test");
  expect(await isSuppressed("phone@example.test")).toBe(true);
});

test("a batch is counted in the order of time, and two deliveries in it reset the count", async () => {
  const [later, earlier] = [clock.now(), new Date(clock.now().getTime() - DAY_MS)];
  const delivered = { status: "delivered", classification: null } as const;
  const batch = [
    softBounce("bea", { time: later }),
    softBounce("Bea", { time: earlier }),
    softBounce("cleo", { ...delivered, time: later }),
    softBounce("cleo", { ...delivered, time: later }),
    softBounce("cleo", { time: earlier }),
  ];
  expect(await database.transaction((tx) => countSoftBounces(tx, batch))).toEqual([]);
  expect(await rowOf("bea")).toEqual({ failures: 2, first_failed_at: earlier });
  expect(await rowOf("cleo")).toBeUndefined();
});

test("two concurrent first failures are counted as two", async () => {
  const [one, other] = [softBounce("twice"), softBounce("twice")];
  const { second } = await database.transaction(async (tx) => {
    await countSoftBounces(tx, [one]);
    const second = database.transaction((at) => countSoftBounces(at, [other]));
    await untilWaiting(database, 1);
    return { second };
  });
  await second;
  expect(await rowOf("twice")).toMatchObject({ failures: 2 });
});

test("a batch of any size takes as many statements as one outcome", async () => {
  const statementsFor = (count: number) =>
    database.transaction(async (tx) => {
      let statements = 0;
      const counted: Queryable = {
        ...tx,
        rows(...given) {
          statements += 1;
          return tx.rows(...given);
        },
        run(statement) {
          statements += 1;
          return tx.run(statement);
        },
      };
      await countSoftBounces(
        counted,
        Array.from({ length: count }, (_, at) => softBounce(`many${count}.${at}`)),
      );
      return statements;
    });
  expect(await statementsFor(500)).toBe(await statementsFor(1));
});
