/** What mail needs of this machine before any of it leaves: the database, clocks that agree, room on the disk. */
import { existsSync } from "node:fs";
import { sentence } from "#cli/command/sentence.ts";
import { CLOCK_DIFFERENCE_SECONDS } from "#platform/clock.ts";
import { findMissingMigrations } from "#platform/database/migrate.ts";
import type { Database } from "#platform/database/pool.ts";
import { diskFault } from "#platform/http/health.ts";
import { type Finding, of } from "./finding.ts";
import { findServer } from "./server-store.ts";

/** The server itself and its clock, then what it holds. */
export async function checkDatabase(db: Database): Promise<Finding[]> {
  const before = Date.now();
  const server = await findServer(db);
  const after = Date.now();
  if (server === undefined) return [of("database")("fault", "The database says nothing of itself.")];
  return [
    of("database")("ok", `PostgreSQL ${server.version} answers.`),
    checkClock(server.now - (before + after) / 2),
    await checkSchema(db),
  ];
}

async function checkSchema(db: Database): Promise<Finding> {
  const say = of("schema");
  try {
    const [first, ...others] = await findMissingMigrations(db);
    if (first === undefined) return say("ok", "All migrations are applied.");
    const rest = others.length === 0 ? "" : ` and ${others.length} more`;
    return say(
      "warning",
      `Not applied yet: ${first}${rest}. The next start of the service does it, or \`npm run -s posthaste -- migrate\`.`,
    );
  } catch (fault) {
    return say("fault", `${sentence(fault)}.`);
  }
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
  const say = of("disk");
  if (!existsSync(dataDir))
    return say("not_checked", `${dataDir} is not there yet: the first start makes it.`);
  const fault = await diskFault(dataDir);
  return fault === null
    ? say("ok", `${dataDir} can be written and has room.`)
    : say("fault", `${dataDir}: ${fault}. Nothing is accepted without room on the disk.`);
}
