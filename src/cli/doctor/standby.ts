/** Checks the standby from which reports are read (docs/high-availability.md#reports-from-a-standby). */
import { CLOCK_DIFFERENCE_SECONDS } from "#platform/clock.ts";
import { createDatabase, type Queryable } from "#platform/database/pool.ts";
import { MOST_LAG_SECONDS } from "#platform/database/replica-reads.ts";
import { findReplicaLag } from "#platform/database/replication-store.ts";
import { sentence } from "#platform/error-sentence.ts";
import { type DatabaseCopy, findDatabaseCopy } from "./database-server-store.ts";
import { type Finding, type FindingStatus, of } from "./finding.ts";

const DEADLINES = { connectMs: 5_000, statementMs: 5_000, answerMs: 5_000 };
const INSTEAD = "Reports come from the primary meanwhile.";

export interface FoundStandby {
  readonly primary: DatabaseCopy;
  readonly standby: DatabaseCopy;
  /** How old its data is, in seconds; null if it does not tell. */
  readonly lag: number | null;
}

/** Changes nothing. Nothing when DATABASE_READ_URL is empty. @param url DATABASE_READ_URL */
export async function checkStandby(db: Queryable, url: string | null): Promise<Finding[]> {
  if (url === null) return [];
  const say = of("standby");
  const reads = createDatabase(url, {
    size: 2,
    name: "posthaste command",
    onError: () => {},
    deadlines: DEADLINES,
  });
  try {
    // Connected before the clocks are read: at the same moment, to the time of an answer.
    const lag = await findReplicaLag(reads);
    const [primary, standby] = await Promise.all([findDatabaseCopy(db), findDatabaseCopy(reads)]);
    if (primary === undefined || standby === undefined) throw new Error("it does not tell what it is");
    return [say(...judgeStandby({ primary, standby, lag }))];
  } catch (fault) {
    return [say("warning", `The server of DATABASE_READ_URL cannot be used: ${sentence(fault)}. ${INSTEAD}`)];
  } finally {
    await reads.close();
  }
}

/** The status and the sentence of the finding. */
export function judgeStandby({ primary, standby, lag }: FoundStandby): readonly [FindingStatus, string] {
  if (standby.identity !== primary.identity)
    return [
      "fault",
      "DATABASE_READ_URL leads to another database than DATABASE_URL, so reports may show its figures. Name a standby of this one, or empty the setting.",
    ];
  if (!standby.is_standby)
    return [
      "warning",
      `The server of DATABASE_READ_URL is no standby. ${INSTEAD} If it was promoted, name another standby.`,
    ];
  const apart = Math.abs(standby.now - primary.now) / 1_000;
  if (apart > CLOCK_DIFFERENCE_SECONDS)
    return [
      "fault",
      `The clocks of the standby for reports and of the primary are ${apart.toFixed(1)} s apart, so the age of its data is wrong by as much. Synchronize both with one time server (NTP).`,
    ];
  if (lag === null)
    return ["warning", `The standby for reports does not tell how old its data is. ${INSTEAD}`];
  const age = `The data of the standby for reports is ${Math.max(0, lag).toFixed(1)} s old`;
  return lag > MOST_LAG_SECONDS
    ? [
        "warning",
        `${age}. ${INSTEAD} If the service runs, the standby is behind: look at its log, its network and pg_stat_replication of the primary.`,
      ]
    : ["ok", `${age}.`];
}
