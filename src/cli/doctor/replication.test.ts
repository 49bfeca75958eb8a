import { expect, test } from "vitest";
import type { Replication, Standby } from "#platform/database/replication-store.ts";
import { judgeReplication } from "./replication.ts";

const standby = (name: string, sync_state: string, state = "streaming"): Standby => ({
  name,
  state,
  sync_state,
  lag_seconds: null,
});
/** As a role without pg_monitor sees it. */
const hidden = (name: string): Standby => ({ name, state: null, sync_state: null, lag_seconds: null });
const found = (change: Partial<Replication>): Replication => ({
  address: "10.0.0.1:5432",
  is_primary: true,
  synchronous_commit: "on",
  synchronous_standby_names: "ANY 1 (s1, s2)",
  standbys: [standby("s1", "quorum"), standby("s2", "quorum")],
  ...change,
});

test.each<[string, Partial<Replication>, string, RegExp]>([
  ["two standbys of which one is waited for", {}, "ok", /wait for ANY 1 \(s1, s2\), and 2 of these standbys/],
  ["a server alone", { synchronous_standby_names: "", standbys: [] }, "ok", /No standby follows/],
  ["commits that are not on the disk", { synchronous_commit: "off" }, "fault", /Set it to on/],
  ["a standby in place of the primary", { is_primary: false }, "fault", /must lead to the primary/],
  [
    "standbys that nothing waits for",
    { synchronous_standby_names: "" },
    "warning",
    /Commits do not wait .*s1, s2/,
  ],
  ["commits that wait for this disk alone", { synchronous_commit: "local" }, "warning", /Set it to on/],
  [
    "commits that wait for this disk alone, without a standby",
    { synchronous_commit: "local", standbys: [] },
    "warning",
    /wait for a standby: a failover/,
  ],
  ["no connected standby", { standbys: [] }, "fault", /every write waits\. Start one/],
  [
    "only a standby with another name",
    { standbys: [standby("walreceiver", "async")] },
    "fault",
    /every write waits\. walreceiver is connected but not in the list: set application_name in its primary_conninfo to one of s1, s2\./,
  ],
  [
    "only standbys with other names, while states are hidden",
    { standbys: [hidden("walreceiver"), hidden("s3")] },
    "fault",
    /every write waits\. walreceiver, s3 are connected but not in the list: .* in their primary_conninfo to one of s1, s2\./,
  ],
  [
    "a standby that is connected and does not follow",
    { standbys: [standby("s1", "potential", "startup")] },
    "fault",
    /every write waits\. s1 is connected but confirms no commit \(state startup\): look at its log/,
  ],
  [
    "a standby that never catches up, beside one that follows",
    { standbys: [standby("s1", "potential", "catchup"), standby("s2", "quorum")] },
    "warning",
    /one standby \(s2\).* s1 is connected but confirms no commit \(state catchup\)/,
  ],
  [
    "fewer standbys than commits wait for",
    { synchronous_standby_names: "ANY 2 (s1, s2)", standbys: [standby("s1", "quorum")] },
    "fault",
    /wait for 2 standbys of .* and have 1 \(s1\): every write waits\. Start one/,
  ],
  [
    "no more standbys than commits wait for",
    { synchronous_standby_names: "ANY 2 (s1, s2)" },
    "warning",
    /wait for 2 standbys \(s1, s2\), and every write waits while one of them is away\. Add another/,
  ],
  [
    "a second standby that is not named, while a name of the list is free",
    { standbys: [standby("s1", "quorum"), standby("walreceiver", "async")] },
    "warning",
    /one standby \(s1\).* walreceiver is connected but not in the list: set application_name in its primary_conninfo to s2\./,
  ],
  [
    "a second standby that is not named, while no name is free",
    { synchronous_standby_names: "s1", standbys: [standby("s1", "sync"), standby("s3", "async")] },
    "warning",
    /one standby \(s1\).* s3 is connected but not in the list: add the name to synchronous_standby_names/,
  ],
  [
    "one of three servers, of which one is the primary",
    { synchronous_standby_names: "ANY 1 (db1, db2, db3)", standbys: [standby("db2", "quorum")] },
    "warning",
    /one standby \(db2\).* Of db1, db2, db3 only db2 is connected: start the others\./,
  ],
  [
    "one of two servers, of which one may be the primary",
    { standbys: [standby("s1", "quorum")] },
    "warning",
    /one standby \(s1\).* Of s1, s2 only s1 is connected: start s2, or add another if that is the primary\./,
  ],
  [
    "one standby of a list of one",
    { synchronous_standby_names: "s1", standbys: [standby("s1", "sync")] },
    "warning",
    /one standby \(s1\).* Add another, with its name in synchronous_standby_names/,
  ],
  [
    "one standby of any name",
    { synchronous_standby_names: "*", standbys: [standby("walreceiver", "sync")] },
    "warning",
    /one standby \(walreceiver\), and every write waits while it is away\. Add another\. See/,
  ],
  ["hidden states", { standbys: [hidden("s1"), hidden("s2")] }, "ok", /grant it pg_monitor/],
])("%s", (_what, change, status, message) => {
  expect(judgeReplication(found(change))).toEqual([status, expect.stringMatching(message)]);
});
