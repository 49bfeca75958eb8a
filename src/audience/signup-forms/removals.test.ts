import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { removeInBatches } from "#platform/jobs/remove-in-batches.ts";
import { newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { insertRefusedSignup, removeOldRefusedSignups } from "./refused-signups-store.ts";
import { removeUnusedWordings } from "./store.ts";

const db = await testDatabase();
const workspaceId = await insertBareWorkspace(db);
const mailingListId = await newList(db, workspaceId);
const { signal } = new AbortController();
const before = new Date("2026-10-03T12:00:00Z");

test("old refused sign-ups are removed at most so many at once, newer ones never", async () => {
  await db.run(sql`
    insert into signup_forms (workspace_id, mailing_list_id, created_at)
    values (${workspaceId}, ${mailingListId}, now())`);
  const times = [-3, -2, -1, 0, 1, 2].map((hours) => new Date(before.getTime() + hours * 3_600_000));
  for (const now of times) {
    await insertRefusedSignup(db, { workspaceId, mailingListId, reason: "list", network: "192.0.2.0", now });
  }
  expect(await removeOldRefusedSignups(db, before, 3)).toBe(3);
  expect(await removeInBatches(signal, (most) => removeOldRefusedSignups(db, before, most), 1)).toBe(1);
  const left = await db.rows<{ at: Date }>(sql`select at from signup_refusals order by at`);
  expect(left.map(({ at }) => at)).toEqual(times.slice(4));
});

test("unused wordings are removed at most so many at once, never one that a request refers to", async () => {
  await db.run(sql`
    insert into consent_wordings (workspace_id, hash, text, used_at)
    select ${workspaceId}, sha256(convert_to(text, 'UTF8')), text, ${before}::timestamptz - interval '1 day' * days
    from (values ('proven', 9), ('one', 8), ('two', 7), ('three', 6), ('new', 0)) as wording (text, days)`);
  await db.run(sql`
    insert into signup_requests (workspace_id, id, mailing_list_id, email, requested_at, confirmed_at, consent_hash)
    select ${workspaceId}, ${newId()}, ${mailingListId}, 'ada@a.test', ${before}, ${before}, hash
    from consent_wordings where text = 'proven'`);
  expect(await removeUnusedWordings(db, before, 2)).toBe(2);
  expect(await removeInBatches(signal, (most) => removeUnusedWordings(db, before, most), 1)).toBe(1);
  const left = await db.rows<{ text: string }>(sql`select text from consent_wordings order by used_at`);
  expect(left.map(({ text }) => text)).toEqual(["proven", "new"]);
});
