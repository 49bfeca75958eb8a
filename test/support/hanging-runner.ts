/**
 * A process that a test kills: it runs jobs of type `hang`, or the recurring task of that name, and never finishes
 * them. Arguments: database URL, DATA_DIR, `job` or `task`.
 */
import { createDatabase } from "#platform/database/pool.ts";
import { startRunner } from "#platform/jobs/runner.ts";
import { createLog } from "#platform/log/log.ts";

const [url = "", dataDir = "", kind] = process.argv.slice(2);
const hang = () => {
  process.send?.("running");
  return new Promise<never>(() => {});
};
await startRunner({
  database: createDatabase(url, { size: 4, name: "hanging runner", onError: () => {} }),
  dataDir,
  log: createLog("silent"),
  handlers: kind === "job" ? { hang } : {},
  recurring: kind === "task" ? [{ name: "hang", seconds: 3_600, run: hang }] : [],
});
