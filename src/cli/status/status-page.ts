/** Formats the status for a terminal: one screen of 80 columns, or of as many as a wider terminal has. */
import { table } from "#cli/command/output.ts";
import type { HostWaitingLane } from "#delivery/lanes/waiting-lanes-store.ts";
import type { LaneWaitReason } from "#delivery/message/lane-wait.ts";
import { counted } from "#platform/count-phrase.ts";
import type { Replication } from "#platform/database/replication-store.ts";
import { bytesText } from "#platform/limits/limit-errors.ts";
import type { RunningProcess } from "#platform/process/running-processes-store.ts";
import { typedCommand } from "#platform/typed-command.ts";
import type { InstallationStatus } from "./read-installation.ts";
import {
  MOST_SAMPLED,
  type QueueState,
  type QueueWaitReason,
  type WaitingMessages,
} from "./waiting-messages-store.ts";

const LEAST_WIDTH = 80;
const MOST_PLACE = 22;
const MOST_WAITS = 10;
const MOST_PROCESSES = 10;
/** Delays of a few seconds are usual. */
const LATE_SECONDS = 5;

const NOT_MIGRATED = `Run \`${typedCommand("migrate")}\`, or start the service, to see the rest.\n`;

/** What a wait of a lane is called; docs/monitoring.md says what to do. */
export const laneReasons: Readonly<Record<LaneWaitReason, string>> = {
  asked_to_wait: "asked to wait",
  reputation: "slow after a reply about reputation",
  connections_failed: "rests after failed connections",
  conversations_broken: "rests after broken conversations",
  unreachable: "not reachable",
  limits: "limits of the lane",
};

/** The same for messages in the queue. */
export const queueReasons: Readonly<Record<QueueWaitReason, string>> = {
  workspace_suspended: "workspace suspended",
  paused: "campaign or autoresponder paused",
  deferred: "deferred",
  sending_ip: "waits for a sending IP",
  scheduled: "scheduled by its sender",
  lane: "its lane is paused or full",
};

const queueStates: Readonly<Record<QueueState, string>> = {
  due: "due",
  due_later: "due later",
  deferred: "deferred",
  sending_ip: "for a sending IP",
  paused: "paused",
  workspace_suspended: "of suspended workspaces",
};

export interface Versions {
  /** Of this program; the running processes may have another. */
  readonly program: string;
  readonly node: string;
  readonly postgresql: string;
  readonly missing_migrations: readonly string[];
}

/**
 * @param installation null while migrations are missing
 * @param view the time by which others are shown as ages, and the width of the terminal
 */
export function statusPage(
  { program, node, postgresql, missing_migrations: missing }: Versions,
  installation: InstallationStatus | null,
  { now, width = LEAST_WIDTH }: { readonly now: Date; readonly width?: number | undefined },
): string {
  const fit = (line: string) => cut(line, Math.max(LEAST_WIDTH, width)).replaceAll(/\p{Cc}/gu, "?");
  const schema =
    missing.length === 0 ? "schema up to date" : `${counted(missing.length, "migration")} missing`;
  const head = `Posthaste ${program}, Node.js ${node}, PostgreSQL ${postgresql}, ${schema}\n`;
  const blocks = installation === null ? [NOT_MIGRATED] : blocksOf(installation, now);
  return [head, ...blocks].map((block) => block.split("\n").map(fit).join("\n")).join("\n");
}

function blocksOf(status: InstallationStatus, now: Date): string[] {
  const { jobs, webhooks, storage } = status;
  const facts: readonly (readonly [string, string])[] = [
    ...(status.sending_held_since === null
      ? []
      : [["Sending", `held since ${timeText(status.sending_held_since)}`] as const]),
    ...queueFacts(status),
    [
      "Jobs",
      `${jobs.waiting} waiting${late(jobs.oldest_seconds)}, ${jobs.running} running; recurring tasks ${lateness(jobs.recurring_late_seconds)}`,
    ],
    ["Webhooks", `${webhooks.waiting} deliveries waiting${late(webhooks.late_seconds)}`],
    ["Backup", status.last_backup_at === null ? "none within a year" : timeText(status.last_backup_at)],
    ...(status.replication === null ? [] : [["Database", serversText(status.replication)] as const]),
    ["Storage", `database ${bytesText(storage.database_bytes)}; ${freeSpace(storage)}`],
  ];
  const list = facts.map(([name, text]) => `${name.padEnd(10)}${text}\n`).join("");
  const waits = waitRows(status, now);
  return [
    list,
    ...(waits.length === 0 ? [] : [table(["messages", "where", "waits_because"], waits)]),
    processBlock(status.processes, now),
  ];
}

function queueFacts({ queue }: InstallationStatus): (readonly [string, string])[] {
  const { waiting, leased, late_seconds, sample, campaigns_at_hourly_cap: capped } = queue;
  const states = (Object.keys(queueStates) as QueueState[]).flatMap((state) => {
    const count = sample.reasons[state];
    return count === undefined ? [] : [`${count} ${queueStates[state]}`];
  });
  return [
    ["Queue", `${waiting} waiting, ${leased} in delivery`],
    [
      "",
      `transactional mail ${lateness(late_seconds.transactional)}, bulk mail ${lateness(late_seconds.bulk)}`,
    ],
    ...(sample.messages < MOST_SAMPLED
      ? []
      : [["", `reasons below: of ${MOST_SAMPLED} of the waiting messages`] as const]),
    ...(states.length === 0 ? [] : [["", states.join(", ")] as const]),
    ...(capped === 0 ? [] : [["", `campaigns that wait for an hourly cap: ${capped}`] as const]),
  ];
}

function serversText({ address, is_primary, standbys }: Replication): string {
  const followers = standbys.map(({ name, sync_state: state, lag_seconds: lag }) => {
    const behind = lag !== null && lag >= LATE_SECONDS ? `, ${duration(lag)} behind` : "";
    return `${name} (${state ?? "state hidden"}${behind})`;
  });
  const place = address === null ? "" : ` ${address}`;
  return `${is_primary ? "primary" : "standby"}${place}; ${followers.length === 0 ? "no standby" : `standbys: ${followers.join(", ")}`}`;
}

/** In UTC, to the second. */
function timeText(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, "Z");
}

/** The lanes first, because they explain what the queue shows. */
function waitRows({ lanes, queue }: InstallationStatus, now: Date) {
  return [...lanes.map(laneRow), ...queue.sample.groups.map((group) => groupRow(group, now))].slice(
    0,
    MOST_WAITS,
  );
}

function laneRow({ provider, place, reason, messages, seconds, detail }: HostWaitingLane) {
  const until = seconds === null ? "" : `, ${duration(seconds)} more`;
  const where = cut(place === "" || provider !== "default" ? provider : place, MOST_PLACE);
  return {
    messages,
    where,
    waits_because: `${laneReasons[reason]}${until}${detail === null ? "" : `: ${detail}`}`,
  };
}

function groupRow({ reason, place, messages, due_at, reply }: WaitingMessages, now: Date) {
  const left = (Date.parse(due_at) - now.getTime()) / 1_000;
  const next = left > 0 && reason !== "paused" ? `, next in ${duration(left)}` : "";
  const where = cut(place ?? "all workspaces", MOST_PLACE);
  return {
    messages,
    where,
    waits_because: `${queueReasons[reason]}${next}${reply === null ? "" : `: ${reply}`}`,
  };
}

function processBlock(processes: readonly RunningProcess[], now: Date): string {
  if (processes.length === 0) return "No process of the service runs.\n";
  const ago = (time: Date) => `${duration(Math.max(0, (now.getTime() - time.getTime()) / 1_000))} ago`;
  const rows = processes.slice(0, MOST_PROCESSES).map(({ host, pid, roles, version, ...process }) => ({
    machine: cut(host, MOST_PLACE),
    process: pid,
    roles: roles.join(","),
    version,
    started: ago(process.started_at),
    seen: process.is_running ? ago(process.seen_at) : `${ago(process.seen_at)} (silent)`,
  }));
  const more = processes.length - rows.length;
  return `${table(["machine", "process", "roles", "version", "started", "seen"], rows)}${more > 0 ? `and ${more} more\n` : ""}`;
}

function freeSpace({ data_dir, data_dir_free_bytes: free }: InstallationStatus["storage"]): string {
  return free === null ? `${data_dir} does not exist here` : `${bytesText(free)} free in ${data_dir}`;
}

function late(seconds: number): string {
  return seconds < LATE_SECONDS ? "" : ` (the first for ${duration(seconds)})`;
}

function lateness(seconds: number): string {
  return seconds < LATE_SECONDS ? "on time" : `${duration(seconds)} late`;
}

/** Such as "45 s", "12 min", "3 h" or "2 d". */
function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
