/**
 * One PostgreSQL for the whole test run (DATABASE_URL, or the embedded one in a temporary folder) with one migrated
 * template database, which every test file clones; and one temporary folder, with which goes whatever tests leave there.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { ensurePartitions } from "#messages/partitions.ts";
import { startEmbedded } from "#platform/database/embedded/embedded.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { prepareSchema } from "#platform/jobs/schema.ts";
import { createLog } from "#platform/log/log.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The server's URL, with the database's name left to the caller. */
    serverUrl: string;
    template: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-test-"));
  // A short name: sockets are below it. Open as /tmp is: started as root, programs of the tests run as others.
  const scratch = await mkdtemp(join(tmpdir(), "ph-"));
  await chmod(scratch, 0o1777);
  process.env.TMPDIR = scratch;
  const outside = process.env.DATABASE_URL;
  const embedded = outside ? null : await startEmbedded({ dataDir: folder, log: createLog("silent") });
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
  return async () => {
    await admin.query(`drop database ${template}`);
    await admin.end();
    await embedded?.stop();
    for (const made of [folder, scratch]) await rm(made, { recursive: true, force: true, maxRetries: 3 });
  };
}

/** The same server, another database. */
export function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
