/** A process that takes up jobs of type `hang` and never finishes them, to be killed. Arguments: database URL, DATA_DIR. */
import { createDatabase } from "../../src/platform/database/pool.ts";
import { startRunner } from "../../src/platform/jobs/runner.ts";
import { createLog } from "../../src/platform/log.ts";

const [url = "", dataDir = ""] = process.argv.slice(2);
await startRunner({
  database: createDatabase(url, { size: 4, name: "hanging runner", onError: () => {} }),
  dataDir,
  log: createLog("silent"),
  handlers: {
    hang: () => {
      process.send?.("running");
      return new Promise(() => {});
    },
  },
  recurring: [],
});
