import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { getMeterReading } from "./billing/meter.ts";
import { addEntriesSql } from "./billing/meter-store.ts";
import { plans } from "./billing/plans.ts";
import { topUp } from "./billing/top-up.ts";
import { changeWorkspace } from "./change-workspace.ts";
import { createWorkspace } from "./create-workspace.ts";
import { findWorkspace } from "./workspaces/store.ts";
import type { PlanName } from "./workspaces/workspace.ts";

const db = await testDatabase();
const clock = stubClock();

const newWorkspace = async () => {
  const settings = { name: "Acme", timezone: "Europe/Paris", plan: "growth" } as const;
  return (await createWorkspace(db, settings, clock)).workspace;
};

test("a change leaves alone what it does not name", async () => {
  const workspace = await newWorkspace();
  clock.advance(1_000);
  const changed = await changeWorkspace(db, workspace.id, { hourly_cap: 500 }, { clock, plans });
  expect(changed).toEqual({ ...workspace, hourly_cap: 500, updated_at: clock.now() });
  expect(await findWorkspace(db, workspace.id)).toEqual(changed);
});

test("two changes at once both hold", async () => {
  const { id } = await newWorkspace();
  await Promise.all([
    changeWorkspace(db, id, { plan: "scale" }, { clock, plans }),
    changeWorkspace(db, id, { timezone: "UTC" }, { clock, plans }),
    changeWorkspace(db, id, { is_suspended: true }, { clock, plans }),
  ]);
  expect(await findWorkspace(db, id)).toMatchObject({ plan: "scale", timezone: "UTC", is_suspended: true });
});

test("what was used before another plan was set is charged under the old one", async () => {
  const { id } = await newWorkspace();
  const change = (plan: PlanName) => changeWorkspace(db, id, { plan }, { clock, plans });
  const note = (quantity: number) =>
    db.run(
      addEntriesSql(
        "email",
        sql`(values (${id}::uuid, ${quantity}::int)) u (workspace_id, quantity)`,
        clock.now(),
      ),
    );
  const balance = async () => (await getMeterReading(db, plans, id, clock.now())).account.balance;
  const money = { amount: "100.00", gateway: "manual", description: "Test" } as const;
  await db.transaction((tx) => topUp(tx, plans, id, money, clock.now()));
  await note(50_010);
  await change("enterprise");
  expect(await balance()).toBe("99.992000");
  await note(20_000);
  await change("free");
  expect(await balance()).toBe("99.992000");
  await note(10);
  expect(await balance()).toBe("99.984000");
});

test("a workspace that does not exist is not found", async () => {
  await expect(
    changeWorkspace(db, asWorkspaceId(newId()), { plan: "free" }, { clock, plans }),
  ).rejects.toThrow("Workspace not found");
});
