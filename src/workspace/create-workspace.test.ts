import { expect, test } from "vitest";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { hashSecret, newSecret } from "./api-keys/secret.ts";
import { findKeyByHash, listKeys, removeKey } from "./api-keys/store.ts";
import { createFirstWorkspace } from "./create-workspace.ts";
import { listWorkspaces } from "./workspaces/store.ts";

const clock = stubClock();
const [generated, chosen] = [await testDatabase(), await testDatabase()];

test("machines that start at once make one workspace, and one of them learns its key", async () => {
  const start = () => createFirstWorkspace(generated, { secret: null, plan: "free" }, clock);
  const made = (await Promise.all([start(), start(), start(), start()])).filter(
    (first) => first !== undefined,
  );
  expect(made).toHaveLength(1);
  expect(await listWorkspaces(generated)).toMatchObject([{ name: "Default", timezone: "UTC", plan: "free" }]);
  const record = await findKeyByHash(generated, hashSecret(made[0]?.generatedSecret ?? ""));
  expect(record).toMatchObject({ workspaceId: made[0]?.workspaceId, permissions: ["*:*"], isActive: true });
});

test("BOOTSTRAP_API_KEY is the first key's value, is not told again, and does not come back once deleted", async () => {
  const secret = newSecret();
  const start = () => createFirstWorkspace(chosen, { secret, plan: "enterprise" }, clock);
  const first = await start();
  expect(first?.generatedSecret).toBeNull();
  const record = await findKeyByHash(chosen, hashSecret(secret));
  if (!first || !record) throw new Error("no first workspace");
  expect(await listWorkspaces(chosen)).toMatchObject([{ id: record.workspaceId, plan: "enterprise" }]);

  await removeKey(chosen, first.workspaceId, record.actor.id);
  expect(await start()).toBeUndefined();
  expect(await listKeys(chosen, first.workspaceId, { showInactive: true })).toEqual([]);
});
