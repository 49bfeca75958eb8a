/**
 * The benchmarks, each beside what the same machine can do at best in the same minute:
 *
 *     npm run bench                    all of them, in about eight minutes
 *     npm run bench -- deliver start   some
 *
 * docs/benchmarks.md says what the figures mean.
 */
import { benchAccept } from "./accept.ts";
import { benchBlacklist } from "./blacklist.ts";
import { benchCampaign } from "./campaign.ts";
import { benchDeliver } from "./deliver.ts";
import { benchImport } from "./import.ts";
import { type Lab, openLab } from "./lab.ts";
import { describeMachine } from "./machine.ts";
import { benchMetering } from "./metering.ts";
import { benchQueue } from "./queue.ts";
import { benchRender } from "./render.ts";
import { benchReports } from "./reports.ts";
import { benchSegments } from "./segments.ts";
import { benchSick } from "./sick.ts";
import { benchStart } from "./start.ts";
import { benchSubmission } from "./submission.ts";
import { benchSuppression } from "./suppression.ts";
import { type Figure, table } from "./table.ts";
import { benchValidations } from "./validations.ts";

const benchmarks = new Map<string, (lab: Lab) => Promise<Figure[]>>([
  ["accept", benchAccept],
  ["blacklist", benchBlacklist],
  ["campaign", benchCampaign],
  ["deliver", benchDeliver],
  ["import", benchImport],
  ["queue", benchQueue],
  ["metering", benchMetering],
  ["render", benchRender],
  ["reports", benchReports],
  ["segments", benchSegments],
  ["sick", benchSick],
  ["start", benchStart],
  ["submission", benchSubmission],
  ["suppression", benchSuppression],
  ["validations", benchValidations],
]);

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !benchmarks.has(name));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no benchmark ${unknown.join(", ")}: choose of ${[...benchmarks.keys()].join(", ")}.\n`,
  );
  process.exit(1);
}

await using lab = await openLab();
process.stdout.write(`${new Date().toISOString().slice(0, 10)} · ${await describeMachine(lab.database)}\n\n`);
const figures: Figure[] = [];
for (const [name, bench] of benchmarks) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  figures.push(...(await bench(lab)));
}
process.stdout.write(`${table(figures)}\n`);
