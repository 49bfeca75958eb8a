/** Checks that what the service has promised survives the loss of the database machine (docs/high-availability.md). */

import type { Queryable } from "#platform/database/pool.ts";
import { findReplication, type Replication, type Standby } from "#platform/database/replication-store.ts";
import { type Finding, type FindingStatus, of } from "./finding.ts";
import { SynchronousStandbys } from "./synchronous-standbys.ts";

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
  const following = standbys.length === 0 ? "" : ` (${namesOf(standbys)})`;
  if (names === "" && standbys.length === 0)
    return [
      "ok",
      "No standby follows this server: it alone has what was accepted, unless its disk is replicated.",
    ];
  if (names === "")
    return [
      "warning",
      `Commits do not wait for a standby${following}: a failover loses the newest mail. Set synchronous_standby_names, with two standbys to ANY 1 (s1, s2). ${GUIDE}`,
    ];
  if (commit === "local")
    return [
      "warning",
      `synchronous_commit is local, so commits do not wait for a standby${following}: a failover loses the newest mail. Set it to on.`,
    ];
  return judgeSynchronous(found);
}

function judgeSynchronous({
  synchronous_standby_names: setting,
  standbys,
}: Replication): readonly [FindingStatus, string] {
  const list = new SynchronousStandbys(setting);
  const { needed } = list;
  const listed = standbys.filter(({ name }) => list.has(name));
  const confirming = listed.filter(confirms);
  const names = namesOf(confirming);
  if (confirming.length > needed) {
    const isHidden = confirming.some(({ state }) => state === null);
    const hidden = isHidden ? "; their states are hidden from this role (grant it pg_monitor)" : "";
    return [
      "ok",
      `Commits wait for ${setting}, and ${confirming.length} of these standbys are connected${hidden}.`,
    ];
  }
  const mistakes = [...notListed(standbys, list), ...notConfirming(listed)];
  if (confirming.length < needed) {
    const lack =
      confirming.length === 0
        ? `No standby of synchronous_standby_names (${setting}) confirms commits`
        : `Commits wait for ${needed} standbys of synchronous_standby_names (${setting}) and have ${confirming.length} (${names})`;
    const repair = mistakes.length > 0 ? mistakes.join(" ") : "Start one, or empty the setting.";
    return ["fault", `${lack}: every write waits. ${repair} ${GUIDE}`];
  }
  const risk =
    needed === 1
      ? `Commits wait for one standby (${names}), and every write waits while it is away.`
      : `Commits wait for ${needed} standbys (${names}), and every write waits while one of them is away.`;
  const repair = mistakes.length > 0 ? mistakes.join(" ") : howToAdd(list, listed);
  return ["warning", `${risk} ${repair} ${GUIDE}`];
}

/** Without the privilege the states are hidden, and the connection counts. */
function confirms({ state, sync_state }: Standby): boolean {
  return state === null || (state === "streaming" && sync_state !== "async");
}

function notListed(standbys: readonly Standby[], list: SynchronousStandbys): string[] {
  const strangers = standbys.filter(({ name }) => !list.has(name));
  if (strangers.length === 0) return [];
  const found = `${namesOf(strangers)} ${isOrAre(strangers)} connected but not in the list`;
  const [free, ...others] = list.without(standbys);
  if (free === undefined) return [`${found}: add the name to synchronous_standby_names.`];
  const their = strangers.length === 1 ? "its" : "their";
  const name = others.length === 0 ? free : `one of ${[free, ...others].join(", ")}`;
  return [`${found}: set application_name in ${their} primary_conninfo to ${name}.`];
}

function notConfirming(listed: readonly Standby[]): string[] {
  return listed
    .filter((standby) => !confirms(standby))
    .map(
      ({ name, state }) => `${name} is connected but confirms no commit (state ${state}): look at its log.`,
    );
}

/** For a list of which every connected standby confirms commits, but no more than are needed. */
function howToAdd(list: SynchronousStandbys, listed: readonly Standby[]): string {
  if (list.isForAll) return "Add another.";
  const [missing, ...others] = list.without(listed);
  if (missing === undefined)
    return "Add another, with its name in synchronous_standby_names, such as ANY 1 (s1, s2).";
  const found = `Of ${list.names.join(", ")} only ${namesOf(listed)} ${isOrAre(listed)} connected`;
  // The list may have the name of the primary, which does not follow itself.
  return others.length === 0
    ? `${found}: start ${missing}, or add another if that is the primary.`
    : `${found}: start the others.`;
}

function namesOf(standbys: readonly Standby[]): string {
  return standbys.map(({ name }) => name).join(", ");
}

function isOrAre(standbys: readonly Standby[]): string {
  return standbys.length === 1 ? "is" : "are";
}
