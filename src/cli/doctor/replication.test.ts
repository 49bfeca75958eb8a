import { expect, test } from "vitest";
import type { Replication, Standby } from "#platform/database/replication-store.ts";
import { judgeReplication } from "./replication.ts";

const standby = (name: string, sync_state: string | null): Standby => ({
  name,
  sync_state,
  lag_seconds: null,
});
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
  ["no connected standby", { standbys: [] }, "fault", /every write waits\. Start one/],
  [
    "standbys with other names",
    { standbys: [standby("s3", "async")] },
    "fault",
    /every write waits\. Start one/,
  ],
  ["one standby", { standbys: [standby("s1", "sync")] }, "warning", /Commits wait for one standby \(s1\)/],
  [
    "a second standby that is not named",
    { standbys: [standby("s1", "quorum"), standby("s3", "async")] },
    "warning",
    /Commits wait for one standby \(s1\)/,
  ],
  ["hidden states", { standbys: [standby("s1", null), standby("s2", null)] }, "ok", /grant it pg_monitor/],
])("%s", (_what, change, status, message) => {
  expect(judgeReplication(found(change))).toEqual([status, expect.stringMatching(message)]);
});
