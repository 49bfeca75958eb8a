import { pino } from "pino";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { createAcceptor } from "#sending/acceptance/acceptor.ts";
import { stubClock } from "#test/support/clock.ts";
import { draft } from "#test/support/drafts.ts";
import { startService } from "#test/support/service.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { plansInForce } from "./describe-plans-in-force.ts";
import { LimitNotices } from "./log-reached-limits.ts";
import { plans } from "./plans.ts";

const service = await startService();
const { database, clock } = service;

function notices() {
  const lines: Record<string, unknown>[] = [];
  const time = stubClock();
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, time, note: new LimitNotices(log, () => time.monotonicMs()).note };
}

test("a workspace that hits its limit is told of once an hour, however many messages are refused", async () => {
  const { lines, time, note } = notices();
  const { workspaceId } = await service.newWorkspace();
  await changeWorkspace(database, workspaceId, { plan: "free" }, { clock, plans });
  const none = { ...plans, free: { ...plans.free, allowances: { ...plans.free.allowances, email: 0 } } };
  const acceptor = createAcceptor({ db: database, clock, plans: none, onCommitted: () => {}, onLimit: note });
  const send = () => acceptor.accept(draft(workspaceId, "ada@example.test"));
  for (let at = 0; at < 5; at++) await expect(send()).rejects.toMatchObject({ code: "PLAN_LIMIT_REACHED" });
  expect(lines).toMatchObject([{ level: 40, workspace_id: workspaceId, limit: "plan_limit_reached" }]);
  time.advance(3_600_000);
  await expect(send()).rejects.toMatchObject({ code: "PLAN_LIMIT_REACHED" });
  expect(lines).toHaveLength(2);
});

test("the plan in force is said in words: one workspace by its name, several by their number", async () => {
  await database.run(sql`update workspaces set name = 'Mine', plan = 'enterprise'`);
  const { workspaceId } = await service.newWorkspace();
  await changeWorkspace(database, workspaceId, { plan: "free" }, { clock, plans });
  expect(await plansInForce(database, plans, clock.now())).toBe(
    "of 3 workspaces 2 have enterprise (unlimited), 1 has free (3,000 emails a month)",
  );
});
