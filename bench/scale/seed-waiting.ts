/** Writes what waits in an installation, by the functions of the service: messages to be sent, deliveries to webhooks. */
import type { Database } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { type Draft, insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { draft } from "#test/support/drafts.ts";
import { insertDeliveries } from "#webhooks/deliveries/store.ts";
import { inParts } from "./in-parts.ts";
import { workspaceAt } from "./seed-ids.ts";
import type { Size } from "./size.ts";

const INSERTED_AT_ONCE = 500;

/** Messages of the workspaces with these numbers. */
export function draftsFor(workspaces: readonly number[]): Draft[] {
  return workspaces.map((number) => draft(workspaceAt(number), `person${number}@mail${number % 2_000}.test`));
}

export async function seedWaiting(db: Database, size: Size): Promise<void> {
  await inBatches(size.waiting, size.workspaces, (numbers) => insertDrafts(db, draftsFor(numbers)));
  await inBatches(size.deliveries, size.workspaces, (numbers) => insertDeliveries(db, numbers.map(eventOf)));
}

const eventOf = (workspace: number) => ({
  workspaceId: workspaceAt(workspace),
  id: newId(),
  type: "message.delivered",
  body: JSON.stringify({ type: "message.delivered", data: { detail: "250 2.0.0 OK".padEnd(300, ".") } }),
  time: new Date(),
});

/** Gives the workspaces turns. @param insert gets the numbers of the workspaces of some rows */
function inBatches(
  count: number,
  workspaces: number,
  insert: (numbers: readonly number[]) => Promise<unknown>,
): Promise<void> {
  return inParts(count, INSERTED_AT_ONCE, (from, end) =>
    insert(Array.from({ length: end - from }, (_, at) => (from + at) % workspaces)),
  );
}
