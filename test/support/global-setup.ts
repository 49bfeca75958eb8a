/**
 * Starts one PostgreSQL for the whole test run (DATABASE_URL, or the embedded one in a temporary folder) with one
 * migrated template database, which every test file clones. All temporary files of tests are in one folder, which is
 * removed at the end.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";

import { ensurePartitions } from "#messages/partitions/create-partitions.ts";
import { type Embedded, startEmbedded } from "#platform/database/embedded/embedded.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { prepareSchema } from "#platform/jobs/migrate-schema.ts";
import { createLog } from "#platform/log/log.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the server; callers replace the database name. */
    serverUrl: string;
    template: string;
    /** Whether the run renews what is recorded (`-u`). */
    renews: boolean;
  }
}

/** Enough for two services in separate processes and the test itself. */
const CONNECTIONS_OF_WORKER = 40;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-test-"));
  // The name is short because paths of sockets have a length limit. The mode is that of /tmp: if the tests run as root,
  // some of their programs run as other users.
  const scratch = await mkdtemp(join(tmpdir(), "ph-"));
  await chmod(scratch, 0o1777);
  process.env.TMPDIR = scratch;
  const outside = process.env.DATABASE_URL;
  const embedded = outside ? null : await startServer(folder, project.vitest.config.maxWorkers);
  const serverUrl = outside ?? embedded?.connection.url ?? "";
  const template = `template_${process.pid}`;
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`create database ${template}`);
  const database = createDatabase(withDatabase(serverUrl, template), {
    size: 2,
    name: "setup",
    onError: () => {},
  });
  await prepareSchema(database, createLog("silent"));
  await ensurePartitions(database, new Date());
  await database.close();
  project.provide("serverUrl", serverUrl);
  project.provide("template", template);
  project.provide("renews", project.vitest.config.snapshotOptions.updateSnapshot === "all");
  return async () => {
    await admin.query(`drop database ${template}`);
    await admin.end();
    await embedded?.stop();
    for (const made of [folder, scratch]) await rm(made, { recursive: true, force: true, maxRetries: 3 });
  };
}

/**
 * Turns fsync off: the server's folder is deleted afterwards, and with fsync the drop of one database would write the
 * changes of all others to disk. Commits, locks, kills of the server and its recovery work as usual. Tests of the
 * embedded PostgreSQL start separate servers, with fsync.
 */
async function startServer(dataDir: string, workers: number): Promise<Embedded> {
  const settings = {
    fsync: "off",
    full_page_writes: "off",
    max_connections: workers * CONNECTIONS_OF_WORKER,
  };
  const start = () => startEmbedded({ dataDir, log: createLog("silent") });
  const first = await start();
  const admin = new pg.Client({ connectionString: first.connection.url });
  await admin.connect();
  for (const [name, value] of Object.entries(settings))
    await admin.query(`alter system set ${name} = ${value}`);
  await admin.end();
  // max_connections takes effect only at a restart.
  await first.stop();
  return start();
}

/** The URL with another database name. */
export function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
