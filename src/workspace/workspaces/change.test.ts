import { expect, test } from "vitest";
import { stubClock } from "../../../test/support/clock.ts";
import { testDatabase } from "../../../test/support/database.ts";
import { asWorkspaceId, newId } from "../../platform/ids.ts";
import { createWorkspace } from "../create-workspace.ts";
import { changeWorkspace } from "./change.ts";
import { findWorkspace } from "./store.ts";

const db = await testDatabase();
const clock = stubClock();

const newWorkspace = async () => {
  const settings = { name: "Acme", timezone: "Europe/Paris", plan: "growth" } as const;
  return (await createWorkspace(db, settings, clock)).workspace;
};

test("a change leaves alone what it does not name", async () => {
  const workspace = await newWorkspace();
  clock.advance(1_000);
  const changed = await changeWorkspace(db, workspace.id, { hourly_cap: 500 }, clock);
  expect(changed).toEqual({ ...workspace, hourly_cap: 500, updated_at: clock.now() });
  expect(await findWorkspace(db, workspace.id)).toEqual(changed);
});

test("two changes at once both hold", async () => {
  const { id } = await newWorkspace();
  await Promise.all([
    changeWorkspace(db, id, { plan: "scale" }, clock),
    changeWorkspace(db, id, { timezone: "UTC" }, clock),
    changeWorkspace(db, id, { is_suspended: true }, clock),
  ]);
  expect(await findWorkspace(db, id)).toMatchObject({ plan: "scale", timezone: "UTC", is_suspended: true });
});

test("a workspace that does not exist is not found", async () => {
  await expect(changeWorkspace(db, asWorkspaceId(newId()), { plan: "free" }, clock)).rejects.toThrow(
    "Workspace not found",
  );
});
