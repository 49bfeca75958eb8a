/** Describes the machine of a run, and measures memory and the rate of RSA signatures in OpenSSL. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { promisify } from "node:util";
import sql from "sql-template-tag";
import type { Database } from "#platform/database/pool.ts";

const run = promisify(execFile);

export const cores = availableParallelism();

/** Processor, memory and versions in one line. */
export async function describeMachine(db: Database): Promise<string> {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const server = await db.row<{ version: string }>(sql`select current_setting('server_version') as version`);
  const openssl = await run("openssl", ["version"]).catch(() => ({ stdout: "no openssl" }));
  return [
    `${cores} cores of ${model}, ${memory}`,
    `Node.js ${process.versions.node}`,
    `PostgreSQL ${server?.version ?? "?"}`,
    openssl.stdout.replace(/ \(.*/s, "").trim(),
  ].join(" · ");
}

/** RSA-2048 signatures per second of all cores together; null if `openssl` is not installed. */
export async function signaturesPerSecond(seconds: number): Promise<number | null> {
  const words = ["speed", "-seconds", String(seconds), "-multi", String(cores), "rsa2048"];
  const output = await run("openssl", words).catch(() => null);
  const [, rate] = /^rsa +2048 bits +\S+ +\S+ +([\d.]+)/m.exec(output?.stdout ?? "") ?? [];
  return rate === undefined ? null : Number(rate);
}

/** Resident memory in MiB of a process and each descendant except PostgreSQL, including shared pages. */
export async function memoryOf(pid: number): Promise<number[]> {
  const processes = await processesOf(pid);
  return processes.map(({ mib }) => Math.round(mib));
}

/** Memory in MiB of the same processes together. Shared pages, mostly code of Node.js, count once. */
export async function memoryTogether(pid: number): Promise<number> {
  const processes = await processesOf(pid);
  const shared = await Promise.all(processes.map(({ id }) => sharedMib(id)));
  // All processes run the same program and share the same pages.
  return Math.round(sum(processes.map(({ mib }) => mib)) - sum(shared) + Math.max(0, ...shared));
}

async function processesOf(pid: number): Promise<{ readonly id: number; readonly mib: number }[]> {
  const { stdout } = await run("ps", ["-e", "-o", "pid=,ppid=,rss=,args="]);
  const processes = stdout.split("\n").flatMap((line) => {
    const [, id, parent, kib, args = ""] = /^ *(\d+) +(\d+) +(\d+) (.*)$/.exec(line) ?? [];
    return id === undefined ? [] : { id: Number(id), parent: Number(parent), mib: Number(kib) / 1024, args };
  });
  const family = new Set([pid]);
  // Children may be listed before their parents.
  for (let known = 0; known < family.size; ) {
    known = family.size;
    for (const { id, parent } of processes) if (family.has(parent)) family.add(id);
  }
  const isPostgres = (args: string) => args.includes("postgres:") || args.includes("bin/postgres");
  return processes.filter(({ id, args }) => family.has(id) && !isPostgres(args));
}

/** Shared memory of a process in MiB; 0 if it has ended or the system is not Linux. */
async function sharedMib(id: number): Promise<number> {
  const rollup = await readFile(`/proc/${id}/smaps_rollup`, "utf8").catch(() => "");
  const kib = rollup.matchAll(/^Shared_(?:Clean|Dirty): +(\d+) kB$/gm);
  return sum(Array.from(kib, ([, digits]) => Number(digits))) / 1024;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
