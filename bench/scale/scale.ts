/**
 * Compares what the service does often in a large installation with the same in one of a hundredth of its size, on one
 * server by turns: what grows with the installation, and what does not.
 */
import type { BenchSetup } from "../setup.ts";
import { type Figure, grouped } from "../table.ts";
import { compareAcceptedMail } from "./accepted-mail.ts";
import { compareBounceLookUps } from "./bounce-look-up.ts";
import { openInstallation } from "./installation.ts";
import { compareOutcomesOfPeople } from "./outcomes-of-people.ts";
import { comparePeopleSearches } from "./people-search.ts";
import { compareQueueLeases } from "./queue-lease.ts";
import { compareRecurringTasks } from "./recurring-tasks.ts";
import { type Size, sizeOf } from "./size.ts";
import { compareWebhookLeases } from "./webhook-lease.ts";

const HUNDREDTH = 0.01;
const nothing: Size = { workspaces: 0, people: 0, log: 0, waiting: 0, deliveries: 0 };

/** @param part of the full size, above 0 */
export async function benchScale(setup: BenchSetup, part: number): Promise<Figure[]> {
  const size = sizeOf(part);
  const { workspaces, people, log, waiting, deliveries } = size;
  process.stderr.write(
    `  ${grouped(workspaces)} workspaces, ${grouped(people)} people, ${grouped(log)} messages, ` +
      `${grouped(waiting)} waiting, ${grouped(deliveries)} webhook deliveries\n`,
  );
  await using alone = await openInstallation(setup, "alone", nothing, { isSearched: true });
  await using small = await openInstallation(setup, "small", sizeOf(part * HUNDREDTH), { isSearched: false });
  await using large = await openInstallation(setup, "large", size, { isSearched: true });
  return [
    ...(await compareWebhookLeases(large, small)),
    ...(await compareAcceptedMail(large, small)),
    ...(await compareOutcomesOfPeople(large, small)),
    ...(await comparePeopleSearches(large, alone)),
    ...(await compareQueueLeases(large, small)),
    ...(await compareBounceLookUps(large, small)),
    ...(await compareRecurringTasks(setup, large, small)),
  ];
}
