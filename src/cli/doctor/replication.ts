/** Checks that what the service has promised survives the loss of the database machine (docs/high-availability.md). */

import type { Queryable } from "#platform/database/pool.ts";
import { findReplication, type Replication } from "#platform/database/replication-store.ts";
import { type Finding, type FindingStatus, of } from "./finding.ts";

const GUIDE = "See docs/high-availability.md.";

/** Changes nothing. */
export async function checkReplication(db: Queryable): Promise<Finding> {
  const replication = await findReplication(db);
  return of("replication")(...(replication === undefined ? noAnswer : judgeReplication(replication)));
}

const noAnswer = ["not_checked", "The database does not report its standbys."] as const;

/** The status and the sentence of the finding. */
export function judgeReplication(found: Replication): readonly [FindingStatus, string] {
  const { is_primary, synchronous_commit: commit, synchronous_standby_names: names, standbys } = found;
  if (!is_primary)
    return [
      "fault",
      "The database is a standby, which takes no writes: DATABASE_URL must lead to the primary.",
    ];
  if (commit === "off")
    return [
      "fault",
      "synchronous_commit is off: a crash of the database loses mail that was accepted. Set it to on.",
    ];
  const list = standbys.map(({ name }) => name).join(", ");
  if (names === "" && standbys.length === 0)
    return [
      "ok",
      "No standby follows this server: it alone has what was accepted, unless its disk is replicated.",
    ];
  if (names === "")
    return [
      "warning",
      `Commits do not wait for a standby (${list}): a failover loses the newest mail. Set synchronous_standby_names, with two standbys to ANY 1 (s1, s2). ${GUIDE}`,
    ];
  if (commit === "local")
    return [
      "warning",
      `synchronous_commit is local, so commits do not wait for a standby (${list}): a failover loses the newest mail. Set it to on.`,
    ];
  return judgeSynchronous(found);
}

function judgeSynchronous({
  synchronous_standby_names: names,
  standbys,
}: Replication): readonly [FindingStatus, string] {
  // Without the privilege the states are hidden, and only the connections count.
  const isHidden = standbys.some(({ sync_state }) => sync_state === null);
  const named = standbys.filter(({ sync_state }) => sync_state !== "async");
  const [first, ...others] = named;
  if (first === undefined)
    return [
      "fault",
      `No standby of synchronous_standby_names (${names}) is connected: every write waits. Start one, or empty the setting. ${GUIDE}`,
    ];
  if (others.length === 0)
    return [
      "warning",
      `Commits wait for one standby (${first.name}), and every write waits while it is away. Add a second, and set synchronous_standby_names to ANY 1 (s1, s2). ${GUIDE}`,
    ];
  return isHidden
    ? [
        "ok",
        `${named.length} standbys are connected; their states are hidden from this role (grant it pg_monitor).`,
      ]
    : ["ok", `Commits wait for ${names}, and ${named.length} of these standbys are connected.`];
}
