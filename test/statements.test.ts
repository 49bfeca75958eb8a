/**
 * The busiest statements as PostgreSQL gets them. They are assembled from fragments of several stores; db/statements has
 * the whole text of each. `npm test -- test/statements.test.ts -u` writes the files after a change.
 */

import { format } from "sql-formatter";
import type { Sql } from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import { findSuppressions } from "#audience/suppression-lists/suppression-check.ts";
import { extendLeases, settleLeases } from "#delivery/queue/settle-leases-store.ts";
import { applyDeltas } from "#messages/counters/apply-deltas-store.ts";
import { findMessagePage } from "#messages/log-pages-store.ts";
import { recordEngagements } from "#messages/record-engagement.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { systemClock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { leaseTurn } from "#platform/jobs/turns-store.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { createAcceptor } from "#sending/acceptance/acceptor.ts";
import {
  choosePeople,
  insertRecipients,
  listMembersSql,
} from "#sending/campaigns/audience/recipients-store.ts";
import { leaseDeliveries } from "#webhooks/deliveries/lease-store.ts";
import { queueRequestedTurns, requestTurn } from "#webhooks/deliveries/turns-store.ts";
import { settleAccount } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { addPeople, newList } from "./support/audience.ts";
import { insertBareWorkspace } from "./support/bare-server.ts";
import { newCampaign } from "./support/campaigns.ts";
import { testDatabase } from "./support/database.ts";
import { draft, nobodyElse } from "./support/drafts.ts";
import { leaseMessages } from "./support/lease-order.ts";
import { outcomeOf } from "./support/outcomes.ts";

const db = await testDatabase();
let workspaceId: WorkspaceId;
let mailingListId: string;

beforeAll(async () => {
  workspaceId = await insertBareWorkspace(db);
  await changeWorkspace(db, workspaceId, { plan: "enterprise" }, { clock: systemClock, plans });
  // Far from the limits of the plan, the usual case, a batch needs one statement.
  await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
  mailingListId = await newList(db, workspaceId);
  await addPeople(db, workspaceId, mailingListId, [{ email: "ada@example.test" }]);
});

/** The database with a recorder: `texts` gets the text of every statement. */
function recording(): { readonly db: Database; readonly texts: string[] } {
  const texts: string[] = [];
  const recorded = <Asked extends Queryable>(asked: Asked): Asked => ({
    ...asked,
    rows: (statement: Sql, name?: string) => asked.rows(noted(statement), name),
    row: (statement: Sql, name?: string) => asked.row(noted(statement), name),
    run: (statement: Sql) => asked.run(noted(statement)),
  });
  const noted = (statement: Sql) => {
    texts.push(statement.text);
    return statement;
  };
  const transaction: Database["transaction"] = (work, options) =>
    db.transaction((tx) => work(recorded(tx)), options);
  return { db: { ...recorded(db), transaction }, texts };
}

/** The formatted text of the only statement of `work` that matches the pattern. */
async function statementOf(work: (db: Database) => Promise<unknown>, pattern: RegExp): Promise<string> {
  const { db: recorder, texts } = recording();
  await work(recorder);
  const found = texts.filter((text) => pattern.test(text));
  expect(found).toHaveLength(1);
  return `${format(found[0] ?? "", { language: "postgresql", expressionWidth: 100 })}\n`;
}

const accept = (into: Database) =>
  createAcceptor({ db: into, clock: systemClock, plans, onCommitted: () => {} }).accept(
    draft(workspaceId, `${newId()}@example.test`),
  );

const order = {
  workerId: newId(),
  priority: 0,
  limit: 10,
  bytes: 1_000_000,
  seconds: 60,
  saturated: [],
} as const;

async function leased(from: Queryable) {
  await accept(db);
  const [message] = await leaseMessages(from, { ...order, workerId: newId() });
  if (message === undefined) throw new Error("no message was leased");
  return {
    workspaceId: message.workspace_id,
    messageId: message.message_id,
    leaseNumber: message.lease_number,
  };
}

async function expand(into: Database): Promise<void> {
  const campaignId = await newCampaign(db, workspaceId, mailingListId);
  const audience = listMembersSql(workspaceId, mailingListId);
  const chosen = await choosePeople(into, audience, {
    after: "00000000-0000-0000-0000-000000000000",
    size: 10,
  });
  await into.transaction((tx) =>
    insertRecipients(tx, workspaceId, {
      originId: campaignId,
      originName: "June",
      fromEmail: "news@shop.test",
      subject: "News",
      createdAt: new Date(),
      expiresAt: new Date(Date.now() + DAY_MS),
      bytes: 1_000,
      messageIds: [newId()],
      listId: mailingListId,
      segmentId: null,
      isActive: true,
      unreachable: [],
      chosen,
    }),
  );
}

const statements: readonly [name: string, work: (db: Database) => Promise<unknown>, pattern: RegExp][] = [
  ["accept-messages", accept, /into delivery_queue/],
  ["list-open-lines", (into) => leased(into), /with recursive/],
  ["lease-messages", (into) => leased(into), /with line/],
  ["read-leased-mail", (into) => leased(into), /with ordinality as leased/],
  [
    "extend-leases",
    async (into) => extendLeases(into, order.workerId, [await leased(db)], 60),
    /update delivery_queue/,
  ],
  [
    "settle-leases",
    async (into) =>
      settleLeases(into, [
        { ...(await leased(db)), attempts: 1, dueAt: null, decidedAt: new Date(0), isDelivered: true },
      ]),
    /delivery_queue/,
  ],
  [
    "record-outcomes",
    async (into) =>
      into.transaction(async (tx) =>
        recordOutcomes(tx, [outcomeOf(await leased(db), "delivered")], nobodyElse),
      ),
    /with outcome/,
  ],
  [
    "record-engagements",
    async (into) => {
      const { messageId } = await leased(db);
      const opened = { kind: "opened", time: new Date(), times: 1, linkIndex: null, target: null } as const;
      const engagement = { ...opened, workspaceId, messageId, userAgent: "Mozilla", machineSign: null };
      await into.transaction((tx) => recordEngagements(tx, [engagement], async () => {}));
    },
    /with given/,
  ],
  ["apply-counter-deltas", (into) => applyDeltas(into, 100), /with taken/],
  [
    "check-suppression",
    (into) => findSuppressions(into, [{ workspaceId, address: "ada@example.test", domain: "example.test" }]),
    /suppression_entries/,
  ],
  ["choose-recipients", expand, /cardinality/],
  ["insert-recipients", expand, /with asked/],
  [
    "add-members",
    (into) => addPeople(into, workspaceId, mailingListId, [{ email: "bob@example.test" }]),
    /into subscribers/,
  ],
  [
    "lease-job-turn",
    (into) => leaseTurn(into, { runnerId: newId(), leaseId: newId() }, ["import"]),
    /job_turns/,
  ],
  [
    "lease-webhook-deliveries",
    async (into) => {
      const now = new Date();
      await requestTurn(into, workspaceId, now);
      await queueRequestedTurns(into, now, 1);
      const limits = {
        now,
        until: now,
        most: 100,
        mostOfWebhook: 10,
        mostOfWorkspace: 50,
        silent: [],
        mostOfSilent: 100,
        slow: [],
        mostOfSlow: 150,
      };
      return into.transaction((tx) => leaseDeliveries(tx, limits));
    },
    /webhook_deliveries/,
  ],
  [
    "page-of-messages",
    async (into) => {
      await accept(db);
      // A page that the newest messages fill needs one statement.
      await findMessagePage(into, workspaceId, { source: "api", status: "queued" }, { limit: 1, offset: 0 });
    },
    /from messages/,
  ],
];

test.each(statements)("db/statements/%s.sql is the statement that runs", async (name, work, pattern) => {
  await expect(await statementOf(work, pattern)).toMatchFileSnapshot(`../db/statements/${name}.sql`);
});
