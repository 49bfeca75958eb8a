/**
 * Runs the benchmarks. Each compares the service with a yardstick measured on the same machine in the same minute:
 *
 *     npm run bench                    all of them, in about eight minutes
 *     npm run bench -- deliver start   some
 *     npm run bench -- scale --size 0.1   with a tenth of the data
 *
 * docs/benchmarks.md explains the figures.
 */
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { freeBytes } from "#platform/process/free-space.ts";
import { benchAccept } from "./accept.ts";
import { benchBackup } from "./backup.ts";
import { benchBatch } from "./batch.ts";
import { benchBlacklist } from "./blacklist.ts";
import { benchCampaign } from "./campaign.ts";
import { benchConsole } from "./console.ts";
import { benchDeliver } from "./deliver.ts";
import { benchImport } from "./import.ts";
import { describeMachine } from "./machine.ts";
import { benchMetering } from "./metering.ts";
import { benchPeople } from "./people.ts";
import { benchQueue } from "./queue.ts";
import { benchRender } from "./render.ts";
import { benchReports } from "./reports.ts";
import { benchScale } from "./scale/scale.ts";
import { bytesOf } from "./scale/size.ts";
import { benchSegments } from "./segments.ts";
import { type BenchSetup, openBenchSetup } from "./setup.ts";
import { benchSick } from "./sick.ts";
import { benchStart } from "./start.ts";
import { benchStreams } from "./streams.ts";
import { benchSubmission } from "./submission.ts";
import { benchSuppression } from "./suppression.ts";
import { type Figure, table } from "./table.ts";
import { benchValidations } from "./validations.ts";
import { benchWebhooks } from "./webhooks.ts";

const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { size: { type: "string", default: "1" } },
});
/** The size of the benchmark `scale`, as a part of its full size. */
const SIZES = { least: 0.1, most: 10 };
const size = Number(values.size);

const benchmarks = new Map<string, (setup: BenchSetup) => Promise<Figure[]>>([
  ["accept", benchAccept],
  ["backup", benchBackup],
  ["batch", benchBatch],
  ["blacklist", benchBlacklist],
  ["campaign", benchCampaign],
  ["console", benchConsole],
  ["deliver", benchDeliver],
  ["import", benchImport],
  ["people", benchPeople],
  ["queue", benchQueue],
  ["metering", benchMetering],
  ["render", benchRender],
  ["reports", benchReports],
  ["scale", (setup) => benchScale(setup, size)],
  ["segments", benchSegments],
  ["sick", benchSick],
  ["start", benchStart],
  ["streams", benchStreams],
  ["submission", benchSubmission],
  ["suppression", benchSuppression],
  ["validations", benchValidations],
  ["webhooks", benchWebhooks],
]);

/** Run only if they are named: they fill what `reports` and `segments` fill, too. */
const alone: readonly string[] = ["backup", "console", "people", "scale"];
const unknown = asked.filter((name) => !benchmarks.has(name));
if (unknown.length > 0) {
  refuse(`Unknown benchmark ${unknown.join(", ")}. Benchmarks: ${[...benchmarks.keys()].join(", ")}.`);
}
if (!(size >= SIZES.least && size <= SIZES.most))
  refuse(`--size is a number from ${SIZES.least} to ${SIZES.most}.`);
if (asked.includes("scale")) {
  const [needed, free] = [bytesOf(size), await freeBytes(tmpdir())];
  if (free < needed)
    refuse(
      `scale needs ${gigabytes(needed)} in ${tmpdir()}, which has ${gigabytes(free)} free: give a smaller --size.`,
    );
}

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

function gigabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e9)} GB`;
}

await using setup = await openBenchSetup();
process.stdout.write(
  `${new Date().toISOString().slice(0, 10)} · ${await describeMachine(setup.database)}\n\n`,
);
const figures: Figure[] = [];
for (const [name, bench] of benchmarks) {
  if (asked.length > 0 ? !asked.includes(name) : alone.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  figures.push(...(await bench(setup)));
}
process.stdout.write(`${table(figures)}\n`);
