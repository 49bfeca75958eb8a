/** How the embedded PostgreSQL is set up: durable, and sized for a small machine that it shares with Posthaste. */
import { availableParallelism, totalmem } from "node:os";

type Setting = readonly [name: string, value: string, reason: string];

const MIB = 2 ** 20;

/** Whole mebibytes: `share` of the memory, kept within the bounds. */
function memory(share: number, least: number, most: number): string {
  // In a container the limit of its control group counts; without one Node answers 0 or an absurdly large number.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const mebibytes = Math.floor((Math.min(limit, totalmem()) * share) / MIB);
  return `${Math.max(least, Math.min(most, mebibytes))}MB`;
}

const settings = (): Setting[] => [
  ["listen_addresses", "", "nobody but this machine's owner: a Unix socket in a private folder, no network"],
  ["unix_socket_permissions", "0700", "the same once more, for whoever opens the folder"],
  ["cluster_name", "posthaste", "seen in the process list"],

  ["fsync", "on", "what was accepted survives a power cut"],
  ["synchronous_commit", "on", "an answer is given only after its commit is on the disk"],
  ["full_page_writes", "on", "pages half-written by a power cut are repaired"],

  ["max_connections", "60", "several processes with pools of 4 to 8, and room for the operator"],
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
    "what is written between two turns of the log's own writer: its own choice is one log file, 4 MB here, and too little",
  ],
  [
    "wal_writer_delay",
    "50ms",
    "imports write 80 MB/s of log: whoever finds its buffers full has to write it, and all others wait for that",
  ],
  ["max_wal_size", "2GB", "imports and campaigns write much: checkpoints by time, not by volume"],
  ["min_wal_size", "256MB", "keeps log files for reuse; making new ones costs a sync each"],
  ["checkpoint_timeout", "15min", "fewer full page images in the log"],

  ["jit", "off", "the statements are short: compiling costs more than it gives"],
  ["random_page_cost", "1.1", "solid state disks"],
  [
    "max_parallel_workers_per_gather",
    String(Math.max(1, Math.min(4, availableParallelism() - 1))),
    "counts of segments use every core; one more helper than that makes them slower",
  ],
  ["autovacuum_naptime", "10s", "the queue turns over thousands of rows a second; dead ones slow the leases"],
  ["autovacuum_vacuum_cost_limit", "1000", "the default pace is for spinning disks"],

  ["timezone", "UTC", "times are stored and shown in UTC, whatever the machine's zone"],
  ["log_timezone", "UTC", "the same for the server's log"],
  ["log_line_prefix", "", "Posthaste's log adds time and process"],
  ["log_min_messages", "log", "failed statements reach whoever ran them and are logged there"],
  ["log_min_error_statement", "panic", "statements carry addresses of recipients"],
  ["log_error_verbosity", "terse", "so do the details of an error"],
];

/** The text of a PostgreSQL configuration file. Values come from the table above and hold no quotes. */
export function settingsFile(): string {
  const lines = settings().map(([name, value, reason]) => `${name} = '${value}'  # ${reason}\n`);
  return `# Written by Posthaste at every start. ALTER SYSTEM overrides it.\n${lines.join("")}`;
}
