/** The set-up of all benchmarks: one PostgreSQL, a workspace with an API key and a sending domain, and a folder. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensurePartitions } from "#messages/partitions/create-partitions.ts";
import { systemClock } from "#platform/clock.ts";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { createDatabase, type Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { prepareSchema } from "#platform/jobs/migrate-schema.ts";
import { createLog } from "#platform/log/log.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import type { ProgramSettings } from "#test/support/program.ts";
import { insertVerifiedDomain } from "#test/support/sender-domain.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";

export const senderDomain = "sender.test";
/** Any valid key; the benchmarks use `apiKey`. */
export const bootstrapKey = `efk_${"bench000".repeat(5)}`;
export const SECRET_KEY = "the secret key of a database that lives for one benchmark";

export interface BenchSetup extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly database: Database;
  readonly workspaceId: WorkspaceId;
  /** An API key with every permission. */
  readonly apiKey: string;
  /** A temporary folder, removed at the end. */
  readonly folder: string;
  /** Settings of a program on this database. */
  readonly environment: ProgramSettings;
}

/** Starts the embedded PostgreSQL in a temporary folder; service and yardsticks use the same server. */
export async function openBenchSetup(): Promise<BenchSetup> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-bench-"));
  const embedded = await startEmbedded({ dataDir: folder, log: createLog("silent") });
  const databaseUrl = embedded.connection.url;
  const database = createDatabase(databaseUrl, { size: 4, name: "benchmark", onError: () => {} });
  await prepareSchema(database, createLog("silent"));
  await ensurePartitions(database, systemClock.now());
  const settings = { name: "Benchmark", timezone: "UTC", plan: "enterprise" } as const;
  const { workspace, key } = await createWorkspace(database, settings, systemClock);
  await insertVerifiedDomain(database, createSecrets(SECRET_KEY), workspace.id, senderDomain);
  const dataDir = join(folder, "service");
  await mkdir(dataDir);
  return {
    databaseUrl,
    database,
    workspaceId: workspace.id,
    apiKey: key.key,
    folder,
    environment: {
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      SECRET_KEY,
      BOOTSTRAP_API_KEY: bootstrapKey,
      MAIL_HOSTNAME: "mail.posthaste.test",
    },
    async [Symbol.asyncDispose]() {
      await database.close();
      await embedded.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
