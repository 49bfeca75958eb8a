/** Selects processes of a running Posthaste by role, and sends them SIGKILL. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Random } from "./random.ts";

/**
 * - everything: all processes of the service and of PostgreSQL
 * - service: all processes of the service
 * - parent: the process that serves the API; its children exit with it
 * - delivery: one delivery process
 * - postmaster: PostgreSQL's first process
 * - session: one session process of PostgreSQL, after which PostgreSQL ends all sessions
 */
export const victims = ["everything", "service", "parent", "delivery", "postmaster", "session"] as const;
export type Victim = (typeof victims)[number];

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly command: string;
}

async function listProcesses(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)("ps", ["-e", "-o", "pid=,ppid=,pgid=,stat=,args="]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, group, state, command = ""] =
      /^ *(\d+) +(\d+) +(\d+) (\S+) +(.*)$/.exec(line) ?? [];
    if (pid === undefined || state?.startsWith("Z")) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), command }];
  });
}

/** Ids of the processes that a kill of this kind hits; empty if none is running. */
export async function findVictims(
  victim: Victim,
  service: { readonly pid: number; readonly dataDir: string },
  random: Random,
): Promise<number[]> {
  const processes = await listProcesses();
  const pidsWhere = (matches: (process: Process) => boolean) =>
    processes.filter(matches).map(({ pid }) => pid);
  const any = (pids: number[]) => (pids.length > 0 ? [random.pick(pids)] : []);
  const lockFile = join(service.dataDir, "postgres/data/postmaster.pid");
  const locked = Number.parseInt(await readFile(lockFile, "utf8").catch(() => ""), 10);
  const group = pidsWhere((one) => one.group === service.pid);
  const postmaster = pidsWhere((one) => one.pid === locked && one.command.includes("postgres"));
  const ofPostgres = pidsWhere((one) => postmaster.includes(one.parent));
  switch (victim) {
    case "everything":
      return [...group, ...postmaster, ...ofPostgres];
    case "service":
      return group;
    case "parent":
      return group.filter((pid) => pid === service.pid);
    case "delivery":
      return any(pidsWhere((one) => group.includes(one.pid) && one.command.endsWith("main.ts deliver")));
    case "postmaster":
      return postmaster;
    case "session":
      return any(
        pidsWhere((one) => ofPostgres.includes(one.pid) && one.command.includes("posthaste posthaste")),
      );
  }
}

/** Processes of these groups that are still running. */
export async function survivors(groups: ReadonlySet<number>): Promise<string[]> {
  const processes = await listProcesses();
  return processes.filter(({ group }) => groups.has(group)).map(({ pid, command }) => `${pid} ${command}`);
}

/** Sends SIGKILL to each process that is still running. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has already exited.
    }
  }
}
