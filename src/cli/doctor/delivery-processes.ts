/** Checks that a process of any machine sends what is due. */
import { oldestDueSeconds } from "#delivery/queue/oldest-due-store.ts";
import { counted } from "#platform/count-phrase.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { countProcesses } from "#platform/process/running-processes-store.ts";
import { roles } from "#processes/roles.ts";
import { findHalted } from "#sending/halted/find-halted.ts";
import { type Finding, of } from "./finding.ts";

/**
 * Without a delivery process a warning, because the service may not be started yet; a fault if mail is due. Changes nothing.
 * The schema must be that of this program.
 */
export async function checkDeliveryProcesses(db: Queryable): Promise<Finding> {
  const say = of("delivery");
  const { delivery = 0, ...others } = await countProcesses(db, roles);
  if (delivery > 0) {
    return say("ok", `Running: ${counted(delivery, "delivery process", "delivery processes")}.`);
  }
  const lack = `no delivery process runs on any machine, ${whatRuns(others)}`;
  return (await isMailDue(db))
    ? say("fault", `Mail is due, and ${lack}.`)
    : say("warning", `No mail can be sent: ${lack}.`);
}

/** Tells a service that was not started from one whose roles lack delivery. */
function whatRuns(processes: Readonly<Record<string, number>>): string {
  const running = roles.filter((role) => (processes[role] ?? 0) > 0);
  return running.length === 0
    ? "nor any other process: start the service"
    : `only the roles ${running.join(", ")}: start a machine with the role delivery`;
}

/** Whether a delivery process would send something now. */
async function isMailDue(db: Queryable): Promise<boolean> {
  const { isSendingHeld, paused } = await findHalted(db);
  if (isSendingHeld) return false;
  for (const priority of [0, 1] as const) {
    if ((await oldestDueSeconds(db, priority, paused)) > 0) return true;
  }
  return false;
}
