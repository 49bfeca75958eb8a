import { once } from "node:events";
import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { newList } from "#test/support/audience.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { EventReader } from "#test/support/event-reader.ts";
import { eventually } from "#test/support/eventually.ts";
import { startService } from "#test/support/service.ts";

const { call, database, url, key, workspaceId } = await startService({ requestMs: 400 });
const readers: EventReader[] = [];
afterAll(() => {
  for (const reader of readers) reader.close();
});

/** Whether a statement waits for the lock on campaigns. */
const isBlocked = async () => {
  const waiting = await database.rows(sql`select from pg_locks where not granted`);
  return waiting.length > 0;
};

test("streams that the database let come too late take nothing of the limit on streams", async () => {
  const campaign = await newCampaign(database, workspaceId, await newList(database, workspaceId));
  const path = `/events?topics=campaign:${campaign}`;
  const locker = await database.openSession();
  for (let count = 0; count < 4; count += 1) {
    await locker.query("begin; lock table campaigns in access exclusive mode");
    const asked = call("GET", path);
    await eventually("the wait of the request", isBlocked);
    expect((await asked).status).toBe(503);
    await locker.query("commit");
    await eventually("the end of its statement", async () => !(await isBlocked()));
  }
  const ended = once(locker, "end");
  void locker.end();
  await ended;
  for (let count = 0; count < 3; count += 1) {
    const reader = await EventReader.open(`${url}/api/v1${path}`, { key });
    readers.push(reader);
    expect(reader.response.status).toBe(200);
  }
});
