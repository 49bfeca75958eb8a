import sql, { raw } from "sql-template-tag";
import { expect, test } from "vitest";
import { applyDeltas } from "#messages/counters/apply-deltas-store.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import { createLog } from "#platform/log/log.ts";
import { createReactions } from "#processes/reactions.ts";
import { advanceDueCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { plans } from "#workspace/billing/plans.ts";
import { addPeople, newList } from "./support/audience.ts";
import { newCampaign, verifyShop } from "./support/campaigns.ts";
import { outcomeOf } from "./support/outcomes.ts";
import { startService } from "./support/service.ts";

/** More than an integer of PostgreSQL holds. */
const LARGE = 3_000_000_000;
const tables = [
  "campaign_counters",
  "campaign_domains",
  "campaign_links",
  "autoresponder_counters",
  "autoresponder_step_counters",
  "list_counters",
  "list_days",
  "subscriber_counters",
  "report_eighths",
  "report_origins",
  "report_domain_days",
  "report_domain_weeks",
  "report_sender_days",
  "report_ip_days",
  "report_category_days",
];
const columns: Readonly<Record<string, readonly string[]>> = {
  campaigns: ["total_recipients", "estimated_recipients", "excluded_suppressed", "brake_sent"],
  suppression_lists: ["entry_count"],
  segments: ["subscriber_count"],
};

const service = await startService();
const { call, database, clock, workspaceId } = service;

async function setLarge(): Promise<void> {
  const found = await database.rows<{ table: string; column: string }>(sql`
    select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = 'public' and table_name = any (${tables}) and data_type in ('bigint', 'integer')
      and column_name <> 'revision' and column_name <> 'id'`);
  const named = Object.entries(columns).flatMap(([table, names]) =>
    names.map((column) => ({ table, column })),
  );
  for (const { table, column } of [...found, ...named]) {
    await database.run(
      sql`update ${raw(table)} set ${raw(column)} = ${LARGE} where workspace_id = ${workspaceId}`,
    );
  }
}

test("counters above 2^31 go on counting, and are numbers in every answer", async () => {
  await verifyShop(database, workspaceId);
  const list = await newList(database, workspaceId);
  await addPeople(database, workspaceId, list, [
    { email: "ada@example.test" },
    { email: "bob@example.test" },
  ]);
  const id = await newCampaign(database, workspaceId, list, {
    html_content: '<a href="https://example.test/">Read</a>',
  });
  expect((await call("POST", `/campaigns/${id}/send`)).status).toBe(200);
  const signal = new AbortController().signal;
  await advanceDueCampaigns({ db: database, clock, plans }, signal, createLog("silent"));
  const [ada, bob] = await database.rows<{ id: string }>(sql`
    select id from messages where origin_id = ${id} order by localpart`);
  const deliver = (message: { readonly id: string } | undefined, status: "delivered" | "bounced") =>
    database.transaction((tx) =>
      recordOutcomes(
        tx,
        [outcomeOf({ workspaceId, messageId: message?.id ?? "" }, status, { time: clock.now() })],
        createReactions(clock),
      ),
    );
  await deliver(ada, "delivered");
  while ((await applyDeltas(database, 1_000)) > 0);
  await setLarge();
  await deliver(bob, "bounced");
  while ((await applyDeltas(database, 1_000)) > 0);
  await addPeople(database, workspaceId, list, [{ email: "eve@example.test" }]);

  // `call` rejects answers that do not have the declared shape, such as a text for a number.
  const paths = [
    "/campaigns",
    `/campaigns/${id}`,
    `/campaigns/${id}/progress`,
    `/campaigns/${id}/recent-activity`,
    `/campaigns/${id}/messages`,
    `/campaigns/${id}/links`,
    `/campaigns/${id}/smtp-domain-stats`,
    "/mailing-lists",
    "/mailing-lists/stats",
    `/mailing-lists/${list}`,
    "/dashboard",
    "/deliverability",
    "/deliverability/providers",
    "/deliverability/recipient-domains",
    "/bounces-complaints/dashboard",
    "/stats/campaigns",
    "/stats/chart",
    "/stats/health",
    "/messages",
    "/billing/overview",
  ];
  for (const path of paths) expect([path, (await call("GET", path)).status]).toEqual([path, 200]);
  const row = await database.row<{ delivered: number; bounced: number; active: number }>(sql`
    select n.delivered, n.bounced, l.active from campaign_counters n, list_counters l
    where n.campaign_id = ${id} and l.mailing_list_id = ${list}`);
  expect(row).toEqual({ delivered: LARGE, bounced: LARGE + 1, active: LARGE + 1 });
});
