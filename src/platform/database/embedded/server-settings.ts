/** Settings of the embedded PostgreSQL: durable, and sized for a small machine that it shares with Posthaste. */
import { availableParallelism, totalmem } from "node:os";

type Setting = readonly [name: string, value: string, reason: string];

const MIB = 2 ** 20;

/** A share of the memory in whole mebibytes, within the bounds. */
function memory(share: number, least: number, most: number): string {
  // The limit of the control group (container); without one Node.js gives 0 or a huge number.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const mebibytes = Math.floor((Math.min(limit, totalmem()) * share) / MIB);
  return `${Math.max(least, Math.min(most, mebibytes))}MB`;
}

const settings = (): Setting[] => [
  ["listen_addresses", "", "no network: only a Unix socket in a private folder"],
  ["unix_socket_permissions", "0700", "private even if the folder is opened to others"],
  ["cluster_name", "posthaste", "seen in the process list"],

  ["fsync", "on", "what was accepted survives a power cut"],
  ["synchronous_commit", "on", "an answer is given only after its commit is on the disk"],
  ["full_page_writes", "on", "pages half-written by a power cut are repaired"],

  ["max_connections", "60", "several processes with pools of 4 to 8, and room for the operator"],
  [
    "max_locks_per_transaction",
    "1024",
    "a statement that reads the whole log locks a table and its indexes for each day; so does a restore",
  ],
  [
    "shared_buffers",
    memory(1 / 8, 128, 4096),
    "an eighth of the memory; a table larger than a quarter of this is not kept when it is read from end to end",
  ],
  [
    "effective_cache_size",
    memory(1 / 2, 256, 65_536),
    "tells the planner that most of the data is in memory",
  ],
  ["work_mem", "16MB", "segments sort and hash by the hundred thousand rows"],
  ["maintenance_work_mem", memory(1 / 32, 64, 256), "index builds and vacuum"],

  ["wal_compression", "off", "this build has only pglz, whose CPU time is worth more than the bytes"],
  [
    "wal_buffers",
    memory(1 / 64, 16, 64),
    "WAL between two runs of the WAL writer; the default of one WAL file (4 MB here) is too little",
  ],
  [
    "wal_writer_delay",
    "50ms",
    "imports write 80 MB/s of WAL: a session that finds the buffers full writes them, and all others wait",
  ],
  ["max_wal_size", "2GB", "imports and campaigns write much: checkpoints by time, not by volume"],
  ["min_wal_size", "256MB", "keeps WAL files for reuse; creating one costs a sync"],
  ["checkpoint_timeout", "15min", "fewer full page images in the WAL"],

  ["jit", "off", "the statements are short: compiling them costs more than it saves"],
  ["random_page_cost", "1.1", "solid state disks"],
  [
    "max_parallel_workers_per_gather",
    String(Math.max(1, Math.min(4, availableParallelism() - 1))),
    "counts of segments use every core; one more worker makes them slower",
  ],
  ["autovacuum_naptime", "10s", "the queue changes thousands of rows a second; dead rows slow down leasing"],
  ["autovacuum_vacuum_cost_limit", "1000", "the default pace is for spinning disks"],

  ["timezone", "UTC", "times are stored and shown in UTC, whatever the machine's zone"],
  ["log_timezone", "UTC", "times in the server's log, too"],
  ["log_line_prefix", "", "Posthaste's log adds time and process"],
  ["log_min_messages", "log", "failed statements are logged by the client that ran them"],
  ["log_min_error_statement", "panic", "statements contain addresses of recipients"],
  ["log_error_verbosity", "terse", "details of errors contain them, too"],
];

/** The text of a PostgreSQL configuration file. The values above contain no quotes. */
export function settingsFile(): string {
  const lines = settings().map(([name, value, reason]) => `${name} = '${value}'  # ${reason}\n`);
  return `# Written by Posthaste at every start. ALTER SYSTEM overrides it.\n${lines.join("")}`;
}
