/** What mail needs of this machine before any of it leaves: the database, clocks that agree, room on the disk. */
import { CLOCK_DIFFERENCE_SECONDS } from "../../platform/clock.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import { diskFault } from "../../platform/http/health.ts";
import { type Finding, of } from "./finding.ts";
import { findServer } from "./server-store.ts";

/** @param applied migrations that this command had to apply first */
export async function checkDatabase(db: Queryable, applied: readonly string[]): Promise<Finding[]> {
  const before = Date.now();
  const server = await findServer(db);
  const after = Date.now();
  if (server === undefined) return [of("database")("fault", "The database says nothing of itself.")];
  const schema =
    applied.length === 0 ? "its schema is up to date" : `${applied.length} migrations were applied`;
  return [
    of("database")("ok", `PostgreSQL ${server.version}; ${schema}.`),
    checkClock(server.now - (before + after) / 2),
  ];
}

/** @param difference between the two, in milliseconds */
export function checkClock(difference: number): Finding {
  const seconds = Math.abs(difference) / 1000;
  const found = `The clocks of this machine and of the database are ${seconds.toFixed(1)} s apart`;
  return seconds > CLOCK_DIFFERENCE_SECONDS
    ? of("clock")(
        "fault",
        `${found}: leases, schedules and limits are off by as much. Let both follow one time server (NTP).`,
      )
    : of("clock")("ok", `${found}.`);
}

export async function checkDisk(dataDir: string): Promise<Finding> {
  const fault = await diskFault(dataDir);
  return fault === null
    ? of("disk")("ok", `${dataDir} can be written and has room.`)
    : of("disk")("fault", `${dataDir}: ${fault}. Nothing is accepted without room on the disk.`);
}
