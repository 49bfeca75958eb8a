/** The stored answer of an Idempotency-Key and the work of its request are committed together. */
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { addPeople, newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { topUp } from "#workspace/billing/top-up.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";

const { call, database, workspaceId, clock } = await startService();
await verifyShop(database, workspaceId);
const list = await newList(database, workspaceId);
await addPeople(database, workspaceId, list, [{ email: "ada@example.test" }]);
await changeWorkspace(database, workspaceId, { plan: "free" }, { clock, plans });
const given = { amount: "1000.00", gateway: "manual", description: "Test" } as const;
await database.transaction((tx) => topUp(tx, plans, workspaceId, given, clock.now()));
const draft = await newCampaign(database, workspaceId, list);
const content = { name: "June", from_email: "news@shop.test", mailing_list_id: list };
const mail = { subject: "Hello", html_content: "<p>Hello</p>" };

// Simulates the death of the process: the answer is not stored, and no later statement runs.
await database.run(sql`
  create function die() returns trigger language plpgsql as $$ begin raise 'the process is gone'; end $$`);

/** All rows that the calls could write. */
const traces = () =>
  database.row(sql`
    select (select count(*) from campaigns) as campaigns, (select count(*) from autoresponders) as autoresponders,
      (select status from campaigns where id = ${draft}) as draft,
      (select count(*) from billing_transactions) as transactions, (select balance from billing_accounts) as balance`);

test.each([
  ["/campaigns", { ...content, ...mail }, 201],
  [`/campaigns/${draft}/send`, {}, 200],
  ["/autoresponders", { ...content, trigger: { type: "subscribed" }, steps: [mail] }, 201],
  ["/billing/subscription", { plan_id: "growth", billing_interval: "monthly" }, 200],
])("%s is committed with its stored answer or not at all", async (path, body, done) => {
  const ask = () => call("POST", path, body, { headers: { "Idempotency-Key": `key-of-${path}` } });
  const before = await traces();
  await database.run(sql`
    create trigger die before update of answer_status on idempotency_keys for each row execute function die()`);
  const died = await ask();
  await database.run(sql`drop trigger die on idempotency_keys`);
  expect(died.status).toBe(500);
  expect(await traces()).toEqual(before);

  const first = await ask();
  expect(first.status, JSON.stringify(first.body)).toBe(done);
  const after = await traces();
  expect(after).not.toEqual(before);
  const again = await ask();
  expect(again.body).toEqual(first.body);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await traces()).toEqual(after);
});
