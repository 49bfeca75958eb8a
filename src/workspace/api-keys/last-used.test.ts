import { expect, test } from "vitest";
import { createDatabase } from "#platform/database/pool.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import type { LastUses } from "#platform/http/auth/last-uses.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { issueKey } from "./issue.ts";
import { createLastUsed } from "./last-used.ts";
import { hashSecret } from "./secret.ts";
import { findKey, findKeyByHash, lockKeys } from "./store.ts";

const db = await testDatabase();
const clock = stubClock();
const warnings: unknown[] = [];
const log = { warn: (...words: unknown[]) => void warnings.push(words) };

async function newCaller() {
  const settings = { name: "Acme", timezone: "UTC", plan: "free" } as const;
  const { key } = await createWorkspace(db, settings, clock);
  const caller = await findKeyByHash(db, hashSecret(key.key));
  if (!caller) throw new Error("no key");
  const lastUsed = async () => (await findKey(db, caller.workspaceId, caller.actor.id))?.last_used_at;
  return { caller, lastUsed };
}

function note(uses: LastUses, { workspaceId, actor }: Caller): void {
  uses.note(workspaceId, actor.id);
}

test("uses of a key are written at most once a minute", async () => {
  const { caller, lastUsed } = await newCaller();
  const uses = createLastUsed({ db, clock, log });
  expect(await lastUsed()).toBeNull();
  const first = clock.now();
  note(uses, caller);
  await uses.flush();
  expect(await lastUsed()).toEqual(first);

  clock.advance(59_999);
  note(uses, caller);
  await uses.flush();
  expect(await lastUsed()).toEqual(first);

  clock.advance(1);
  note(uses, caller);
  await uses.flush();
  expect(await lastUsed()).toEqual(clock.now());
});

test("a second machine does not write the same minute again", async () => {
  const { caller, lastUsed } = await newCaller();
  const [one, other] = [createLastUsed({ db, clock, log }), createLastUsed({ db, clock, log })];
  const first = clock.now();
  note(one, caller);
  await one.flush();
  clock.advance(30_000);
  note(other, caller);
  await other.flush();
  expect(await lastUsed()).toEqual(first);
});

test("uses of many keys are written together, and of none that is gone", async () => {
  const { caller, lastUsed } = await newCaller();
  const settings = { name: "Second", permissions: ["*:read"], expires_at: null };
  const second = await issueKey(db, caller.workspaceId, settings, clock.now());
  const uses = createLastUsed({ db, clock, log });
  uses.note(caller.workspaceId, second.id);
  uses.note(caller.workspaceId, crypto.randomUUID());
  note(uses, caller);
  await uses.flush();
  expect(await lastUsed()).toEqual(clock.now());
  expect((await findKey(db, caller.workspaceId, second.id))?.last_used_at).toEqual(clock.now());
});

test("a key that is being changed is not waited for", async () => {
  const { caller, lastUsed } = await newCaller();
  const uses = createLastUsed({ db, clock, log });
  await db.transaction(async (tx) => {
    await lockKeys(tx, caller.workspaceId, [caller.actor.id]);
    note(uses, caller);
    await uses.flush();
  });
  expect(await lastUsed()).toBeNull();
});

test("a database that is away costs a warning, and the use is noted again", async () => {
  const { caller, lastUsed } = await newCaller();
  const away = createDatabase("postgresql://nobody@127.0.0.1:1/none", {
    size: 1,
    name: "away",
    onError: () => {},
  });
  let current = away;
  const uses = createLastUsed({ db: { ...db, run: (statement) => current.run(statement) }, clock, log });
  note(uses, caller);
  await uses.flush();
  expect(warnings).toHaveLength(1);
  current = db;
  note(uses, caller);
  await uses.flush();
  expect(await lastUsed()).toEqual(clock.now());
  await away.close();
});
